#!/usr/bin/env python
"""Runs Django's management commands on this project."""

import gc
import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taskmonkey.settings")
    if sys.argv[1:2] == ["serve"]:
        from assistants.management.supervisor import looks_after, supervise

        # The supervisor stays small: Django is loaded once, by its server.
        if looks_after(sys.argv[2:]):
            sys.exit(supervise(sys.argv[2:]))
    # What a start makes stays; to look through it again and again for garbage would be a seventh of the time.
    gc.set_threshold(50_000)
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
