"""What goes into an index of passages, and what comes out of it; the same for every kind of database."""

from dataclasses import dataclass

from .prepare import Columns

MOST_COUNTED = 1000
Entry = tuple[int, Columns]


@dataclass(frozen=True)
class Ranked:
    """Passages that hold any of the words: how many (counted up to 1,000), and the best, by id with their rank.

    A rank is above 0; higher is better, and ranks of different searches don't compare.
    """

    total: int
    ranks: dict[int, float]
