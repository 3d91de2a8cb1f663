"""What an answer holds, as a store keeps it: its integers with commas between them, whatever drew them."""

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from fairgauge.study.mechanism import added

K = TypeVar("K")


def to_text(payload: Iterable[int]) -> str:
    """Return what an answer holds as it is kept."""
    return ",".join(map(str, payload))


def column_of(numbers: int) -> str:
    """Return what the column of a table is called that has so many numbers of each answer."""
    return "symbol" if numbers == 1 else "counts"


def from_text(text: str) -> tuple[int, ...]:
    """Return what was kept."""
    return tuple(map(int, text.split(",")))


def summed(payloads: Iterable[tuple[K, str]]) -> dict[tuple[K, int], int]:
    """Add up what answers hold, apart for each key, place by place.

    >>> summed([("a", "5"), ("b", "3,-4"), ("a", "5"), ("b", "1,4")])
    {('a', 5): 2, ('b', 0): 4, ('b', 1): 0}
    """
    sums: dict[tuple[K, int], int] = {}
    for (key, text), times in Counter(payloads).items():  # the same symbol comes often
        for place, amount in added(from_text(text)):
            sums[key, place] = sums.get((key, place), 0) + times * amount
    return sums
