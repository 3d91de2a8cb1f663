"""Draw for a site that holds many people: count its records by group and outcome, and add noise to every count.

Noisy counts are all that leaves it.  A site's answer protects each of its people from everyone outside; the site itself
sees its own data, as before.  That the site takes part, and how large it is to within the noise, is not hidden.

Every record takes the same steps, whatever it holds: one that is left out is counted in a cell of its own, to which
nobody looks.
"""

import os
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction

from fairgauge.client.discrete_laplace import draw_noise
from fairgauge.client.site_records import (
    NO_VALUE,
    NONE,
    PERSON,
    PREDICTION,
    TRUTH,
    Key,
    Records,
    binary,
    position,
)
from fairgauge.errors import InvalidInput
from fairgauge.study import Metric, NoisyCounts
from fairgauge.study.noisy_counts import MOST_IN_CELL


def draw_counts(site: NoisyCounts, records: Records) -> tuple[int, ...]:
    r"""Count a site's records, and add discrete Laplace noise to every count.

    Neighbouring sites differ in the records of one person, replaced by others.  With at most r records a person that
    moves counts by 2 r in sum, so the noise has the decay :math:`e^{-\varepsilon / 2r}` in every cell.

    Guarantee: exact; the counts are epsilon-differentially private for each person, with the epsilon of the study.

    Args:
        site: What is counted.
        records: The site's records.
    """
    decay = site.decay
    noisy = [count + draw_noise(decay.numerator, decay.denominator) for count in count_records(site, records)]
    # Cut off when they are noisy already, which tells no more; to refuse would be free, and tell something.
    return tuple(max(-MOST_IN_CELL, min(MOST_IN_CELL, count)) for count in noisy)


def count_records(site: NoisyCounts, records: Records) -> list[int]:
    """Return how many records are in each cell, with at most as many of one person as the study says.

    Which of a person's records are kept is picked at random, each with the same chance.
    """
    cells, people, most = cells_of(site, records), records.numbers[PERSON], site.records
    met = [0] * (max(people, default=NONE) + 1) + [most]  # the last is nobody's, so that theirs are one too many
    counts = [0] * (site.size + 1)
    for row in _in_any_order(records):
        cell, person = cells[row], people[row]
        met[person] += cell < site.size
        counts[(site.size, cell)[met[person] <= most]] += 1
    return counts[: site.size]


def cells_of(site: NoisyCounts, records: Records) -> list[int]:
    """Return the cell of each record; for one that lacks a group or an outcome, the number of cells.

    A value between two levels is rounded to one of them at random, so that the mean stays.

    Raises:
        InvalidInput: If the records were read for something else.
    """
    found, out, stride = [0] * records.rows, site.size, site.size
    lists = {one.name: one.groups for one in records.counted.attributes}
    for factor in site.attribute.factors:
        stride //= len(factor.groups)
        places = {name: place * stride for place, name in enumerate(factor.groups)}
        # By the place in the records' own list; the last, which -1 is, for no group.
        steps = [*(places.get(name, out) for name in lists.get(factor.name, ())), out]
        found = _further(found, _numbers(records, ("group", factor.name)), steps)
    if site.metric is None or site.levels is None:
        found = _further(found, _numbers(records, TRUTH), [0, 2, out])
        found = _further(found, _numbers(records, PREDICTION), [0, 1, out])
    elif any(_is_same(site.metric, one) for one in records.counted.metrics):
        levels = _at_levels(site.levels, _numbers(records, ("value", site.metric.name)), out)
        found = [cell + level for cell, level in zip(found, levels, strict=True)]
    else:
        raise InvalidInput("records", site.metric.name, "must have been read for this metric and its range")
    return [min(out, cell) for cell in found]


def _is_same(asked: Metric, own: Metric) -> bool:
    ends = [(Fraction(one.low), Fraction(one.high)) for one in (asked, own)]
    return asked.name == own.name and ends[0] == ends[1]


def left_out(site: NoisyCounts, records: Records) -> int:
    """Return how many records count in no cell, for the site's own eyes."""
    people = records.numbers[PERSON]
    return sum(cell == site.size or who == NONE for cell, who in zip(cells_of(site, records), people, strict=True))


def _numbers(records: Records, key: Key) -> "array[int]":
    if key not in records.numbers:
        raise InvalidInput("records", key[1], "must have been read for what the study counts")
    return records.numbers[key]


def _further(found: list[int], places: "array[int]", steps: list[int]) -> list[int]:
    return [cell + steps[place] for cell, place in zip(found, places, strict=True)]


def _at_levels(levels: Sequence[int], values: "array[int]", out: int) -> list[int]:
    """Return the level of each value, drawn among the two beside it; at least ``out`` for what is no number.

    Levels are bisected, so that it takes as many steps for every value: the study chooses where they are dense.  And a
    draw has 64 bits whatever the distance of two levels is, so that it takes as long: the mean is off by 2^-64 of that.
    """
    found = []
    for value, draw in zip(values, array("Q", os.urandom(8 * len(values))), strict=True):
        above = max(1, bisect_left(levels, value))
        low = levels[above - 1]
        below = draw * (levels[above] - low) >> 64 >= value - low
        found.append(above - below + out * (value == NO_VALUE))
    return found


def _in_any_order(records: Records) -> Sequence[int]:
    """Return the rows, each order as likely as any other, where people have several of them."""
    rows = range(records.rows)
    if records.counted.columns.person is None:
        return rows
    return sorted(rows, key=array("Q", os.urandom(8 * records.rows)).__getitem__)


def law_in(site: NoisyCounts, group: int | None, outcome: Sequence[object]) -> tuple[tuple[int, Fraction], ...]:
    """Return the cells that a record of a group may be counted in, each with its chance; none if it is left out."""
    if site.metric is None or site.levels is None:
        truth, prediction = map(binary, outcome)
        if group is None or NONE in (truth, prediction):
            return ()
        return ((4 * group + 2 * truth + prediction, Fraction(1)),)
    value = position(site.metric, outcome[0])
    if group is None or value == NO_VALUE:
        return ()
    place = max(1, bisect_left(site.levels, value))
    low, above = site.levels[place - 1], len(site.levels) * group + place
    part = Fraction(value - low, site.levels[place] - low)
    return tuple((cell, chance) for cell, chance in ((above, part), (above - 1, 1 - part)) if chance)
