r"""The randomiser of a device: it tosses the coin for a table, rounds each value to a level, and draws one symbol.

What is private comes in, and a symbol is all that leaves.  The table that it draws from, and the exact law of what it
draws, are the channel's (:mod:`fairgauge.channel`); that of a site is :mod:`fairgauge.client.site_counts`.

Everyone takes the same steps, whatever they have or lack.
"""

import secrets
from bisect import bisect_right
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import accumulate
from typing import Any, cast

from fairgauge.channel import ROW_BITS, Channel
from fairgauge.client.profile_entries import entry_of, is_mapping, plain_text
from fairgauge.study import Attribute, Question, Study


def randomise(study: Study, profile: Mapping[str, Any]) -> int:
    """Return a symbol of one table of a study, picked by a secure coin, drawn from what a profile says."""
    groups, values = groups_by_attribute(study, profile.get("group")), profile.get("values")
    inputs = [channel_input(table, groups, {} if values is None else values) for table in study.tables]
    picked = secrets.randbelow(len(inputs))
    return study.offsets[picked] + draw_symbol(study.tables[picked][0].channel, *inputs[picked])


def draw_symbol(
    channel: Channel,
    group: int | None,
    *positions: Fraction | None,
    bits: Callable[[int], int] = secrets.randbits,
) -> int:
    r"""Draw the symbol to send; ``None`` for any input is someone without a group or a value.

    Everyone takes the same steps and uses the same draws of 53 bits in the same order.  One for each value rounds
    it to a level, also where it is on one or missing; the first of them also picks the row of someone who lacks
    something; the last picks the symbol, the first whose running sum exceeds it.

    Guarantee: exact; whatever the input is, the symbol's law is a convex mixture of rows (``channel.mixture``), so no
    two inputs differ by more than a factor :math:`e^\epsilon` at any symbol.

    Args:
        channel: The table.
        group: The group's index.
        positions: The value in [-1, 1] times ``LEVEL_UNIT``, beyond which it counts as the nearest end; of a joint
            channel one for each value.
        bits: Gives a uniform integer of that many bits; only tests replace it.
    """
    lacks, member, places = channel.places(group, *positions)
    drawn = [bits(ROW_BITS) for _ in places]
    picked = [(below, above)[given < t] for (below, above, t), given in zip(places, drawn, strict=True)]
    row = (channel.row(member, *picked), channel.row_without(drawn[0]))[lacks]
    return bisect_right(list(accumulate(row)), bits(ROW_BITS))


def channel_input(
    table: tuple[Question, ...], groups: Mapping[str, Any], values: Mapping[str, Any]
) -> tuple[int | None, *tuple[Fraction | None, ...]]:
    """Return what the channel of a table takes; None for what is missing, not listed or no number."""
    attribute = table[0].attribute
    places = [group_index(factor, entry_of(groups, factor.name)) for factor in attribute.factors]
    metrics = (question.metric for question in table)
    return _cell(attribute, places), *(metric.nearest(entry_of(values, metric.name)) for metric in metrics)


def groups_by_attribute(study: Study, group: Any) -> Mapping[str, Any]:
    """Return the group for each attribute's name; one without a name is of the only attribute, or of none."""
    if is_mapping(group):
        return group
    names = {factor.name for attribute in study.attributes for factor in attribute.factors}
    return dict.fromkeys(names, group) if len(names) == 1 else {}


def group_index(attribute: Attribute, group: object) -> int | None:
    """Return the place of a group in an attribute's list; None for one that is not there."""
    places: dict[str | None, int] = {name: place for place, name in enumerate(attribute.groups)}
    return places.get(plain_text(group))  # looked up, and not asked for first: everybody takes the same steps


def _cell(attribute: Attribute, places: list[int | None]) -> int | None:
    """Return the index of the cell of groups that are crossed, the last attribute fastest; None if one is missing."""
    cell = 0
    for factor, place in zip(attribute.factors, places, strict=True):
        cell = cell * len(factor.groups) + cast("int", (place, 0)[place is None])
    return (cell, None)[None in places]
