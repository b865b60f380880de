"""The one rendering path: model and user text to safe HTML, whole or growing."""
