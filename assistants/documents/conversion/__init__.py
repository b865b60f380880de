"""Files that are no text, such as PDF and office documents, turned into text by a process of their own within limits."""
