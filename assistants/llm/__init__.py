"""Talks to a model: a profile goes in, one streamed reply comes out."""
