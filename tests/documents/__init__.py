"""Folders of documents: opened safely, cut, indexed, searched and read."""
