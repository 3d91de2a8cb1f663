"""How wide intervals will be: the answers of the population that is reckoned with, read as the real ones will be.

A plan's variance is that of the worst population that is reckoned with.  So many answers of its clients come on average
as counts, and the interval that the estimate would give for these counts is the one to plan with.  Nothing about an
interval is written down twice, and what is true of the estimate is true of the plan.

Width and power are for the worst values that are reckoned with: see :meth:`~fairgauge.targets.scores.Scores.variance`.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from fairgauge.channel import Channel
from fairgauge.crowd import blanket_weights
from fairgauge.errors import CannotEstimate
from fairgauge.estimation.draws import NO_DRAWS, Draws
from fairgauge.estimation.estimands import Asked, Estimands, estimands_for
from fairgauge.estimation.gap_score import USUALLY, InProportion
from fairgauge.estimation.interval import Interval
from fairgauge.estimation.interval_kinds import LIVE, IntervalKind, check_confidence, kind_of
from fairgauge.estimation.interval_readers import Reader, reader_of
from fairgauge.study import Question, TargetName
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.comparisons import Pair
from fairgauge.targets.scores import Scores
from fairgauge.targets.symbol_scores import Decoder
from fairgauge.targets.target import Wanted

# Half of what is possible at all: a gap is from -2 to 2, a mean from -1 to 1.
_GAP, _MEAN = 2.0, 1.0
_NEAR_END = 0.999
_INWARD = (-0.6, 0.6)
# So few answers tell nothing, and a law has no parts below 0.
_MOST_TILT = 0.5
# The ends of the levels that are reckoned with.
_OUTWARD = (-0.8, 0.8)


@dataclass(frozen=True, eq=False)
class Level:
    """The population that is reckoned with at one level of all means.

    Args:
        law: How likely each symbol is.
        variance: K·Var in total.
        mean: The level, in [-1, 1].
    """

    law: Vector
    variance: float
    mean: float


@dataclass(frozen=True, eq=False)
class Expected:
    """What a plan expects of one number.

    Args:
        estimands: What the channel identifies.
        asked: The comparison, or the group whose mean is asked for.
        variance: K·Var in total, at worst.
        reckoned: The scores that populations are reckoned by, each with what it wants for this number.
    """

    estimands: Estimands
    asked: Pair | int
    variance: float
    reckoned: tuple[tuple[Scores, Decoder, Wanted], ...]

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The populations that are reckoned with, the one with the largest variance first."""
        # Only when a width is asked for: of 2,016 pairs few are.
        levels = []
        for scores, decoder, wanted in self.reckoned:
            population = scores.worst_population(decoder, wanted)
            law = population.inputs @ decoder.rows
            levels.append(Level(law / law.sum(), population.total, population.mean))
        return tuple(sorted(levels, key=lambda level: -level.variance)) if self._all_levels else _ordered(levels)

    @property
    def _all_levels(self) -> bool:
        """Whether the widest interval need not be where the variance is largest.

        What a wrong share adds depends on how far the level is from what scores take from values.
        """
        return self.estimands.shares is not None and not self.estimands.exact

    def width(self, kind: IntervalKind, answers: float, alpha: float, drawn: float = 0.0) -> float:
        """Return the half-width of the widest interval, in [-1, 1] units; never more than what is possible at all.

        With ``drawn`` there are so many secret draws for each answer.
        """
        # A plan asks for the width of the worst number, and then for that of each.
        asked = kind.name, answers, alpha, drawn
        if asked not in self._widths:
            self._widths[asked] = self._widest(kind, answers, alpha, drawn)
        return self._widths[asked]

    @cached_property
    def _widths(self) -> dict[tuple[str, float, float, float], float]:
        return {}

    @cached_property
    def _blanket(self) -> Vector:
        """The law of secret draws."""
        weights = np.array(blanket_weights([self.estimands.decoder.channel]), dtype=np.float64)
        return np.asarray(weights / weights.sum())

    def _widest(self, kind: IntervalKind, answers: float, alpha: float, drawn: float) -> float:
        most, widths = _MEAN if isinstance(self.asked, int) else _GAP, []
        for level in self.levels:
            counts, draws = answers * self._usual(level.law, answers), NO_DRAWS
            if drawn:
                draws = Draws(answers * drawn, self._blanket)
                counts = counts + draws.count * draws.law
            found = self._read(reader_of(kind)(self.estimands, counts, split=InProportion(), draws=draws), alpha)
            if found is None:
                return most
            widths.append(min((found.high - found.low) / 2, most))
            # Near an end an interval is cut to what is possible; where none is, less variance is less width.
            if self._all_levels:
                continue
            if abs(level.mean) < _NEAR_END and -_NEAR_END * most < found.low and found.high < _NEAR_END * most:
                break
        return max(widths)

    def _usual(self, law: Vector, answers: float) -> Vector:
        """Return a law by which the share of the smaller side seems to be smaller than it is, by as much as usual.

        Where the split is estimated, answers that come out so have a wider interval, and those that come out the other
        way do not make up for it.
        """
        estimands = self.estimands
        if isinstance(self.asked, int) or estimands.gaps is not None or estimands.means is None:
            return law
        first, second = (estimands.mean_of(side).under for side in self.asked)
        smaller = first if float(first @ law) <= float(second @ law) else second
        score = smaller - float(smaller @ law)
        tilt = USUALLY / math.sqrt(answers * float(score**2 @ law))
        return np.asarray(law * (1 - min(tilt, _MOST_TILT / float(np.abs(score).max())) * score))

    def _read(self, reader: Reader, alpha: float) -> Interval | None:
        try:
            return reader.mean(self.asked, alpha) if isinstance(self.asked, int) else reader.gap(self.asked, alpha)
        except CannotEstimate:
            return None


def expected(scores: Scores, channel: Channel, target: TargetName) -> tuple[Expected, ...]:
    """Return what is expected of each comparison, or of each group's mean; nothing where the channel cannot tell one.

    Args:
        scores: The scores, whose decoder reads the answers.
        channel: The channel.
        target: ``"gap"`` for the comparisons, ``"means"`` for the groups' means.
    """
    return _expected(scores.decoded, channel, target)  # two designs may end in one table, and reading it takes a while


@lru_cache(maxsize=128)
def _expected(scores: Scores, channel: Channel, target: TargetName) -> tuple[Expected, ...]:
    aimed = scores.asking(kind=target)
    decoder, estimands = scores.decoder(channel), estimands_for(scores, channel, Asked.of(scores.target))
    if estimands.means is None and (target == "means" or estimands.gaps is None):
        return ()
    every = [aimed, *_inward(aimed), *_outward(aimed)]
    if any(aimed.score(decoder, each) is None for each in aimed.wanted(decoder.inputs)):
        return ()
    asked: tuple[Pair | int, ...] = estimands.compared if target == "gap" else tuple(range(scores.target.groups))
    found = []
    by_each = [(each, each.wanted(decoder.inputs)) for each in every]
    totals = [each.totals_by(decoder, wanted) for each, wanted in by_each]
    for number, one in enumerate(asked):
        variance = max(max(of[number :: len(asked)]) for of in totals)
        reckoned = [(each, decoder, some) for each, wanted in by_each for some in wanted[number :: len(asked)]]
        found.append(Expected(estimands, one, variance, tuple(reckoned)))
    return tuple(found)


def _inward(scores: Scores) -> list[Scores]:
    """Return the same scores at levels further in, where nothing is expected and the worst level may be near an end.

    Near an end an interval is cut to what is possible, so it is widest somewhat further in.
    """
    if scores.values.expect is not None or (scores.target.relies_on_shares and scores.target.kind == "gap"):
        return []
    return [scores.assuming(expect=mean) for mean in ((0.0,) if scores.target.relies_on_shares else _INWARD)]


def _outward(scores: Scores) -> list[Scores]:
    """Return the same scores at the ends of the levels, where a share that is off may matter most."""
    if (
        not scores.target.shares_known
        or scores.values.expect is not None
        or (scores.target.most_ratio == 1 and not scores.target.share_error)
    ):
        return []
    return [scores.assuming(expect=mean) for mean in _OUTWARD]


def _ordered(levels: list[Level]) -> tuple[Level, ...]:
    """Return the levels by their variance, those that have the same once."""
    different = {(float(f"{level.variance:.6g}"), abs(level.mean)): level for level in reversed(levels)}
    return tuple(sorted(different.values(), key=lambda level: -level.variance))


# Of more numbers than this only those that vary most are asked for their width; of fewer where that takes long.
_MANY, _FEW, _WIDEST = 15, 3, 2
_ALPHA = 0.05


def planned_width(  # noqa: PLR0913 - what a plan is for, and with what it is read
    scores: Scores, channel: Channel, answers: float, kind: IntervalKind, alpha: float, *, drawn: float = 0.0
) -> float:
    """Return the half-width of the worst of the wanted numbers, in [-1, 1] units; infinite if the channel cannot tell.

    Guarantee: it is that of the estimate for the answers that are expected.  For more than two groups the gaps'
    intervals hold together, as they do in the estimate.  With ``drawn`` there are so many secret draws for each answer.
    """
    return _width(scores.decoded, channel, answers, kind, alpha, drawn=drawn)


@lru_cache(maxsize=1024)
def _width(  # noqa: PLR0913 - as above
    scores: Scores, channel: Channel, answers: float, kind: IntervalKind, alpha: float, *, drawn: float
) -> float:
    found = expected(scores, channel, scores.target.kind)
    if not found:
        return math.inf
    different = {float(f"{each.variance:.6g}"): each for each in found}
    # The widest is one of those that vary most.
    order = sorted(different.values(), key=lambda each: -each.variance)
    most = _MANY if reader_of(kind).quick else _FEW
    return max(each.width(kind, answers, alpha, drawn) for each in (order if len(order) <= most else order[:_WIDEST]))


def planned_power(  # noqa: PLR0913 - as above
    scores: Scores, channel: Channel, answers: float, width: float, gap: float, *, drawn: float = 0.0
) -> float:
    """Return how often an interval of this half-width for a gap will exclude 0 if the gap has this size.

    Guarantee: asymptotic; for the worst values that are reckoned with.
    """
    deviation = math.sqrt(scores.variance(channel) / answers)
    if drawn:
        deviation = planned_width(scores, channel, answers, kind_of("normal"), _ALPHA, drawn=drawn) / -ndtri(_ALPHA / 2)
    return float(ndtr((abs(gap) - width) / deviation) + ndtr((-abs(gap) - width) / deviation))


_MOST = 1e15
_START = 1e4
_CLOSE = 0.005
_TURNS = 20


def answers_needed(  # noqa: PLR0913 - what is wanted of whom, and how it is read
    question: Question,
    error: float,
    *,
    tables: int = 1,
    confidence: float = 0.99,
    interval: str = LIVE,
    drawn: float = 0.0,
) -> int | None:
    """Return about how many answers a study needs for its gap to have an interval of this half-width.

    Guarantee: to 1 %, by the widths that the estimate uses; of several tables each gets an equal part of answers.

    Args:
        question: What is asked, with its channel.
        error: The half-width, in the metric's units.
        tables: How many tables the study has: each gets an equal part of the answers.
        confidence: How often the interval is to hold the truth.
        interval: Which interval; see :mod:`fairgauge.estimation.interval_kinds`.
        drawn: How many secret draws there are for each answer.

    Returns:
        The number of answers to the whole study, or None if none is enough.
    """
    kind, alpha = kind_of(interval), check_confidence(confidence)
    scores = Scores.of(question).asking(kind="gap")
    wanted, answers = error / question.metric.scale, _START
    for _ in range(_TURNS):
        width = planned_width(scores, question.channel, answers, kind, alpha, drawn=drawn)
        if math.isinf(width) or answers > _MOST:
            return None
        if abs(width / wanted - 1) < _CLOSE:
            break
        # A width falls with the square root of the number of answers, nearly.
        answers = max(1.0, answers * (width / wanted) ** 2)
    return tables * math.ceil(answers)


def aimed_error(question: Question, aim: float) -> float:
    """Return the half-width that an aim means for a question: an aim is a part of the metric's range."""
    return 2 * aim * question.metric.scale
