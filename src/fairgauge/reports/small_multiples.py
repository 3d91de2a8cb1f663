"""Many gaps and many groups, so that people can read them: small multiples, sorted, and no wall of rows.

Where attributes cross, comparisons that differ in one attribute only stand together: "female − male" over all ages, and
in each age.  Else the largest gaps come first, and what is left out is said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from fairgauge.estimation import Interval, QuestionEstimate
from fairgauge.languages import Label, Sentence
from fairgauge.study import Attribute, Question
from fairgauge.study.margins import margins, planned, side_name

_MOST_GAPS = 24
_OVER_ALL = Sentence.of("picture.over-all")
_Pair = tuple[str, str]
_Sets = tuple[frozenset[str], ...]


@dataclass(frozen=True)
class Panel:
    """Numbers that are read together, each with what it is called there; no title where there is one panel."""

    title: str | None
    rows: tuple[tuple[str, Interval], ...]


def shown_gaps(found: QuestionEstimate, most: int = _MOST_GAPS) -> list[tuple[_Pair, Interval]]:
    """Return the gaps to show: all, in their order, or the largest of very many."""
    if len(found.gaps) <= most:
        return list(found.gaps.items())
    return sorted(found.gaps.items(), key=lambda named: -abs(named[1].estimate))[:most]


def shown_response(found: QuestionEstimate) -> list[tuple[_Pair, Interval]]:
    """Return how often groups answered beside each other, for the gaps that are shown."""
    return [(pair, found.response[pair]) for pair, _ in shown_gaps(found) if pair in found.response]


def left_out_sentence(found: QuestionEstimate) -> str | None:
    """Return how many gaps are not shown, and whether any of them is clear; None if all are."""
    shown = dict(shown_gaps(found))
    rest = [gap for pair, gap in found.gaps.items() if pair not in shown]
    if not rest:
        return None
    clear = sum(gap.clear for gap in rest)
    told = Sentence.of("verdict.some-clear", count=clear) if clear else Sentence.of("verdict.none-clear")
    return Sentence.of("verdict.left-out", shown=len(shown), all=len(found.gaps), rest=len(rest), told=told)


def minus(first: str, second: str) -> str:
    """Return what a comparison is called.

    >>> print(minus("female", "male"))
    female − male
    """
    return Sentence.of("table.minus", first=first, second=second)


def gap_panels(question: Question, found: QuestionEstimate) -> list[Panel]:
    """Return the gaps in panels: one for every two groups of an attribute that are compared in several cells."""
    attribute = question.attribute
    if not attribute.cross:
        largest = sorted(shown_gaps(found), key=lambda named: -abs(named[1].estimate))
        return [Panel(None, tuple((minus(a, b), gap) for (a, b), gap in largest))]
    several: dict[tuple[int, str, str], list[tuple[str, Interval]]] = {}
    others: list[tuple[str, Interval]] = []
    for one in planned(attribute):
        names = side_name(attribute, one.of), side_name(attribute, one.against)
        if names not in found.gaps:
            continue
        place = _differ(attribute, one.of, one.against)
        if place is None:
            others.append((minus(*names), found.gaps[names]))
        else:
            axis, a, b, rest = place
            several.setdefault((axis, a, b), []).append((rest, found.gaps[names]))
    panels = [Panel(minus(a, b), tuple(rows)) for (_, a, b), rows in several.items() if len(rows) > 1]
    for axis, factor in enumerate(attribute.cross):
        alone = [
            (minus(a, b) if rest is _OVER_ALL else _joined("list.within", [minus(a, b), rest]), gap)
            for (at, a, b), rows in several.items()
            if at == axis and len(rows) == 1
            for rest, gap in rows
        ]
        if alone:
            panels.append(Panel(Label(factor.name), tuple(_largest(alone))))
    return [*panels, *([Panel(Sentence.of("picture.others"), tuple(_largest(others)))] if others else [])]


def mean_panels(question: Question, found: QuestionEstimate) -> list[Panel]:
    """Return the means in panels: one for each attribute that crosses, then one for each group of the first."""
    attribute = question.attribute
    if not attribute.cross:
        return [Panel(None, tuple(list(found.means.items())[:_MOST_GAPS]))]
    names, panels = iter(margins(attribute)), []
    for factor in attribute.cross:
        own = [next(names) for _ in factor.groups]
        panels.append(
            Panel(Label(factor.name), tuple((name, found.margins[name]) for name in own if name in found.margins))
        )
    size = len(attribute.groups) // len(attribute.cross[0].groups)
    for number, group in enumerate(attribute.cross[0].groups):
        cells = attribute.groups[number * size : (number + 1) * size]
        rows = [(cell.removeprefix(f"{group}, "), found.means[cell]) for cell in cells if cell in found.means]
        panels.append(Panel(group, tuple(rows)))
    return [panel for panel in panels if panel.rows]


def _largest(rows: Sequence[tuple[str, Interval]]) -> list[tuple[str, Interval]]:
    return sorted(rows, key=lambda named: -abs(named[1].estimate))[:_MOST_GAPS]


def _differ(attribute: Attribute, of: Sequence[str], against: Sequence[str]) -> tuple[int, str, str, str] | None:
    """Return the attribute in which two sides differ, the two groups, and what both have in common."""
    first, second = _sets(attribute, of), _sets(attribute, against)
    apart = [place for place, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    if len(apart) != 1 or len(first[apart[0]]) != 1 or len(second[apart[0]]) != 1:
        return None
    (place,) = apart
    same = [
        _joined("list.or", [group for group in factor.groups if group in groups])
        for at, (factor, groups) in enumerate(zip(attribute.cross, first, strict=True))
        if at != place and len(groups) < len(factor.groups)
    ]
    (a,), (b,) = first[place], second[place]
    return place, a, b, _joined("list.within", same) if same else _OVER_ALL


def _joined(key: str, names: Sequence[str]) -> str:
    first, *others = names
    return reduce(lambda said, name: Sentence.of(key, first=said, second=name), others, first)


def _sets(attribute: Attribute, side: Sequence[str]) -> _Sets:
    """Return the groups of each crossed attribute that a side has."""
    found: list[set[str]] = [set() for _ in attribute.cross]
    for cell in side:
        index = attribute.groups.index(cell)
        for place in reversed(range(len(attribute.cross))):
            groups = attribute.cross[place].groups
            found[place].add(groups[index % len(groups)])
            index //= len(groups)
    return tuple(map(frozenset, found))
