"""The record of assistants working for other assistants."""

from .delegation import Delegation

__all__ = ["Delegation"]
