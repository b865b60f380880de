"""Workflows that set up this product itself: assistants, documents, models."""

from subchats.workflows.shape import OPERATOR, Node, Workflow

LEAD = "the assistant that leads the conversation"

NEW_ASSISTANT = Workflow(
    id="new-assistant",
    title="New assistant",
    definition="Sets up a new assistant for a field of work, tries it on a real task and lets others hand it work.",
    exemplars=(
        "Set up a new assistant",
        "We need a specialist assistant for another desk",
        "Richte einen neuen Assistenten ein",
        "Lege einen Assistenten für ein neues Fachgebiet an",
    ),
    nodes=(
        Node(
            "purpose",
            "Settle what it is for",
            LEAD,
            "Its field, what it must not do, which documents it needs.",
            ("ask_clarifying_question",),
        ),
        Node(
            "wording",
            "Write its description and instructions",
            LEAD,
            produces="A name, a description to be chosen by, instructions, a list of tools.",
            requires=("purpose",),
        ),
        Node(
            "create",
            "Create it in the admin",
            OPERATOR,
            produces="An assistant that is enabled and not public.",
            requires=("wording",),
            hazard="A tool too many is hard to notice later; tick only what the wording names.",
            note="An admin of the team: Admin, Assistants, Add; enter the texts of the step before and tick its tools.",
        ),
        Node(
            "trial",
            "Give it a first task",
            LEAD,
            produces="A report on a task whose answer is known.",
            operations=("invoke_assistant",),
            requires=("create",),
        ),
        Node(
            "release",
            "Let others hand it work",
            OPERATOR,
            produces="The assistant stands on the lists of those who may call it.",
            requires=("trial",),
            hazard="Released untried, its mistakes reach people through others.",
            note="An admin of the team: tick it under “Working with others” of each assistant that may call it.",
        ),
    ),
)

IMPORT_DOCUMENTS = Workflow(
    id="import-documents",
    title="Import of documents",
    definition="Brings a folder of documents into the search, rebuilds the index and proves that its content is found.",
    exemplars=(
        "Import documents and rebuild the index",
        "Add a folder of documents to the search",
        "Importiere Dokumente und baue den Index neu auf",
        "Nimm einen Ordner mit Dokumenten in die Suche auf",
    ),
    nodes=(
        Node(
            "folder",
            "Name the folder",
            OPERATOR,
            produces="A folder of documents of the team.",
            note="Whoever runs the site: Admin, Document roots, Add; enter the folder's path on the server.",
            hazard="Everything in the folder can be quoted; secrets must not lie in it.",
        ),
        Node(
            "index",
            "Rebuild the index",
            OPERATOR,
            produces="A count of documents and passages, and the files that were left out.",
            requires=("folder",),
            note="An admin of the team: Admin, Document roots, the action “Re-index”; or manage.py index on the server.",
        ),
        Node(
            "search",
            "Search for what must be found",
            "an assistant that searches the documents",
            "Passages of the new documents.",
            ("search_documents",),
            ("index",),
            hazard="Before the index is rebuilt the search finds nothing new and proves nothing.",
        ),
        Node(
            "read",
            "Read one of them",
            "an assistant that searches the documents",
            "Lines that are readable, with umlauts and tables as they should be.",
            ("read_document",),
            ("search",),
        ),
    ),
)

MODEL_PROFILE = Workflow(
    id="model-profile",
    title="New model profile",
    definition="Brings a language model into service: its profile and key, a trial by one assistant, then for the whole team.",
    exemplars=(
        "Bring a model profile into service",
        "Switch to another language model",
        "Nimm ein Modellprofil in Betrieb",
        "Stelle auf ein anderes Sprachmodell um",
    ),
    nodes=(
        Node(
            "profile",
            "Enter the profile",
            OPERATOR,
            produces="A profile whose connection test is green.",
            note="An admin of the team: Admin, Model profiles, Add; enter address and key, then “Test the connection”.",
        ),
        Node(
            "assign",
            "Give it to one assistant",
            OPERATOR,
            produces="One assistant that answers with the new model.",
            requires=("profile",),
            note="An admin of the team: choose the profile under “Model” of one assistant that nobody depends on.",
        ),
        Node(
            "trial",
            "Try it on known tasks",
            LEAD,
            produces="Reports to compare with known answers.",
            operations=("invoke_assistant",),
            requires=("assign",),
        ),
        Node("cost", "Work out what it costs", LEAD, "Tokens and cost for one task.", ("calculate",), ("trial",)),
        Node(
            "default",
            "Make it the team's model",
            OPERATOR,
            produces="The team's assistants answer with the new model.",
            requires=("trial", "cost"),
            hazard="Switched before the trial, every assistant fails at once if the model is not up to its tools.",
            note="An admin of the team: choose the profile as the team's default.",
        ),
    ),
)

ALL = (NEW_ASSISTANT, IMPORT_DOCUMENTS, MODEL_PROFILE)
