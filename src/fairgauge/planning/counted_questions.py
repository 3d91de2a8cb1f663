"""Plans and designs of noisy counts: what sites that hold many people are asked, and how wide intervals will be."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, TypedDict, Unpack, cast

import numpy as np
from scipy.special import betaincinv

from fairgauge.channel import LEVEL_UNIT
from fairgauge.designs import AUTO
from fairgauge.errors import InvalidInput
from fairgauge.estimation.confidence_set import inverted
from fairgauge.estimation.interval_kinds import DEFAULT, check_confidence
from fairgauge.estimation.noise_law import Noise
from fairgauge.estimation.rates import NoisySums, RateGapTest, RateTest, metrics_of, rate_of
from fairgauge.estimation.site_inference import noise_of
from fairgauge.planning.input import ByMetric, Metrics
from fairgauge.planning.plans import Given, Plan, PlanRow, Plans
from fairgauge.study import Attribute, Metric, NoisyCounts, Question, counted
from fairgauge.study.noisy_counts import Outcome
from fairgauge.study.numbers import Number, as_count, as_number, plain
from fairgauge.study.question import COUNTED
from fairgauge.targets.assumed_values import USUAL_SPREAD, Reckoning
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.scores import Scores

# A metric's values are counted on so many levels; rounding to them is at random.
_LEVELS = 9
# So little that a person's own outcome is all that is at random.
_NO_NOISE = 1e-9
# A law of values is as good as so many values, evenly likely.
_POINTS = 1000
_USUAL = Reckoning(0.0, USUAL_SPREAD)
# A plan looks for no more sites than these.
_MOST_SITES = 10**6


@dataclass(frozen=True)
class SitePeople:
    """What a plan assumes of the people that sites hold.

    Args:
        each: How many people each site holds.
        positives: The part of them whose truth is 1, where the outcome is confusion.
        right: How often the model is right, for either truth, where the outcome is confusion.
        values: What is assumed of a metric's values, from -1 to 1, where the outcome is levels.
    """

    each: int
    positives: float = 0.5
    right: float = 0.8
    values: Reckoning = _USUAL

    def __post_init__(self) -> None:
        if self.each < 1:
            raise InvalidInput("people", self.each, "must be at least 1")
        for name, part in (("positives", self.positives), ("expect", self.right)):
            if not 0 < part < 1:
                raise InvalidInput(name, part, "must be between 0 and 1")

    def counts(self, site: NoisyCounts) -> Vector:
        """Return how many records of one site there will be in each cell, on average."""
        stated, groups = site.attribute.shares, len(site.attribute.groups)
        shares = np.array([float(Fraction(share)) for share in stated] if stated else [1 / groups] * groups)
        each = self._confusion() if site.levels is None else self._levels(site.levels)
        return np.asarray(np.multiply.outer(shares, each).ravel() * self.each)

    def _confusion(self) -> Vector:
        truth = np.repeat([1 - self.positives, self.positives], 2)
        right = np.array([self.right, 1 - self.right, 1 - self.right, self.right])
        return np.asarray(truth * right)

    def _levels(self, levels: tuple[int, ...]) -> Vector:
        """Return how often each level is counted: values have a beta law, and are rounded at random."""
        mean, most = (1 + self.values.mean) / 2, (1 - self.values.mean**2) / 4
        variance = most if self.values.spread is None else (self.values.spread / 2) ** 2
        ends = np.array([1 - mean, *np.zeros(len(levels) - 2), mean])
        if variance >= most:
            return ends
        size = most / variance - 1
        values = 2 * betaincinv(mean * size, (1 - mean) * size, (np.arange(_POINTS) + 0.5) / _POINTS) - 1
        at = np.array(levels) / LEVEL_UNIT
        return np.asarray([np.interp(values, at, level).mean() for level in np.eye(len(levels))])

    def sentence(self, metric: Metric | None) -> str:
        """Return what is assumed, as the end of a sentence about people."""
        if metric is None:
            right = f"a model that is right for {self.right:.0%} of either"
            return f"{self.positives:.0%} of whom have truth 1, and {right}"
        mean, spread = metric.to_metric(self.values.mean), metric.scale * self.values.widest
        return f"whose {metric.name} has a mean of {mean:.4g} and a standard deviation of {spread:.4g}"


@dataclass(frozen=True)
class SitePlans(Plans):
    """A plan for each question that the counts of sites tell."""

    whom = "sites"

    def sharing(self) -> list[str]:
        """Return nothing: one answer is about all questions."""
        return []


@dataclass(frozen=True)
class CountedQuestions(Sequence[Question]):
    """What sites are asked: all the questions that one table of noisy counts answers, before it is designed.

    Args:
        attribute: How people are grouped.
        outcome: ``"confusion"`` for truth and prediction, ``"levels"`` for a metric.
        metric: What is measured, where the outcome is levels.
        records: How many records of one person count at most.
        person: Who counts as one person, for people.
        people: What a plan assumes of the people; a design needs nothing.

    Raises:
        BadStudy: If something is out of range, or missing.
    """

    attribute: Attribute
    outcome: Outcome
    _: KW_ONLY
    metric: Metric | None = None
    records: int = 1
    person: str | None = None
    people: SitePeople | None = None

    def __post_init__(self) -> None:
        self.mechanism(Decimal(1))

    def mechanism(self, epsilon: Decimal) -> NoisyCounts:
        """Return what sites count and send at an epsilon for each person."""
        unit, last = LEVEL_UNIT, _LEVELS - 1
        levels = None if self.metric is None else [unit * (2 * index - last) // last for index in range(_LEVELS)]
        return NoisyCounts(
            self.attribute, self.outcome, plain(epsilon), records=self.records, person=self.person, metric=self.metric,
            levels=levels,
        )  # fmt: skip

    @cached_property
    def _questions(self) -> tuple[Question, ...]:
        metrics = self.mechanism(Decimal(1)).metrics
        return tuple(Question(metric, self.attribute) for metric in metrics)

    def __len__(self) -> int:
        return len(self._questions)

    def __getitem__(self, place: Any) -> Any:
        return self._questions[place]

    def designed(self, epsilon: Decimal, *, design: str = AUTO) -> tuple[Question, ...]:
        """Return the questions with their mechanism; noise is the same however many sites there are."""
        if design not in (AUTO, COUNTED):
            raise InvalidInput("design", design, f"must be {COUNTED}, or {AUTO}, where sites count")
        return counted(self.mechanism(epsilon))

    def planned(  # noqa: PLR0913 - what a plan takes, of which noisy counts use a part
        self,
        *,
        epsilon: Decimal | None = None,
        clients: int | None = None,
        error: float | None = None,
        confidence: float = 0.99,
        interval: str = DEFAULT,
        detect: float | None = None,
        designs: Any = None,
        progress: Callable[[str], object] = str,
    ) -> Plans:
        """Return a plan for each metric that the counts tell."""
        if interval != DEFAULT:
            raise InvalidInput("interval", interval, f"must be {DEFAULT} in a plan for sites: the people they see")
        for name, unused in (("detect", detect), ("designs", designs)):
            if unused is not None:
                raise InvalidInput(name, unused, "must not be given in a plan for sites")
        given, planned = Given(epsilon, clients, error), _Widths(self, check_confidence(confidence))
        names, plans = tuple(question.metric.name for question in self), []
        for name in names:
            progress(name)
            row = planned.row(name, given)
            plans.append(Plan(given.missing, confidence, DEFAULT, "gap", (row,)))
        return SitePlans(names, tuple(plans))


class Counting(TypedDict, total=False):
    """What is known of noisy counts beside the metric and the attribute."""

    records: int
    person: str | None
    people: Number | None
    positives: Number | None
    expect: ByMetric
    spread: ByMetric


def ask_counts(
    metric: Metrics | None, attribute: Attribute, outcome: str, **known: Unpack[Counting]
) -> CountedQuestions:
    """Return what sites are asked to count: not designed yet.

    Args:
        metric: What is measured, where the outcome is levels; truth and prediction tell rates of their own.
        attribute: How people are grouped, with their shares if they are to be planned with.
        outcome: ``"confusion"`` or ``"levels"``.
        known: ``people``, how many each site holds, and what is expected of them, for a plan; what else there is.

    Raises:
        InvalidInput: If something is of another type or out of range, or would change nothing.
    """
    metrics = [] if metric is None else list(metric) if isinstance(metric, list | tuple) else [metric]
    if len(metrics) > 1:
        raise InvalidInput(
            "metric", len(metrics), "must be one at most with outcome: sites count one, or truth and prediction"
        )
    own = metrics[0] if metrics else None
    asked = CountedQuestions(
        attribute, cast("Outcome", outcome), metric=own, records=known.get("records", 1), person=known.get("person")
    )
    each, positives = known.get("people"), known.get("positives")
    expect, spread = _of_one("expect", known.get("expect"), own), _of_one("spread", known.get("spread"), own)
    if each is None:
        for name, given in (("positives", positives), ("expect", expect), ("spread", spread)):
            if given is not None:
                raise InvalidInput(name, given, "must be given with people: how many each site holds")
        return asked
    people = SitePeople(as_count("people", each))
    if own is not None:
        if positives is not None:
            raise InvalidInput("positives", positives, "must be given where the outcome is confusion")
        scores = Scores.of(Question(own, attribute, expect=expect, spread=spread))
        return replace(
            asked, people=replace(people, values=Reckoning(scores.values.expect or 0.0, scores.values.spread))
        )
    if spread is not None:
        raise InvalidInput("spread", spread, "must be given where the outcome is levels")
    right = people.right if expect is None else as_number("expect", expect)
    part = people.positives if positives is None else as_number("positives", positives)
    return replace(asked, people=replace(people, positives=part, right=right))


def _of_one(field: str, given: ByMetric, metric: Metric | None) -> Number | None:
    if not isinstance(given, Mapping):
        return given
    names = [] if metric is None else [metric.name]
    for name in given:
        if name not in names:
            raise InvalidInput(field, name, f"must be one of {', '.join(names) or 'no metrics'}")
    return None if metric is None else given.get(metric.name)


@dataclass(frozen=True)
class _Widths:
    """How wide the largest gap of each metric will be, about the people that sites see.

    The widths are those that the estimate gives for counts as expected.  Of several gaps it is the widest, and all of
    them hold together.
    """

    asked: CountedQuestions
    alpha: float

    def row(self, name: str, given: Given) -> PlanRow:
        def width(epsilon: Decimal, sites: float) -> float:
            return self._width(name, epsilon, sites, noisy=True)

        epsilon, sites, error = given.solved(width)
        site = None if epsilon is None else self.asked.mechanism(epsilon)
        return PlanRow(
            design=COUNTED,
            epsilon=None if epsilon is None else float(epsilon),
            clients=sites,
            error=error,
            variance=None,
            symbols=None if site is None else site.size,
            levels=None if site is None or site.levels is None else len(site.levels),
            people=self._people.each,
            error_without_privacy=None if sites is None else self._width(name, Decimal(1), sites, noisy=False),
            mechanism=site,
        )

    @cached_property
    def _people(self) -> SitePeople:
        if self.asked.people is None:
            raise InvalidInput("people", "nothing", "must be given in a plan for sites: how many each of them holds")
        return self.asked.people

    @cached_property
    def _counts(self) -> Mapping[str, Any]:
        site = self.asked.mechanism(Decimal(1))
        groups = len(site.attribute.groups)
        rates = {
            name: [rate_of(site, weights, [group]) for group in range(groups)]
            for name, weights in metrics_of(site).items()
        }
        return {"each": self._people.counts(site), "rates": rates, "pairs": groups * (groups - 1) / 2}

    def _width(self, name: str, epsilon: Decimal, sites: float, *, noisy: bool) -> float:
        """Return the half-width of the widest gap, in the metric's units: of the two groups with the fewest people."""
        site, counts = self.asked.mechanism(epsilon), self._counts
        many = min(max(1, math.ceil(sites - 1e-6)), _MOST_SITES)
        noise = noise_of(site, many) if noisy else Noise(_NO_NOISE, many)
        table = NoisySums(many * counts["each"], noise, site.records, drawn=True)
        tests = [RateTest(table, rate, self.alpha / counts["pairs"]) for rate in counts["rates"][name]]
        low, high = inverted(RateGapTest(*sorted(tests, key=lambda test: test.people)[:2]))
        return (high - low) / 2 * (1.0 if site.metric is None else 2 * site.metric.scale)
