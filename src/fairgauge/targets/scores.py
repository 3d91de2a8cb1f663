"""Scores: how the symbols of a table are read for a target, and how well a table then serves it.

The three parts of what is asked stand side by side here: the target, what is assumed of the values, and the design,
which says what scores rely on.  The variance that a table is judged by is that of its scores, for the worst population
that is assumed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from fairgauge.channel import Channel
from fairgauge.study import Metric, Question
from fairgauge.targets.assumed_values import NOTHING_EXPECTED, AssumedValues, Reckoning, largest_averages, worst_law
from fairgauge.targets.channel_inputs import ABSTAINING, Inputs, Matrix, Vector, at_constant_value
from fairgauge.targets.comparisons import Contrast
from fairgauge.targets.symbol_scores import Decoder
from fairgauge.targets.target import FEW, Target, Wanted

UNCENTRED, CENTRED = "uncentred", "centred"
# The same, made so that the split is estimated although something is known of it, for the gap of two groups.
ESTIMATED, ESTIMATED_CENTRED = "estimated", "estimated-centred"
# How many symbols a table for seven and more groups has unless somebody says.
USUAL_SYMBOLS = 400


@dataclass(frozen=True)
class Scores:
    """How symbols are read.

    Args:
        target: What is estimated.
        values: What is assumed of the values: scores and tables are made for it, and variances are told for it.
        design: The design whose tables are read: scores of ``"centred"`` ones have a constant of their own.
        axis: Which value of a table is asked about that takes several at once.
        symbols: How many symbols a table for seven and more groups may have.
    """

    target: Target
    values: AssumedValues = NOTHING_EXPECTED
    design: str = ""
    axis: int = 0
    symbols: int = USUAL_SYMBOLS

    @classmethod
    def of(cls, question: Question) -> "Scores":
        """Return the scores of a question, designed or not: the one place where this is decided."""
        asked = cls(
            Target.of(question),
            AssumedValues.of(question),
            axis=question.axis,
            symbols=question.symbols or USUAL_SYMBOLS,
        )
        return asked.by(question.design or "")

    def asking(self, **changes: Any) -> "Scores":
        """Return the same scores for a target that differs in these fields."""
        return replace(self, target=replace(self.target, **changes))

    def assuming(self, **changes: Any) -> "Scores":
        """Return the same scores for values of which something else is assumed."""
        return replace(self, values=replace(self.values, **changes))

    def alone(self, contrast: Contrast) -> "Scores":
        """Return the scores of one comparison only."""
        return self.asking(comparisons=(contrast,))

    def in_order(self, order: Sequence[int]) -> "Scores":
        """Return the same scores for the target's groups in another order."""
        shares, comparisons = self.target.shares, self.target.comparisons
        return self.asking(
            shares=tuple(shares[group] for group in order),
            comparisons=tuple(sorted(contrast.in_order(order) for contrast in comparisons)),
        )

    def by(self, design: str) -> "Scores":
        """Return the scores for tables of a design, which says whether they rely on the stated shares.

        Where groups answer equally often all do, but those that are there to estimate the split.  Where it is only
        known to a ratio, those of ``uncentred`` and ``centred`` do, for the gap of two groups.
        """
        ratio = self.target.most_ratio
        banded = ratio < np.inf and self.target.two_sided
        known = ratio == 1 or (banded and design in (UNCENTRED, CENTRED))
        known &= design not in (ESTIMATED, ESTIMATED_CENTRED)
        return replace(self.asking(shares_known=known, ratio=ratio), design=design)

    @property
    def decoded(self) -> "Scores":
        """The scores without a design's name, of which only matters whether they have a constant of their own."""
        return replace(self, design=CENTRED if self.centred else "")

    @property
    def centred(self) -> bool:
        """Whether the gap's score has a constant of its own."""
        centred = self.design in (CENTRED, ESTIMATED_CENTRED)
        return centred and not self.target.abstain and (self.target.groups == 2 or self.target.shares_known)

    @property
    def reckonings(self) -> tuple[Reckoning, ...]:
        """What variances reckon with, the worst of them."""
        return self.values.reckonings(relies_on_shares=self.target.relies_on_shares)

    def wanted(self, inputs: Inputs) -> list[Wanted]:
        """Return the functionals whose largest variance the design shall make small, about each centre."""
        centres = self.values.centres(relies_on_shares=self.target.relies_on_shares)
        return [wanted for centre in centres for wanted in self.target.wanted(inputs, centre)]

    def gap_score(self, decoder: Decoder, pair: tuple[int, int]) -> Vector | None:
        """Return the score whose average is the gap of a population with the known shares; None if none is.

        Its mean at an input is the gap's functional, less a constant times what averages to 0 in such a population.
        """
        if self.centred and self.target.shares_known and self.target.groups == 2:
            return decoder.aims[0].score if decoder.aims else None
        return decoder.score(self._less(decoder, self.target.gap_functional(decoder.inputs, pair)))

    def _less(self, decoder: Decoder, gap: Vector) -> Vector:
        """Return a gap's functional less the constant that centred scores take from values."""
        if not (self.centred and self.target.groups > 2 and decoder.constant):
            return gap
        return gap - decoder.constant * at_constant_value(decoder.inputs, gap)

    def gap_constant(self, decoder: Decoder) -> float:
        """Return the c of the gap's score, whose mean is (v - c)/p in one group and -(v - c)/p in the other."""
        if self.target.groups > 2:
            return decoder.constant if self.centred else 0.0
        if not (self.centred and self.target.shares_known and decoder.aims):
            return 0.0
        return float(decoder.inputs.levels[0] - self.target.shares[0] * decoder.aims[0].functional[0])

    def decoder(self, channel: Channel) -> Decoder:
        """Return the decoder of a channel that reads it best."""
        return _decoder(self, channel)

    def variance(self, channel: Channel) -> float:
        """Return K times the variance, over clients drawn from a population, of the worst of the wanted numbers.

        It is the total: what randomising adds and how clients differ.  The population is the worst that is reckoned
        with (:attr:`reckonings`).  Infinite if the channel cannot tell.
        """
        return max(self.totals(channel))

    def totals(self, channel: Channel) -> list[float]:
        """Return the total, as :meth:`variance` does, of each of the wanted numbers."""
        return list(_by_its_decoder(self, channel, Scores.totals_by))

    def totals_by(self, decoder: Decoder, wanted: Sequence[Wanted]) -> list[float]:
        """Return the total of each of the wanted numbers by a decoder, as :meth:`total` does."""
        if self.values.other is not None or any(each.centre is not None for each in wanted):
            return [self.total(decoder, each) for each in wanted]
        # All at once: of 190 gaps one by one takes a minute.
        scores = self._scores(decoder, wanted)
        known = [score for score in scores if score is not None]
        if not known:
            return [float("inf")] * len(wanted)
        moments = iter(_largest_second_moments_of(decoder, known, self.reckonings, self.target.abstaining))
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
        return list(_by_its_decoder(self, channel, Scores.privacy_variances_by))

    def privacy_variances_by(self, decoder: Decoder, wanted: Sequence[Wanted]) -> list[float]:
        """Return the same for each of the wanted numbers by a decoder."""
        scores = [(score, each.centre) for score, each in zip(self._scores(decoder, wanted), wanted, strict=True)]
        known = [score for score, centre in scores if score is not None and centre is None]
        if known and len(known) == len(scores):
            return [float(variance) for variance in decoder.variances(known)]
        return [float("inf") if s is None else decoder.variance(s, centre=c) for s, c in scores]

    def sampling_variance(self) -> float:
        """Return K times the variance of the worst of the wanted numbers if nothing were randomised."""
        answering = self.target.answering
        parts = sorted((1 / share for share in self.target.shares), reverse=True)
        worst = parts[0] if self.target.kind == "means" else parts[0] + parts[1]
        return worst / answering * max(reckoning.widest**2 for reckoning in self.reckonings)

    def total(self, decoder: Decoder, wanted: Wanted) -> float:
        """Return K times the variance of one of the wanted numbers, over clients drawn from a population."""
        score = self.score(decoder, wanted)
        if score is None:
            return float("inf")
        return float(self._totals_at(decoder, score, wanted).max())

    def worst_population(self, decoder: Decoder, wanted: Wanted) -> "_WorstPopulation":
        """Return the population that has the total of :meth:`total`; the channel can tell what is wanted."""
        score = self.score(decoder, wanted)
        if score is None:
            raise ValueError("the channel cannot tell it")
        totals = self._totals_at(decoder, score, wanted)
        worst = self._reckoned(wanted)[int(totals.argmax())]
        second, inputs = decoder.rows @ score**2, decoder.inputs
        weights, found = inputs.weights(decoder.shares, self.target.abstaining), np.zeros(inputs.count)
        for weight, block in zip(weights, inputs.blocks[: inputs.groups], strict=False):
            runs = np.array([second[run] for run in inputs.runs(block)])
            law = worst_law(inputs.levels, runs.max(axis=0), worst)
            if self.values.other is None:
                # Whatever the other values are: at each level the one that is worst.
                beside = np.arange(len(runs))[:, None] == runs.argmax(axis=0)
            else:
                beside = worst_law(decoder.other_levels, runs @ law, self.values.other)[:, None]
                law = worst_law(inputs.levels, beside[:, 0] @ runs, worst)
            found[block] = (weight * beside * law).ravel()
        if inputs.abstain:
            found[-1] = weights[-1]
        return _WorstPopulation(found, float(totals.max()), worst.mean)

    def _reckoned(self, wanted: Wanted) -> tuple[Reckoning, ...]:
        return tuple(r for r in self.reckonings if wanted.centre is None or r.mean == wanted.centre)

    def _totals_at(self, decoder: Decoder, score: Vector, wanted: Wanted) -> Vector:
        reckonings = self._reckoned(wanted)
        squares = self._squares(reckonings, wanted.centre)
        return np.asarray(self._second_moments(decoder, score, reckonings) - squares)

    def _squares(self, reckonings: Sequence[Reckoning], centre: float | None) -> Vector:
        """Return the square of the wanted number under each reckoning."""
        # A gap of groups that have one mean is 0, and so is a mean less its centre.
        own = centre is None and self.target.kind == "means"
        return np.array([reckoning.mean**2 * own for reckoning in reckonings])

    def _second_moments(self, decoder: Decoder, score: Vector, reckonings: Sequence[Reckoning]) -> Vector:
        """Return the most that the squared score can average to under each reckoning."""
        found = largest_second_moments(decoder, score, reckonings, self.target.abstaining)
        if self.values.other is None:
            return found
        for place, reckoning in enumerate(reckonings):
            bounds = decoder.bounds_beside(score, reckoning, self.values.other)
            better = largest_averages(decoder.inputs.levels, bounds, [reckoning])[0] @ decoder.shares
            found[place] = min(found[place], float(better))
        return found

    def identifies(self, decoder: Decoder) -> bool:
        """Tell whether a decoder has scores for all that is needed."""
        return all(decoder.score(f) is not None for f in self.target.needed(decoder.inputs))

    def score(self, decoder: Decoder, wanted: Wanted) -> Vector | None:
        """Return the score of a wanted functional, centred where the design's scores are; None if there is none."""
        return self._scores(decoder, [wanted])[0]

    def _scores(self, decoder: Decoder, wanted: Sequence[Wanted]) -> list[Vector | None]:
        if self.centred and self.target.two_sided:
            return [decoder.aims[0].score if decoder.aims else None for _ in wanted]
        gaps = self.target.kind == "gap"
        return decoder.scores([self._less(decoder, each.functional) if gaps else each.functional for each in wanted])


@lru_cache(maxsize=64)
def _decoder(scores: Scores, channel: Channel) -> Decoder:
    target = scores.target
    decoder = Decoder.even(channel, target.share_vector, scores.axis)
    if scores.centred and target.groups > 2:
        gaps = [(w.functional, w.weight) for w in scores.wanted(decoder.inputs)] if target.kind == "gap" else []
        return decoder.about(gaps, scores.values.expected)
    if scores.centred:
        return _centred(target, scores.values, decoder)
    if not target.relies_on_shares:
        return decoder
    if target.balanced and target.groups > FEW:
        return decoder.common([target.mean_functional(decoder.inputs, g, 0.0) for g in range(target.groups)])
    wanted = scores.wanted(decoder.inputs)
    functionals = [each.functional for each in wanted]
    if target.kind == "means":
        return decoder.aimed(functionals)
    # Gaps depend on each other, so they share one prior; a mean may have its own.
    return decoder.least_favourable(_balanced(decoder, wanted) if target.balanced else functionals)


# A plan asks for them of the same table again and again.
@lru_cache(maxsize=256)
def _by_its_decoder(
    scores: Scores, channel: Channel, variances: Callable[[Scores, Decoder, Sequence[Wanted]], list[float]]
) -> tuple[float, ...]:
    decoder = scores.decoder(channel)
    wanted = scores.wanted(decoder.inputs)
    return tuple(variances(scores, decoder, wanted) if scores.identifies(decoder) else [float("inf")] * len(wanted))


def _balanced(decoder: Decoder, wanted: Sequence[Wanted]) -> list[Vector]:
    """Return functionals in units of the least deviation that each has by this table, weighed as the design does."""
    found = []
    for functional, _, weight in wanted:
        alone = decoder.least_favourable([functional])
        score = alone.score(functional)
        least = 1.0 if score is None else alone.variance(score)
        found.append(functional * float(np.sqrt(weight / max(least, 1e-300))))
    return found


def _centred(target: Target, values: AssumedValues, decoder: Decoder) -> Decoder:
    inputs = decoder.inputs
    if target.shares_known:
        constant = inputs.share_of(0) / target.shares[0] - inputs.share_of(1) / target.shares[1]
        return decoder.centred(target.gap_functional(inputs, (0, 1)), constant, values.aim, values.other)
    first, second = (target.mean_functional(inputs, g, values.aim.mean) for g in (0, 1))
    return decoder.centred(first - second, None, values.aim)


def largest_second_moments(
    decoder: Decoder, score: Vector, reckonings: Sequence[Reckoning], abstaining: float = ABSTAINING
) -> Vector:
    """Return the most that the squared score can average to under each reckoning, with the decoder's shares."""
    return np.asarray(_largest_second_moments_of(decoder, [score], reckonings, abstaining)[0])


def _largest_second_moments_of(
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


class _WorstPopulation(NamedTuple):
    """A population that varies most: how likely each input is, K times the variance, and what every mean is."""

    inputs: Vector
    total: float
    mean: float


def assumption(scores: Scores, metric: Metric) -> str:
    """Return what the total variance assumes, for the sentence beside it.

    >>> even = Target((0.5, 0.5))
    >>> assumption(Scores(even, AssumedValues(expect=0.8)), Metric("recall", "0", "1"))
    'every group averages 0.9, with a standard deviation of at most 0.15'
    >>> assumption(Scores(even, AssumedValues(spread=None)), Metric("recall", "0", "1"))
    'the worst level from 0.1 to 0.9, the same in every group, with any values'
    """
    means = [metric.to_metric(reckoning.mean) for reckoning in scores.reckonings]
    spread = scores.reckonings[0].spread
    values = "any values" if spread is None else f"a standard deviation of at most {spread * metric.scale:.4g}"
    if scores.target.abstain:
        values += f", and {100 * scores.target.abstaining:.4g} % who abstain"
    if scores.values.expect is not None:
        return f"every group averages {means[0]:.4g}, with {values}"
    if scores.target.relies_on_shares:
        return f"the worst level from {means[0]:.4g} to {means[-1]:.4g}, the same in every group, with {values}"
    named = ", ".join(f"{mean:.4g}" for mean in means[:-1])
    return f"the worst of the levels {named} and {means[-1]:.4g}, the same in every group, with {values}"
