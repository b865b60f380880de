"""One message in, one decision out: what the engine does first, in English and German."""

import pytest

from tests.builtin.handbook import SOLO, SOLO_DE, TEAM, TEAM_DE
from tests.builtin.house import House
from tests.builtin.messages import decision, in_brief, system, user

LEAD_EN = [
    ("Hi there", "Hello!"),
    ("Good morning!", "Hello!"),
    ("thanks a lot", "You're welcome."),
    ("bye", "Goodbye."),
    ("help", "This is what I can do here:"),
    ("What can you do?", "This is what I can do here:"),
    ("Who are you?", "I am the built-in engine"),
    ("Are you an AI?", "I am the built-in engine"),
    ("How do I connect a language model?", "I am the built-in engine"),
    ("", "Hello!"),
    ("17% of 2,340", "calculate(17 / 100 * 2340)"),
    ("What is 12.5 times 3?", "calculate(12.5 * 3)"),
    ("calculate 100 + 19%", "calculate(100 * (1 + 19 / 100))"),
    ("2^10", "calculate(2 ** 10)"),
    ("How much is (3 + 4) * 2?", "calculate((3 + 4) * 2)"),
    ("What time is it?", "current_time()"),
    ("What's the time in Tokyo?", "current_time(Asia/Tokyo)"),
    ("What day is it today?", "current_time()"),
    ("How do I book a flight to Rome?", "invoke_assistant(travel)"),
    ("How many days of holiday do I have?", "invoke_assistant(people)"),
    ("I lost my laptop", "invoke_assistant(it-help)"),
    ("What is the notice period?", "invoke_assistant(people)"),
    ("@travel what about taxis?", "invoke_assistant(travel)"),
    ("@Travel Desk: what about taxis?", "invoke_assistant(travel)"),
    ("@IT Help how long must a hotel be booked?", "invoke_assistant(it-help)"),
    ("Ask the travel desk how to submit receipts", "invoke_assistant(travel)"),
    ("@travel @people what changes in May?", "invoke_assistant(travel) + invoke_assistant(people)"),
    ("@nobody are you there?", "There is no assistant “nobody” here."),
    ("hotel contract", "ask_clarifying_question(Who should take care of this?)"),
    ("help me with that", "ask_clarifying_question(What is it about?)"),
    ("Can you do something for me?", "ask_clarifying_question(What is it about?)"),
    ("tell me more", "ask_clarifying_question(What is it about?)"),
    (
        "What is the notice period and how do I book a flight?",
        "invoke_assistant(people) + invoke_assistant(travel)",
    ),
    (
        "1. Which hotels may I book?\n2. What is 120 * 3?\n3. How long is sick leave paid?",
        "invoke_assistant(travel) + calculate(120 * 3) + invoke_assistant(people)",
    ),
    ("What is the hotel limit? And what are the flight rules?", "invoke_assistant(travel)"),
    ("Who won the world cup in 2014?", "search_documents(won world cup 2014)"),
    ("open leave.md", "read_document(leave.md)"),
    ("Summarise people/leave.md", "read_document(people/leave.md)"),
    ("What does security.md say about phones?", "search_documents(phones)"),
    ("Start a sub-agent that looks for parking rules", "spawn_agent(looks for parking rules)"),
    ("What happened in 2024-2025?", "search_documents(2024-2025)"),
    ("What documents are there?", "I have no tool that lists all documents."),
    ("Write a poem about spring", "search_documents(spring)"),
    ("Mail me at a@travel.com about parking", "search_documents(Mail a@travel.com parking)"),
]

LEAD_DE = [
    ("Hallo", "Hallo!"),
    ("Guten Morgen", "Hallo!"),
    ("Vielen Dank!", "Gern geschehen."),
    ("Hilfe", "Das kann ich hier:"),
    ("Was kannst du?", "Das kann ich hier:"),
    ("Wer bist du?", "Ich bin die eingebaute Maschine"),
    ("Bist du eine KI?", "Ich bin die eingebaute Maschine"),
    ("Wie viel ist 12,5 mal 3?", "calculate(12.5 * 3)"),
    ("Was sind 19 % von 1.250,50?", "calculate(19 / 100 * 1250.50)"),
    ("Rechne 1.250 durch 4", "calculate(1250 / 4)"),
    ("2 hoch 10", "calculate(2 ** 10)"),
    ("Wie spät ist es?", "current_time()"),
    ("Wie spät ist es in New York?", "current_time(America/New_York)"),
    ("Welcher Tag ist heute?", "current_time()"),
    ("Wie viele Urlaubstage habe ich?", "invoke_assistant(personal)"),
    ("Wie buche ich einen Flug?", "invoke_assistant(reise)"),
    ("Mein Laptop wurde gestohlen", "invoke_assistant(it-hilfe)"),
    ("@reise was ist mit Taxis?", "invoke_assistant(reise)"),
    ("Frag die Reisestelle, wie man Belege einreicht", "invoke_assistant(reise)"),
    ("@niemand bist du da?", "Eine Assistenz „niemand“ gibt es hier nicht."),
    ("Hilf mir dabei", "ask_clarifying_question(Worum geht es?)"),
    ("Kannst du mir helfen?", "ask_clarifying_question(Worum geht es?)"),
    (
        "Wie lang ist die Kündigungsfrist und was kostet ein Hotel?",
        "invoke_assistant(personal) + invoke_assistant(reise)",
    ),
    ("Hotel und Vertrag", "invoke_assistant(reise) + invoke_assistant(personal)"),
    ("Wer wurde 2014 Weltmeister?", "search_documents(2014 Weltmeister)"),
    ("öffne urlaub.md", "read_document(urlaub.md)"),
    ("Fasse spesen.md zusammen", "read_document(spesen.md)"),
    ("Was steht in urlaub.md zur Elternzeit?", "search_documents(Elternzeit)"),
    ("Starte einen Unteragenten, der die Parkregeln sucht", "spawn_agent(die Parkregeln sucht)"),
    ("Welche Dokumente gibt es?", "Ein Werkzeug, das alle Dokumente auflistet, habe ich nicht."),
    ("Schreibe ein Gedicht über den Frühling", "search_documents(Frühling)"),
]

SOLO_ENGLISH = [
    ("How do I book a flight to Rome?", "search_documents(book flight Rome)"),
    ("What is the refund policy?", "search_documents(refund)"),
    ("Can I fly business class to New York?", "search_documents(fly business class New York)"),
    ("help me with that", "What is it about? Name a topic or a file"),
    ("@travel hello parking", "search_documents(travel parking)"),
    ("Is there parental leave, and who gets a laptop?", "search_documents(parental leave) + search_documents(laptop)"),
]

SOLO_GERMAN = [("Wie lange ist die Kündigungsfrist?", "search_documents(Kündigungsfrist)"), ("mehr", "Worum geht es?")]


def first_decision(staff: tuple, slug: str, text: str) -> str:
    house = House(staff)
    member = house.member(slug)
    return in_brief(decision([system(member.instructions), user(text)], house.tools_of(member)))


@pytest.mark.parametrize(("text", "expected"), LEAD_EN)
def test_a_lead_decides_in_english(text: str, expected: str) -> None:
    assert first_decision(TEAM, "lead", text).startswith(expected)


@pytest.mark.parametrize(("text", "expected"), LEAD_DE)
def test_a_lead_decides_in_german(text: str, expected: str) -> None:
    assert first_decision(TEAM_DE, "lead", text).startswith(expected)


@pytest.mark.parametrize(("text", "expected"), SOLO_ENGLISH)
def test_an_assistant_alone_decides_in_english(text: str, expected: str) -> None:
    assert first_decision((SOLO,), "solo", text).startswith(expected)


@pytest.mark.parametrize(("text", "expected"), SOLO_GERMAN)
def test_an_assistant_alone_decides_in_german(text: str, expected: str) -> None:
    assert first_decision((SOLO_DE,), "solo", text).startswith(expected)
