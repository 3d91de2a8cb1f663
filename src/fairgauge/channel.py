"""The channel: a finite table of integers that turns a person's (group, value) into one random symbol.

A device draws from it in :mod:`fairgauge.client.randomiser`; here are the table, its exact loss, and the law of a draw.

Row x of the table lists how often, out of ``ROW_SUM`` = 2^53 equally likely draws, someone whose input is x
sends each symbol.  Rows are ordered (group 0, level 0), (group 0, level 1), ..., (last group, last level),
then one row for those who abstain if the channel allows it.  A value between two levels goes to one of them
at random, which makes its law a convex mixture of two rows: what the rows guarantee covers every value.  A value
outside of the levels goes to the nearest end.  Whoever has no group or no value has the row for those who abstain;
where there is none, one of all rows is picked, each as likely as any other, so that their law is a mixture of rows
too.  Nobody is turned away for what they have or lack: who stays silent would tell it.

A joint channel takes several values at once.  Its rows are ordered by group, then by the level of each value, the
last value fastest; each value is rounded on its own, so that its law is a mixture of rows again.

No float touches anything private.  Weights are integers, values are fractions, randomness is 53 secure bits
at a time, and the privacy loss is computed from the integers, never from a theorem about how they were made.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from typing import cast

from fairgauge.errors import BadTable, BadTally, CannotAnswer

ROW_BITS = 53
ROW_SUM = 2**ROW_BITS
LEVEL_UNIT = 2**30

Row = tuple[int, ...]
Place = tuple[int, int, int]

_UPWARD = Context(prec=50, rounding=ROUND_CEILING)
# What stands in for the value of someone who has none, so that everyone takes the same steps.
_NO_VALUE = Fraction(-LEVEL_UNIT)


@dataclass(frozen=True, slots=True)
class Channel:
    """A validated table, with what it costs in privacy and the law of what is drawn from it.

    Args:
        table: One row of weights per input, in the module's order; every row sums to ``ROW_SUM``.
        levels: The values with rows, times ``LEVEL_UNIT``: increasing from -``LEVEL_UNIT`` to ``LEVEL_UNIT``.
        groups: How many groups there are.
        abstain: Whether the last row is for those without a group or a value; without it their row is any row.
        further: The levels of the second value and of those after it, where the channel takes several at once.

    Raises:
        BadTable: Naming the row and the column at fault.

    >>> often, seldom = ROW_SUM // 4 * 3, ROW_SUM // 4
    >>> coin = Channel(((often, seldom), (seldom, often)), levels=(-LEVEL_UNIT, LEVEL_UNIT), groups=1)
    >>> coin.symbols, coin.loss, coin.epsilon
    (2, Fraction(3, 1), 1.0986122886681098)
    """

    table: tuple[Row, ...] = field(repr=False)
    levels: tuple[int, ...]
    groups: int
    abstain: bool = False
    further: tuple[tuple[int, ...], ...] = ()
    loss: Fraction | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for levels in self.axes:
            check_levels(levels)
        if type(self.groups) is not int or self.groups < 1:
            raise BadTable("groups", self.groups, "must be an integer from 1 up")
        if type(self.abstain) is not bool:
            raise BadTable("abstain", self.abstain, "must be true or false")
        _check_table(self.table, rows=self.groups * math.prod(map(len, self.axes)) + self.abstain)
        object.__setattr__(self, "loss", _loss(self.table))

    @property
    def axes(self) -> tuple[tuple[int, ...], ...]:
        """The levels of every value that the channel takes, in order; one unless it is joint."""
        return (self.levels, *self.further)

    @property
    def symbols(self) -> int:
        """How many different symbols can be sent."""
        return len(self.table[0])

    @property
    def size(self) -> int:
        """How many numbers answers add to: one for each symbol."""
        return self.symbols

    @property
    def questions(self) -> int:
        """How many questions an answer is about at once."""
        return len(self.axes)

    @property
    def counts_people(self) -> bool:
        """An answer is of one person, and who answers matters."""
        return False

    @property
    def numbers(self) -> int:
        """An answer is one symbol."""
        return 1

    @property
    def fewest(self) -> None:
        """How often each symbol was sent may be shown at any time: an answer is private by itself."""

    @property
    def contributors_known(self) -> bool:
        """Who answers is nobody's business."""
        return False

    @property
    def person(self) -> None:
        """Whoever answers is one person."""

    @property
    def rows(self) -> int:
        """How many different inputs have a row."""
        return len(self.table)

    def row_without(self, drawn: int) -> Row:
        """Return the weights of someone without a group or a value: the row to abstain, or one of all rows.

        Args:
            drawn: 53 random bits; each row has 2^53 / rows of them, rounded up or down.
        """
        return self.table[-1] if self.abstain else self.table[drawn * self.rows >> ROW_BITS]

    def rows_without(self) -> list[tuple[Row, int]]:
        """Return every row that ``row_without`` may give, and how many of ``ROW_SUM`` draws give it."""
        if self.abstain:
            return [(self.table[-1], ROW_SUM)]
        starts = [-(-ROW_SUM * index // self.rows) for index in range(self.rows + 1)]
        return [(row, after - before) for row, (before, after) in zip(self.table, pairwise(starts), strict=True)]

    def row(self, group: int, *levels: int) -> Row:
        """Return the weights of someone of this group whose values are on these levels (all by index)."""
        sizes = tuple(map(len, self.axes))
        inside = len(levels) == len(sizes) and all(0 <= at < size for at, size in zip(levels, sizes, strict=True))
        if not (0 <= group < self.groups and inside):
            raise IndexError("the channel has no row for this group and level")
        index = group
        for level, size in zip(levels, sizes, strict=True):
            index = index * size + level
        return self.table[index]

    @property
    def epsilon(self) -> float:
        r"""The exact privacy loss, rounded up; infinite where a symbol excludes an input.

        .. math:: \epsilon = \max_j \ln \frac{\max_x W_{xj}}{\min_x W_{xj}}

        Guarantee: exact; no pair of inputs differs by more than a factor :math:`e^\epsilon` at any symbol.
        """
        return rounded_up(self.epsilon_bound)

    @property
    def epsilon_bound(self) -> Decimal:
        """The exact privacy loss as a decimal, rounded up at its 50th digit: for sums that must not come out low."""
        return Decimal("Infinity") if self.loss is None else _log(self.loss)

    def within(self, epsilon: Decimal) -> bool:
        """Tell whether the privacy loss is at most epsilon; never wrongly true."""
        return self.loss is not None and self.epsilon_bound <= epsilon

    def check_sums(self, sums: tuple[int, ...], contributors: int) -> None:
        """Refuse what cannot be how often each symbol was sent.

        Raises:
            BadTally: If it is that.
        """
        for symbol, count in enumerate(sums):
            if count < 0:
                raise BadTally(f"counts[{symbol}]", count, "must be an integer from 0 to 2^53 - 1")
        if sum(sums) != contributors:
            raise BadTally("contributors", contributors, f"must be {sum(sums)}, the sum of the counts")

    def products(self, payloads: Iterable[tuple[int, ...]], size: int) -> tuple[int, ...]:  # noqa: ARG002 - as others do
        """Return nothing: how often each symbol was sent is all there is to know."""
        return ()

    def mixture(self, group: int | None, *positions: Fraction | None) -> tuple[Fraction, ...]:
        """Return the exact distribution of the symbol that a device draws for an input (``client/randomiser.py``)."""
        lacks, member, places = self.places(group, *positions)
        parts = self.rows_without() if lacks else []
        for ups in () if lacks else product((False, True), repeat=len(places)):
            picked = [(below, above)[up] for (below, above, _), up in zip(places, ups, strict=True)]
            chance = math.prod((ROW_SUM - t, t)[up] for (*_, t), up in zip(places, ups, strict=True))
            parts.append((self.row(member, *picked), chance))
        law = [0] * self.symbols
        for row, chance in parts:
            for symbol, weight in enumerate(row):
                law[symbol] += chance * weight
        whole = ROW_SUM * sum(chance for _, chance in parts)
        return tuple(Fraction(weight, whole) for weight in law)

    def places(self, group: int | None, *positions: Fraction | None) -> tuple[bool, int, list[Place]]:
        """Return whether someone lacks group or value, a group, and for each value where it is between its levels.

        A place is the levels below and above, by index, and how many of ``ROW_SUM`` draws go to the one above.

        Nothing branches on what is private: whoever lacks something gets a group and values too, which are not used.
        """
        if len(positions) != len(self.axes):
            raise CannotAnswer(f"the channel takes {len(self.axes)} values at once, and got {len(positions)}")
        lacks = (group is None) | (sum(position is None for position in positions) > 0)
        member = cast("int", (group, 0)[lacks])
        given = [cast("Fraction", (position, _NO_VALUE)[lacks]) for position in positions]
        return lacks, member, [_place(levels, position) for levels, position in zip(self.axes, given, strict=True)]


def rounded_up(bound: Decimal) -> float:
    """Return the nearest float that is not below."""
    nearest = float(bound)
    return nearest if Decimal(nearest) >= bound else math.nextafter(nearest, math.inf)


def _place(levels: tuple[int, ...], position: Fraction) -> Place:
    """Return the levels below and above, by index, and how many of ``ROW_SUM`` draws go to the one above."""
    numerator, denominator = position.as_integer_ratio()
    numerator = max(-LEVEL_UNIT * denominator, min(LEVEL_UNIT * denominator, numerator))
    index = min(bisect_right(levels, numerator // denominator), len(levels) - 1)
    low, high = levels[index - 1], levels[index]
    threshold = ROW_SUM * (numerator - low * denominator) // ((high - low) * denominator)
    return index - 1, index, threshold


def check_levels(levels: tuple[int, ...]) -> None:
    """Refuse levels that are not increasing integers from -2^30 to 2^30."""
    for index, level in enumerate(levels):
        if type(level) is not int:
            raise BadTable(f"levels[{index}]", level, "must be an integer")
    if len(levels) < 2:
        raise BadTable("levels", levels, "must be at least 2")
    if (levels[0], levels[-1]) != (-LEVEL_UNIT, LEVEL_UNIT):
        raise BadTable("levels", levels, "must go from -2^30 to 2^30")
    for index, (level, following) in enumerate(pairwise(levels), start=1):
        if level >= following:
            raise BadTable(f"levels[{index}]", following, "must be above the level before it")


def _check_table(table: tuple[Row, ...], *, rows: int) -> None:
    if len(table) != rows:
        raise BadTable("table", f"{len(table)} rows", f"must have {rows}: groups x levels, and one to abstain")
    symbols = len(table[0])
    if symbols < 2:
        raise BadTable("table[0]", f"{symbols} symbols", "must have at least 2")
    for i, row in enumerate(table):
        if len(row) != symbols:
            raise BadTable(f"table[{i}]", f"{len(row)} symbols", f"must have {symbols} like the first row")
        for j, weight in enumerate(row):
            if type(weight) is not int or weight < 0:
                raise BadTable(f"table[{i}][{j}]", weight, "must be an integer from 0 up")
        if sum(row) != ROW_SUM:
            raise BadTable(f"table[{i}]", sum(row), "must sum to exactly 2^53")
    for j, column in enumerate(zip(*table, strict=True)):
        if not any(column):
            raise BadTable(f"table[0..{rows - 1}][{j}]", 0, "must not be 0 in every row: leave the symbol out")


def _loss(table: tuple[Row, ...]) -> Fraction | None:
    """Return the largest ratio within a column, or None where a column mixes zero and non-zero."""
    largest, smallest = 1, 1
    for column in zip(*table, strict=True):
        high, low = max(column), min(column)
        if low == 0:
            return None
        if high * smallest > largest * low:
            largest, smallest = high, low
    return Fraction(largest, smallest)


@lru_cache(maxsize=1024)
def _log(ratio: Fraction) -> Decimal:
    """Return an upper bound of ln(ratio) that is within about 1e-49, for a ratio from 1 up.

    The quotient is rounded up; ``ln`` rounds to the nearest whatever the context says, so one step up from it
    is above the logarithm.
    """
    if ratio == 1:
        return Decimal(0)
    quotient = _UPWARD.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    return _UPWARD.next_plus(_UPWARD.ln(quotient))
