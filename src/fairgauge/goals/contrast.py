"""What is compared: the mean over some groups minus the mean over others, and how much that matters."""

from itertools import combinations
from typing import NamedTuple

from fairgauge.study import Attribute


class Contrast(NamedTuple):
    """The mean over some groups, by number, minus the mean over others.

    Args:
        of: The groups of the first side; several are taken together, each with its share.
        against: The groups of the second side.
        weight: How much it matters: with 3, its variance counts three times as much as another's.
    """

    of: tuple[int, ...]
    against: tuple[int, ...]
    weight: float = 1.0


def contrasts_of(attribute: Attribute) -> tuple[Contrast, ...]:
    """Return the comparisons that an attribute plans; none where all pairs of groups matter alike."""
    number = {group: place for place, group in enumerate(attribute.groups)}
    return tuple(
        Contrast(
            tuple(number[group] for group in planned.of),
            tuple(number[group] for group in planned.against),
            1.0 if planned.weight is None else float(planned.weight),
        )
        for planned in attribute.comparisons or ()
    )


def all_pairs(groups: int) -> tuple[Contrast, ...]:
    """Return every pair of groups, in order, all of the same weight."""
    return tuple(Contrast((a,), (b,)) for a, b in combinations(range(groups), 2))
