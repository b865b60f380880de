"""What an admin sets up: the rules it has to keep, its versions, and keys that stay with their server."""
