"""The drawn graph of a workflow: rows by what is required, no box on another, every line from foot to head."""

import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subchats.workflows.catalogue import BUILT_IN
from subchats.workflows.drawing import BOX, HEIGHT, draw
from subchats.workflows.shape import Node, Workflow


@st.composite
def flows(draw_):
    """Workflows of up to 12 steps that require any earlier ones."""
    nodes = []
    for number in range(draw_(st.integers(0, 12))):
        needed = draw_(st.sets(st.sampled_from([node.id for node in nodes]), max_size=4)) if nodes else set()
        nodes.append(Node(f"n{number}", f"Step {number}", "lead", requires=tuple(sorted(needed))))
    return Workflow("any", "Any", "", (), tuple(nodes))


def check(workflow):
    drawing = draw(workflow)
    boxes = {box.node.id: box for box in drawing.boxes}
    assert list(boxes) == [node.id for node in workflow.nodes]
    for box in boxes.values():
        assert 0 <= box.x <= drawing.width - BOX and 0 <= box.y <= drawing.height - HEIGHT
        assert all(boxes[each].y < box.y for each in box.node.requires)
    for first, second in combinations(boxes.values(), 2):
        assert first.y != second.y or abs(first.x - second.x) >= BOX
    assert len(drawing.lines) == sum(len(set(node.requires)) for node in workflow.nodes)


@pytest.mark.parametrize("workflow", BUILT_IN, ids=lambda each: each.id)
def test_every_workflow_of_the_product_can_be_drawn(workflow):
    check(workflow)


@given(flows())
def test_any_workflow_is_drawn_without_overlaps(workflow):
    check(workflow)


def test_a_line_begins_at_the_foot_of_what_is_required_and_ends_at_the_head_of_what_requires_it():
    drawing = draw(Workflow("two", "Two", "", (), (Node("a", "A", "lead"), Node("b", "B", "lead", requires=("a",)))))

    (line,) = drawing.lines
    above, below = drawing.boxes
    start, end = re.match(r"M(\S+ \S+)C", line)[1], " ".join(line.split()[-2:])
    assert start == f"{above.middle:g} {above.y + HEIGHT:g}"
    assert end == f"{below.middle:g} {below.y:g}"


def test_steps_that_wait_for_each_other_are_drawn_all_the_same():
    drawing = draw(
        Workflow("knot", "Knot", "", (), (Node("a", "A", "lead", requires=("b", "a")), Node("b", "B", "lead", requires=("a",))))
    )

    assert [box.node.id for box in drawing.boxes] == ["a", "b"]
    assert len(drawing.lines) == 1
