"""System checks: set-ups of delegation that must not start."""
