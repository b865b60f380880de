"""A tenant's folders of documents: read safely, cut into passages, kept in a full-text index, searched and quoted."""

from .indexing import Report, index_root

__all__ = ["Report", "index_root"]
