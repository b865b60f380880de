"""The demo tenant."""
