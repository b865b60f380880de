"""What a workflow is: steps with owners, tools and what each needs first."""

from collections.abc import Collection
from dataclasses import dataclass

OPERATOR = "operator"


@dataclass(frozen=True)
class Node:
    """One step (section 4.4). `owner` is an assistant, by slug or by what it is for, or `operator`: then a person does it
    and `note` says what and who (J-35). `operations` are names of tools, `requires` ids of steps, `hazard` what goes
    wrong out of order."""

    id: str
    title: str
    owner: str
    produces: str = ""
    operations: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    hazard: str = ""
    note: str = ""

    @property
    def is_for_a_person(self) -> bool:
        return self.owner == OPERATOR


@dataclass(frozen=True)
class Workflow:
    """Steps in the order in which they are done. `exemplars` are requests that call for it, in several languages."""

    id: str
    title: str
    definition: str
    exemplars: tuple[str, ...]
    nodes: tuple[Node, ...]

    def find(self, node_id: str) -> Node | None:
        return next((node for node in self.nodes if node.id == node_id), None)

    def order_of(self, node: Node) -> int:
        """The step's number, from 1."""
        return self.nodes.index(node) + 1

    def from_here(self, node: Node) -> list[Node]:
        """The step and every later one that rests on it, in order."""
        found: set[str] = {node.id}
        for each in self.nodes:
            if found.intersection(each.requires):
                found.add(each.id)
        return self.among(found)

    def among(self, ids: Collection[str]) -> list[Node]:
        return [node for node in self.nodes if node.id in ids]
