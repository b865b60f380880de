"""A quote is found where it stands, or not at all."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subchats.research.quotes import Quote, evidence_id, find_quote

TEXT = """# Returns policy

Customers may send goods back within 30\u00a0days of delivery. The label is “free of charge”.
Refunds are paid – at the latest –
within five   working days.

Ru\u0308ckgabe: Die Ware muss unbenutzt sein; Übergrößen ausge\u00adnommen.
Refunds are paid - at the latest - within ten days.
"""


@pytest.mark.parametrize(
    ("quote", "line"),
    [
        ("Customers may send goods back within 30 days of delivery.", 3),
        ('The label is "free of charge"', 3),
        ("Refunds are paid - at the latest - within five working days.", 4),
        ("Rückgabe: Die Ware muss unbenutzt sein", 7),
        ("Übergrößen ausgenommen", 7),
        ("  within five\nworking days ", 5),
    ],
)
def test_white_space_and_typography_make_no_difference(quote: str, line: int) -> None:
    found = find_quote(TEXT, quote)

    assert found and found.line == line
    assert TEXT[found.start : found.end] == found.words


@pytest.mark.parametrize(
    "quote",
    [
        "Customers may send goods back within 14 days of delivery.",
        "customers may send goods back",
        "Customers may return goods",
        "Refunds are paid within five working days.",
        "30 days",
        "",
        "   ",
        "Customers may send goods back [...] free of charge",
    ],
)
def test_other_words_are_not_there(quote: str) -> None:
    assert find_quote(TEXT, quote) is None


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Tickets are non-refundable after one day.", "refundable after one day"),
        ("The unlimited warranty ends in May.", "limited warranty ends"),
        ("The warranty is limitless in May.", "warranty is limit"),
        ("A day costs 1.50 euros.", "A day costs 1"),
        ("A flight costs 1,200 euros.", "200 euros."),
        ("The shop opens at 10:30 sharp.", "opens at 10"),
        ("Clerks don't sign it at all.", "t sign it at all"),
        ("Set max_size before you start.", "size before you start"),
        ("Das ist aus\u00adgenommen worden.", "genommen worden"),
    ],
)
def test_a_quote_does_not_begin_or_end_inside_of_a_word(text: str, quote: str) -> None:
    assert find_quote(text, quote) is None


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Goods come back—customers pay for it.", "customers pay for it"),
        ("He said: 'Refunds are late.'", "Refunds are late."),
        ("The _whole price_ is paid back.", "whole price"),
        ("**Refunds** are paid at once.", "Refunds** are paid"),
        ("Version 3. Refunds are paid.", "Refunds are paid"),
        ("退款在五个工作日内支付给客户。", "在五个工作日内支付给"),
        ("The unlimited warranty. A limited warranty ends.", "limited warranty ends"),
    ],
)
def test_a_quote_of_whole_words_stands_beside_any_sign(text: str, quote: str) -> None:
    found = find_quote(text, quote)

    assert found and found.words == quote


def test_a_quote_must_stand_at_the_place_that_was_named() -> None:
    assert find_quote(TEXT, "Refunds are paid - at the latest -") == Quote(
        TEXT.index("Refunds"),
        TEXT.index("Refunds") + len("Refunds are paid – at the latest –"),
        4,
        "Refunds are paid – at the latest –",
    )
    assert find_quote(TEXT, "at the latest - within ten days", line=8)
    assert find_quote("x\n" * 50 + TEXT, "at the latest - within ten days", line=8) is None
    assert find_quote("A refund takes five days.\n" * 40, "A refund takes five days.", line=30).line == 27


def test_what_is_too_long_is_a_copy_and_costs_no_time() -> None:
    text = "a" * 1_000_000

    assert find_quote(text, "a" * 500_000, line=9) is None


def test_a_quote_that_fits_everywhere_in_a_word_takes_no_longer_than_one_that_fits_nowhere() -> None:
    def spent(quote: str) -> float:
        """CPU seconds."""
        begun = time.process_time()
        assert find_quote("a" * 500_000, quote, line=9) is None
        return time.process_time() - begun

    assert spent("a" * 4000) < 5 * spent("b" * 4000)


@given(before=st.text(max_size=80), words=st.text(min_size=12, max_size=80), after=st.text(max_size=80))
def test_what_was_cut_out_of_a_text_is_found_in_it(before: str, words: str, after: str) -> None:
    found = find_quote(f"{before} {words} {after}", words)

    assert found is None or f"{before} {words} {after}"[found.start : found.end] == found.words


@given(words=st.text(alphabet="abcdefgh äöüßé.,-", min_size=12, max_size=80).filter(lambda text: len(text.split()) > 2))
def test_ordinary_words_are_always_found(words: str) -> None:
    text = f"One line.\n{words}\nAnother line."

    found = find_quote(text, words.replace(" ", "\n\n"))

    assert (found is not None) == (len(" ".join(words.split())) >= 8)


def test_an_evidence_id_is_stable_and_holds_no_path() -> None:
    first = evidence_id("bm25", "handbook/returns.md", 3, "Customers may send goods back")

    assert first == evidence_id("bm25", "handbook/returns.md", 3, " Customers  may send goods back ")
    assert len(first) == 24 and int(first, 16) >= 0
    assert first != evidence_id("posix", "handbook/returns.md", 3, "Customers may send goods back")
    assert first != evidence_id("bm25", "handbook/returns.md", 4, "Customers may send goods back")
    assert evidence_id("bm25", "handbook/returns.md", 3, "x", retrieval_id="p17") == "bm25:p17"
    assert "/" not in evidence_id("bm25", "handbook/returns.md", 3, "x", retrieval_id="handbook/returns.md#3")
