"""What came in from outside is known wherever it flows."""
