"""Real servers that are killed at named points, and what must be true afterwards (F01 to F10)."""
