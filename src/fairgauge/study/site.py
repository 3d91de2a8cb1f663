"""What a site that holds many people counts: cells of groups and outcomes, with noise for each person."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from fairgauge.channel import check_levels
from fairgauge.errors import BadStudy, InvalidInput
from fairgauge.study.attribute import Attribute
from fairgauge.study.checks import check_integer, check_is, check_prose, listed
from fairgauge.study.metric import Metric
from fairgauge.study.numbers import Number
from fairgauge.study.question import positive

MOST_RECORDS = 1000

Outcome = Literal["confusion", "levels"]

# What a table of truth and prediction tells, by its short name, and in words.
RATES = {
    "selection_rate": "selection rate",
    "accuracy": "accuracy",
    "tpr": "true positive rate",
    "fpr": "false positive rate",
    "precision": "precision",
}


@dataclass(frozen=True, slots=True)
class SiteMetric:
    """A metric that the counts of sites tell, of an attribute: what a question is to devices."""

    metric: Metric
    attribute: Attribute


@dataclass(frozen=True, slots=True, init=False)
class Site:
    """What each site counts and sends: one noisy count for each cell, which may be negative.

    Cells are ordered by group, then by truth, then by prediction (0 before 1); or by group, then by level.

    Args:
        attribute: How people are grouped.
        outcome: ``"confusion"`` for truth and prediction, ``"levels"`` for a metric.
        epsilon: The epsilon for each person.
        records: How many records of one person count at most.
        metric: What is measured, where the outcome is levels.
        levels: The values that are counted, in units of 2^-30 from -2^30 to 2^30.
        person: Who counts as one person, for people.
    """

    attribute: Attribute
    outcome: Outcome
    epsilon: str
    records: int = 1
    metric: Metric | None = None
    levels: tuple[int, ...] | None = None
    person: str | None = None

    def __init__(  # noqa: PLR0913 - these are the parts of what a site counts
        self,
        attribute: Attribute,
        outcome: Outcome,
        epsilon: Number,
        *,
        records: int = 1,
        metric: Metric | None = None,
        levels: Iterable[int] | None = None,
        person: str | None = None,
    ) -> None:
        check_is("attribute", attribute, Attribute)
        if outcome not in ("confusion", "levels"):
            raise BadStudy("outcome", outcome, 'must be "confusion" or "levels"')
        check_integer("records", records, least=1, most=MOST_RECORDS)
        put = object.__setattr__
        put(self, "attribute", attribute)
        put(self, "outcome", outcome)
        put(self, "epsilon", positive("epsilon", epsilon))
        put(self, "records", records)
        put(self, "metric", metric)
        put(self, "levels", None if levels is None else listed("levels", levels, "levels"))
        put(self, "person", person)
        for field, value in (("metric", metric), ("levels", self.levels)):
            if outcome == "levels" and value is None:
                raise BadStudy(field, "nothing", "must be given where the outcome is levels")
            if outcome == "confusion" and value is not None:
                raise BadStudy(field, "something", "must not be given where the outcome is confusion")
        if metric is not None:
            check_is("metric", metric, Metric)
        if self.levels is not None:
            check_levels(self.levels)
        if person is not None:
            check_prose("person", person)

    @property
    def asked(self) -> tuple[SiteMetric, ...]:
        """What the counts tell, one metric after the other."""
        if self.metric is not None:
            return (SiteMetric(self.metric, self.attribute),)
        return tuple(SiteMetric(Metric(name, 0, 1), self.attribute) for name in RATES.values())

    @property
    def decay(self) -> Fraction:
        r"""The noise's decay :math:`d`: a count is off by z with a probability that falls as :math:`e^{-d |z|}`."""
        return Fraction(self.epsilon) / self.moved

    @property
    def moved(self) -> int:
        """By how much one person can move the counts in sum: each of its records leaves a cell and enters another."""
        return 2 * self.records

    @property
    def loss(self) -> Fraction:
        """The exact epsilon of a site's answer for each person: what is moved, times the noise's decay."""
        return self.moved * self.decay

    @property
    def cells(self) -> int:
        """How many counts a site sends."""
        return len(self.attribute.groups) * (4 if self.levels is None else len(self.levels))

    def check(self, payload: tuple[int, ...]) -> None:
        """Refuse what no site can have sent.

        Raises:
            InvalidInput: If it is that.
        """
        if len(payload) != self.cells:
            raise InvalidInput("counts", f"{len(payload)} counts", f"must be {self.cells}, one a cell")
