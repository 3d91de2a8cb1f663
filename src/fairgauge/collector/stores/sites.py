"""Sites in a store: one row for each ticket that was given to a site, or that a site used.

A site's answer is a table of counts, and there are few sites: each is a transaction of its own, and a tally is the sum
over rows.  What would not fit into a tally that every JSON reader takes for exact is not stored.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

MOST_SITES = 10_000
MOST_SQUARES = 2**53 - 1

SiteState = Literal["expected", "answered", "late"]
# What became of a site's answer: it is new; the same or another one was there; the study takes no more; no room.
SiteOutcome = Literal["fresh", "same", "other", "closed", "full"]
Counts = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SiteRow:
    """What is known of one ticket of a study for sites.

    Args:
        id: The ticket, which is the answer's id.
        name: Whom it was given to, if anyone said.
        state: Whether its site has answered, is still expected, or came after the end.
        other: Whether another table came with the same ticket, which was refused.
        counts: What the site sent.
    """

    id: bytes
    name: str = ""
    state: SiteState = "expected"
    other: bool = False
    counts: Counts | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """A site's answer on its way into a store: the study's number, the answer's id, and the counts."""

    study: int
    id: bytes
    counts: Counts


def to_text(counts: Sequence[int]) -> str:
    """Return counts as they are kept."""
    return json.dumps(list(counts), separators=(",", ":"))


def from_text(text: str) -> Counts:
    """Return counts that were kept."""
    return tuple(json.loads(text))


def fits(kept: Iterable[str], counts: Counts) -> bool:
    r"""Tell whether a tally has room for one more site.

    Sums of squares bound every sum of products (Cauchy and Schwarz), and every sum of integers:

    .. math:: \Big|\sum_s c_{si} c_{sj}\Big| \le \max_i \sum_s c_{si}^2

    >>> fits(["[3,-4]"], (1, 2)), fits(["[94906265]"], (9490626,))
    (True, False)
    """
    tables = [from_text(text) for text in kept]
    if len(tables) >= MOST_SITES:
        return False
    return all(
        own * own + sum(table[cell] * table[cell] for table in tables) <= MOST_SQUARES
        for cell, own in enumerate(counts)
    )
