"""The goal of a question: what it shall estimate, how well a channel serves that, and what it assumes, in words."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fairgauge.channel import Channel
from fairgauge.study import ANY_VALUES, Metric, Question, Target
from fairgauge.targets.assumed_values import USUAL_SPREAD, Reckoning, largest_averages, worst_law
from fairgauge.targets.comparisons import Contrast, all_pairs, contrasts_of
from fairgauge.targets.inputs import ABSTAINING, Inputs, Matrix, Vector, at_constant_value
from fairgauge.targets.scores import Decoder

UNCENTRED, CENTRED = "uncentred", "centred"
# The same, made so that the split is estimated although something is known of it, for the gap of two groups.
ESTIMATED, ESTIMATED_CENTRED = "estimated", "estimated-centred"
# Up to so many groups a design is the best that there is; beyond, the best of a family whose groups are independent.
FEW = 6
# How many symbols a table for more groups has unless somebody says.
USUAL_SYMBOLS = 400
# Where nothing is expected of the overall mean and shares are estimated, a design reckons with the ends and the middle.
_CENTRES = (-1.0, 0.0, 1.0)
# Where nothing is expected and shares are known, variances are told for the worst of these levels ...
_LEVELS = tuple(level / 10 for level in range(-8, 9))
# ... and designs are made for values about the middle, as if the level itself were spread by this much.
_LEVEL_SPREAD = 0.7
# A design for a mean at the very end, or for no spread at all, would be useless if that is not quite so.
_FARTHEST_MEAN, _LEAST_SPREAD = 0.95, 0.05


@dataclass(frozen=True)
class Goal:
    """What a question shall estimate.

    Args:
        shares: The groups' shares among those who answer; where they are not known, a guess that aims the design.
        shares_known: Whether the estimate may rely on the shares.
        target: ``"gap"`` for the differences between groups, ``"means"`` for each group's own mean.
        abstain: Whether people may abstain.
        expect: The overall mean to expect, in [-1, 1].  A wrong guess costs precision, never truth.
        spread: How far values are reckoned to spread about it, as a standard deviation; None for any values.
        design: The design whose channels are decoded: scores of ``"centred"`` ones have a constant of their own.
        comparisons: Which comparisons are planned, with their weights; none given stands for all pairs alike.
        symbols: How many symbols a channel for seven and more groups may have.
        axis: Which value of a channel is asked about that takes several at once.
        abstaining: The part of people who are reckoned to abstain, where they may.
        beside: What is reckoned of the other values of such a channel; None where nothing is expected.
        share_error: How far each stated share may be off.  Intervals pay for it; no table is made for it.
        ratio: How many times as often as another group one may answer at most.  Intervals pay for it, too.  Unless
            given, 1 where shares are known and anything where they are estimated.
    """

    shares: tuple[float, ...]
    shares_known: bool = True
    target: Target = "gap"
    abstain: bool = False
    expect: float | None = None
    spread: float | None = USUAL_SPREAD
    design: str = ""
    comparisons: tuple[Contrast, ...] = ()
    symbols: int = USUAL_SYMBOLS
    axis: int = 0
    abstaining: float = ABSTAINING
    beside: tuple[Reckoning | None, ...] = ()
    share_error: float = 0.0
    ratio: float | None = None

    @classmethod
    def of(cls, question: Question) -> "Goal":
        """Return what serves a question, designed or not: the one place where this is decided."""
        attribute = question.attribute
        found = cls(
            shares=attribute.reckoned_shares,
            shares_known=attribute.known_shares is not None,
            target=question.target,
            abstain=question.abstain,
            expect=None if question.expect is None else question.metric.to_v(question.expect),
            spread=_spread_of(question),
            comparisons=contrasts_of(attribute),
            symbols=question.symbols or USUAL_SYMBOLS,
            axis=question.axis,
            abstaining=ABSTAINING if question.abstaining is None else float(question.abstaining),
            beside=tuple(cls.of(one).expected for one in question.beside),
            share_error=float(attribute.share_error or 0),
            ratio=attribute.ratio,
        )
        return found.by(question.design or "")

    def alone(self, contrast: Contrast) -> "Goal":
        """Return the goal of one comparison only."""
        return replace(self, comparisons=(contrast,))

    def by(self, design: str) -> "Goal":
        """Return the goal for channels of a design, which says whether scores rely on the stated shares.

        Where groups answer equally often all do, but those that are there to estimate the split.  Where it is only
        known to a ratio, those of ``uncentred`` and ``centred`` do, for the gap of two groups.
        """
        known = self.most_ratio == 1 or (self._banded and design in (UNCENTRED, CENTRED))
        known &= design not in (ESTIMATED, ESTIMATED_CENTRED)
        return replace(self, design=design, shares_known=known, ratio=self.most_ratio)

    @property
    def decoded(self) -> "Goal":
        """The goal without a design's name, of which only matters whether scores have a constant of their own."""
        return replace(self, design=CENTRED if self.centred else "")

    @property
    def most_ratio(self) -> float:
        """How many times as often as another group one may answer at most."""
        if self.ratio is not None:
            return self.ratio
        return 1.0 if self.shares_known else math.inf

    @property
    def _banded(self) -> bool:
        return self.most_ratio < math.inf and self.groups == 2 and self.target == "gap"

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.shares)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Every pair of groups, in order."""
        return list(combinations(range(self.groups), 2))

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The comparisons that matter: those that are planned, or else every pair."""
        return self.comparisons or all_pairs(self.groups)

    @property
    def balanced(self) -> bool:
        """Whether several gaps are wanted, each as good as it can be beside the others."""
        return self.target == "gap" and self.groups > 2

    @property
    def answering(self) -> float:
        """The part of people who are reckoned to give a group and a value."""
        return 1 - self.abstaining if self.abstain else 1.0

    @property
    def share_vector(self) -> Vector:
        """The shares as numbers to compute with."""
        return np.array(self.shares)

    @property
    def relies_on_shares(self) -> bool:
        """Whether averages over all clients are divided by known constants only."""
        return self.shares_known and not self.abstain

    @property
    def centred(self) -> bool:
        """Whether the gap's score has a constant of its own."""
        centred = self.design in (CENTRED, ESTIMATED_CENTRED)
        return centred and not self.abstain and (self.groups == 2 or self.shares_known)

    @property
    def reckonings(self) -> tuple[Reckoning, ...]:
        """What variances reckon with, the worst of them: the mean that is expected, or else every level alike."""
        if self.expect is not None:
            return (self.aim,)
        levels = _LEVELS if self.relies_on_shares else _CENTRES
        return tuple(Reckoning(level, self._spread) for level in levels)

    @property
    def aim(self) -> Reckoning:
        """What a centred design and its scores are made for."""
        if self.expect is not None:
            return Reckoning(min(max(self.expect, -_FARTHEST_MEAN), _FARTHEST_MEAN), self._spread)
        return Reckoning(0.0, None if self._spread is None else float(np.hypot(self._spread, _LEVEL_SPREAD)))

    @property
    def expected(self) -> Reckoning | None:
        """What is reckoned of the values where a mean is expected, else None."""
        return None if self.expect is None else self.aim

    @property
    def other(self) -> Reckoning | None:
        """What is reckoned of the one other value that a channel takes; None where that is nothing."""
        return self.beside[0] if self.expect is not None and len(self.beside) == 1 else None

    @property
    def _spread(self) -> float | None:
        return None if self.spread is None else max(self.spread, _LEAST_SPREAD)

    def mean_functional(self, inputs: Inputs, group: int, centre: float) -> Vector:
        """Return the functional whose average is (group's mean - centre), to first order about that centre.

        A group's mean is a sum over a share.  Where the share is estimated too, its error matters in proportion to
        the mean, so the delta method's functional depends on where the mean lies.
        """
        answering = self.answering
        share = self.shares[group] * answering
        if self.shares_known:
            return inputs.sum_of(group) / share - centre * inputs.answered() / answering
        return (inputs.sum_of(group) - centre * inputs.share_of(group)) / share

    def gap_functional(self, inputs: Inputs, pair: tuple[int, int]) -> Vector:
        """Return the functional whose average is the gap where shares are known."""
        first, second = (inputs.sum_of(g) / self.shares[g] for g in pair)
        return first - second

    def contrast_functional(self, inputs: Inputs, contrast: Contrast, centre: float = 0.0) -> Vector:
        """Return the functional whose average is a comparison, to first order about a centre of all means."""
        means = {g: self.mean_functional(inputs, g, centre) for g in contrast.of + contrast.against}
        return self._contrast(means, contrast)

    def _contrast(self, means: Mapping[int, Vector], contrast: Contrast) -> Vector:
        return self._side(means, contrast.of) - self._side(means, contrast.against)

    def _side(self, means: Mapping[int, Vector], groups: tuple[int, ...]) -> Vector:
        if len(groups) == 1:
            return means[groups[0]]
        weights = [self.shares[group] for group in groups]
        return np.average([means[group] for group in groups], axis=0, weights=weights)

    def gap_score(self, decoder: Decoder, pair: tuple[int, int]) -> Vector | None:
        """Return the score whose average is the gap of a population with the known shares; None if none is.

        Its mean at an input is the gap's functional, less a constant times what averages to 0 in such a population.
        """
        if self.centred and self.shares_known and self.groups == 2:
            return decoder.aims[0].score if decoder.aims else None
        return decoder.score(self._less(decoder, self.gap_functional(decoder.inputs, pair)))

    def _less(self, decoder: Decoder, gap: Vector) -> Vector:
        """Return a gap's functional less the constant that centred scores take from values."""
        if not (self.centred and self.groups > 2 and decoder.constant):
            return gap
        return gap - decoder.constant * at_constant_value(decoder.inputs, gap)

    def gap_constant(self, decoder: Decoder) -> float:
        """Return the c of the gap's score, whose mean is (v - c)/p in one group and -(v - c)/p in the other."""
        if self.groups > 2:
            return decoder.constant if self.centred else 0.0
        if not (self.centred and self.shares_known and decoder.aims):
            return 0.0
        return float(decoder.inputs.levels[0] - self.shares[0] * decoder.aims[0].functional[0])

    def wanted(self, inputs: Inputs) -> list["Wanted"]:
        """Return the functionals whose largest variance the design shall make small."""
        if self.relies_on_shares:
            centres: tuple[float | None, ...] = (None,)
        else:
            centres = _CENTRES if self.expect is None else (self.aim.mean,)
        found: list[Wanted] = []
        for centre in centres:
            # Once for each group: there are 2,016 pairs of 64.
            means = {g: self.mean_functional(inputs, g, centre or 0.0) for g in range(self.groups)}
            if self.target == "means":
                found += [Wanted(mean, centre) for mean in means.values()]
            else:
                gaps = [self._contrast(means, contrast) for contrast in self.contrasts]
                found += [Wanted(g, centre, c.weight) for g, c in zip(gaps, self.contrasts, strict=True)]
        return found

    def needed(self, inputs: Inputs) -> list[Vector]:
        """Return what must be identified as well, with little weight, for the estimate to exist."""
        needed = [inputs.answered()] if self.abstain else []
        if not self.shares_known:
            for g in range(self.groups):
                needed += [inputs.share_of(g) / self.shares[g], inputs.sum_of(g) / self.shares[g]]
        return needed

    def decoder(self, channel: Channel) -> Decoder:
        """Return the decoder of a channel that serves this goal best."""
        return _decoder(self, channel)

    def variance(self, channel: Channel) -> float:
        """Return K times the variance, over clients drawn from a population, of the worst of the wanted numbers.

        It is the total: what randomising adds and how clients differ.  The population is the worst that is reckoned
        with (:attr:`reckonings`).  Infinite if the channel cannot tell.
        """
        return max(self.totals(channel))

    def totals(self, channel: Channel) -> list[float]:
        """Return the total, as :meth:`variance` does, of each of the wanted numbers."""
        return list(_by_its_decoder(self, channel, Goal.totals_by))

    def totals_by(self, decoder: Decoder, wanted: Sequence["Wanted"]) -> list[float]:
        """Return the total of each of the wanted numbers by a decoder, as :meth:`total` does."""
        if self.other is not None or any(each.centre is not None for each in wanted):
            return [self.total(decoder, each) for each in wanted]
        # All at once: of 190 gaps one by one takes a minute.
        scores = self._scores(decoder, wanted)
        known = [score for score in scores if score is not None]
        if not known:
            return [float("inf")] * len(wanted)
        moments = iter(largest_second_moments_of(decoder, known, self.reckonings, self.abstaining))
        squares = self._squares(self.reckonings, None)
        return [float("inf") if score is None else float((next(moments) - squares).max()) for score in scores]

    def variance_if(self, channel: Channel, reckoning: Reckoning) -> float:
        """Return the total that the gap of two groups with known shares has if a reckoning is true."""
        decoder = self.decoder(channel)
        score = self.gap_score(decoder, (0, 1))
        return float("inf") if score is None else float(self._second_moments(decoder, score, [reckoning])[0])

    def privacy_variance(self, channel: Channel) -> float:
        """Return K times the variance for clients whose values and split are fixed: what randomising adds.

        For the worst values that they can hold; infinite if the channel cannot tell.
        """
        return max(self.privacy_variances(channel))

    def privacy_variances(self, channel: Channel) -> list[float]:
        """Return what randomising adds, as :meth:`privacy_variance` does, for each of the wanted numbers."""
        return list(_by_its_decoder(self, channel, Goal.privacy_variances_by))

    def privacy_variances_by(self, decoder: Decoder, wanted: Sequence["Wanted"]) -> list[float]:
        """Return the same for each of the wanted numbers by a decoder."""
        scores = [(score, each.centre) for score, each in zip(self._scores(decoder, wanted), wanted, strict=True)]
        known = [score for score, centre in scores if score is not None and centre is None]
        if known and len(known) == len(scores):
            return [float(variance) for variance in decoder.variances(known)]
        return [float("inf") if s is None else decoder.variance(s, centre=c) for s, c in scores]

    def sampling_variance(self) -> float:
        """Return K times the variance of the worst of the wanted numbers if nothing were randomised."""
        answering = self.answering
        parts = sorted((1 / share for share in self.shares), reverse=True)
        worst = parts[0] if self.target == "means" else parts[0] + parts[1]
        return worst / answering * max(reckoning.widest**2 for reckoning in self.reckonings)

    def total(self, decoder: Decoder, wanted: "Wanted") -> float:
        """Return K times the variance of one of the wanted numbers, over clients drawn from a population."""
        score = self.score(decoder, wanted)
        if score is None:
            return float("inf")
        return float(self._totals_at(decoder, score, wanted).max())

    def worst_population(self, decoder: Decoder, wanted: "Wanted") -> "WorstPopulation":
        """Return the population that has the total of :meth:`total`; the channel can tell what is wanted."""
        score = self.score(decoder, wanted)
        if score is None:
            raise ValueError("the channel cannot tell it")
        totals = self._totals_at(decoder, score, wanted)
        worst = self._reckoned(wanted)[int(totals.argmax())]
        second, inputs = decoder.rows @ score**2, decoder.inputs
        weights, found = inputs.weights(decoder.shares, self.abstaining), np.zeros(inputs.count)
        for weight, block in zip(weights, inputs.blocks[: inputs.groups], strict=False):
            runs = np.array([second[run] for run in inputs.runs(block)])
            law = worst_law(inputs.levels, runs.max(axis=0), worst)
            if self.other is None:
                # Whatever the other values are: at each level the one that is worst.
                beside = np.arange(len(runs))[:, None] == runs.argmax(axis=0)
            else:
                beside = worst_law(decoder.other_levels, runs @ law, self.other)[:, None]
                law = worst_law(inputs.levels, beside[:, 0] @ runs, worst)
            found[block] = (weight * beside * law).ravel()
        if inputs.abstain:
            found[-1] = weights[-1]
        return WorstPopulation(found, float(totals.max()), worst.mean)

    def _reckoned(self, wanted: "Wanted") -> tuple[Reckoning, ...]:
        return tuple(r for r in self.reckonings if wanted.centre is None or r.mean == wanted.centre)

    def _totals_at(self, decoder: Decoder, score: Vector, wanted: "Wanted") -> Vector:
        reckonings = self._reckoned(wanted)
        squares = self._squares(reckonings, wanted.centre)
        return np.asarray(self._second_moments(decoder, score, reckonings) - squares)

    def _squares(self, reckonings: Sequence[Reckoning], centre: float | None) -> Vector:
        """Return the square of the wanted number under each reckoning."""
        # A gap of groups that have one mean is 0, and so is a mean less its centre.
        own = centre is None and self.target == "means"
        return np.array([reckoning.mean**2 * own for reckoning in reckonings])

    def _second_moments(self, decoder: Decoder, score: Vector, reckonings: Sequence[Reckoning]) -> Vector:
        """Return the most that the squared score can average to under each reckoning."""
        found = largest_second_moments(decoder, score, reckonings, self.abstaining)
        if self.other is None:
            return found
        for place, reckoning in enumerate(reckonings):
            bounds = decoder.bounds_beside(score, reckoning, self.other)
            better = largest_averages(decoder.inputs.levels, bounds, [reckoning])[0] @ decoder.shares
            found[place] = min(found[place], float(better))
        return found

    def identifies(self, decoder: Decoder) -> bool:
        """Tell whether a decoder has scores for all that is needed."""
        return all(decoder.score(f) is not None for f in self.needed(decoder.inputs))

    def score(self, decoder: Decoder, wanted: "Wanted") -> Vector | None:
        """Return the score of a wanted functional, centred where the design's scores are; None if there is none."""
        return self._scores(decoder, [wanted])[0]

    def _scores(self, decoder: Decoder, wanted: Sequence["Wanted"]) -> list[Vector | None]:
        if self.centred and self.target == "gap" and self.groups == 2:
            return [decoder.aims[0].score if decoder.aims else None for _ in wanted]
        gaps = self.target == "gap"
        return decoder.scores([self._less(decoder, each.functional) if gaps else each.functional for each in wanted])


def _spread_of(question: Question) -> float | None:
    """Return the standard deviation to reckon with, from 0 to 1; None for any values."""
    if question.spread is None:
        return USUAL_SPREAD
    return None if question.spread == ANY_VALUES else float(Fraction(question.spread)) / question.metric.scale


@lru_cache(maxsize=64)
def _decoder(goal: Goal, channel: Channel) -> Decoder:
    decoder = Decoder.even(channel, goal.share_vector, goal.axis)
    if goal.centred and goal.groups > 2:
        gaps = [(w.functional, w.weight) for w in goal.wanted(decoder.inputs)] if goal.target == "gap" else []
        return decoder.about(gaps, None if goal.expect is None else goal.aim)
    if goal.centred:
        return _centred(goal, decoder)
    if not goal.relies_on_shares:
        return decoder
    if goal.balanced and goal.groups > FEW:
        return decoder.common([goal.mean_functional(decoder.inputs, g, 0.0) for g in range(goal.groups)])
    wanted = goal.wanted(decoder.inputs)
    functionals = [each.functional for each in wanted]
    if goal.target == "means":
        return decoder.aimed(functionals)
    # Gaps depend on each other, so they share one prior; a mean may have its own.
    return decoder.least_favourable(_balanced(decoder, wanted) if goal.balanced else functionals)


# A plan asks for them of the same table again and again.
@lru_cache(maxsize=256)
def _by_its_decoder(
    goal: Goal, channel: Channel, variances: Callable[[Goal, Decoder, Sequence["Wanted"]], list[float]]
) -> tuple[float, ...]:
    decoder = goal.decoder(channel)
    wanted = goal.wanted(decoder.inputs)
    return tuple(variances(goal, decoder, wanted) if goal.identifies(decoder) else [float("inf")] * len(wanted))


def _balanced(decoder: Decoder, wanted: Sequence["Wanted"]) -> list[Vector]:
    """Return functionals in units of the least deviation that each has by this table, weighed as the design does."""
    found = []
    for functional, _, weight in wanted:
        alone = decoder.least_favourable([functional])
        score = alone.score(functional)
        least = 1.0 if score is None else alone.variance(score)
        found.append(functional * float(np.sqrt(weight / max(least, 1e-300))))
    return found


def _centred(goal: Goal, decoder: Decoder) -> Decoder:
    inputs = decoder.inputs
    if goal.shares_known:
        constant = inputs.share_of(0) / goal.shares[0] - inputs.share_of(1) / goal.shares[1]
        return decoder.centred(goal.gap_functional(inputs, (0, 1)), constant, goal.aim, goal.other)
    first, second = (goal.mean_functional(inputs, g, goal.aim.mean) for g in (0, 1))
    return decoder.centred(first - second, None, goal.aim)


def largest_second_moments(
    decoder: Decoder, score: Vector, reckonings: Sequence[Reckoning], abstaining: float = ABSTAINING
) -> Vector:
    """Return the most that the squared score can average to under each reckoning, with the decoder's shares."""
    return np.asarray(largest_second_moments_of(decoder, [score], reckonings, abstaining)[0])


def largest_second_moments_of(
    decoder: Decoder, scores: Sequence[Vector], reckonings: Sequence[Reckoning], abstaining: float = ABSTAINING
) -> Matrix:
    """Return the same for several scores, a row for each."""
    second, inputs = decoder.rows @ np.array(scores).T ** 2, decoder.inputs
    weights = inputs.weights(decoder.shares, abstaining)
    shape = inputs.groups, inputs.others, len(inputs.levels), len(scores)
    # Whatever the other values are: at each level the one that is worst.
    of_groups = second[: len(second) - inputs.abstain].reshape(shape).max(axis=1).transpose(2, 0, 1)
    averages = largest_averages(inputs.levels, of_groups.reshape(-1, shape[2]), reckonings)
    found = averages.reshape(len(reckonings), len(scores), -1) @ weights[: inputs.groups]
    return np.asarray((found + weights[-1] * second[-1] if inputs.abstain else found).T)


class Wanted(NamedTuple):
    """A functional to estimate, what every group's mean is reckoned to be (None: anything), and how much it matters."""

    functional: Vector
    centre: float | None
    weight: float = 1.0


class WorstPopulation(NamedTuple):
    """A population that varies most: how likely each input is, K times the variance, and what every mean is."""

    inputs: Vector
    total: float
    mean: float


def assumption(goal: Goal, metric: Metric) -> str:
    """Return what the total variance of a goal assumes, for the sentence beside it.

    >>> assumption(Goal((0.5, 0.5), expect=0.8), Metric("recall", "0", "1"))
    'every group averages 0.9, with a standard deviation of at most 0.15'
    >>> assumption(Goal((0.5, 0.5), spread=None), Metric("recall", "0", "1"))
    'the worst level from 0.1 to 0.9, the same in every group, with any values'
    """
    means = [metric.to_metric(reckoning.mean) for reckoning in goal.reckonings]
    spread = goal.reckonings[0].spread
    values = "any values" if spread is None else f"a standard deviation of at most {spread * metric.scale:.4g}"
    if goal.abstain:
        values += f", and {100 * goal.abstaining:.4g} % who abstain"
    if goal.expect is not None:
        return f"every group averages {means[0]:.4g}, with {values}"
    if goal.relies_on_shares:
        return f"the worst level from {means[0]:.4g} to {means[-1]:.4g}, the same in every group, with {values}"
    named = ", ".join(f"{mean:.4g}" for mean in means[:-1])
    return f"the worst of the levels {named} and {means[-1]:.4g}, the same in every group, with {values}"


def condition(goal: Goal) -> str | None:
    """Return what a plan assumes of how often groups answer, to stand behind its numbers; None where nothing.

    >>> condition(Goal((0.5, 0.5))), condition(Goal((0.5, 0.5), shares_known=False))
    ('IF all groups answer equally often', None)
    >>> condition(Goal((0.5, 0.5), ratio=1.1))
    'if no group answers more than 1.1 times as often as another'
    """
    if goal.most_ratio == math.inf:
        return None
    if goal.most_ratio == 1:
        return "IF all groups answer equally often"
    return f"if no group answers more than {goal.most_ratio:g} times as often as another"
