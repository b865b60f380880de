"""Pages and commands over HTTP, each one the same way: form, access, one domain function, response."""
