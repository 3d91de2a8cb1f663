"""The sides of comparisons by number: one group, or several that are taken together."""

from fairgauge.study import Question
from fairgauge.study.attribute import Attribute
from fairgauge.study.sides import margins, planned, side_name

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
