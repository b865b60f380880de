"""Rows of figures as Markdown, each figure with its ratio to the floor's in the same round."""

from collections.abc import Iterable, Sequence
from typing import Any

from bench.marks import median

Row = dict[str, Any]


def table(rows: Sequence[Row], *, by: str, figures: Iterable[str], floor: str = "relay") -> str:
    """One line for each side at each level of `by`: medians over the rounds, and in brackets the medians of the ratios."""
    figures = list(figures)
    lines = [f"| {by} | side | complete | " + " | ".join(figures) + " |", "|---" * (len(figures) + 3) + "|"]
    for level in dict.fromkeys(row[by] for row in rows):
        for side in dict.fromkeys(row["side"] for row in rows):
            found = [row for row in rows if row[by] == level and row["side"] == side]
            below = {row["round"]: row for row in rows if row[by] == level and row["side"] == floor}
            told = [_cell(name, found, below) for name in figures]
            done = f"{sum(row['complete'] for row in found)}/{sum(row['answers'] for row in found)}"
            lines.append(f"| {level} | {side} | {done} | " + " | ".join(told) + " |")
    return "\n".join(lines)


def _cell(name: str, rows: list[Row], below: dict[int, Row]) -> str:
    ratio = median(row[name] / below[row["round"]][name] for row in rows if below.get(row["round"], {}).get(name))
    text = f"{median(row[name] for row in rows):.3g}"
    return text if ratio != ratio else f"{text} ({ratio:.1f}x)"
