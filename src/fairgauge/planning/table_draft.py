"""The draft of a study from somebody's own table: what of it could be groups and metrics, as a file with comments.

A study goes out into the world, and its own file may go with it.  So nothing enters the file that is about few
people: no count, shares and means rounded, no label that few have, and no column that looks like a name or an
identifier, unless it is asked for.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Any

from fairgauge.errors import InvalidInput
from fairgauge.planning.study_draft import Draft
from fairgauge.planning.table_summary import (
    FEW_OF,
    FEW_PEOPLE,
    MOST_GROUPS,
    Column,
    TableSummary,
    look,
    unknown_labels,
)
from fairgauge.simulation.people import EVERY_OTHER, LEAVE_OUT
from fairgauge.study.numbers import as_count, plain
from fairgauge.study.question import ANY_VALUES

_MOST_TOLD = 3  # labels that perhaps mean what another means
_SMALL, _MOST_LARGE = 0.05, 4  # a group that makes gaps dear, and how many others may be listed two by two
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Wish:
    """What a draft is to be about.

    Args:
        groups: The columns of the groups; several cross.
        metrics: The columns of the metrics.
        labels: Labels that are to be groups, however few people have them; those that are common unless given.
        title: What the study is about; made from the columns unless given.
        epsilon: The privacy loss of one answer.
        clients: How many will answer, if that is known.
    """

    groups: Sequence[str] = ()
    metrics: Sequence[str] = ()
    labels: Sequence[str] = ()
    title: str | None = None
    epsilon: Any = 1
    clients: Any = None


def draft_text(found: TableSummary, wish: Wish) -> str:
    """Return the text of a draft, with comments that say what was seen.

    Raises:
        InvalidInput: If a column is not there, or cannot be what it is asked for.
    """
    groups = [_as_groups(found.column(name, field="group-column"), wish) for name in wish.groups]
    metrics = [_as_metric(found.column(name, field="metric-column")) for name in wish.metrics]
    if not groups:
        # What alone can be measured is no group.
        rest = found.without(metrics or (found.metrics if len(found.metrics) == 1 else []))
        groups = _likeliest(rest.groups, "group-column", rest, _two_groups(rest))
    _check_labels(groups, wish)
    if not metrics:
        rest = found.without(groups)
        metrics = _likeliest(rest.metrics, "metric-column", rest, _NUMBERS)
    _check_apart(groups, metrics)
    by = " and ".join(one.name for one in groups)
    title = wish.title or f"{' and '.join(one.name for one in metrics)} by {by}"
    lines = [
        "# A study, as people write it: fairgauge plan, design and simulate read this file.",
        f"title = {_text(title[0].upper() + title[1:])}",
        f"epsilon = {plain(Decimal(str(wish.epsilon)))}  # privacy loss of one answer; the smaller the more private",
    ]
    if wish.clients is not None:
        lines.append(f"planned = {as_count('clients', wish.clients)}  # how many answers are planned")
    for one in metrics:
        lines += ["", *_metric_lines(one)]
    lines += ["", *_attribute_lines(groups, wish), "", *_table_lines(groups, metrics, wish, found.counted_by)]
    lines += _other_lines(found, groups, metrics)
    text = "\n".join(lines) + "\n"
    _check_draft(text)
    return text


def _check_draft(text: str) -> None:
    Draft.read(tomllib.loads(text, parse_float=Decimal))


def _as_groups(column: Column, wish: Wish) -> Column:
    if any(_called(column, text) for text in wish.labels):
        return column
    if column.many or len(column.groups) > MOST_GROUPS:
        rule = f"must have at most {MOST_GROUPS} labels: make a column of fewer, such as groups of ages"
        raise InvalidInput("group-column", column.name, rule)
    if len(column.groups) < 2:
        rule = (
            f"must have two labels that {FEW_PEOPLE} people and one in {FEW_OF} have; rarer ones are not written down "
            f"unless they are asked for (--group LABEL), and one group has nothing beside it"
        )
        raise InvalidInput("group-column", column.name, rule)
    return column


def _as_metric(column: Column) -> Column:
    if not column.is_metric:
        why = "must have numbers, at least two different ones, or yes and no, in nine of ten rows that have an entry"
        raise InvalidInput("metric-column", column.name, why)
    return column


def _two_groups(found: TableSummary) -> str:
    """Return what no column has that could be groups, and what helps: naming rare labels, or people of two groups."""
    common = f"two to {MOST_GROUPS} labels that {FEW_PEOPLE} people and one in {FEW_OF} have each"
    rule = f"{common}. A study compares groups: "
    if any(len(one.labels) > 1 and not one.names_people and not one.is_metric for one in found.columns):
        counted = any(one.is_metric and not one.is_part for one in found.columns)
        many = '. Where a row stands for many people, call the column that says how many "count"' if counted else ""
        said = "name the column, and labels that fewer have: --group-column COLUMN --group LABEL --group LABEL"
        return f"{rule}{said}{many}"
    return f"{rule}take a table with people of at least two, or write the study's own file by hand"


_NUMBERS = (
    "two different numbers and looks like no identifier, or yes and no. A study compares what is measured: name the "
    "column (--metric-column COLUMN)"
)


def _likeliest(found: Sequence[Column], field: str, whole: TableSummary, what: str) -> list[Column]:
    if not found:
        there = ", ".join(one.name for one in whole.columns)
        raise InvalidInput(field, "nothing", f"must be given: no column of {there} has {what}")
    return [found[0]]


def _check_apart(groups: Sequence[Column], metrics: Sequence[Column]) -> None:
    names = [one.name for one in (*groups, *metrics)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput("metric-column", twice, "must be a column of its own: it is there twice")


def _metric_lines(one: Column) -> list[str]:
    low, high = one.range
    seen = "yes and no" if one.yes_or_no else f"about {_rounded(one.low, one.range)} to {_rounded(one.high, one.range)}"
    notes = [f"values seen: {seen}"]
    if one.percent:
        notes.append("percent signs: 76.5% is read as " + ("76.5" if high > 1 else "0.765"))
    elif high == 100:
        notes.append("it looks like 0 to 100")
    if one.missing:
        notes.append(f"missing in {_about(one.missing, one.rows)}")
    expected, spread = one.expected, one.spread
    lines = [
        "[[metrics]]",
        f"name = {_text(one.name)}  # {'; '.join(notes)}",
        f"low = {plain(low)}",
        f"high = {plain(high)}",
        f"expect = {plain(expected)}  # the mean to reckon with, as in the table; a wrong guess costs only precision",
    ]
    if spread is not None:
        told = _text(spread) if spread == ANY_VALUES else spread
        lines.append(f"spread = {told}  # how far values lie from it: the standard deviation, or any values")
    return lines


def _rounded(value: Decimal, ends: tuple[Decimal, Decimal]) -> str:
    """Return an end of what was seen, to a tenth of the range: nobody's own value."""
    low, high = ends
    step = (high - low) / 10
    return plain(low + round((value - low) / step) * step)


def _groups_of(one: Column, wish: Wish) -> dict[str, list[str]]:
    named = {text: same for text in wish.labels if (same := _called(one, text))}
    # Where attributes cross, one whose labels nobody named keeps those that are common.
    return named or one.groups


def _called(one: Column, text: str) -> list[str]:
    """Return the labels of a column that somebody calls so, in any capitals, or those of a group of the draft."""
    alike = [each for each in one.labels if each.casefold() == text.strip().casefold()]
    return alike or one.groups.get(text, [])


def _check_labels(groups: Sequence[Column], wish: Wish) -> None:
    """Refuse labels that no column has, that are named twice, or that stand alone."""
    for text in wish.labels:
        if not any(_called(one, text) for one in groups):
            there = "; ".join(f"{one.name} has {', '.join(one.groups) or 'none that many have'}" for one in groups)
            raise InvalidInput("group", text, f"must be a label of the table ({there}), a rare one as the table has it")
    for one in groups:
        found = _groups_of(one, wish)
        named = [each for same in found.values() for each in same]
        if len(found) < 2 or len(set(named)) < len(named):
            rule = f"must name at least two labels of {one.name}, each once: one group has nothing beside it"
            raise InvalidInput("group", ", ".join(wish.labels), rule)


def _attribute_lines(groups: Sequence[Column], wish: Wish) -> list[str]:
    if len(groups) == 1:
        one = groups[0]
        found = {name: sum(one.labels[text] for text in same) for name, same in _groups_of(one, wish).items()}
        return ["[attribute]", *_group_lines(one, wish), *_answering(), *_without_small(found)]
    lines = ["[attribute]  # these cross: female of 18-29 is a group of its own", *_answering()]
    for one in groups:
        lines += ["", "[[attribute.cross]]", *_group_lines(one, wish)]
    return lines


def _answering() -> list[str]:
    return ['answering = "any"  # nothing is assumed of how often each group answers']


def _group_lines(one: Column, wish: Wish) -> list[str]:
    found = _groups_of(one, wish)
    counts = [sum(one.labels[text] for text in same) for same in found.values()]
    notes = [f"missing in {_about(one.missing, one.rows)}"] if one.missing else []
    if not wish.labels and one.rare:
        notes.append(f"labels that few have, or that say nothing, are left out: {_about(one.rare, one.rows)}")
    return [
        f"name = {_text(one.name)}" + (f"  # {'; '.join(notes)}" if notes else ""),
        f"groups = [{', '.join(map(_text, found))}]",
        f"shares = [{', '.join(_shares(counts))}]  # rounded, as in the table; who is asked may be others",
    ]


def _without_small(found: Mapping[str, int]) -> list[str]:
    """Return a line for who would not ask for gaps of groups that are so small that these need most of the people."""
    total = sum(found.values())
    large = [name for name, count in found.items() if count >= _SMALL * total]
    small = [name for name in found if name not in large]
    if not small or not 2 <= len(large) <= _MOST_LARGE:
        return []
    pairs = (f"{{ of = {_text(of)}, against = {_text(other)} }}" for of, other in combinations(large, 2))
    return [f"# comparisons = [{', '.join(pairs)}]  # gaps with {' or '.join(small)} take many times the people"]


def _shares(counts: Sequence[int]) -> list[str]:
    """Return rounded shares that sum to 1: to hundredths, and to twentieths where few people would show."""
    total = sum(counts)
    parts = 100 if total >= 2_000 or len(counts) > 10 else 20
    exact = [count * parts / total for count in counts]
    whole = [max(1, int(part)) for part in exact]
    while sum(whole) != parts:
        short = sum(whole) < parts
        at = (max if short else min)(
            (index for index in range(len(whole)) if short or whole[index] > 1), key=lambda i: exact[i] - whole[i]
        )
        whole[at] += 1 if short else -1
    return [plain(Decimal(part) / parts) for part in whole]


def _table_lines(groups: Sequence[Column], metrics: Sequence[Column], wish: Wish, counted_by: str | None) -> list[str]:
    lines = [
        "[table]  # how your own table is read; nothing of it is published with the study",
        f'missing = "{LEAVE_OUT}"  # people who lack a group or a value; "abstain" if abstain = true stands above',
    ]
    if counted_by is not None:
        lines.append(f"count = {_text(counted_by)}  # a row stands for so many people: it looks so, see that it is so")
    for one in groups:
        found = _groups_of(one, wish)
        # A label is read whatever its capitals: the spelling that few have need not be written down.
        spelled = {(text.casefold(), group): text for group, same in found.items() for text in reversed(same)}
        told = [(text, group) for (folded, group), text in reversed(spelled.items()) if folded != group.casefold()]
        meant = [f"{_key(text)} = {_text(group)}" for text, group in told]
        if any(text not in {each for same in found.values() for each in same} for text in one.labels):
            meant.append(f'{_text(EVERY_OTHER)} = ""  # every other label counts as missing')
        if meant:
            lines += ["", f"[table.labels.{_key(one.name)}]", *meant]
        if len(found) > 2:
            lines += [*([] if meant else ["", f"# [table.labels.{_key(one.name)}]"]), *_perhaps_alike(found)]
    for one in metrics:
        answers = one.answers
        meant = [f"{_key(text)} = {value}" for text, value in answers.items()]
        if (len(answers) < len(one.labels)) if answers else (one.numbers < one.known):
            what = "every other text" if answers else "every text that is no number"
            meant.append(f'{_text(EVERY_OTHER)} = ""  # {what} counts as missing')
        if meant:
            lines += ["", f"[table.labels.{_key(one.name)}]", *meant]
    return lines


def _perhaps_alike(found: Mapping[str, list[str]]) -> list[str]:
    """Return lines that who knows better may take: labels that nobody knows here may mean the same as others."""
    largest, *others = found
    unknown = [one for one in unknown_labels(found) if one != largest]
    why = "  # if both mean the same: take it out of groups, and add its share to the other's"
    return [f"# {_key(one)} = {_text(largest)}{why}" for one in unknown[:_MOST_TOLD] or others[-1:]]


def _other_lines(found: TableSummary, groups: Sequence[Column], metrics: Sequence[Column]) -> list[str]:
    used = {one.name for one in (*groups, *metrics)}
    lines = []
    for what, columns in (("groups", found.groups), ("metrics", found.metrics)):
        if names := [one.name for one in columns if one.name not in used]:
            lines.append(f"# Columns that could be {what}, too: {', '.join(names)}")
    lines += [
        f"# Does {one.name} say how many people a row stands for? Call the column count, and run new again."
        for one in found.columns
        if one.looks_counted and one.name not in used
    ]
    return ["", *lines] if lines else []


def _about(some: int, rows: int) -> str:
    """Return a part of all rows in round words.

    >>> _about(4, 1000), _about(31, 1000), _about(400, 1000)
    ('a few rows', 'about 1 row in 30', 'about 40 % of the rows')
    """
    if some < FEW_PEOPLE:
        return "a few rows"
    part = some / rows
    if part >= 0.1:
        return f"about {round(20 * part) * 5} % of the rows"
    return f"about 1 row in {round(0.1 / part) * 10}" if part > 1 / FEW_OF else "fewer than 1 row in 100"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _key(text: str) -> str:
    return text if _BARE.fullmatch(text) else _text(text)


def new(  # noqa: PLR0913 - what a draft is about, each by its name
    table: Any,
    *,
    groups: Sequence[str] | str = (),
    metrics: Sequence[str] | str = (),
    title: str | None = None,
    epsilon: Any = 1,
    clients: Any = None,
) -> Draft:
    """Draft a study from a table: a data frame of any library, or the path of a CSV or Parquet file.

    Args:
        table: People, a row for each.
        groups: The column of the groups, or several that cross; the likeliest unless given.
        metrics: The column of the metric, or several; the likeliest unless given.
        title: What the study is about.
        epsilon: The privacy loss of one answer.
        clients: How many will answer.

    Raises:
        InvalidInput: If a column is not there, or cannot be what it is asked for.

    >>> people = {"sex": ["F", "M"] * 50, "recall": ["76.5%", "80%"] * 50}
    >>> new(people).attribute.groups
    ('female', 'male')
    """
    of, measured = ([one] if isinstance(one, str) else list(one) for one in (groups, metrics))
    text = draft_text(look(table), Wish(of, measured, title=title, epsilon=epsilon, clients=clients))
    return Draft.read(tomllib.loads(text, parse_float=Decimal))
