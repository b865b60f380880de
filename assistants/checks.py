"""System checks: set-ups that must not start."""
