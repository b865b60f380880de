"""Workflows that end in a text: a report, a comparison, an answer to a complaint."""

from subchats.workflows.shape import OPERATOR, Node, Workflow

LEAD = "the assistant that leads the conversation"
READER = "an assistant that knows the documents"

RESEARCH_REPORT = Workflow(
    id="research-report",
    title="Research report",
    definition="Finds out what the documents say about a question and writes a report that proves each claim.",
    exemplars=(
        "Write a research report",
        "Research this topic and summarise what is known, with sources",
        "Schreibe einen Recherchebericht",
        "Recherchiere das Thema und fasse es mit Quellen zusammen",
    ),
    nodes=(
        Node(
            "scope",
            "Settle the question",
            LEAD,
            produces="One question with its bounds: period, products, readers.",
            note="Ask the person only if the request has several readings.",
        ),
        Node("plan", "Plan the research", LEAD, "A plan whose steps each name their check.", ("write_plan",), ("scope",)),
        Node(
            "collect",
            "Collect the passages",
            READER,
            produces="Quotes with document and lines.",
            operations=("search_documents", "read_document"),
            requires=("plan",),
        ),
        Node(
            "prove",
            "Check every claim against its source",
            LEAD,
            produces="Steps that are done, each with its evidence.",
            operations=("confirm_step",),
            requires=("collect",),
            hazard="What is not checked now goes into the report unproved.",
        ),
        Node(
            "write",
            "Write the report",
            LEAD,
            produces="The report: findings, sources, what is not known.",
            requires=("prove",),
            hazard="Written before the check, guesses read like findings.",
        ),
        Node(
            "release",
            "Release the report",
            OPERATOR,
            produces="A report that may be passed on.",
            requires=("write",),
            hazard="An unread report must not leave the team.",
            note="Whoever asked for the report reads it and says that it may be passed on.",
        ),
    ),
)

COMPARISON = Workflow(
    id="comparison",
    title="Comparison",
    definition="Compares two or more things by the same criteria, each looked into on its own, and recommends one.",
    exemplars=(
        "Compare these offers and recommend one",
        "Which of these suppliers is better?",
        "Vergleiche diese Angebote und empfiehl eines",
        "Welcher dieser Lieferanten ist besser?",
    ),
    nodes=(
        Node(
            "criteria",
            "Agree on the criteria",
            LEAD,
            "The things to compare and what counts, with weights.",
            ("ask_clarifying_question",),
        ),
        Node("plan", "Plan one task for each candidate", LEAD, "A plan.", ("write_plan",), ("criteria",)),
        Node(
            "look",
            "Look into the candidates side by side",
            "one specialist for each candidate",
            produces="One report for each candidate, by the same criteria.",
            operations=("spawn_agents",),
            requires=("plan",),
            hazard="Reports by different criteria can't be compared.",
        ),
        Node(
            "table",
            "Put the findings into one table",
            LEAD,
            produces="A table: candidates by criteria.",
            operations=("cache_assembled_table",),
            requires=("look",),
        ),
        Node(
            "recommend",
            "Recommend one",
            LEAD,
            produces="A recommendation with its reasons and what speaks against it.",
            requires=("table",),
        ),
    ),
)

COMPLAINT = Workflow(
    id="answer-complaint",
    title="Answer to a complaint",
    definition="Answers a customer's complaint from the rules that really hold, with the amount worked out and quoted proof.",
    exemplars=(
        "Answer this customer complaint",
        "A customer wants their money back, what do we reply?",
        "Beantworte diese Reklamation",
        "Ein Kunde beschwert sich und will sein Geld zurück",
    ),
    nodes=(
        Node(
            "facts",
            "Note the facts of the case",
            LEAD,
            produces="Who, what, when, what is asked for; what is missing.",
        ),
        Node(
            "rules",
            "Find the rules that apply",
            "the assistant for returns and warranty",
            produces="Quotes of the rules, with document and lines.",
            operations=("search_documents", "read_document"),
            requires=("facts",),
        ),
        Node(
            "amount",
            "Work out the amount",
            LEAD,
            produces="The amount with its calculation.",
            operations=("calculate",),
            requires=("rules",),
            hazard="An amount that does not rest on the rules is a promise nobody may make.",
        ),
        Node("draft", "Draft the answer", LEAD, "A letter that quotes the rules.", requires=("amount",)),
        Node(
            "send",
            "Send the answer",
            OPERATOR,
            produces="An answered complaint.",
            requires=("draft",),
            hazard="What has been sent can't be taken back.",
            note="A colleague of customer service reads the draft and sends it from the team's mailbox.",
        ),
    ),
)

ALL = (RESEARCH_REPORT, COMPARISON, COMPLAINT)
