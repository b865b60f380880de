"""A person agrees to exactly what runs, and nothing else runs."""
