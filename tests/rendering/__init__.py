"""Tests of the one rendering path."""
