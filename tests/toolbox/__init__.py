"""The tools of a single assistant."""
