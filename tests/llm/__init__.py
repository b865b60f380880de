"""Tests of the layer that talks to a model."""
