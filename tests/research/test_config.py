"""Where the settings of a search come from, and what is refused in them (A-43)."""

import json
import stat
from pathlib import Path

import pytest

from assistants.errors import CodedError
from subchats.research.config import Config, read_config


@pytest.fixture
def home(tmp_path: Path, settings, monkeypatch) -> Path:
    """An empty data directory, and an empty working folder beside it."""
    settings.HOME = tmp_path / "home"
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("TASKMONKEY_CONFIG", raising=False)
    return settings.HOME


def write(path: Path, **values: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))
    return path


def refusal(path: Path) -> CodedError:
    with pytest.raises(CodedError) as caught:
        read_config(str(path))
    return caught.value


def test_a43_without_any_file_the_defaults_hold(home: Path) -> None:
    assert read_config() == Config(timeout_ms=10_000, source="defaults")
    assert not home.exists()


def test_a43_the_argument_wins_over_the_variable_and_that_over_the_data_directory(
    home: Path, tmp_path: Path, monkeypatch
) -> None:
    write(home / "config.json", tenant="of-home")
    assert (read_config().tenant, read_config().source) == ("of-home", "home")

    monkeypatch.setenv("TASKMONKEY_CONFIG", str(write(tmp_path / "variable.json", tenant="of-variable")))
    assert (read_config().tenant, read_config().source) == ("of-variable", "explicit")

    given = str(write(tmp_path / "argument.json", tenant="of-argument"))
    assert (read_config(given).tenant, read_config(given).source) == ("of-argument", "explicit")


def test_a43_a_legacy_file_is_copied_unchanged_and_left_alone(home: Path) -> None:
    raw = b'{"tenant":   "apes",\r\n "timeoutMs": 500}\n'
    Path("taskmonkey.config.json").write_bytes(raw)

    first, second = read_config(), read_config()

    assert (first.tenant, first.timeout_ms, first.source, second.source) == ("apes", 500, "legacy", "home")
    assert (home / "config.json").read_bytes() == Path("taskmonkey.config.json").read_bytes() == raw
    assert stat.S_IMODE((home / "config.json").stat().st_mode) == 0o600
    assert [path.name for path in home.iterdir()] == ["config.json"]


def test_a43_a_legacy_file_never_takes_the_place_of_the_data_directorys_own(home: Path) -> None:
    write(home / "config.json", tenant="of-home")
    write(Path("taskmonkey.config.json"), tenant="of-old")

    assert read_config().tenant == "of-home"
    assert json.loads((home / "config.json").read_text()) == {"tenant": "of-home"}


def test_a43_whoever_only_reads_copies_nothing(home: Path) -> None:
    write(Path("taskmonkey.config.json"), tenant="of-old")

    assert (read_config(adopt=False).tenant, read_config(adopt=False).source) == ("of-old", "legacy")
    assert not home.exists()


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"tenat": "apes"}, "tenat"),
        ({"tenant": 7}, "tenant"),
        ({"tenant": "../apes"}, "tenant"),
        ({"assistant": ["scout"]}, "assistant"),
        ({"user": None}, "user"),
        ({"timeoutMs": "500"}, "timeoutMs"),
        ({"timeoutMs": 0}, "timeoutMs"),
        ({"timeoutMs": True}, "timeoutMs"),
        ({"timeoutMs": 1.5}, "timeoutMs"),
    ],
)
def test_a43_an_unknown_key_or_a_bad_value_is_refused_by_its_name(home: Path, tmp_path: Path, values, field) -> None:
    error = refusal(write(tmp_path / "bad.json", **values))

    assert (error.code, error.field) == ("CONFIG_INVALID", field)
    assert field in error.message and str(tmp_path) not in error.message


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff\xfe", b"[" * 60_000, b'{"user":"a","user":"b"}', b" " * 70_000])
def test_a43_what_is_no_settings_file_is_refused_in_a_sentence(home: Path, tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(raw)

    assert refusal(path).code == "CONFIG_INVALID"


def test_a43_a_file_that_was_named_has_to_be_there(home: Path, tmp_path: Path, monkeypatch) -> None:
    assert refusal(tmp_path / "nowhere.json").code == "CONFIG_MISSING"
    assert refusal(tmp_path).code == "CONFIG_UNREADABLE"

    monkeypatch.setenv("TASKMONKEY_CONFIG", str(tmp_path / "nowhere.json"))
    with pytest.raises(CodedError, match="The file that TASKMONKEY_CONFIG names is not there"):
        read_config()
