"""What goes into an index of passages, and what comes out of it; the same for every kind of database."""

from dataclasses import dataclass
from math import log

from .prepare import Columns

MOST_COUNTED = 1000
Entry = tuple[int, Columns]


@dataclass(frozen=True)
class Ranked:
    """Passages that hold any of the words: how many (counted up to 1,000), and the best, by id with their rank.

    A rank is above 0; higher is better, and ranks of different searches don't compare. `rarity` has what each word
    says, in their order, where ranks are too rough to go by: the more, the fewer passages hold it.
    """

    total: int
    ranks: dict[int, float]
    rarity: tuple[float, ...] = ()


def rarity_of(bearers: int, passages: int) -> float:
    """What a word says that so many of the passages hold."""
    return log(1 + (max(passages - bearers, 0) + 0.5) / (bearers + 0.5))
