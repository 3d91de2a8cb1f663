"""What is compared: the mean over some groups minus the mean over others, how much that matters, and its names."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from fairgauge.study import Attribute, Question
from fairgauge.study.margins import margins, planned, side_name


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

    def in_order(self, order: Sequence[int]) -> "Contrast":
        """Return the same comparison of groups that stand in another order, up to its sign."""
        place = {group: number for number, group in enumerate(order)}
        first, second = sorted(tuple(sorted(place[group] for group in side)) for side in (self.of, self.against))
        return Contrast(first, second, self.weight)


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


# One group by its number, or several.
Side = int | tuple[int, ...]
Pair = tuple[Side, Side]


def members(side: Side) -> tuple[int, ...]:
    """Return the numbers of a side's groups.

    >>> members(3), members((0, 2))
    ((3,), (0, 2))
    """
    return (side,) if isinstance(side, int) else side


def side_of(attribute: Attribute, groups: tuple[str, ...]) -> Side:
    """Return the side that has these groups."""
    numbers = tuple(attribute.groups.index(group) for group in groups)
    return numbers[0] if len(numbers) == 1 else numbers


def compared(question: Question) -> tuple[Pair, ...]:
    """Return what a question compares: as its study planned it, or else every two groups."""
    attribute = question.attribute
    return tuple((side_of(attribute, one.of), side_of(attribute, one.against)) for one in planned(attribute))


def pair_names(question: Question) -> dict[Pair, tuple[str, str]]:
    """Return what people call the two sides of everything that a question compares."""
    attribute = question.attribute
    names = [(side_name(attribute, one.of), side_name(attribute, one.against)) for one in planned(attribute)]
    return dict(zip(compared(question), names, strict=True))


def margin_sides(question: Question) -> dict[str, Side]:
    """Return the margins of a question's crossed attributes, by name."""
    return {name: side_of(question.attribute, cells) for name, cells in margins(question.attribute).items()}
