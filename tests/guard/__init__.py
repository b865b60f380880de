"""The guard: what it catches, what it lets through, and how fast."""
