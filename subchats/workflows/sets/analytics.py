"""Workflows about figures: charts, monthly reports, how good answers are."""

from subchats.workflows.shape import OPERATOR, Node, Workflow

LEAD = "the assistant that leads the conversation"
READER = "an assistant that knows the documents"

DATA_TO_CHART = Workflow(
    id="data-to-chart",
    title="From data to a chart",
    definition="Turns figures that stand in documents into a checked table, a chart and a file to go on working with.",
    exemplars=(
        "Make a chart from this data",
        "Show the figures as a diagram",
        "Mache aus diesen Daten ein Diagramm",
        "Zeige die Zahlen als Grafik",
    ),
    nodes=(
        Node(
            "figures",
            "Collect the figures",
            READER,
            produces="Figures with unit, period and place in the documents.",
            operations=("search_documents", "read_document"),
        ),
        Node(
            "table",
            "Put them into a table",
            READER,
            produces="A typed table behind a pointer.",
            operations=("cache_assembled_table",),
            requires=("figures",),
            hazard="Figures that are typed again instead of cached pick up mistakes.",
        ),
        Node(
            "chart",
            "Draw the chart",
            LEAD,
            produces="A chart with title and axes.",
            operations=("make_chart",),
            requires=("table",),
            hazard="A chart of unchecked figures is believed all the same.",
        ),
        Node("export", "Export the table", LEAD, "A file of the rows.", ("export_table",), ("table",)),
    ),
)

MONTHLY_FIGURES = Workflow(
    id="monthly-figures",
    title="Monthly figures",
    definition="Gathers the figures of a month from several desks at once, checks the sums and puts them into one table.",
    exemplars=(
        "Put together the monthly figures",
        "Monthly report from all departments",
        "Stelle die Monatszahlen zusammen",
        "Monatsbericht aus allen Abteilungen",
    ),
    nodes=(
        Node("period", "Settle the month", LEAD, "First and last day.", ("current_time",)),
        Node("plan", "Plan one task for each desk", LEAD, "A plan.", ("write_plan",), ("period",)),
        Node(
            "desks",
            "Ask the desks at the same time",
            "the specialists of each desk",
            produces="One report with figures for each desk.",
            operations=("spawn_agents",),
            requires=("plan",),
            hazard="Asked before the month is settled, desks report different periods.",
        ),
        Node(
            "table",
            "Put the reports into one table",
            LEAD,
            produces="A table: desks by figures.",
            operations=("cache_assembled_table",),
            requires=("desks",),
        ),
        Node("sums", "Check the sums", LEAD, "Sums that agree with the desks' own.", ("calculate",), ("table",)),
        Node(
            "sign",
            "Sign the figures off",
            OPERATOR,
            produces="Figures that count.",
            requires=("sums",),
            note="The head of the department compares the sums with the ledger and signs them off.",
            hazard="Signed off unchecked, a wrong figure is carried into the next month.",
        ),
        Node("file", "Hand out the file", LEAD, "A file of the rows.", ("export_table",), ("sign",)),
    ),
)

ANSWER_QUALITY = Workflow(
    id="answer-quality",
    title="How good the answers are",
    definition="Evaluates an assistant: asks it questions with known answers, checks the quotes and works out a score.",
    exemplars=(
        "Evaluate how good an assistant's answers are",
        "Measure the quality of this assistant",
        "Bewerte die Qualität der Antworten eines Assistenten",
        "Wie gut antwortet dieser Assistent?",
    ),
    nodes=(
        Node(
            "questions",
            "Choose questions with known answers",
            OPERATOR,
            produces="Ten questions, each with its right answer and where it stands.",
            note="Somebody who knows the field writes the questions down here; an assistant must not test itself.",
        ),
        Node(
            "ask",
            "Put the questions to the assistant",
            LEAD,
            "Its answers, word for word.",
            ("invoke_assistant",),
            ("questions",),
        ),
        Node(
            "quotes",
            "Check the quotes",
            READER,
            produces="For each answer: right, wrong or not proved.",
            operations=("search_documents", "read_document"),
            requires=("ask",),
        ),
        Node(
            "score",
            "Work out the score",
            LEAD,
            produces="The share of right and of proved answers.",
            operations=("calculate",),
            requires=("quotes",),
            hazard="A score without checked quotes rewards what sounds right.",
        ),
        Node(
            "decide",
            "Decide what follows",
            OPERATOR,
            produces="A decision: keep, change the instructions, or switch off.",
            requires=("score",),
            note="An admin of the team reads the wrong answers and decides.",
        ),
    ),
)

ALL = (DATA_TO_CHART, MONTHLY_FIGURES, ANSWER_QUALITY)
