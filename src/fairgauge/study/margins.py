"""Groups taken together: margins of crossed attributes, the sides of comparisons, and what people call them.

A side is one group or several.  Where attributes cross, "female" is all cells of that sex, whatever the age: a margin.
"""

from collections.abc import Iterable
from itertools import combinations, product

from fairgauge.study.attribute import Attribute, Comparison

_Groups = tuple[str, ...]
EVERYONE = "everyone"


def margins(attribute: Attribute) -> dict[str, _Groups]:
    """Return the cells of every group of every attribute that is crossed, by what the margin is called.

    >>> sex, age = Attribute("sex", ["female", "male"]), Attribute("age", ["18-29", "30+"])
    >>> margins(Attribute.crossed(sex, age))["female"]
    ('female, 18-29', 'female, 30+')
    """
    return {
        _factor_name(attribute, place, group): _cells(attribute, {place: (group,)})
        for place, factor in enumerate(attribute.cross)
        for group in factor.groups
    }


def planned(attribute: Attribute) -> tuple[Comparison, ...]:
    """Return the comparisons that a study makes: those that it names, or else every two groups."""
    if attribute.comparisons is not None:
        return attribute.comparisons
    return tuple(Comparison(a, b) for a, b in combinations(attribute.groups, 2))


def side_name(attribute: Attribute, side: _Groups, *, either: str = " or ") -> str:
    """Return what people call some groups that are taken together, with a word between those that are listed.

    >>> sex, age = Attribute("sex", ["female", "male"]), Attribute("age", ["18-29", "30-49", "50+"])
    >>> both = Attribute.crossed(sex, age)
    >>> side_name(both, both.groups[:3]), side_name(both, both.groups[1:3]), side_name(both, both.groups[4:5])
    ('female', 'female, 30-49 or 50+', 'male, 30-49')
    >>> side_name(Attribute("sex", ["female", "male", "other"]), ("female", "other"))
    'female or other'
    """
    if len(side) == len(attribute.groups):
        return EVERYONE
    if not attribute.cross or len(side) == 1:
        return either.join(side)
    places = dict(zip(attribute.groups, _places(attribute), strict=True))
    used = [
        tuple(group for group in factor.groups if any(places[cell][place] == group for cell in side))
        for place, factor in enumerate(attribute.cross)
    ]
    if tuple(side) != _cells(attribute, dict(enumerate(used))):
        return either.join(f"({cell})" for cell in side)
    said = [
        (place, groups)
        for place, (groups, factor) in enumerate(zip(used, attribute.cross, strict=True))
        if len(groups) < len(factor.groups)
    ]
    return ", ".join(either.join(_factor_name(attribute, place, group) for group in groups) for place, groups in said)


def usual_comparisons(attribute: Attribute) -> tuple[Comparison, ...]:
    """Return the comparisons that crossed attributes usually want: few enough to read, and to be sharp together.

    Every two groups of each attribute over all others (women against men), and every two groups of the first attribute
    within each cell of the others (women against men of 18 to 29).
    """
    found = []
    for place, factor in enumerate(attribute.cross):
        for a, b in combinations(factor.groups, 2):
            found.append(Comparison(_cells(attribute, {place: (a,)}), _cells(attribute, {place: (b,)})))
    first, *others = attribute.cross
    for cell in product(*(factor.groups for factor in others)):
        rest = {place: (group,) for place, group in enumerate(cell, start=1)}
        for a, b in combinations(first.groups, 2):
            found.append(Comparison(_cells(attribute, {0: (a,), **rest}), _cells(attribute, {0: (b,), **rest})))
    return tuple(found)


def named_side(attribute: Attribute, typed: str) -> _Groups | None:
    """Return the groups that a name stands for: a group, a margin, or None if it is neither."""
    if typed in attribute.groups:
        return (typed,)
    return margins(attribute).get(typed)


def _factor_name(attribute: Attribute, place: int, group: str) -> str:
    """Return what a group of a crossed attribute is called: with the attribute's name where another has it too."""
    elsewhere = (one.groups for at, one in enumerate(attribute.cross) if at != place)
    return f"{attribute.cross[place].name} {group}" if any(group in groups for groups in elsewhere) else group


def _cells(attribute: Attribute, only: dict[int, _Groups]) -> _Groups:
    """Return the cells whose groups are among these, in the attribute's order."""
    return tuple(
        cell
        for cell, at in zip(attribute.groups, _places(attribute), strict=True)
        if all(at[place] in groups for place, groups in only.items())
    )


def _places(attribute: Attribute) -> Iterable[_Groups]:
    return product(*(factor.groups for factor in attribute.cross))
