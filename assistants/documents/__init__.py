"""A tenant's folders of documents: read safely, cut into passages, kept in a full-text index, searched and quoted."""
