"""Every word of the pages stands in German too, and the compiled file says what its source says."""

import re
import subprocess
import sys
from pathlib import Path

import polib
from django.apps import apps
from django.contrib import admin
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation.template import templatize

from assistants.tools.registry import all_tools

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "locale/de/LC_MESSAGES/django.po"
# What `templatize` turns {% translate %} and {% blocktranslate %} into.
CALLS = re.compile(
    r"\b(?:gettext|ngettext)\(u?(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|\b_\((?P<short>\"[^\"]*\"|'[^']*')\)"
)


def words_of_templates() -> dict[str, str]:
    """Each text of a template that is to be translated, with the template's name."""
    found = {}
    for path in sorted((ROOT / "templates").rglob("*.html")):
        for match in CALLS.finditer(templatize(path.read_text())):
            # As the extraction does, which reads them as Python.
            found[eval(match["text"] or match["short"])] = str(path.relative_to(ROOT))
    return found


def test_every_text_of_a_template_stands_in_the_german_file():
    known = {entry.msgid for entry in polib.pofile(str(SOURCE)) if not entry.obsolete}

    assert {text: name for text, name in words_of_templates().items() if text not in known} == {}


def names_of_the_record() -> dict[str, object]:
    """What admin pages call things: by its place, each name of a model of ours, and all words of the fields of those that
    have pages of their own."""
    found: dict[str, object] = {}
    for model in apps.get_models():
        meta = model._meta
        if meta.app_label not in ("assistants", "subchats") or meta.model_name in ("tally", "runner", "localrunner", "user"):
            continue
        found |= {meta.label: meta.verbose_name, f"{meta.label}, many": meta.verbose_name_plural}
        for field in meta.local_fields + meta.local_many_to_many if admin.site.is_registered(model) else ():
            if field.primary_key:
                continue
            found[f"{meta.label}.{field.name}"] = field.verbose_name
            words = [field.help_text, *(label for _, label in field.choices or ())]
            found |= {f"{meta.label}.{field.name}: {each}": each for each in words if each}
    return found


def test_everything_that_the_admin_names_stands_in_the_german_file():
    known = {entry.msgid for entry in polib.pofile(str(SOURCE)) if not entry.obsolete}
    proper = ("Anthropic", "Google", "------")

    with translation.override(None):
        names = {place: each for place, each in names_of_the_record().items() if str(each) not in proper}
        missing = [place for place, each in names.items() if not isinstance(each, Promise) or str(each) not in known]
        # Other tests of this process may have brought tools of their own.
        ours = [tool for tool in all_tools() if not tool.function.__module__.startswith("tests.")]
        unnamed = [tool.name for tool in ours if " ".join(tool.description.partition("\n\n")[0].split()) not in known]

    assert len(names) > 150 and (missing, unnamed) == ([], [])


def test_no_german_text_is_missing_or_doubtful():
    entries = [entry for entry in polib.pofile(str(SOURCE)) if not entry.obsolete]

    assert [entry.msgid for entry in entries if not entry.translated() or "fuzzy" in entry.flags] == []


def test_a_german_text_has_the_same_placeholders():
    def names(text):
        return set(re.findall(r"%\(\w+\)[sd]|%[sd]", text))

    entries = polib.pofile(str(SOURCE))

    wrong = [
        entry.msgid
        for entry in entries
        for text in (entry.msgstr, *entry.msgstr_plural.values())
        if text and names(text) != names(entry.msgid)
    ]
    assert wrong == []


def test_the_compiled_file_is_up_to_date():
    done = subprocess.run([sys.executable, "locale/compile.py", "--check"], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout


def test_the_words_are_german_once_german_is_chosen():
    with translation.override("de"):
        assert translation.gettext("Send answer") == "Antwort senden"
        assert translation.ngettext("%(n)s step", "%(n)s steps", 2) % {"n": 2} == "2 Schritte"
