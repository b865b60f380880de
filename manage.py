#!/usr/bin/env python
"""Runs Django's management commands on this project."""

import gc
import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taskmonkey.settings")
    # What a start makes stays; to look through it again and again for garbage would be a seventh of the time.
    gc.set_threshold(50_000)
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
