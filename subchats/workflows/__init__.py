"""Known ways of doing a job in steps: found by words, followed by what a conversation has really done."""
