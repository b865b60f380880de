"""What only a database with many writers can get wrong; on SQLite, which has one, nothing of this is collected."""

from django.conf import settings

if settings.DATABASES["default"]["ENGINE"] != "taskmonkey.postgres":
    collect_ignore_glob = ["test_*.py"]
