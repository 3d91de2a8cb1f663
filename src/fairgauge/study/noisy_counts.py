"""Noisy counts: the mechanism of a site that holds many people, cells of groups and outcomes with noise in each."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Literal

from fairgauge.channel import check_levels, rounded_up
from fairgauge.errors import BadStudy
from fairgauge.study.attribute import Attribute
from fairgauge.study.field_checks import check_integer, check_is, check_prose, listed
from fairgauge.study.metric import LOWER, Metric
from fairgauge.study.numbers import Number, positive

_MOST_RECORDS = 1000
_MOST_PRODUCT = 2**53 - 1  # what every JSON reader takes for an exact integer
MOST_IN_CELL = 2**26 - 1  # so that the product of two counts is an exact integer for every JSON reader, too
FEWEST = 3

Outcome = Literal["confusion", "levels"]

# What a table of truth and prediction tells, and by which key languages have its name.
RATES = {
    "selection rate": "selection-rate",
    "accuracy": "accuracy",
    "true positive rate": "tpr",
    "false positive rate": "fpr",
    "precision": "precision",
}
_RATE_METRICS = tuple(Metric(name, 0, 1, better=LOWER if key == "fpr" else None) for name, key in RATES.items())


@dataclass(frozen=True, slots=True, init=False)
class NoisyCounts:
    """A mechanism: what each site counts and sends, one noisy count for each cell, which may be negative.

    Cells are ordered by group, then by truth, then by prediction (0 before 1); or by group, then by level.

    Args:
        attribute: How people are grouped.
        outcome: ``"confusion"`` for truth and prediction, ``"levels"`` for a metric.
        declared: The epsilon for each person, which it spends exactly.
        records: How many records of one person count at most.
        metric: What is measured, where the outcome is levels.
        levels: The values that are counted, in units of 2^-30 from -2^30 to 2^30.
        person: Who counts as one person, for people.
    """

    attribute: Attribute
    outcome: Outcome
    declared: str
    records: int = 1
    metric: Metric | None = None
    levels: tuple[int, ...] | None = None
    person: str | None = None

    def __init__(  # noqa: PLR0913 - these are the parts of what a site counts
        self,
        attribute: Attribute,
        outcome: Outcome,
        declared: Number,
        *,
        records: int = 1,
        metric: Metric | None = None,
        levels: Iterable[int] | None = None,
        person: str | None = None,
    ) -> None:
        check_is("attribute", attribute, Attribute)
        if outcome not in ("confusion", "levels"):
            raise BadStudy("outcome", outcome, 'must be "confusion" or "levels"')
        check_integer("records", records, least=1, most=_MOST_RECORDS)
        put = object.__setattr__
        put(self, "attribute", attribute)
        put(self, "outcome", outcome)
        put(self, "declared", positive("epsilon", declared))
        put(self, "records", records)
        put(self, "metric", metric)
        put(self, "levels", None if levels is None else listed("levels", levels, "levels"))
        put(self, "person", person)
        for field, value in (("metric", metric), ("levels", self.levels)):
            if outcome == "levels" and value is None:
                raise BadStudy(field, "nothing", "must be given where the outcome is levels")
            if outcome == "confusion" and value is not None:
                rule = "must not be given where the outcome is confusion"
                raise BadStudy(field, getattr(value, "name", "something"), rule)
        if metric is not None:
            check_is("metric", metric, Metric)
        if self.levels is not None:
            check_levels(self.levels)
        if person is not None:
            check_prose("person", person)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """What the counts tell, one metric after the other."""
        return _RATE_METRICS if self.metric is None else (self.metric,)

    @property
    def questions(self) -> int:
        """How many metrics the counts tell."""
        return len(self.metrics)

    @property
    def groups(self) -> int:
        """How many groups people are in."""
        return len(self.attribute.groups)

    @property
    def abstain(self) -> bool:
        """A record without a group is not counted, and nobody knows how many there are."""
        return False

    @property
    def counts_people(self) -> bool:
        """A site counts all of its people, so that nothing is assumed of who answers."""
        return True

    @property
    def numbers(self) -> int:
        """A site sends a count for every cell."""
        return self.size

    @property
    def fewest(self) -> int:
        """One of two sites could take its own counts away from the sum, and what came between two sums is a site's."""
        return FEWEST

    @property
    def contributors_known(self) -> bool:
        """That a site takes part is no secret, and one table that is made up would outweigh all others."""
        return True

    @property
    def decay(self) -> Fraction:
        r"""The noise's decay :math:`d`: a count is off by z with a probability that falls as :math:`e^{-d |z|}`."""
        return Fraction(self.declared) / self.moved

    @property
    def moved(self) -> int:
        """By how much one person can move the counts in sum: each of its records leaves a cell and enters another."""
        return 2 * self.records

    @property
    def loss(self) -> Fraction:
        """The exact epsilon of a site's answer for each person: what is moved, times the noise's decay."""
        return self.moved * self.decay

    @property
    def epsilon(self) -> float:
        """The exact privacy loss for each person, rounded up."""
        return rounded_up(self.epsilon_bound)

    @property
    def epsilon_bound(self) -> Decimal:
        """The exact privacy loss for each person, which is the decimal that is declared."""
        return Decimal(self.declared)

    def within(self, epsilon: Decimal) -> bool:
        """Tell whether the privacy loss is at most epsilon; never wrongly true."""
        return self.loss <= Fraction(epsilon)

    @property
    def size(self) -> int:
        """How many counts a site sends."""
        return self.groups * (4 if self.levels is None else len(self.levels))

    def check_sums(self, sums: tuple[int, ...], contributors: int) -> None:
        """Refuse nothing: noise may have any size and any sign."""

    def products(self, payloads: Iterable[tuple[int, ...]], size: int) -> tuple[int, ...]:
        """Return for every two cells the sum over sites of the product of both counts: how much sites differ.

        Sums of squares bound every sum of products (Cauchy and Schwarz); of sites too large for them there are none.
        """
        found = [0] * (size * (size + 1) // 2)
        for payload in payloads:
            for index, (first, second) in enumerate(combinations_with_replacement(payload, 2)):
                found[index] += first * second
        return () if max(found, default=0) > _MOST_PRODUCT else tuple(found)
