"""Assignments of explorers: the V1 block, the legacy lines and the role lines (A-25 to A-27)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subchats.research.assignment import (
    END,
    ROLE_LINES,
    START,
    Assignment,
    AssignmentInvalid,
    ensure_role_lines,
    parse_assignment,
    render_assignment,
)

BODY = {"originalQuery": "Why week 47?", "method": "bm25", "queryVariants": ["week 47", "returns jump"]}
GOOD = Assignment("Why week 47?", "bm25", ("week 47", "returns jump"))
texts = st.text(min_size=1).filter(lambda text: text.strip())


def block(body: object = BODY, *, raw: str | None = None, end: str = "\n") -> str:
    return f"{START}{end}{json.dumps(body) if raw is None else raw}{end}{END}"


ACCEPTED = {
    "alone": block(),
    "with words around it": f"Please look.\n\n{block()}\nThank you.",
    "with carriage returns": block(end="\r\n"),
    "over several lines": block(raw=json.dumps(BODY, indent=2)),
    "at the end of the text": "Look:\n" + block(),
    "with role lines": block() + "\n" + "\n".join(ROLE_LINES),
}
REJECTED = {
    "no end": f"{START}\n{json.dumps(BODY)}",
    "no start": f"{json.dumps(BODY)}\n{END}",
    "end first": f"{END}\n{json.dumps(BODY)}\n{START}",
    "two starts": f"{START}\n{block()}",
    "two ends": f"{block()}\n{END}",
    "two blocks": f"{block()}\n{block()}",
    "empty body": block(raw=""),
    "a list": block([]),
    "a text": block("x"),
    "not JSON": block(raw="{originalQuery: 1}"),
    "a key too many": block(BODY | {"scope": "all"}),
    "a key too few": block({name: value for name, value in BODY.items() if name != "method"}),
    "a key twice": block(raw='{"originalQuery":"a","originalQuery":"b","method":"m","queryVariants":["v"]}'),
    "blank query": block(BODY | {"originalQuery": "  "}),
    "blank method": block(BODY | {"method": " "}),
    "query no text": block(BODY | {"originalQuery": 7}),
    "method no text": block(BODY | {"method": None}),
    "no variants": block(BODY | {"queryVariants": []}),
    "variants no list": block(BODY | {"queryVariants": "week 47"}),
    "variant no text": block(BODY | {"queryVariants": ["a", 1]}),
    "empty variant": block(BODY | {"queryVariants": ["a", ""]}),
    "start not alone": f"Here {START}\n{json.dumps(BODY)}\n{END}",
    "two carriage returns": f"{START}\r\r\n{json.dumps(BODY)}\n{END}",
    "nothing": "",
    "prose": "Look for week 47.",
}
LEGACY = "Original query: Why week 47?\nSelected retrieval method: bm25\nQuery variants: week 47; returns jump"
LEGACY_ACCEPTED = {
    "in order": LEGACY,
    "in another order": "\n".join(reversed(LEGACY.split("\n"))),
    "bulleted": "\n".join(f"- {line}" for line in LEGACY.split("\n")),
    "bold": "\n".join(f"**{line.replace(':', ':**', 1)}" for line in LEGACY.split("\n")),
    "bold before the colon": "\n".join(f"* **{line.replace(':', '**:', 1)}" for line in LEGACY.split("\n")),
    "shouted": LEGACY.replace("Original query", "ORIGINAL QUERY").replace("Query variants", "query VARIANTS"),
    "among prose": f"Please look.\n{LEGACY}\nThanks.",
}
LEGACY_REJECTED = {
    "a label twice": f"{LEGACY}\nOriginal query: something else",
    "a label missing": LEGACY.split("\n", 1)[1],
    "an empty value": LEGACY.replace("bm25", ""),
    "an empty variant": LEGACY + ";",
    "a later label-looking line": f"{LEGACY}\nDone.\n**Query variants:** more",
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_a25_one_block_with_exactly_three_keys_is_an_assignment(text: str) -> None:
    assert parse_assignment(text) == GOOD


@pytest.mark.parametrize("text", REJECTED.values(), ids=REJECTED)
def test_a25_everything_else_is_none(text: str) -> None:
    with pytest.raises(AssignmentInvalid):
        parse_assignment(text)


@pytest.mark.parametrize("text", LEGACY_ACCEPTED.values(), ids=LEGACY_ACCEPTED)
def test_a26_three_labelled_lines_are_an_assignment_too(text: str) -> None:
    assert parse_assignment(text) == GOOD


@pytest.mark.parametrize("text", LEGACY_REJECTED.values(), ids=LEGACY_REJECTED)
def test_a26_each_label_stands_there_once_and_says_something(text: str) -> None:
    with pytest.raises(AssignmentInvalid):
        parse_assignment(text)


ROLES = "\n".join(ROLE_LINES)
WITH_ROLES = {
    "none yet": (block() + "\nGo.", block() + f"\n{ROLES}\nGo."),
    "at the end": (block(), block() + f"\n{ROLES}"),
    "there already": (block() + f"\n{ROLES}\nGo.", block() + f"\n{ROLES}\nGo."),
    "scattered": (f"{ROLE_LINES[1]}\n{block()}\nGo.\n{ROLES}", block() + f"\n{ROLES}\nGo."),
    "carriage returns": (f"A\r\n{START}\r\n{{}}\r\n{END}\r\nB", f"A\r\n{START}\r\n{{}}\r\n{END}\r\n{ROLES}\nB"),
    "legacy": (LEGACY + "\nGo.", LEGACY + f"\n{ROLES}\nGo."),
    "no assignment": ("Only prose.", "Only prose."),
}


@pytest.mark.parametrize(("given_text", "wanted"), WITH_ROLES.values(), ids=WITH_ROLES)
def test_a27_the_role_lines_stand_once_behind_the_assignment(given_text: str, wanted: str) -> None:
    assert ensure_role_lines(given_text) == wanted
    assert ensure_role_lines(wanted) == wanted


@given(query=texts, method=texts, variants=st.lists(texts, min_size=1, max_size=4))
def test_a25_parsing_takes_back_what_rendering_wrote(query: str, method: str, variants: list[str]) -> None:
    assignment = Assignment(query, method.strip(), tuple(variants))

    assert parse_assignment(render_assignment(assignment)) == assignment


def texts_of(*pieces: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from([*'ab \r\n\n:;*-[]{}"', START, END, *pieces])).map("".join)


@given(texts_of(*ROLE_LINES, "Original query:"))
def test_a27_putting_the_role_lines_twice_is_putting_them_once(text: str) -> None:
    once = ensure_role_lines(text)

    assert ensure_role_lines(once) == once


@given(texts_of(json.dumps(BODY), "Query variants:"))
def test_a25_any_text_is_an_assignment_or_none_and_never_a_crash(text: str) -> None:
    try:
        found = parse_assignment(text)
    except AssignmentInvalid:
        return

    assert found.query.strip() and found.method.strip() and all(each.strip() for each in found.variants)


@given(st.text(alphabet=st.characters(exclude_categories=()), min_size=1), st.text(min_size=1))
def test_a25_half_a_character_is_never_taken_in(query: str, method: str) -> None:
    body = json.dumps({"originalQuery": query, "method": method, "queryVariants": [query]})

    try:
        found = parse_assignment("\n".join([START, body, END]))
    except AssignmentInvalid:
        return

    assert found.query.encode() and found.method.encode()
