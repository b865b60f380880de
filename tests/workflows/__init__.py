"""Workflows: the catalogue, finding, progress, the rail and what an admin sets up."""
