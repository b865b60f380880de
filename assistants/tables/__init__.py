"""Tables that were put together in a conversation, kept behind pointers, drawn as charts and given out as files."""
