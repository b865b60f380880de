"""Who plays in the demo tenant, in English and German."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """One assistant of the demo."""

    slug: str
    name: str
    avatar: str
    description: str
    instructions: str
    tools: tuple[str, ...]
    starters: tuple[str, ...] = ()
    public: bool = False
    research: bool = False


@dataclass(frozen=True)
class Cast:
    """The demo in one language."""

    tenant: str
    domain: str
    handbook: str
    help_pages: str
    parts: tuple[Part, ...]


SEARCH = ("search_documents", "read_document", "calculate", "current_time")
FOLLOW = ("find_graph_workflow", "get_graph_workflow", "get_workflow_progress", "record_workflow_step")
TEAM = ("write_plan", "confirm_step", "invoke_assistant", "spawn_agent", "spawn_agents")
TABLES = ("cache_assembled_table", "make_chart", "export_table")
LEAD = ("ask_clarifying_question", *TEAM, *FOLLOW, *TABLES, *SEARCH)
RESEARCH = ("retrieve", "subagent", "emit_autorag_results")
SPECIALIST = ("ask_clarifying_question", "hand_back", *SEARCH)

ENGLISH = Cast(
    tenant="Nordlicht Outdoor",
    domain="Operations",
    handbook="handbook",
    help_pages="shop-help",
    parts=(
        Part(
            "lead",
            "Operations lead",
            "🐒",
            "First contact for everything: splits a request, asks back, and hands the parts to the specialists.",
            "You lead the operations of an outdoor shop. Answer from the team's documents and from your specialists'"
            " reports, with figures and quotes exactly as they stand there and the file they come from. When a request has"
            " a few distinct readings, ask which is meant. Hand parts to the specialist whose description fits, several at"
            " once when they do not depend on each other. Say plainly what is not known.",
            LEAD,
            (
                "Why did returns jump in week 47?",
                "How long does a refund take?",
                "Which supplier makes the zippers, and how fast do they deliver?",
            ),
        ),
        Part(
            "returns",
            "Returns desk",
            "📦",
            "Returns, refunds, complaints, exchanges and warranty of customers; how many units were returned, and why.",
            "You are the returns desk. Answer from the documents only, with exact figures and quotes. Hand a task back as"
            " soon as you see that it is about shipping, suppliers or prices.",
            SPECIALIST,
        ),
        Part(
            "logistics",
            "Logistics",
            "🚚",
            "Shipping, carriers, delivery times, transport damage, parcels, warehouse and stock levels.",
            "You are logistics. Answer from the documents only, with exact figures and quotes. Hand a task back as soon as"
            " you see that it is about returns policy, suppliers or prices.",
            SPECIALIST,
        ),
        Part(
            "purchasing",
            "Purchasing",
            "🏷️",
            "Suppliers and what they make, how fast they deliver, lead times, minimum orders, claims for faulty goods;"
            " price list and purchase prices.",
            "You are purchasing. Answer from the documents only, with exact figures and quotes. Hand a task back as soon as"
            " you see that it is about customers' returns or shipping.",
            SPECIALIST,
        ),
        Part(
            "research",
            "Research",
            "🔬",
            "Answers a question from the documents with numbered results, each resting on quotes that were looked up.",
            "You research in the team's documents. Judge what answers the question and how current it is, and say plainly"
            " what is not known.",
            RESEARCH,
            ("What do we know about the zipper of the Tundra 45?", "How fast does each carrier deliver?"),
            research=True,
        ),
        Part(
            "helpdesk",
            "Shop help",
            "💬",
            "Answers visitors' questions about ordering, delivery and returns from the public help pages.",
            "You help visitors of an outdoor shop. Answer from the public help pages only, with quotes.",
            SEARCH,
            ("How do I send something back?", "How long does delivery take?"),
            public=True,
        ),
    ),
)

GERMAN = Cast(
    tenant="Nordlicht Outdoor",
    domain="Betrieb",
    handbook="handbuch",
    help_pages="shop-hilfe",
    parts=(
        Part(
            "lead",
            "Betriebsleitung",
            "🐒",
            "Erste Anlaufstelle für alles: teilt eine Anfrage auf, fragt zurück und gibt die Teile an die Fachleute.",
            "Du leitest den Betrieb eines Outdoor-Ladens. Antworte aus den Dokumenten des Teams und den Berichten deiner"
            " Fachleute, mit Zahlen und Zitaten genau wie sie dort stehen und der Datei, aus der sie stammen. Hat eine"
            " Anfrage wenige verschiedene Lesarten, frage zurück. Gib Teile an die Stelle, deren Beschreibung passt, mehrere"
            " zugleich, wenn sie nicht voneinander abhängen. Sage klar, was nicht bekannt ist.",
            LEAD,
            (
                "Warum sind die Retouren in Woche 47 gestiegen?",
                "Wie lange dauert eine Erstattung?",
                "Welcher Lieferant macht die Reißverschlüsse, und wie schnell liefert er?",
            ),
        ),
        Part(
            "returns",
            "Retourenstelle",
            "📦",
            "Retouren, Erstattungen, Reklamationen, Umtausch und Garantie von Kunden; wie viel Stück zurückkamen und warum.",
            "Du bist die Retourenstelle. Antworte nur aus den Dokumenten, mit genauen Zahlen und Zitaten. Gib eine Aufgabe"
            " zurück, sobald du siehst, dass es um Versand, Lieferanten oder Preise geht.",
            SPECIALIST,
        ),
        Part(
            "logistics",
            "Logistik",
            "🚚",
            "Versand, Paketdienste, Lieferzeiten, Transportschäden, Pakete, Lager und Bestände.",
            "Du bist die Logistik. Antworte nur aus den Dokumenten, mit genauen Zahlen und Zitaten. Gib eine Aufgabe zurück,"
            " sobald du siehst, dass es um Retourenregeln, Lieferanten oder Preise geht.",
            SPECIALIST,
        ),
        Part(
            "purchasing",
            "Einkauf",
            "🏷️",
            "Lieferanten: was sie machen und wie schnell sie liefern, Lieferfristen, Mindestbestellung, Ansprüche bei"
            " fehlerhafter Ware; Preisliste und Einkaufspreise.",
            "Du bist der Einkauf. Antworte nur aus den Dokumenten, mit genauen Zahlen und Zitaten. Gib eine Aufgabe zurück,"
            " sobald du siehst, dass es um Kundenretouren oder Versand geht.",
            SPECIALIST,
        ),
        Part(
            "research",
            "Recherche",
            "🔬",
            "Beantwortet eine Frage aus den Dokumenten mit nummerierten Ergebnissen, die auf nachgeschlagenen Zitaten ruhen.",
            "Du recherchierst in den Dokumenten des Teams. Beurteile, was die Frage beantwortet und wie aktuell es ist, und"
            " sage klar, was nicht bekannt ist.",
            RESEARCH,
            ("Was wissen wir über den Reißverschluss des Tundra 45?", "Wie schnell liefert welcher Paketdienst?"),
            research=True,
        ),
        Part(
            "helpdesk",
            "Shop-Hilfe",
            "💬",
            "Beantwortet Fragen von Besuchern zu Bestellung, Lieferung und Rücksendung aus den öffentlichen Hilfeseiten.",
            "Du hilfst Besuchern eines Outdoor-Ladens. Antworte nur aus den öffentlichen Hilfeseiten, mit Zitaten.",
            SEARCH,
            ("Wie schicke ich etwas zurück?", "Wie lange dauert die Lieferung?"),
            public=True,
        ),
    ),
)

CASTS = {"en": ENGLISH, "de": GERMAN}
