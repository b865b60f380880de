"""Nothing in the repository belongs to one machine or one person."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Put together here, or this file would find itself.
MACHINE_PATHS = re.compile("/" + r"(?:work|home/[a-z]\w*|Users/[A-Za-z]\w*|root)/\w")
REGISTRIES = re.compile(
    r"https?://(?:\w+\.)*(?:" + "|".join(["py" + "pi.org", "pythonhost" + "ed.org", "npm" + "js.org"]) + ")"
)
KEYS = re.compile(r"BEGIN [A-Z ]*PRIVATE" + " KEY|" + r"\bsk-(?:ant-|proj-)?[A-Za-z0-9]{32,}")
MERGE = re.compile(r"^(?:<{7}|>{7}) ", re.M)


def texts() -> dict[str, str]:
    """Every text file that git knows or would take in."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    found = {}
    for name in filter(None, names):
        try:
            found[name] = (ROOT / name).read_text()
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
    return found


def hits(pattern: re.Pattern[str]) -> dict[str, str]:
    return {name: match[0] for name, text in texts().items() if (match := pattern.search(text))}


def test_no_file_names_a_folder_of_one_machine() -> None:
    assert hits(MACHINE_PATHS) == {}


def test_no_file_names_a_package_registry() -> None:
    assert hits(REGISTRIES) == {}


def test_no_file_holds_a_key() -> None:
    assert hits(KEYS) == {}


def test_no_file_holds_an_unfinished_merge() -> None:
    assert hits(MERGE) == {}
