"""The tally as it was at a few moments, so that a page can show how an interval shrank.

A look is taken when the number of answers passes a power of the square root of 2, from 128 on: two rows for each
doubling, so some 60 for a billion answers.  A look has no time and no ids.  All it adds to what the tally says is how
often each symbol was among the first so many.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from operator import itemgetter

from fairgauge.collector.stores.base import Row

LEAST = 128
_PART = 16  # answers since the last check, as a part of all before, that make another check worth its cost


def step_of(total: int) -> int | None:
    """Return the number of the last power of the square root of 2 that a total has passed; None if it is too small.

    >>> step_of(127), step_of(128), step_of(181), step_of(182), step_of(256)
    (None, 14, 14, 15, 16)
    """
    return None if total < LEAST else (total * total).bit_length() - 1


def to_text(tally: Mapping[int, int]) -> str:
    """Return a tally as it is kept."""
    return json.dumps({str(symbol): tally[symbol] for symbol in sorted(tally)}, separators=(",", ":"))


def from_text(text: str) -> dict[int, int]:
    """Return a tally that was kept."""
    return {int(symbol): count for symbol, count in json.loads(text).items()}


class Pace:
    """Tells when to look: seldom enough that answers do not wait for it, often enough to miss no step.

    Every process has a pace of its own.  That two of them look at the same step does no harm: the first one counts.
    """

    def __init__(self) -> None:
        self._since: dict[int, int] = {}
        self._total: dict[int, int] = {}

    def due(self, fresh: Iterable[Row]) -> list[int]:
        """Count new answers, and return the studies that are worth a look."""
        found = []
        for study, count in Counter(map(itemgetter(0), fresh)).items():
            since = self._since[study] = self._since.get(study, 0) + count
            if since >= self._total.get(study, LEAST) // _PART:
                found.append(study)
        return found

    def looked(self, study: int, total: int) -> None:
        """Remember how many answers a study has."""
        self._since.pop(study, None)
        self._total[study] = max(total, LEAST)
