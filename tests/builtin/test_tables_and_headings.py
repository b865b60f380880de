"""Which place is quoted: the one under the right heading, in the right row, with the figure that was asked for."""

import pytest
from pydantic_ai.messages import ModelMessage

from assistants.llm.builtin.ambiguity import ambiguous_documents
from assistants.llm.builtin.figures import DURATION, MOMENT, MONEY, NUMBER, stated_figure, wanted_figure
from assistants.llm.builtin.findings import rank_findings
from assistants.llm.builtin.passages import Passage
from assistants.llm.builtin.sections import sections_of
from assistants.llm.builtin.segments import cut_segments
from assistants.llm.builtin.wish import make_wish
from assistants.llm.builtin.words import likeness, make_word
from tests.builtin.handbook import SOLO, SOLO_DE
from tests.builtin.house import House, Staff

SHOP = {
    "help/order.md": "# Ordering\n\nYou can cancel until the parcel is packed. After that, please send it back.\n",
    "help/back.md": """# Returns

## How to send something back
1. Register the return.
2. Print the label.
3. Hand in the parcel.
""",
    "help/delivery.md": """# Delivery

## How long delivery takes
Express delivery costs 9.00 EUR more.

| Where to | Time |
|---|---|
| Germany | 2 working days |
| Austria | 4 working days |
""",
    "house/damage.md": """# Damage

| Week | Carrier | Damage rate |
|---|---|---|
| 44 | Northpost | 1.2% |
| 45 | Northpost | 1.4% |

The damage rate is known for weeks 44 and 45 only.
""",
    "house/refunds.md": """# Refunds

| Amount | Released by |
|---|---|
| up to 250.00 EUR | anybody |
| more than 1,000.00 EUR | the director |
""",
    "house/prices.md": """# Prices

- Item: A1; Group: tent; Price (EUR): 389.00
- Item: B2; Group: jacket; Price (EUR): 229.00
- Item: C3; Group: tent; Price (EUR): 459.00
""",
}


async def answer(question: str, documents: dict[str, str] = SHOP) -> str:
    history: list[ModelMessage] = []
    return await House([SOLO], documents).turn("solo", history, question)


async def test_a_heading_that_says_it_all_wins_over_a_sentence_in_passing() -> None:
    text = await answer("How do I send something back?")

    assert text.index("1. Register the return.") < text.index("3. Hand in the parcel.")
    assert "please send it back" not in text.partition("help/back.md, lines")[0]


async def test_how_long_is_answered_with_a_time_and_not_with_a_price() -> None:
    text = await answer("How long does delivery take?")

    assert "> | Germany | 2 working days |\n> | Austria | 4 working days |" in text
    assert "9.00" not in text


async def test_a_row_is_understood_together_with_the_names_of_its_columns() -> None:
    text = await answer("What is the damage rate of Northpost in week 45?")

    assert "| 45 | Northpost | 1.4% |" in text and "1.2%" not in text


async def test_rows_that_answer_alike_are_quoted_together() -> None:
    text = await answer("What does a tent cost?")

    assert "> - Item: A1; Group: tent; Price (EUR): 389.00\n> - Item: C3; Group: tent; Price (EUR): 459.00" in text
    assert "jacket" not in text


async def test_an_amount_is_found_with_and_without_its_cents() -> None:
    assert "| more than 1,000.00 EUR | the director |" in await answer("Who released more than 1,000 EUR?")


async def test_steps_that_are_left_out_are_marked() -> None:
    steps = "# Repair\n\n1. Ring the workshop.\n2. Wait for Monday.\n3. Ring the workshop.\n"

    assert "[…]" in await answer("Do I ring the workshop?", {"repair.md": steps})


@pytest.mark.parametrize(
    ("staff", "question", "name"),
    [
        (SOLO, "Summarise the leave policy", "leave-policy.md"),
        (SOLO_DE, "Fasse die Urlaubsregeln zusammen", "urlaubsregeln.md"),
    ],
)
async def test_a_document_to_be_summarised_is_shown_by_its_headings(staff: Staff, question: str, name: str) -> None:
    documents = {
        name: f"# {name}\n\n## Days\n30 days of leave, Urlaub for all.\n\n## Notice\nAsk 4 weeks ahead.\n",
        "travel.md": "# Travel\n\nThe leave policy and the Urlaubsregeln hold on travels too.\n",
    }

    text = await House([staff], documents).turn("solo", [], question)

    assert name in text and "**Days** (" in text and "**Notice** (" in text


def test_a_number_at_the_beginning_of_a_line_goes_on_with_its_sentence() -> None:
    found = cut_segments("Every other article moved by fewer than\n6. Customers name a torn seam.\n\n6. A real sixth item\n")

    assert [(each.kind, each.text) for each in found] == [
        ("sentence", "Every other article moved by fewer than\n6. Customers name a torn seam."),
        ("item", "6. A real sixth item"),
    ]


@pytest.mark.parametrize(
    ("question", "language", "kind"),
    [
        ("How long does it take?", "en", DURATION),
        ("How fast do they deliver?", "en", DURATION),
        ("When does the shop open?", "en", MOMENT),
        ("What does it cost?", "en", MONEY),
        ("How many came back?", "en", NUMBER),
        ("Who decides?", "en", ""),
        ("Wie schnell liefert er?", "de", DURATION),
        ("Wann hat der Laden geöffnet?", "de", MOMENT),
        ("Was kostet ein Zelt?", "de", MONEY),
        ("Wie hoch ist die Quote?", "de", NUMBER),
        ("Wer entscheidet?", "de", ""),
    ],
)
def test_a_question_tells_which_kind_of_figure_it_wants(question: str, language: str, kind: str) -> None:
    assert wanted_figure(question, language) == kind


@pytest.mark.parametrize(
    ("kind", "text", "other"),
    [
        (DURATION, "within 5 working days", "on week 47, for €9.90"),
        (DURATION, "in 15 Werktagen", "ab 80,00 €"),
        (MONEY, "€149.00 each", "in 5 days"),
        (MONEY, "kostet 18,00 €", "dauert 10 Werktage"),
        (MONEY, "Price (EUR): 14.90", "Shelf 14"),
    ],
)
def test_a_figure_of_the_wanted_kind_counts_more(kind: str, text: str, other: str) -> None:
    assert stated_figure(kind, text) == 1.0 > stated_figure(kind, other) > stated_figure(kind, "soon") == 0.0


@pytest.mark.parametrize(
    ("one", "other", "least"),
    [
        ("Gutscheinen", "Gutschein", 1.0),
        ("1,000", "1,000.00", 1.0),
        ("1.000", "1.000,00", 1.0),
        ("149", "149.00", 1.0),
        ("kostet", "Verkaufspreis", 0.6),
        ("batch", "Charge", 0.8),
    ],
)
def test_forms_of_words_and_amounts_are_alike(one: str, other: str, least: float) -> None:
    assert likeness(make_word(one), make_word(other)) >= least


@pytest.mark.parametrize(("one", "other"), [("kostet", "Charge"), ("zuständig", "Charge"), ("149", "149.50"), ("100", "1.00")])
def test_false_friends_are_not_alike(one: str, other: str) -> None:
    assert likeness(make_word(one), make_word(other)) == 0


def test_j27_an_option_names_the_document_and_not_one_of_its_sections() -> None:
    wish = make_wish("returns", "en")
    passages = [
        Passage("a/policy.md", "## Who decides\nReturns are decided here.", title="Returns policy › Who decides"),
        Passage("b/suppliers.md", "## Steps\nReturns to them need a number.", title="Returns to suppliers › Steps"),
    ]

    options = ambiguous_documents(wish, rank_findings(wish, passages))

    assert options == ("Returns policy (a/policy.md)", "Returns to suppliers (b/suppliers.md)")


def best_of(question: str, text: str, document: str = "plant/loads.docx") -> str:
    return rank_findings(make_wish(question, "en"), [Passage(document, text)])[0].best.text


def test_in_a_table_without_a_rule_the_row_that_is_asked_for_goes_before_the_names_of_the_columns() -> None:
    loads = "# Shelves\n\n| Shelf | Load | Inspector |\n| A-12 | 1,500 kg | Northcert |\n| B-03 | 2,250 kg | Dekro |"

    assert best_of("Which load does shelf B-03 take?", loads) == "| B-03 | 2,250 kg | Dekro |"
    assert [each.above for each in cut_segments(loads) if each.kind == "row"] == ["", *["| Shelf | Load | Inspector |"] * 2]
    assert {each.above for each in cut_segments(loads.partition("\n\n")[2])} == {""}


def test_neither_the_name_of_a_sheet_nor_the_names_of_its_columns_are_quoted() -> None:
    sheet = "<!-- sheet Costs Q3 -->\nItem; Amount; Share\n- Item: Base; Amount: 92000\n- Item: Costs released by Dr. Sima"

    assert [each.text for each in cut_segments(sheet) if each.quotable] == sheet.split("\n")[2:]
    assert best_of("Who released the costs of Q3?", sheet, "plant/costs.xlsx") == "- Item: Costs released by Dr. Sima"


@pytest.mark.parametrize(
    ("name", "kind"), [("plant/limits.py", "sentence"), ("plant/limits.YAML", "sentence"), ("plant/limits.md", "heading")]
)
def test_a_comment_in_a_program_is_no_heading(name: str, kind: str) -> None:
    text = "# The grid allows a ramp of ten percent per minute.\nMAX_RAMP = 10"
    passage = Passage(name, text)

    assert cut_segments(text, commented=passage.commented)[0].kind == kind
    assert [each.title for each in sections_of([passage])] == ([""] if kind == "sentence" else [text.partition("\n")[0][2:]])
