"""Screens what goes into a tool and what comes out of it, before anybody acts on it (decision 11)."""
