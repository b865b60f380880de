"""A test app whose tools have an effect outside: they append a line to the file that TASKMONKEY_LEDGER names."""
