"""Draws a workflow as a graph: a row for each stage, what it requires above it, lines in between."""

import textwrap
from dataclasses import dataclass
from statistics import mean

from .shape import Node, Workflow

BOX, LANE, HEIGHT, GAP, ROW, MARGIN = 168, 20, 46, 22, 88, 6
SWEEPS = 4
LINE_CHARS, LINES = 24, 2

# A box's id, or a line that only passes through a row on its way from one box to another.
Item = str | tuple[str, str, int]


@dataclass(frozen=True)
class Box:
    """A step: its corner, the lines of its title with the height of each, and whether a person does it."""

    node: Node
    x: float
    y: float
    words: tuple[tuple[str, float], ...]

    @property
    def middle(self) -> float:
        return self.x + BOX / 2


@dataclass(frozen=True)
class Drawing:
    """An SVG in user units: its size, the boxes, and the paths of the lines."""

    title: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[str, ...]

    box_width: int = BOX
    box_height: int = HEIGHT


def draw(workflow: Workflow) -> Drawing:
    """Lays the steps out in layers: each stands one row below the last of what it requires, lines pass between boxes."""
    known = {node.id: node for node in workflow.nodes}
    needs = {node.id: [each for each in dict.fromkeys(node.requires) if each in known] for node in workflow.nodes}
    rank = _ranks(workflow, needs)
    links = [(above, below) for below, each in needs.items() for above in each if rank[above] < rank[below]]
    rows, ways = _rows(rank, links)
    for _ in range(SWEEPS):
        _untangle(rows, ways)
    width = max((_width(row) for row in rows), default=0) + 2 * MARGIN
    middle = {item: x for row in rows for item, x in _middles(row, width).items()}
    return Drawing(
        title=workflow.title,
        width=width,
        height=(len(rows) - 1) * ROW + HEIGHT + 2 * MARGIN if rows else 0,
        boxes=tuple(_box(node, middle[node.id], MARGIN + rank[node.id] * ROW) for node in known.values()),
        lines=tuple(_path(way, rank, middle) for way in ways),
    )


def _ranks(workflow: Workflow, needs: dict[str, list[str]]) -> dict[str, int]:
    """The row of each step. What requires a later one, which the checks refuse, is drawn as if it did not."""
    rank: dict[str, int] = {}
    for node in workflow.nodes:
        rank[node.id] = max((rank[each] + 1 for each in needs[node.id] if each in rank and each != node.id), default=0)
    return rank


def _rows(rank: dict[str, int], links: list[tuple[str, str]]) -> tuple[list[list[Item]], list[list[Item]]]:
    """What stands in each row, and the way of each line from row to row."""
    rows: list[list[Item]] = [[] for _ in range(max(rank.values(), default=-1) + 1)]
    for node_id, row in rank.items():
        rows[row].append(node_id)
    ways: list[list[Item]] = []
    for above, below in links:
        passing: list[Item] = [(above, below, row) for row in range(rank[above] + 1, rank[below])]
        for row, item in enumerate(passing, rank[above] + 1):
            rows[row].append(item)
        ways.append([above, *passing, below])
    return rows, ways


def _untangle(rows: list[list[Item]], ways: list[list[Item]]) -> None:
    """Orders each row by where its neighbours stand, down and up again, so that fewer lines cross."""
    above: dict[Item, list[Item]] = {}
    below: dict[Item, list[Item]] = {}
    for way in ways:
        for first, second in zip(way, way[1:], strict=False):
            above.setdefault(second, []).append(first)
            below.setdefault(first, []).append(second)
    for order, neighbours in ((range(1, len(rows)), above), (range(len(rows) - 2, -1, -1), below)):
        for row in order:
            beside = rows[row - 1] if neighbours is above else rows[row + 1]
            place = {item: (spot + 0.5) / len(beside) for spot, item in enumerate(beside)}
            own = {item: (spot + 0.5) / len(rows[row]) for spot, item in enumerate(rows[row])}
            seen = {item: [place[each] for each in neighbours.get(item, ())] or [own[item]] for item in rows[row]}
            rows[row].sort(key=lambda item, seen=seen: mean(seen[item]))  # type: ignore[misc]


def _width(row: list[Item]) -> float:
    return sum(BOX if isinstance(item, str) else LANE for item in row) + GAP * (len(row) - 1)


def _middles(row: list[Item], width: float) -> dict[Item, float]:
    """Where the middle of each item is; the row as a whole stands in the middle."""
    x = (width - _width(row)) / 2
    middles: dict[Item, float] = {}
    for item in row:
        size = BOX if isinstance(item, str) else LANE
        middles[item] = x + size / 2
        x += size + GAP
    return middles


def _path(way: list[Item], rank: dict[str, int], middle: dict[Item, float]) -> str:
    """A smooth line from the foot of one box to the head of another; rows that it passes it passes upright."""
    x, y = middle[way[0]], MARGIN + rank[str(way[0])] * ROW + HEIGHT
    path = f"M{x:g} {y:g}"
    for item in way[1:]:
        head, bend = y + ROW - HEIGHT, y + (ROW - HEIGHT) / 2
        path += f"C{x:g} {bend:g} {middle[item]:g} {bend:g} {middle[item]:g} {head:g}"
        x, y = middle[item], head + HEIGHT
        if not isinstance(item, str):
            path += f"V{y:g}"
    return path


def _box(node: Node, middle: float, y: float) -> Box:
    lines = textwrap.wrap(node.title, LINE_CHARS, max_lines=LINES, placeholder="…") or [node.id]
    first = y + HEIGHT / 2 - (len(lines) - 1) * 8 + 4
    return Box(node, middle - BOX / 2, y, tuple((line, first + 16 * number) for number, line in enumerate(lines)))
