"""Listens for finished turns of sub-chats and hands their result to the caller."""
