"""A start loads what the first page needs, and the rest when that page is there."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LATER = ("openai", "anthropic", "pygments.lexers.ruby")
START = f"""
import sys
import django
django.setup()
from assistants.management import server
server._start_engine()
print([name for name in {LATER} if name in sys.modules])
"""


def test_providers_and_languages_are_not_loaded_before_the_first_page(tmp_path: Path) -> None:
    environment = os.environ | {"TASKMONKEY_HOME": str(tmp_path), "TASKMONKEY_EXECUTOR": "celery"}
    environment |= {"DJANGO_SETTINGS_MODULE": "taskmonkey.settings", "TASKMONKEY_MODEL": "builtin"}

    done = subprocess.run([sys.executable, "-c", START], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)

    assert done.stdout == "[]\n", done.stderr
