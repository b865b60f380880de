"""Celery as a doorbell: JSON, no results, no retries; nothing depends on a message being kept, or coming once."""

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taskmonkey.settings")

from celery import Celery  # noqa: E402 - it reads the settings' name
from celery.signals import setup_logging  # noqa: E402

app = Celery("taskmonkey")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect  # type: ignore[untyped-decorator]
def leave_logging_alone(**_: Any) -> None:
    """Django has set it up already."""
