"""The engine's pieces by themselves: words, sums, segments, routes, offers."""

import string

import pytest
from pydantic_ai.tools import ToolDefinition

from assistants.llm.builtin.arithmetic import find_sum
from assistants.llm.builtin.language import detect_language
from assistants.llm.builtin.offers import Delegate, read_offers
from assistants.llm.builtin.phrases import PHRASES
from assistants.llm.builtin.quoting import render_words
from assistants.llm.builtin.routing import choose_routes, find_mentions, rank_routes
from assistants.llm.builtin.segments import cut_segments
from assistants.llm.builtin.timekeeping import find_clock
from assistants.llm.builtin.words import content_words, likeness, make_word, parts_of
from tests.builtin.house import define
from tests.builtin.messages import decision, in_brief, system, user

DELEGATES = (
    Delegate("travel", "Travel Desk", "Flights and hotels"),
    Delegate("people", "People Team", "Holidays and contracts"),
    Delegate("it", "IT Help", "Laptops and contracts for software"),
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("refund", "refunded"),
        ("policy", "policies"),
        ("carry", "carried"),
        ("cancel", "cancelled"),
        ("approve", "approval"),
        ("Vertrag", "Verträge"),
        ("Kündigung", "KUENDIGUNGEN".replace("UE", "Ü")),
        ("Haus", "Häuser"),
        ("Tage", "Tag"),
        ("lose", "lost"),
        ("holiday", "leave"),
        ("Urlaub", "vacation"),
        ("Reise", "Reisekosten"),
        ("plan", "planning"),
        ("taxi", "taxis"),
    ],
)
def test_two_forms_of_a_word_are_alike(one: str, other: str) -> None:
    assert likeness(make_word(one), make_word(other)) >= 0.6


@pytest.mark.parametrize(
    ("one", "other"),
    [("bit", "bitte"), ("order", "orbit"), ("car", "card"), ("2024", "20245"), ("lease", "release"), ("France", "Francisco")],
)
def test_two_different_words_are_not_alike(one: str, other: str) -> None:
    assert likeness(make_word(one), make_word(other)) == 0


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is the notice period?", "en"),
        ("Was ist die Kündigungsfrist?", "de"),
        ("Urlaub", "de"),
        ("refunds", "en"),
        ("Hallo", "de"),
        ("hi", "en"),
        ("Die Frist", "de"),
        ("", "en"),
        ("who approves travel", "en"),
        ("Größe", "de"),
        ("summarise tools.md", "en"),
        ("Fasse tools.md zusammen", "de"),
    ],
)
def test_the_language_of_a_text_is_known(text: str, language: str) -> None:
    assert detect_language([text]) == language


def test_a_text_that_tells_nothing_takes_the_language_before_it() -> None:
    assert detect_language(["17", "Wie viel ist das?"]) == "de"


@pytest.mark.parametrize(
    ("text", "language", "expression"),
    [
        ("12,5 * 2", "de", "12.5 * 2"),
        ("1.250 + 1", "de", "1250 + 1"),
        ("1,250 + 1", "en", "1250 + 1"),
        ("12,5 * 2", "en", "12.5 * 2"),
        ("1.234,56 / 2", "en", "1234.56 / 2"),
        ("3 x 4", "en", "3 * 4"),
        ("12 : 4", "de", "12 / 4"),
        ("5 squared", "en", "5 ** 2"),
        ("3 * -4", "en", "3 * -4"),
        ("100 - 19%", "en", "100 * (1 - 19 / 100)"),
        ("7 minus 2 plus 1", "en", "7 - 2 + 1"),
    ],
)
def test_a_sum_is_written_for_the_calculator(text: str, language: str, expression: str) -> None:
    found = find_sum(text, language)

    assert found is not None
    assert found.expression == expression


@pytest.mark.parametrize(
    "text",
    [
        "What happened 2024-2025?",
        "lines 12-20 of handbook",
        "2025-01-31",
        "10.5.2024",
        "call +49 30 1234-5678",
        "10:30 meeting",
        "What does 24/7 support mean?",
        "ist 3 und 4 genug?",
        "The 2024/2025 budget",
        "version 1.2.3",
        "42",
    ],
)
def test_not_every_number_is_a_sum(text: str) -> None:
    assert find_sum(text, "en") is None


@pytest.mark.parametrize(
    "text", ["What is the date of the contract?", "What is the delivery time?", "When does the shop open today?"]
)
def test_not_every_time_is_asked_of_the_clock(text: str) -> None:
    assert find_clock(text, "en") is None


def test_a_passage_is_cut_into_what_can_be_quoted() -> None:
    text = "# Title\n\nOne, e.g. this. Two (no. 3) runs\nover lines.\n\n- item one\n  goes on\n- item two\n\n"
    text += "| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode. Here\n```\n"

    segments = cut_segments(text)

    assert [(each.kind, each.text) for each in segments] == [
        ("heading", "# Title"),
        ("sentence", "One, e.g. this."),
        ("sentence", "Two (no. 3) runs\nover lines."),
        ("item", "- item one\n  goes on"),
        ("item", "- item two"),
        ("head", "| a | b |\n|---|---|"),
        ("row", "| 1 | 2 |"),
        ("code", "```\ncode. Here\n```"),
    ]
    assert {each.heading for each in segments} == {"Title"}
    assert all(text[each.start : each.end] == each.text for each in segments)


def test_code_that_began_before_the_passage_is_code() -> None:
    first, second = cut_segments("x = 1\n```\n\nProse follows. It ends.")[:2]

    assert (first.kind, second.text) == ("code", "Prose follows.")


def test_a_rule_under_or_over_a_line_makes_a_heading() -> None:
    kinds = [each.kind for each in cut_segments("Chapter\n=======\nText.\n\n------\nLESSON 2\n\nMore text.")]

    assert kinds == ["heading", "sentence", "heading", "sentence"]


def test_the_clear_winner_is_chosen_and_near_equals_are_all_named() -> None:
    clear = choose_routes(rank_routes(content_words("Which flights and hotels?", "en"), DELEGATES, "en"))
    near = choose_routes(rank_routes(content_words("hotel holidays", "en"), DELEGATES, "en"))
    nobody = choose_routes(rank_routes(content_words("the weather", "en"), DELEGATES, "en"))

    assert [each.delegate.slug for each in clear] == ["travel"]
    assert {each.delegate.slug for each in near} == {"travel", "people"}
    assert nobody == ()


def test_everybody_who_is_named_gets_the_part_meant_for_them() -> None:
    found = find_mentions("@travel book Rome and @IT Help reset my phone", DELEGATES)

    assert [(each.slug, task) for each, task in found] == [("travel", "book Rome"), ("it", "reset my phone")]


def test_the_delegates_are_read_from_the_tool_that_calls_them() -> None:
    description = "Hand on.\nThe assistants:\n- a-b: Anna — Does A: and – more\n- c: Carl — "
    schema = {"type": "object", "properties": {"assistant": {"type": "string", "enum": ["a-b", "c", "d_e"]}}}

    offers = read_offers([ToolDefinition(name="invoke_assistant", description=description, parameters_json_schema=schema)])

    assert offers.delegates == (
        Delegate("a-b", "Anna", "Does A: and – more"),
        Delegate("c", "Carl", ""),
        Delegate("d_e", "D e", ""),
    )


def test_arguments_are_made_to_fit_or_the_call_is_not_made() -> None:
    schema = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "maxLength": 8},
            "limit": {"type": "integer", "maximum": 5},
            "kind": {"anyOf": [{"enum": ["a"], "type": "string"}, {"type": "null"}]},
        },
        "required": ["query"],
    }
    offers = read_offers([ToolDefinition(name="search", parameters_json_schema=schema)])

    assert offers.fit("search", query="a long query", limit=15, other=1) == {"query": "a long…", "limit": 5}
    assert offers.fit("search", query="a", kind="a") == {"query": "a", "kind": "a"}
    assert offers.fit("search", query="a", kind="b") == {"query": "a"}
    assert offers.fit("search", limit=1) is None
    assert offers.fit("other", query="a") is None


def test_both_languages_say_the_same_things() -> None:
    english, german = PHRASES["en"], PHRASES["de"]

    gaps = {key: [set(_gaps(table[key])) for table in (english, german)] for key in english}
    assert english.keys() == german.keys()
    assert {key for key, (one, other) in gaps.items() if one != other} == set()


def test_the_products_own_tools_take_the_calls() -> None:
    import assistants.toolbox  # noqa: F401
    from assistants.tools.registry import all_tools

    # With the tools of a research the engine does nothing but research.
    own = {each.name: each for each in all_tools() if each.name not in ("subagent", "emit_autorag_results")}
    tools = [ToolDefinition(name=name, parameters_json_schema=each.arguments.model_json_schema()) for name, each in own.items()]
    asked = ("What time is it in Tokyo?", "17% of 2,340", "refunds for flights", "open leave.md", "help me with that")

    for text in asked:
        decided = decision([system(), user(text)], tools)
        for call in getattr(decided, "calls", ()):
            own[call.tool].arguments.model_validate(call.arguments)

    assert in_brief(decision([system(), user(asked[0])], tools)) == "current_time(Asia/Tokyo)"


def test_a_listing_tool_is_used_when_there_is_one() -> None:
    tools = [define("search_documents"), ToolDefinition(name="list_documents")]

    decided = decision([system(), user("Which documents do you have?")], tools)

    assert [call.tool for call in getattr(decided, "calls", ())] == ["list_documents"]


def _gaps(text: str) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(text) if name]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("A refund takes\nfive days. No more.", "> A refund takes five days. No more. [3]"),
        ("| hotel | **€110** |", "> hotel · **€110** [3]"),
        ("| a | 1 |\n| b | 2 |", "> - a · 1\n> - b · 2 [3]"),
        ("| what | much |\n|---|---|\n| a | 1 |", "> | what | much |\n> |---|---|\n> | a | 1 |\n>\n> [3]"),
        ("1. Ask.\n2. Wait.", "> 1. Ask.\n> 2. Wait. [3]"),
        ("```\nrun  it\n```", "> ```\n> run  it\n> ```\n>\n> [3]"),
    ],
)
def test_words_out_of_a_document_keep_their_form_in_a_numbered_quote(words: str, shown: str) -> None:
    assert render_words(words, 3) == shown


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("Rückgabefrist", ("ruckgabe", "frist")),
        ("Urlaubsantrag", ()),
        ("Lieferungskosten", ("lieferung", "kosten")),
        ("Rückgabe", ()),
        ("return", ()),
        ("Reisekosten", ()),
    ],
)
def test_a_compound_is_two_words_where_both_have_kin_in_the_other_language(word: str, parts: tuple[str, ...]) -> None:
    assert tuple(each.folded for each in parts_of(make_word(word))) == parts
