"""What the application adds to a streamed answer, measured against a bare relay on the same machine."""
