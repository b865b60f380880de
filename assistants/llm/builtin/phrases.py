"""Everything the engine says in its own words, in one table per language."""

from .stopwords import split_words

PHRASES: dict[str, dict[str, str]] = {
    "en": {
        "greeting": "Hello! I look things up and quote what I find. {can}",
        "thanks": "You're welcome.",
        "bye": "Goodbye.",
        "can_search": "Ask about something in your documents, and I quote the passages with their file names.",
        "can_delegate": "I pass questions on to: {names}.",
        "can_both": "Ask about something in your documents; I answer myself or pass it on to {names}.",
        "can_little": "I can do only what my tools allow.",
        "help": "This is what I can do here:",
        "help_search_documents": "**Search the documents** and quote what they say, with file and lines.",
        "help_read_document": "**Open a document**: “open handbook.md”, or “what is in handbook.md?” for its outline.",
        "help_calculate": "**Calculate**: “17% of 2,340”.",
        "help_current_time": "**Time and date**: “What time is it in Tokyo?”",
        "help_delegates": "**Pass questions on**, by their words or when you write `@name`:",
        "help_spawn_agent": "**Start a helper** for one task: “Start a sub-agent that looks for the notice period.”",
        "help_ask_clarifying_question": "**Ask back** when a request is vague or has several readings.",
        "help_nothing": "No tool is switched on for me, so I can't look anything up.",
        "honest": "I am the built-in engine: rules and search, not a language model. I have no general knowledge and "
        "don't write, "
        "translate or summarise in my own words. {connect}",
        "connect": "To connect a language model: in the admin pages under Profiles, or start the server with "
        "`OPENAI_API_KEY` or "
        "`ANTHROPIC_API_KEY` set or a local OpenAI-compatible server running, or run `make model` for a small local one.",
        "cannot_write": "I can't write, translate or summarise in my own words; for that a language model has to be connected. "
        "What I can do is quote:",
        "cannot_write_alone": "I can't write, translate or summarise in my own words; for that a language model has to be "
        "connected. {connect}",
        "found": "The documents say this:",
        "found_one": "{document} says this:",
        "found_near": "I found nothing that answers this; the nearest passage, which may be about something else:",
        "not_mentioned": "None of these passages mentions {words}.",
        "not_mentioned_here": "It does not mention {words}.",
        "elsewhere": "More hits in: {documents}.",
        "nothing_found_short": "I found nothing about {words} in the documents.",
        "still_reading": "The folder is still being read, so there may be more.",
        "nothing_found_in": "I found nothing about {words} in {document}.",
        "general_knowledge": "I only know what the documents say. A connected language model would know more; ask me for "
        "“help” to see how to "
        "connect one.",
        "address_one": "You can address one of these directly: {names}.",
        "lines": "lines {first}-{last}",
        "line": "line {first}",
        "which_document": "I find “{words}” in several documents. Which do you mean?",
        "which_delegate": "Who should take care of this?",
        "which_help": "What is it about?",
        "name_a_topic": "What is it about? Name a topic or a file, and I look it up.",
        "name_a_topic_for": "What should {names} find out? Name a topic, and I pass it on.",
        "options_in_text": "{question}\n\n{options}\n\nPlease answer with one of these.",
        "calculated": "{expression} = **{value}**",
        "calculated_nothing": "I could not calculate `{expression}`: {reason}",
        "no_calculator": "I have no tool for calculating here.",
        "time": "It is **{time}** on {weekday}, {day} {month} {year} ({zone}).",
        "time_plain": "The clock says: {text}",
        "no_clock": "I have no tool for the time here.",
        "plan_check": "The report quotes the passage that answers it, with its file and lines.",
        "budget_gone": "The token budget of this request is used up, so I could not look any further.\n\n{known}\n\n"
        "Still open: “{asked}”. Is this on the right lines? Write “go on”, or ask for a part of it: a new message has a "
        "budget of its own.",
        "nothing_yet": "I have not looked anything up yet.",
        "table_kept": "This is **{title}** from `{document}`: {rows} rows.",
        "no_table": "I found no table about this in the documents.",
        "no_workflow": "I know no workflow that shares a word with this.",
        "workflow": "The workflow **{title}** has these steps:",
        "step_done": "done",
        "step_ahead": "Next: **{title}** ({owner}).",
        "workflow_over": "All of its steps are done.",
        "a_person": "done by a person",
        "refused": "A step was refused: {reason}",
        "no_documents": "There are no documents here yet. An administrator can add a folder in the admin pages.",
        "near_files": "Near it: {names}.",
        "withheld": "a result could not be read",
        "unanswered": "there was no result",
        "reports": "**{name}** reports:",
        "reports_on": "**{name}** on “{part}”:",
        "no_report": "**{name}** gave no report: {reason}",
        "partial": "**{name}** was cut off; this report is likely incomplete ({reason}):",
        "handed_back": "**{name}** handed this back: {needed}",
        "handed_back_all": "**{name}** found no answer and handed the question back.",
        "handed_back_known": "Established so far: {established}",
        "same_as": "**{name}** reports the same.",
        "new_result": "**{name}** now reports:",
        "new_result_on": "**{name}** now reports on “{question}”:",
        "helper": "The helper",
        "unknown_mention": "There is no assistant “{name}” here.",
        "who_there_is": "You can address: {names}.",
        "no_search": "I have no document search here, and nobody to pass this on to.",
        "no_file": "I can't find a document “{name}”. {fix}",
        "try_topic": "Try a word that must stand in it.",
        "no_listing": "I have no tool that lists all documents. Name a topic, and I say which documents mention it.",
        "listing": "These documents are there:",
        "outline": "{document} has {total} lines. I can't summarise it, but this is how it is built:",
        "outline_part": "This is how far I read: line {last}.",
        "outline_no_headings": "{document} has {total} lines and no headings. It begins:",
        "opened": "{document}, {total} lines, begins:",
        "opened_whole": "{document} says:",
        "continued": "It goes on:",
        "end_of_document": "That was the end of {document}.",
        "more_hint": "Say “more” to read on.",
        "no_more": "I have nothing more on that. Name a topic or a file, and I look it up.",
        "earlier": "earlier question",
        "context": "The person said before: {facts}",
        "context_established": "Already established by {name}: {established}",
        "searched_for": "Searched the documents for {queries}; nothing answered it.",
        "searched_near": "Searched the documents for {queries}; the nearest passage was in {document}.",
        "spawn_prompt": "You answer one task from the tenant's documents. Quote what they say, with file and lines. "
        "If they say nothing, say so.",
        "and": "and",
    },
    "de": {
        "greeting": "Hallo! Ich schlage nach und zitiere, was ich finde. {can}",
        "thanks": "Gern geschehen.",
        "bye": "Auf Wiedersehen.",
        "can_search": "Einfach nach etwas aus den Dokumenten fragen; ich zitiere die Stellen mit Dateinamen.",
        "can_delegate": "Ich gebe Fragen weiter an: {names}.",
        "can_both": "Einfach nach etwas aus den Dokumenten fragen; ich antworte selbst oder gebe es weiter an {names}.",
        "can_little": "Ich kann nur, was meine Werkzeuge hergeben.",
        "help": "Das kann ich hier:",
        "help_search_documents": "**In den Dokumenten suchen** und zitieren, was dort steht, mit Datei und Zeilen.",
        "help_read_document": "**Ein Dokument öffnen**: „öffne handbuch.md“, oder „was steht in handbuch.md?“ für die "
        "Gliederung.",
        "help_calculate": "**Rechnen**: „17 % von 2.340“.",
        "help_current_time": "**Uhrzeit und Datum**: „Wie spät ist es in Tokio?“",
        "help_delegates": "**Fragen weitergeben**, nach ihren Wörtern oder wenn `@name` dabeisteht:",
        "help_spawn_agent": "**Einen Unteragenten starten**: „Starte einen Unteragenten, der die Kündigungsfrist sucht.“",
        "help_ask_clarifying_question": "**Zurückfragen**, wenn eine Bitte unklar ist oder mehreres heißen kann.",
        "help_nothing": "Für mich ist kein Werkzeug eingeschaltet; ich kann also nichts nachschlagen.",
        "honest": "Ich bin die eingebaute Maschine: Regeln und Suche, kein Sprachmodell. Ich habe kein Allgemeinwissen und "
        "schreibe, übersetze oder fasse nichts in eigenen Worten zusammen. {connect}",
        "connect": "Ein Sprachmodell verbinden: in der Verwaltung unter „Profile“, oder den Server mit gesetztem "
        "`OPENAI_API_KEY` "
        "oder `ANTHROPIC_API_KEY` oder neben einem lokalen OpenAI-kompatiblen Server starten, oder mit `make model` ein "
        "kleines lokales holen.",
        "cannot_write": "Schreiben, Übersetzen und Zusammenfassen in eigenen Worten kann ich nicht; dafür muss ein "
        "Sprachmodell "
        "verbunden sein. Zitieren kann ich:",
        "cannot_write_alone": "Schreiben, Übersetzen und Zusammenfassen in eigenen Worten kann ich nicht; dafür muss ein "
        "Sprachmodell verbunden sein. {connect}",
        "found": "Dazu steht in den Dokumenten:",
        "found_one": "Dazu steht in {document}:",
        "found_near": "Eine Antwort darauf habe ich nicht gefunden; die nächstliegende Stelle, die etwas anderes meinen kann:",
        "not_mentioned": "Keine dieser Stellen erwähnt {words}.",
        "not_mentioned_here": "{words} kommt darin nicht vor.",
        "elsewhere": "Weitere Treffer in: {documents}.",
        "nothing_found_short": "Zu {words} habe ich in den Dokumenten nichts gefunden.",
        "still_reading": "Der Ordner wird noch eingelesen; es kann also mehr geben.",
        "nothing_found_in": "Zu {words} habe ich in {document} nichts gefunden.",
        "general_knowledge": "Ich weiß nur, was in den Dokumenten steht. Ein verbundenes Sprachmodell wüsste mehr; mit "
        "„Hilfe“ sage ich, "
        "wie man eines verbindet.",
        "address_one": "Direkt ansprechen lassen sich: {names}.",
        "lines": "Zeilen {first}-{last}",
        "line": "Zeile {first}",
        "which_document": "„{words}“ kommt in mehreren Dokumenten vor. Welches ist gemeint?",
        "which_delegate": "Wer soll sich darum kümmern?",
        "which_help": "Worum geht es?",
        "name_a_topic": "Worum geht es? Bitte ein Thema oder eine Datei nennen, dann schlage ich nach.",
        "name_a_topic_for": "Was soll {names} herausfinden? Bitte ein Thema nennen, dann gebe ich es weiter.",
        "options_in_text": "{question}\n\n{options}\n\nBitte mit einem davon antworten.",
        "calculated": "{expression} = **{value}**",
        "calculated_nothing": "`{expression}` konnte ich nicht ausrechnen: {reason}",
        "no_calculator": "Zum Rechnen habe ich hier kein Werkzeug.",
        "time": "Es ist **{time} Uhr** am {weekday}, {day}. {month} {year} ({zone}).",
        "time_plain": "Die Uhr sagt: {text}",
        "no_clock": "Für die Uhrzeit habe ich hier kein Werkzeug.",
        "plan_check": "Der Bericht zitiert die Stelle, die antwortet, mit Datei und Zeilen.",
        "budget_gone": "Das Token-Budget dieser Anfrage ist aufgebraucht; weiter konnte ich nicht nachsehen.\n\n{known}\n\n"
        "Noch offen: „{asked}“. Ist das der richtige Weg? Schreib „weiter“ oder frage nach einem Teil: Eine neue "
        "Nachricht hat ihr eigenes Budget.",
        "nothing_yet": "Nachgeschlagen habe ich noch nichts.",
        "table_kept": "Das ist **{title}** aus `{document}`: {rows} Zeilen.",
        "no_table": "Eine Tabelle dazu habe ich in den Dokumenten nicht gefunden.",
        "no_workflow": "Ich kenne keinen Ablauf, der ein Wort damit gemeinsam hat.",
        "workflow": "Der Ablauf **{title}** hat diese Schritte:",
        "step_done": "erledigt",
        "step_ahead": "Als Nächstes: **{title}** ({owner}).",
        "workflow_over": "Alle seine Schritte sind erledigt.",
        "a_person": "von einem Menschen zu tun",
        "refused": "Ein Schritt wurde abgelehnt: {reason}",
        "no_documents": "Hier gibt es noch keine Dokumente. In der Verwaltung lässt sich ein Ordner hinzufügen.",
        "near_files": "Ähnlich heißen: {names}.",
        "withheld": "ein Ergebnis war nicht lesbar",
        "unanswered": "es kam kein Ergebnis",
        "reports": "**{name}** berichtet:",
        "reports_on": "**{name}** zu „{part}“:",
        "no_report": "**{name}** hat nichts berichtet: {reason}",
        "partial": "**{name}** wurde abgebrochen; dieser Bericht ist wahrscheinlich unvollständig ({reason}):",
        "handed_back": "**{name}** hat das zurückgegeben: {needed}",
        "handed_back_all": "**{name}** hat keine Antwort gefunden und die Frage zurückgegeben.",
        "handed_back_known": "Bisher geklärt: {established}",
        "same_as": "**{name}** berichtet dasselbe.",
        "new_result": "**{name}** berichtet neu:",
        "new_result_on": "**{name}** berichtet neu zu „{question}“:",
        "helper": "Der Unteragent",
        "unknown_mention": "Eine Assistenz „{name}“ gibt es hier nicht.",
        "who_there_is": "Ansprechen lassen sich: {names}.",
        "no_search": "Ich habe hier keine Dokumentensuche und niemanden, an den ich das weitergeben kann.",
        "no_file": "Ein Dokument „{name}“ finde ich nicht. {fix}",
        "try_topic": "Vielleicht hilft ein Wort, das darin stehen muss.",
        "no_listing": "Ein Werkzeug, das alle Dokumente auflistet, habe ich nicht. Mit einem Thema sage ich, welche es "
        "erwähnen.",
        "listing": "Diese Dokumente sind da:",
        "outline": "{document} hat {total} Zeilen. Zusammenfassen kann ich es nicht, aber so ist es aufgebaut:",
        "outline_part": "So weit habe ich gelesen: Zeile {last}.",
        "outline_no_headings": "{document} hat {total} Zeilen und keine Überschriften. Es beginnt so:",
        "opened": "{document}, {total} Zeilen, beginnt so:",
        "opened_whole": "In {document} steht:",
        "continued": "So geht es weiter:",
        "end_of_document": "Das war das Ende von {document}.",
        "more_hint": "Mit „mehr“ lese ich weiter.",
        "no_more": "Mehr habe ich dazu nicht. Bitte ein Thema oder eine Datei nennen, dann schlage ich nach.",
        "earlier": "vorherige Frage",
        "context": "Vorher wurde gesagt: {facts}",
        "context_established": "Von {name} schon geklärt: {established}",
        "searched_for": "In den Dokumenten nach {queries} gesucht; nichts davon beantwortet es.",
        "searched_near": "In den Dokumenten nach {queries} gesucht; die nächstliegende Stelle war in {document}.",
        "spawn_prompt": "Beantworte eine Aufgabe aus den Dokumenten des Mandanten. Zitiere, was dort steht, mit Datei "
        "und Zeilen. "
        "Steht nichts darin, sage das.",
        "and": "und",
    },
}

WEEKDAYS = {
    "en": split_words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday"),
    "de": split_words("Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag"),
}
MONTHS = {
    "en": split_words("January February March April May June July August September October November December"),
    "de": split_words("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
}


def phrase(language: str, key: str, **values: object) -> str:
    """The sentence for `key`, with its gaps filled; what is not given, but known as a phrase, is filled from the table."""
    table = PHRASES[language]
    known = {name: table[name].format(connect=table["connect"]) for name in ("connect", "honest") if name not in values}
    return table[key].format(**(known | values))


def quoted(language: str, text: str) -> str:
    """A person's own words in the quotation marks of the language."""
    return f"„{text}“" if language == "de" else f"“{text}”"


def enumerated(language: str, items: list[str]) -> str:
    """a, b and c."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {PHRASES[language]['and']} {items[-1]}"
