r"""From a study for sites and its tally to an estimate: one metric after the other.

*Sites like these*: how much sites differ is what their answers themselves say.

For a sum over S sites that averages to zero at the right rate, :math:`X = \sum_s X_s`,

.. math:: \frac{X}{\sqrt{\frac{S}{S-1} \big(\sum_s X_s^2 - X^2 / S\big)}}

is close to Student's law with S - 1 degrees of freedom.  The squares come from the tally's products: with a the weights
of the cells, :math:`\sum_s X_s^2 = a^\top P a`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.special import stdtrit

from fairgauge.errors import CannotEstimate, InvalidInput
from fairgauge.estimation.confidence_set import inverted
from fairgauge.estimation.interval import Interval, impact_ratio
from fairgauge.estimation.interval_kinds import DEFAULT, SITE_KINDS, IntervalKind, check_confidence, kind_of
from fairgauge.estimation.noise_law import Noise
from fairgauge.estimation.rates import NoisySums, Rate, RateGapTest, RateTest, metrics_of, rate_of, share_of
from fairgauge.estimation.result import Estimate, QuestionEstimate
from fairgauge.languages import Sentence
from fairgauge.study import Metric, NoisyCounts, Question, Study, counted
from fairgauge.tallies import Tally
from fairgauge.targets.channel_inputs import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Between:
    """Counts of sites that are a sample of sites.

    Args:
        counts: The sum of the sites' counts.
        products: For every two cells the sum over sites of the product of both.
        sites: How many sites there are, two at least.
    """

    counts: Vector
    products: Matrix
    sites: int

    def rate(self, rate: Rate, alpha: float) -> Interval:
        """Return the interval of a rate: all rates whose sum is not too far from zero (Fieller); maybe everything."""
        one, slope = self._weights(rate, 0.0), self._slope(rate)
        total, people = float(one @ self.counts), float(slope @ self.counts)
        level = self._quantile(alpha) ** 2
        a = people**2 - level * self._variance(slope, slope)
        b = -2 * (total * people - level * self._variance(one, slope))
        c = total**2 - level * self._variance(one, one)
        root = b**2 - 4 * a * c
        if a <= 0 or root < 0:
            return Interval(min(max(total / max(people, 1.0), 0.0), 1.0), 0.0, 1.0)
        half = math.sqrt(root)
        return Interval(total / people, (-b - half) / (2 * a), (-b + half) / (2 * a))

    def gap(self, first: Rate, second: Rate, alpha: float) -> Interval:
        """Return the interval of a gap, from the difference of both sums over their numbers of people.

        Where one of these numbers may be zero it is everything, as that of a rate is.
        """
        people = [float(self._slope(rate) @ self.counts) for rate in (first, second)]
        sums = [
            float(self._weights(rate, 0.0) @ self.counts) / max(number, 1.0)
            for rate, number in zip((first, second), people, strict=True)
        ]
        quantile = self._quantile(alpha)
        for rate, number in zip((first, second), people, strict=True):
            slope = self._slope(rate)
            if number <= quantile * math.sqrt(max(self._variance(slope, slope), 0.0)):
                return Interval(min(max(sums[0] - sums[1], -1.0), 1.0), -1.0, 1.0)
        weights = self._weights(first, sums[0]) / people[0] - self._weights(second, sums[1]) / people[1]
        half = quantile * math.sqrt(max(self._variance(weights, weights), 0.0))
        return Interval(sums[0] - sums[1], sums[0] - sums[1] - half, sums[0] - sums[1] + half)

    @cached_property
    def _spread(self) -> Matrix:
        centred = self.products - np.multiply.outer(self.counts, self.counts) / self.sites
        return np.asarray(centred * self.sites / (self.sites - 1))

    def _variance(self, first: Vector, second: Vector) -> float:
        return float(first @ self._spread @ second)

    def _weights(self, rate: Rate, value: float) -> Vector:
        weights = np.zeros(len(self.counts))
        weights[list(rate.cells)] = rate.weights - value
        return weights

    def _slope(self, rate: Rate) -> Vector:
        """Return the weights that count the people of a rate."""
        return self._weights(rate, 0.0) - self._weights(rate, 1.0)

    def _quantile(self, alpha: float) -> float:
        return float(-stdtrit(self.sites - 1, alpha / 2))


_FEWEST_SITES = 5

_Ask = Callable[[float], Interval]


class SiteReader:
    """Reads counts of sites by one kind of interval.

    Args:
        site: What sites count.
        tally: Their sums.
        kind: The kind of interval.
    """

    def __init__(self, site: NoisyCounts, tally: Tally, kind: IntervalKind) -> None:
        counts, number = np.array(tally.counts, dtype=float), tally.contributors
        self._between: Between | None = None
        if kind.name == "sites":
            if number < _FEWEST_SITES:
                raise CannotEstimate(f"how sites differ takes {_FEWEST_SITES} sites at least, and there are {number}")
            if not tally.products:
                raise CannotEstimate("this tally does not tell how sites differ, as one of the sites' own answers does")
            self._between = Between(counts, _square(tally), number)
        self._table = NoisySums(counts, noise_of(site, number), site.records, drawn=kind.name == DEFAULT)

    def rate(self, rate: Rate, alpha: float) -> Interval:
        """Return the interval of a rate."""
        test = RateTest(self._table, rate, alpha)
        if self._between is not None:
            return self._between.rate(rate, alpha)
        return _interval(test, test.nobody)

    def gap(self, first: Rate, second: Rate, alpha: float) -> Interval:
        """Return the interval of the first rate less the second."""
        tests = RateTest(self._table, first, alpha), RateTest(self._table, second, alpha)
        if self._between is not None:
            return self._between.gap(first, second, alpha)
        return _interval(RateGapTest(*tests), tests[0].nobody or tests[1].nobody)

    def believes_rate(self, rate: Rate, value: float, alpha: float) -> bool:
        """Tell whether a value is in the interval of a rate, without looking for its ends."""
        test = RateTest(self._table, rate, alpha)
        return _within(value, self._between.rate(rate, alpha)) if self._between is not None else test.margin(value) < 0

    def believes_gap(self, first: Rate, second: Rate, value: float, alpha: float) -> bool:
        """Tell whether a value is in the interval of a gap, without looking for its ends."""
        tests = RateTest(self._table, first, alpha), RateTest(self._table, second, alpha)
        if self._between is not None:
            return _within(value, self._between.gap(first, second, alpha))
        return RateGapTest(*tests).margin(value) < 0


def noise_of(site: NoisyCounts, sites: int) -> Noise:
    """Return the noise in every cell of the sum of so many sites."""
    return Noise(math.exp(-float(site.decay)), sites)


def estimate_sites(
    study: Study, tally: Tally, alpha: float, kind: IntervalKind, metrics: Sequence[str] = ()
) -> Estimate:
    """Return what the counts of sites say: each metric for each group, and the gaps between groups.

    Gaps of one metric hold together; each other number holds by itself.  The shares of groups are the same whatever the
    metric, so they are with the first.

    Args:
        study: A study for sites.
        tally: The sums of what they counted.
        alpha: How often an interval may miss.
        kind: The kind of interval.
        metrics: The metrics to tell; all of them unless given.
    """
    site = study.questions[0].counts
    names = list(metrics or metrics_of(site))
    questions = tuple(_metric(_Asked(site, tally, alpha, kind), name, first=name == names[0]) for name in names)
    return Estimate(study.digest, 1 - alpha, kind, None, questions, study.questions)


@dataclass(frozen=True)
class _Asked:
    site: NoisyCounts
    tally: Tally
    alpha: float
    kind: IntervalKind


def _metric(asked: _Asked, name: str, *, first: bool) -> QuestionEstimate:
    site, tally, alpha, kind = asked.site, asked.tally, asked.alpha, asked.kind
    names, weights = site.attribute.groups, metrics_of(site)[name]
    warnings: list[str] = []
    if tally.contributors == 0:
        return QuestionEstimate(
            name, site.attribute.name, names, 0, {}, {}, None, {}, None, {}, None, None,
            (Sentence.of("sites.empty"),),
        )  # fmt: skip

    def told(what: str, ask: _Ask, extent: tuple[float, float] = (0.0, 1.0), part: float = 1.0) -> Interval:
        # Always a number, also where it may be anything: to tell only what looks like enough people would pick those
        # sums whose noise happened to be large.
        found = ask(alpha * part)
        if found.low <= extent[0] and found.high >= extent[1]:
            warnings.append(Sentence.of("caution.anything", what=what))
        return found

    try:
        reader = SiteReader(site, tally, kind)
    except CannotEstimate as reason:
        return QuestionEstimate(
            name, site.attribute.name, names, tally.contributors, {}, {}, None, {}, None, {}, None, None,
            (Sentence.of("caution.nothing", reason=reason.args[0]),),
        )  # fmt: skip
    rates = [rate_of(site, weights, [index]) for index in range(len(names))]
    shares = [share_of(site, index) for index in range(len(names))]
    pairs = list(combinations(range(len(names)), 2))
    everyone = rate_of(site, weights, list(range(len(names))))
    gaps = {
        pair: told(
            Sentence.of("caution.gap", first=names[pair[0]], second=names[pair[1]]),
            lambda level, pair=pair: reader.gap(rates[pair[0]], rates[pair[1]], level),  # type: ignore[misc]
            (-1.0, 1.0),
            1 / len(pairs),
        )
        for pair in pairs
    }
    means = {
        group: told(
            Sentence.of("caution.rate", metric=name, group=group),
            lambda level, rate=rate: reader.rate(rate, level),  # type: ignore[misc]
        )
        for group, rate in zip(names, rates, strict=True)
    }
    parts = {
        group: told(
            Sentence.of("caution.share", group=group),
            lambda level, rate=rate: reader.rate(rate, level),  # type: ignore[misc]
        )
        for group, rate in zip(names, shares if first else [], strict=first)
    }
    overall = told(Sentence.of("caution.overall"), lambda level: reader.rate(everyone, level))
    unit = _Unit(site)
    return QuestionEstimate(
        metric=name,
        attribute=site.attribute.name,
        groups=names,
        answers=tally.contributors,
        gaps={(names[a], names[b]): unit.gap(gap) for (a, b), gap in gaps.items()},
        means={group: unit.level(mean) for group, mean in means.items()},
        overall=unit.level(overall),
        shares={group: share.within(0, 1) for group, share in parts.items()},
        answered=None,
        p_values={},
        fit=None,
        sensitivity=None,
        warnings=tuple(warnings),
        impact_ratio=_ratio(reader, rates, alpha) if site.metric is None else None,
    )


def _ratio(reader: SiteReader, rates: list[Rate], alpha: float) -> Interval | None:
    """Return the smallest rate over the largest, from intervals that hold together."""
    return impact_ratio([reader.rate(rate, alpha / len(rates)).within(0, 1) for rate in rates])


class _Unit:
    """The units of what is counted: those of a rate, or of a metric."""

    def __init__(self, site: NoisyCounts) -> None:
        self._low, self._high = (0.0, 1.0) if site.metric is None else (float(site.metric.low), float(site.metric.high))

    def level(self, mean: Interval) -> Interval:
        return mean.scaled(self._high - self._low, self._low).within(self._low, self._high)

    def gap(self, gap: Interval) -> Interval:
        reach = self._high - self._low
        return gap.scaled(reach).within(-reach, reach)


def _square(tally: Tally) -> Matrix:
    cells = len(tally.counts)
    found = np.zeros((cells, cells))
    found[np.triu_indices(cells)] = tally.products
    return np.asarray(found + np.triu(found, 1).T)


def _interval(test: RateTest | RateGapTest, nobody: bool) -> Interval:  # noqa: FBT001 - of one caller
    """Return what a test accepts; where there may be nobody, what is divided by may be noise: the nearest accepted."""
    low, high = inverted(test)
    return Interval(min(max(test.estimate, low), high) if nobody else test.estimate, low, high)


def _within(value: float, interval: Interval) -> bool:
    return interval.low <= value <= interval.high


# By the names that estimates have.
_FAIRLEARN = {
    "selection rate": "selection_rate",
    "accuracy": "accuracy_score",
    "true positive rate": "true_positive_rate",
    "false positive rate": "false_positive_rate",
    "precision": "precision_score",
}


def fairlearn_metrics(site: NoisyCounts, wanted: Sequence[str] | None) -> list[Question]:
    """Return the metrics that are wanted, or all, by Fairlearn's names.

    Raises:
        InvalidInput: If the counts do not tell one of them.
    """
    known = {_FAIRLEARN.get(name, name): name for name in metrics_of(site)}
    for name in wanted or ():
        if name not in known:
            raise InvalidInput("metrics", name, f"must be of {', '.join(known)}")
    if site.metric is not None:
        return list(counted(site))
    first = counted(site)[0]
    ours = {metric.name: metric for metric in site.metrics}
    return [
        replace(first, metric=Metric(name, 0, 1, better=ours[known[name]].better if known[name] in ours else None))
        for name in wanted or known
    ]


def estimate_by_names(
    study: Study, tally: Tally, asked: Sequence[Question], *, confidence: float, interval: str
) -> Estimate:
    """Return what :func:`fairgauge.estimate` returns, of these metrics alone and by Fairlearn's names.

    Raises:
        BadTally: If the tally is of another study.
        InvalidInput: If an argument is out of range.
    """
    kind, alpha = kind_of(interval, SITE_KINDS), check_confidence(confidence)
    tally.check(study)
    ours = {theirs: name for name, theirs in _FAIRLEARN.items()}
    found = estimate_sites(study, tally, alpha, kind, [ours.get(one.metric.name, one.metric.name) for one in asked])
    renamed = [replace(each, metric=one.metric.name) for one, each in zip(asked, found.questions, strict=True)]
    return replace(found, questions=tuple(renamed), asked=tuple(asked))
