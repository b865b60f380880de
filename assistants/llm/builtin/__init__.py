"""The built-in engine: rules and search behind the same interface as any model, for when no language model is at hand."""

from .model import builtin_model

__all__ = ["builtin_model"]
