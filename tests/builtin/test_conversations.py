"""Whole conversations on a small folder: asked, asked back, passed on, handed back, quoted."""

from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse

from tests.builtin.handbook import ENGLISH, GERMAN, SOLO, SOLO_DE, TEAM, TEAM_DE
from tests.builtin.house import House, Staff


async def talk(house: House, *texts: str, slug: str = "") -> list[str]:
    """The replies to one message after the other; the options instead of a reply where it was asked back."""
    history: list[ModelMessage] = []
    replies = []
    for text in texts:
        answer = await house.turn(slug or house.staff[0].slug, history, text)
        replies.append(answer or " | ".join(options(history)))
    return replies


def options(history: list[ModelMessage]) -> list[str]:
    last = next(message for message in reversed(history) if isinstance(message, ModelResponse))
    return [option for call in last.tool_calls for option in call.args_as_dict().get("options", [])]


def calls(house: House, tool: str) -> list[dict[str, Any]]:
    return [arguments for _, name, arguments in house.log if name == tool]


async def test_a_question_is_answered_by_a_quote_with_file_and_lines() -> None:
    house = House([SOLO], ENGLISH)

    (answer,) = await talk(house, "How long must passwords be?")

    assert "> **Passwords have at least 14 characters and are never shared.**" in answer
    assert "— it/security.md, line 5" in answer


async def test_a_german_question_is_answered_in_german() -> None:
    (answer,) = await talk(House([SOLO_DE], GERMAN), "Wie viele Zeichen hat ein Passwort?")

    assert answer.startswith("Dazu steht in `it/sicherheit.md`:")
    assert "mindestens 14 Zeichen" in answer
    assert "Zeile 5" in answer


async def test_a_figure_in_a_table_comes_with_its_head() -> None:
    (answer,) = await talk(House([SOLO], ENGLISH), "What is the meal allowance for a full day in 2025?")

    assert "> | Duration | Allowance 2024 | Allowance 2025 |\n> |---|---|---|\n> | full day | 28 EUR | 30 EUR |" in answer
    assert "more than 8 hours" not in answer


async def test_a_section_is_shown_whole_when_only_its_heading_fits() -> None:
    (answer,) = await talk(House([SOLO], ENGLISH), "How do I submit expenses?")

    assert "> 1. Scan the receipts.\n> 2. Fill in the form in the portal.\n> 3. Send it to your team lead" in answer


async def test_what_no_passage_mentions_is_said() -> None:
    (answer,) = await talk(House([SOLO], ENGLISH), "Is a taxi to Tokyo reimbursed?")

    assert "Taxi receipts are reimbursed within 14 days." in answer
    assert "None of these passages mentions “Tokyo”." in answer


async def test_nothing_found_is_said_plainly() -> None:
    english, german = House([SOLO], ENGLISH), House([SOLO_DE], GERMAN)

    (answer,) = await talk(english, "What is the capital of France?")
    (antwort,) = await talk(german, "Was ist die Hauptstadt von Frankreich?")

    assert answer.startswith("I found nothing about “capital” and “France” in the documents.")
    assert antwort.startswith("Zu „Hauptstadt“ und „Frankreich“ habe ich in den Dokumenten nichts gefunden.")


async def test_a_near_miss_is_shown_as_what_it_is() -> None:
    (answer,) = await talk(House([SOLO], ENGLISH), "hotel contract")

    assert answer.startswith("I found nothing that answers this; the nearest passage")
    assert "It does not mention “contract”." in answer


async def test_a_bare_word_in_several_documents_is_asked_back() -> None:
    house = House([SOLO], ENGLISH)

    asked, answer = await talk(
        house,
        "refunds",
        "My answer to “I find “refunds” in several documents. Which do you mean?”:\n- Booking a trip (travel/booking.md)",
    )

    assert asked == "Returns and refunds for customers (shop/returns.md) | Booking a trip (travel/booking.md)"
    assert "go to the company card" in answer
    assert "shoes" not in answer


async def test_a_typed_answer_chooses_as_well_as_a_tick() -> None:
    asked = "refunds"

    for typed in ("the second one", "booking", "2"):
        _, answer = await talk(House([SOLO], ENGLISH), asked, typed)
        assert "go to the company card" in answer and "shoes" not in answer


async def test_both_readings_can_be_chosen() -> None:
    _, answer = await talk(House([SOLO], ENGLISH), "refunds", "both")

    assert "go to the company card" in answer and "return shoes" in answer


async def test_a_new_question_drops_the_one_that_was_asked_back() -> None:
    _, answer = await talk(House([SOLO], ENGLISH), "refunds", "How long must my passwords be?")

    assert "at least 14 characters" in answer


async def test_thanks_instead_of_a_choice_is_no_choice() -> None:
    _, answer = await talk(House([SOLO], ENGLISH), "refunds", "thanks")

    assert answer == "You're welcome."


async def test_a_dominating_document_is_not_asked_about() -> None:
    (answer,) = await talk(House([SOLO], ENGLISH), "laptop")

    assert "New employees get a laptop" in answer


async def test_a_follow_up_takes_words_from_the_question_before_it() -> None:
    house = House([SOLO], ENGLISH)

    _, answer = await talk(house, "What is the meal allowance for a full day in 2025?", "and for more than 8 hours?")

    assert calls(house, "search_documents")[-1]["query"].startswith("8 hours")
    assert "more than 8 hours | 14 EUR | 15 EUR" in answer


async def test_a_new_year_replaces_the_old_one() -> None:
    house = House([SOLO], ENGLISH)

    await talk(house, "What is the meal allowance for a full day in 2025?", "and in 2024?")

    assert calls(house, "search_documents")[-1]["query"] == "2024 meal allowance full day"


async def test_more_reads_on_after_the_last_quote() -> None:
    house = House([SOLO], ENGLISH)

    _, answer = await talk(house, "Do I need a doctor's certificate?", "tell me more")

    assert calls(house, "read_document")[-1] == {"document": "people/leave.md", "start": 12, "lines": 60}
    assert "> - Up to 36 months per child" in answer


async def test_a_file_is_opened_by_its_bare_name() -> None:
    house = House([SOLO], ENGLISH)

    (answer,) = await talk(house, "open security.md")

    assert [call["document"] for call in calls(house, "read_document")] == ["security.md", "it/security.md"]
    assert answer.startswith("`it/security.md` says:")


async def test_a_file_that_is_not_there_is_said() -> None:
    (answer,) = await talk(House([SOLO], ENGLISH), "open nothing.md")

    assert answer.startswith("I can't find a document “nothing.md”.")


async def test_a_summary_becomes_an_outline() -> None:
    (answer,) = await talk(House([SOLO_DE], GERMAN), "Fasse urlaub.md zusammen")

    assert "Zusammenfassen kann ich es nicht" in answer
    assert "**Elternzeit** (Zeile 10)" in answer


async def test_what_a_named_file_says_comes_from_that_file_only() -> None:
    house = House([SOLO], ENGLISH)

    (answer,) = await talk(house, "What does laptops.md say about the help desk?")

    assert answer.startswith("I found nothing about “desk” in laptops.md.")


async def test_something_to_be_written_is_declined_and_quoted() -> None:
    (answer,) = await talk(House([SOLO], ENGLISH), "Write an email about the refund of cancelled flights")

    assert answer.startswith("I can't write, translate or summarise in my own words")
    assert "> **Refunds for cancelled flights go to the company card" in answer


async def test_t04_a_question_goes_to_the_assistant_whose_field_it_is() -> None:
    house = House(TEAM, ENGLISH)

    (answer,) = await talk(house, "What happens if I lose my laptop?")

    assert calls(house, "invoke_assistant") == [{"assistant": "it-help", "task": "What happens if I lose my laptop?"}]
    assert answer.startswith("**IT Help** reports:")
    assert "Report a lost or stolen laptop" in answer


async def test_parts_of_two_fields_are_passed_on_at_once_and_labelled() -> None:
    house = House(TEAM, ENGLISH)

    (answer,) = await talk(house, "What is the notice period and how do I book a flight?")

    assert [who for who, tool, _ in house.log if tool == "invoke_assistant"] == ["lead", "lead"]
    assert answer.index("**People Team** on “What is the notice period”:") < answer.index(
        "**Travel Desk** on “how do I book a flight?”:"
    )


async def test_a_follow_up_is_passed_on_so_that_it_stands_alone() -> None:
    house = House(TEAM, ENGLISH)

    _, answer = await talk(house, "How many days of holiday do I have?", "and for sick leave?")

    assert calls(house, "invoke_assistant")[-1]["task"] == (
        "and for sick leave? (earlier question: How many days of holiday do I have?)"
    )
    assert "before 9:00 on the first day" in answer


async def test_facts_that_were_told_before_go_along() -> None:
    house = House(TEAM, ENGLISH)

    await talk(house, "My flight to Rome was cancelled on Monday", "Who pays the refund of a cancelled flight?")

    assert "My flight to Rome was cancelled on Monday" in calls(house, "invoke_assistant")[-1]["context"]


async def test_two_fields_alike_are_asked_back_and_the_choice_is_passed_on() -> None:
    house = House(TEAM, ENGLISH)

    asked, _ = await talk(house, "hotel contract", "the first one")

    assert asked.startswith("Travel Desk: Flights, hotels") and " | People Team: " in asked
    assert calls(house, "invoke_assistant") == [{"assistant": "travel", "task": "hotel contract"}]


async def test_every_chosen_assistant_is_asked() -> None:
    house = House(TEAM, ENGLISH)

    await talk(house, "hotel contract", "both")

    assert [call["assistant"] for call in calls(house, "invoke_assistant")] == ["travel", "people"]


async def test_j23_a_child_that_finds_nothing_hands_back_the_question() -> None:
    house = House(TEAM, ENGLISH)

    (answer,) = await talk(house, "@travel Is there parking at the airport?")

    (handed,) = calls(house, "hand_back")
    assert handed["whatIsNeeded"] == "Is there parking at the airport?"
    assert handed["whatIEstablished"].startswith("Searched the documents for “parking airport”")
    assert answer.startswith("**Travel Desk** found no answer and handed the question back.")
    assert "I found nothing about “parking” and “airport” in the documents." in answer


async def test_j20_a_hand_back_goes_to_the_owner_that_it_names() -> None:
    team = (
        Staff("lead", "Lead", "Everything", tools=(), delegates=("front", "safe")),
        Staff("front", "Front", "Keys and doors", tools=()),
        Staff("safe", "Safe", "Everything that is locked", tools=("search_documents",)),
    )
    house = House(team, {"keys.md": "The spare keys hang in the porter's lodge."})

    async def hand_over(**arguments: Any) -> dict[str, Any]:
        if arguments["assistant"] != "front":
            return await House.invoke(house, **arguments)
        error = "[HANDED_BACK] field=- fix=Call safe now.\nThe sub-task was handed back. Needed: Where are they?"
        error += "\nEstablished: not at the door\nOwner: safe\nAct on it now."
        return {"success": False, "sub_chat_id": "sub_1_0", "reply": "", "tools_used": [], "iterations": 1, "error": error}

    house.invoke = hand_over  # type: ignore[method-assign]

    (answer,) = await talk(house, "Who has the spare keys?")

    first, second = calls(house, "invoke_assistant")
    assert (first["assistant"], second["assistant"]) == ("front", "safe")
    assert "not at the door" in second["context"]
    assert "spare keys hang in the porter's lodge" in answer


async def test_a_helper_is_made_when_it_is_asked_for() -> None:
    house = House(TEAM_DE, GERMAN)
    house.tool = lambda name, arguments: {"success": True, "reply": "Zwei Wochen.", "error": None}  # type: ignore[method-assign]

    (answer,) = await talk(house, "Starte einen Unteragenten, der die Kündigungsfrist sucht")

    (made,) = calls(house, "spawn_agent")
    assert set(made["tools"]) <= set(TEAM_DE[0].tools)
    assert answer == "**Der Unteragent** berichtet:\n\nZwei Wochen."


async def test_a_search_that_wants_all_words_is_helped_by_fewer() -> None:
    house = House([SOLO], ENGLISH, all_words=True)

    (answer,) = await talk(house, "Can I fly business class to New York?")

    assert "Business class is allowed on" in answer
    assert len(calls(house, "search_documents")) > 1


async def test_german_words_find_english_documents() -> None:
    (answer,) = await talk(House([SOLO], ENGLISH), "Wie viel Urlaub habe ich?")

    assert answer.startswith("Dazu steht in")
    assert "30 days of paid annual leave" in answer


async def test_nobody_is_asked_the_same_question_twice_in_a_row() -> None:
    team = (
        Staff("lead", "Lead", "Everything", tools=("ask_clarifying_question",), delegates=("travel", "people")),
        Staff("travel", "Travel", "Flights", tools=("search_documents",)),
        Staff("people", "People", "Contracts", tools=("search_documents",)),
    )
    house = House(team, ENGLISH)

    await talk(house, "parking", "no idea which one")

    assert len(calls(house, "ask_clarifying_question")) == 1
    assert calls(house, "invoke_assistant")


async def test_words_typed_instead_of_a_choice_are_looked_up_themselves() -> None:
    house = House([SOLO], ENGLISH)

    _, answer = await talk(house, "refunds", "passwords rather")

    assert "at least 14 characters" in answer


async def test_a_follow_up_goes_to_whoever_answered_before() -> None:
    house = House(TEAM, ENGLISH)

    await talk(house, "@travel what about taxis?", "and within how many days?")

    assert [call["assistant"] for call in calls(house, "invoke_assistant")] == ["travel", "travel"]


async def test_a_part_that_points_back_stays_with_the_part_before_it() -> None:
    house = House(TEAM, ENGLISH)

    await talk(house, "Who books the flights, and how long do they work?")

    assert [call["task"] for call in calls(house, "invoke_assistant")] == ["Who books the flights, and how long do they work?"]


async def test_a_comparison_quotes_each_side() -> None:
    (answer,) = await talk(House([SOLO], ENGLISH), "Compare the rules for hotels and trains")

    assert "Hotels are reimbursed up to 120 EUR" in answer and "Trains are second class" in answer


async def test_a_code_with_a_sign_in_it_is_one_word() -> None:
    documents = {"a.md": "Part NL-12 costs 9 EUR.", "b.md": "Part NL-13 costs 12 EUR."}

    (answer,) = await talk(House([SOLO], documents), "What does NL-12 cost?")

    assert "9 EUR" in answer and "NL-13" not in answer
