"""Attributes as people type them: groups, or attributes that cross, their shares, and what to compare."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from fairgauge.errors import InvalidInput
from fairgauge.study import Attribute, Comparison
from fairgauge.study.attribute import ALIKE, ANY
from fairgauge.study.margins import named_side, usual_comparisons
from fairgauge.study.numbers import decimal_text, exact, plain, read_decimal

# Shares that are given as counts are rounded to so many parts, which sum to all of them.
_PARTS = 10**6
_SHARE, _COUNT = "share", "count"
MARGINS, CELLS = "margins", "cells"


@dataclass(frozen=True)
class Grouping:
    """How people are grouped, as it is typed: groups of one attribute, or several that cross."""

    groups: Sequence[str] = ()
    attribute: str = "group"
    crosses: Sequence[str] = ()
    shares: Path | None = None
    compare: Sequence[str] = ()
    against: str | None = None
    weigh: Sequence[str] = ()
    answering: str = ANY
    share_error: str | None = None
    share_source: str | None = None


def read_attribute(typed: Grouping) -> Attribute:
    """Return the attribute, with what is planned to be compared.

    Raises:
        InvalidInput: If something is typed wrong.
    """
    if typed.groups and typed.crosses:
        raise InvalidInput("group", ", ".join(typed.groups), "must not be given beside --cross, which names all groups")
    if typed.shares is not None and not typed.crosses:
        raise InvalidInput("shares", typed.shares, "is about the cells of --cross; a group has its share beside it")
    # A ratio as documents have it: 1.100 is 1.1.
    answering = typed.answering if typed.answering in (ANY, ALIKE) else _ratio(typed.answering)
    if typed.crosses:
        found = _read_crossed(typed.crosses, typed.shares, answering)
    else:
        found = read_groups(list(typed.groups), typed.attribute, answering)
    stated = replace(found, share_error=typed.share_error, share_source=typed.share_source or found.share_source)
    return with_comparisons(stated, typed)


def with_comparisons(attribute: Attribute, typed: Grouping) -> Attribute:
    """Return the attribute with the comparisons that are typed."""
    return replace(attribute, comparisons=_weighed(attribute, _planned(attribute, typed), typed.weigh))


def _planned(attribute: Attribute, typed: Grouping) -> tuple[Comparison, ...] | None:
    """Return what is compared: every other group with a reference group, if one is named."""
    if typed.against is None:
        return read_comparisons(attribute, typed.compare)
    if typed.compare:
        raise InvalidInput("against", typed.against, "must not be given beside --compare, which names what is compared")
    if typed.against not in attribute.groups:
        raise InvalidInput("against", typed.against, f"must be one of {', '.join(attribute.groups)}")
    return tuple(Comparison(group, typed.against) for group in attribute.groups if group != typed.against)


def _weighed(
    attribute: Attribute, planned: tuple[Comparison, ...] | None, typed: Sequence[str]
) -> tuple[Comparison, ...] | None:
    """Read ``women:nonbinary=3``: that comparison matters three times as much as one that has no weight."""
    if not typed:
        return planned
    found, done = list(planned or read_comparisons(attribute, [CELLS]) or ()), set[int]()
    if len(found) == 1:
        raise InvalidInput("weigh", ", ".join(typed), "is for several comparisons: one matters beside no other")
    for text in typed:
        pair, equals, number = text.rpartition("=")
        if not equals:
            raise InvalidInput("weigh", text, "must be two groups and a weight, such as women:nonbinary=3")
        weight = read_decimal("weigh", number)
        if weight <= 0:
            raise InvalidInput("weigh", text, "must have a weight above 0")
        one = _read_comparison(attribute, pair, field="weigh")
        sides = {one.of, one.against}
        places = [place for place, other in enumerate(found) if {other.of, other.against} == sides]
        if not places:
            raise InvalidInput("weigh", text, "must be one of the comparisons that are planned")
        if places[0] in done:
            raise InvalidInput("weigh", text, "must be weighed once")
        done.add(places[0])
        kept = found[places[0]]
        found[places[0]] = Comparison(kept.of, kept.against, weight)
    return tuple(found)


def _ratio(typed: str) -> str:
    number = exact(typed)
    return typed if number is None else decimal_text("answering", number)


def read_groups(typed: list[str], attribute: str, answering: str = ANY) -> Attribute:
    """Read ``female=0.5`` (with its share of the population) or ``female``."""
    names, numbers = [], []
    for text in typed:
        _check_share_mark("group", text)
        name, equals, share = text.partition("=")
        names.append(name)
        numbers += [_share(name, share)] if equals else []
    if len(names) < 2:
        raise InvalidInput("group", ", ".join(typed) or "none", "give at least two groups, such as female and male")
    if not numbers:
        return Attribute(attribute, names, answering=answering)
    if len(numbers) < len(names):
        raise InvalidInput("group", ", ".join(typed), "give every group a share (female=0.5), or none")
    if answering == ANY and Decimal("0.999") <= sum(numbers) <= Decimal("1.001"):
        # What nothing is divided by may be rounded, and the last group makes up for it.
        numbers[-1] = 1 - sum(numbers[:-1], Decimal(0))
    return Attribute(attribute, names, tuple(map(plain, numbers)), answering=answering)


def _share(name: str, typed: str) -> Decimal:
    share = read_decimal(f"group {name}", typed)
    if not 0 < share < 1:
        raise InvalidInput(f"group {name}", typed, "must have a share above 0 and below 1")
    return share


def _check_share_mark(field: str, typed: str) -> None:
    """Refuse ``female~0.5``, which would be taken for a name."""
    if re.search(r"~\s*[\d.]+\s*$", typed):
        raise InvalidInput(field, typed, "must have its share behind =, which is a guess unless all answer alike")


def _read_crossed(typed: Sequence[str], shares: Path | None = None, answering: str = ANY) -> Attribute:
    """Read ``sex=female,male`` and ``age=18-29,30-49,50+``: their cells are the groups of one attribute.

    Groups may have shares (``sex=female:0.5,male:0.5``); the cells' are then those of independent attributes, which
    the study says.  A file has the shares of the cells themselves.

    Raises:
        InvalidInput: If something is typed wrong.
    """
    if len(typed) < 2:
        raise InvalidInput(
            "cross", ", ".join(typed), "give at least two, such as --cross sex=female,male --cross age=…"
        )
    factors = [_read_factor(text) for text in typed]
    stated = {factor.shares is not None for factor in factors}
    if len(stated) > 1:
        raise InvalidInput("cross", ", ".join(typed), "give every group a share, or none")
    if shares is None:
        return Attribute.crossed(*factors, answering=answering)
    if stated == {True}:
        raise InvalidInput("shares", shares, "must not be given where groups have shares: the file has the cells'")
    return Attribute.crossed(*factors, shares=read_shares(shares, factors), answering=answering)


def read_comparisons(attribute: Attribute, typed: Sequence[str]) -> tuple[Comparison, ...] | None:
    """Read ``female:male``, a group or a margin against another, or the words ``margins`` and ``cells``.

    ``margins`` is what is usual where attributes cross, and what is planned unless something is given; ``cells`` is
    every two cells.  None stands for every two groups.

    Raises:
        InvalidInput: If a side is no group and no margin.
    """
    if not typed:
        return usual_comparisons(attribute) if attribute.cross else None
    found: dict[tuple[tuple[str, ...], tuple[str, ...]], Comparison] = {}
    for text in typed:
        if text == MARGINS and attribute.cross:
            more = usual_comparisons(attribute)
        elif text == CELLS:
            more = tuple(Comparison(a, b) for n, a in enumerate(attribute.groups) for b in attribute.groups[n + 1 :])
        else:
            more = (_read_comparison(attribute, text),)
            if (more[0].against, more[0].of) in found:
                raise InvalidInput("compare", text, "must be there once: it is there in the other order")
        found.update({(one.of, one.against): one for one in more if (one.against, one.of) not in found})
    return tuple(found.values())


def _read_comparison(attribute: Attribute, text: str, *, field: str = "compare") -> Comparison:
    # A name may have a colon in it: wherever both parts are names, it is meant.
    for at, letter in enumerate(text):
        if letter == ":":
            sides = [named_side(attribute, part.strip()) for part in (text[:at], text[at + 1 :])]
            if sides[0] is not None and sides[1] is not None:
                return Comparison(sides[0], sides[1])
    words = f" or the words {MARGINS} or {CELLS}" if attribute.cross else f" or the word {CELLS}"
    names = ", ".join(factor_group for factor in attribute.factors for factor_group in factor.groups)
    raise InvalidInput(field, text, f"must be two of {names} with a colon between them,{words}")


def _read_factor(text: str) -> Attribute:
    name, equals, listed = text.partition("=")
    if not equals or not listed:
        raise InvalidInput("cross", text, "must be an attribute and its groups, such as sex=female,male")
    groups, numbers = [], []
    for one in listed.split(","):
        _check_share_mark("cross", one)
        mark = next((m for m in ":=" if m in one), "")
        group, _, share = one.rpartition(mark) if mark else (one, "", "")
        groups.append(group.strip())
        numbers += [read_decimal(f"cross {name}", share)] if mark else []
    if 0 < len(numbers) < len(groups):
        raise InvalidInput("cross", text, "give every group a share (female:0.5), or none")
    return Attribute(name.strip(), groups, numbers or None)


def read_shares(path: Path, factors: Sequence[Attribute]) -> list[Fraction]:
    """Read the shares of cells from a CSV file: a column for each attribute, and ``share`` or ``count``."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            rows = [(reader.line_num, row) for row in reader]
    except (UnicodeDecodeError, csv.Error) as problem:
        raise InvalidInput("shares", path, f"must be CSV in UTF-8 ({problem})") from None
    except OSError as problem:
        raise InvalidInput("shares", path, f"cannot be read: {problem.strerror or problem}") from None
    names = [factor.name for factor in factors]
    columns = list(reader.fieldnames or ())
    number = next((column for column in (_SHARE, _COUNT) if column in columns), None)
    if number is None or set(columns) != {*names, number}:
        wanted = f"{', '.join(names)} and {_SHARE} or {_COUNT}"
        raise InvalidInput("shares", path, f"must have the columns {wanted}; it has {', '.join(columns) or 'none'}")
    found: dict[tuple[str, ...], Decimal] = {}
    for line, row in rows:
        # A thousand that is written 1,200 would count as one.
        beyond = row.get(None) or ()
        if beyond:
            told = f"{len(columns) + len(beyond)} fields"
            raise InvalidInput(f"shares, row {line}", told, f"must be {len(columns)}, as in the first line")
        cell = tuple((row[name] or "").strip() for name in names)
        for factor, group in zip(factors, cell, strict=True):
            if group not in factor.groups:
                rule = f"must be one of {', '.join(factor.groups)}"
                raise InvalidInput(f"shares, row {line}: {factor.name}", group, rule)
        if cell in found:
            raise InvalidInput(f"shares, row {line}", ", ".join(cell), "must be there once")
        found[cell] = read_decimal(f"shares, row {line}: {number}", (row[number] or "").strip())
    order = [tuple(cell) for cell in _products(factors)]
    for cell in order:
        if cell not in found:
            raise InvalidInput("shares", path, f"must have a row for {', '.join(cell)}")
    given = [Fraction(found[cell]) for cell in order]
    return _summing_to_one(given, path) if number == _SHARE else _rounded(given, path)


def _summing_to_one(shares: list[Fraction], path: Path) -> list[Fraction]:
    """Return shares that sum to 1; those that are no shares are refused elsewhere."""
    total = sum(shares)
    if min(shares) > 0 and total != 1:
        rule = f"must sum to exactly 1, not to {float(total):.12g}; a column {_COUNT} may sum to anything"
        raise InvalidInput("shares", path, rule)
    return shares


def _products(factors: Sequence[Attribute]) -> list[tuple[str, ...]]:
    cells: list[tuple[str, ...]] = [()]
    for factor in factors:
        cells = [(*cell, group) for cell in cells for group in factor.groups]
    return cells


def _rounded(counts: Sequence[Fraction], path: Path) -> list[Fraction]:
    """Return shares with six digits that sum to exactly 1, by largest remainders."""
    total = sum(counts)
    if total <= 0 or min(counts) <= 0:
        raise InvalidInput("shares", path, "must count somebody in every cell")
    exact = [count * _PARTS / total for count in counts]
    whole = [int(part) for part in exact]
    by_remainder = sorted(range(len(exact)), key=lambda i: whole[i] - exact[i])
    for i in by_remainder[: _PARTS - sum(whole)]:
        whole[i] += 1
    if min(whole) == 0:
        raise InvalidInput("shares", path, f"must have at least one in {_PARTS:,} in every cell")
    return [Fraction(part, _PARTS) for part in whole]
