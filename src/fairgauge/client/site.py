"""Draw for a site that holds many people: count its records by group and outcome, and add noise to every count.

This is the only code that sees the records; noisy counts are all that leaves it.  A site's answer protects each of its
people from everyone outside; the site itself sees its own data, as before.  That the site takes part, and how large it
is to within the noise, is not hidden.
"""

import re
import secrets
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from fairgauge.client.entries import entry_text, name_text
from fairgauge.client.noise import draw_noise
from fairgauge.errors import CannotAnswer
from fairgauge.study import Attribute, Metric, NoisyCounts
from fairgauge.study.noisy_counts import MOST_IN_CELL

_ZERO_OR_ONE = re.compile(r"[01]\.0+")

# A person, the groups by attribute, and the outcome: truth and prediction, or a value.
Record = tuple[object, tuple[object, ...], tuple[object, ...]]


def draw_counts(site: NoisyCounts, records: Iterable[Record]) -> tuple[int, ...]:
    r"""Count a site's records, and add discrete Laplace noise to every count.

    Neighbouring sites differ in the records of one person, replaced by others.  With at most r records a person that
    moves counts by 2 r in sum, so the noise has the decay :math:`e^{-\varepsilon / 2r}` in every cell.

    Guarantee: exact; the counts are epsilon-differentially private for each person, with the epsilon of the study.

    Args:
        site: What is counted.
        records: For each record the person, the groups and the outcome.  A record without a group or an outcome, and
            one whose group the study does not list or whose outcome is none, is left out of the counts.
    """
    decay = site.decay
    noisy = [count + draw_noise(decay.numerator, decay.denominator) for count in count_records(site, records)]
    # Cut off when they are noisy already, which tells no more; to refuse would be free, and tell something.
    return tuple(max(-MOST_IN_CELL, min(MOST_IN_CELL, count)) for count in noisy)


def count_records(site: NoisyCounts, records: Iterable[Record]) -> list[int]:
    """Return how many records are in each cell, with at most as many of one person as the study says.

    Which of a person's records are kept is picked at random, each with the same chance.
    """
    kept: dict[object, list[int]] = {}
    met: dict[object, int] = {}
    counts = [0] * site.size
    for person, groups, outcome in records:
        cell = _cell(site, groups, outcome)
        if cell is None:
            continue
        if person is None:  # each record is a person of its own
            counts[cell] += 1
            continue
        met[person] = met.get(person, 0) + 1
        own = kept.setdefault(person, [])
        if len(own) < site.records:
            own.append(cell)
        elif (place := secrets.randbelow(met[person])) < site.records:
            own[place] = cell
    for own in kept.values():
        for cell in own:
            counts[cell] += 1
    return counts


def law_of(site: NoisyCounts, groups: Sequence[object], outcome: Sequence[object]) -> tuple[tuple[int, Fraction], ...]:
    """Return the cells that a record may be counted in, each with its chance; none if it cannot be counted.

    A value between two levels is rounded to one of them at random, so that the mean stays; one outside of the metric's
    range counts as its nearest end.
    """
    return law_in(site, _group(site.attribute, groups), outcome)


def law_in(site: NoisyCounts, group: int | None, outcome: Sequence[object]) -> tuple[tuple[int, Fraction], ...]:
    """Return the same for a record whose group's number is known."""
    if site.metric is None or site.levels is None:
        truth, prediction = map(binary, outcome)
        if group is None or truth is None or prediction is None:
            return ()
        return ((4 * group + 2 * truth + prediction, Fraction(1)),)
    place = _place(site.metric, site.levels, outcome[0])
    if group is None or place is None:
        return ()
    above, part = len(site.levels) * group + place[0], place[1]
    return ((above, part),) if part == 1 else ((above, part), (above - 1, 1 - part))


def check_record(site: NoisyCounts, groups: Sequence[object], outcome: Sequence[object]) -> None:
    """Refuse an entry that is there and cannot be counted: for records that are no secret, and for nobody else's.

    Raises:
        CannotAnswer: Naming what it must be; the text does not hold the entry.
    """
    for factor, entry in zip(site.attribute.factors, groups, strict=True):
        if entry_text(entry) is not None and listed_group(factor, entry) is None:
            raise CannotAnswer(f"{factor.name} must be one of {', '.join(factor.groups)} in every record, or empty")
    if site.metric is not None:
        if entry_text(outcome[0]) is not None:
            site.metric.position(outcome[0])  # type: ignore[arg-type]  # whatever it is, it is refused if it is no number
        return
    for name, entry in zip(("truth", "prediction"), outcome, strict=True):
        if entry_text(entry) is not None and binary(entry) is None:
            raise CannotAnswer(f"{name} must be 0 or 1 in every record, or empty")


def _cell(site: NoisyCounts, groups: Sequence[object], outcome: Sequence[object]) -> int | None:
    """Return the cell of a record; None if it cannot be counted."""
    law = law_of(site, groups, outcome)
    if not law:
        return None
    above, part = law[0]
    return above if secrets.randbelow(part.denominator) < part.numerator else law[1][0]


def _group(attribute: Attribute, entries: Sequence[object]) -> int | None:
    cell = 0
    for factor, entry in zip(attribute.factors, entries, strict=True):
        place = listed_group(factor, entry)
        if place is None:
            return None
        cell = cell * len(factor.groups) + place
    return cell


def listed_group(attribute: Attribute, entry: object) -> int | None:
    """Return the place in an attribute's list of the group that an entry names; None for one that is not there."""
    return None if (name := name_text(entry)) is None else _places(attribute).get(name)


@lru_cache(maxsize=64)
def _places(attribute: Attribute) -> Mapping[str | None, int]:
    """Return the place of each name; of two names that are one number, such as 1 and 1.0, the first has all of it."""
    return {name_text(name): place for place, name in reversed([*enumerate(attribute.groups)])}


_BINARY: Mapping[object, int] = {"0": 0, "1": 1, "false": 0, "true": 1}


def binary(entry: object) -> int | None:
    """Return 0 or 1 for an entry that says so; None for every other."""
    text = entry_text(entry) or ""
    found = _BINARY.get(text.lower())
    return int(text[0]) if found is None and _ZERO_OR_ONE.fullmatch(text) else found  # 1.0, as floats have it


def _place(metric: Metric, levels: Sequence[int], entry: object) -> tuple[int, Fraction] | None:
    """Return the level at or above a value, and how much of the way to it from the level below the value is."""
    position = metric.nearest(entry)
    if position is None:
        return None
    above = bisect_left(levels, position)  # as many steps for every value: the study chooses where levels are dense
    if levels[above] == position:
        return above, Fraction(1)
    return above, Fraction(position - levels[above - 1], levels[above] - levels[above - 1])
