"""Simulated studies, many at once: how often intervals hold the truth, without finding a single edge.

Counts of all runs of a setting are drawn at once, exactly.  An interval holds the truth if and only if the truth is
believable, so the width is computed once, at the truth, by the functions that the estimate uses.  A test makes sure
that this agrees with what the estimate prints.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fairgauge.designs import make_channel
from fairgauge.errors import CannotEstimate
from fairgauge.estimation.anytime import AnytimeTest
from fairgauge.estimation.by_test import TestReader
from fairgauge.estimation.by_width import NormalReader, WidthReader
from fairgauge.estimation.estimands import Estimands, Ratio, estimands_of
from fairgauge.estimation.kinds import KINDS as INTERVALS
from fairgauge.estimation.laws import Laws
from fairgauge.estimation.reader import Reader
from fairgauge.estimation.spread import Spread
from fairgauge.goals.goal import Goal
from fairgauge.study import Attribute, Metric, Question

CLIENTS = (100, 10_000, 1_000_000)
CONFIDENCES = (0.9, 0.99)
ABSTAINING = Decimal("0.2")

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Kind:
    """A kind of study: what it asks, and how people really split."""

    name: str
    goal: Goal
    epsilons: tuple[str, ...]
    shares: tuple[str, ...]
    questions: int = 1


HALF = (0.5, 0.5)
KINDS = (
    Kind("gap, equal groups", Goal(HALF), ("0.3", "1", "3"), ("0.5", "0.5")),
    Kind("gap, one group in ten", Goal((0.1, 0.9)), ("1", "3"), ("0.1", "0.9")),
    Kind("shares estimated", Goal(HALF, shares_known=False, target="means"), ("1", "3"), ("0.3", "0.7")),
    Kind("one in five abstains", Goal(HALF, abstain=True), ("1", "3"), ("0.5", "0.5")),
    Kind("means of three groups", Goal((0.2, 0.3, 0.5), target="means"), ("1", "3"), ("0.2", "0.3", "0.5")),
    Kind("one of two questions", Goal(HALF), ("1", "3"), ("0.5", "0.5"), questions=2),
)
# The values of the first group, and of the others; each value is held by equally many.
VALUES = {
    "all at 1": (("1",), ("1",)),
    "as far apart as can be": (("1",), ("0",)),
    "half at 0, half at 1": (("0", "1"), ("0", "1")),
    "spread evenly": (("0", "0.25", "0.5", "0.75", "1"), ("0", "0.25", "0.5", "0.75", "1")),
    "between levels": (("0.37",), ("0.61",)),
}


@dataclass(frozen=True)
class Setting:
    """A study, its people and how many of them there are."""

    kind: Kind
    epsilon: str
    values: str
    clients: int

    @cached_property
    def question(self) -> Question:
        """The question that is asked."""
        goal, names = self.kind.goal, ("a", "b", "c")[: self.kind.goal.groups]
        name, channel = make_channel(goal, Decimal(self.epsilon))
        attribute = Attribute("group", names, self.kind.shares if goal.shares_known else None)
        return Question(Metric("metric", "0", "1"), attribute, goal.target, name, self.epsilon, channel)

    @cached_property
    def estimands(self) -> Estimands:
        """What the question can tell."""
        return estimands_of(self.question, questions=self.kind.questions)

    def cells(self) -> Iterator[tuple[int | None, str | None, int]]:
        """Yield group, value and number of clients."""
        answering = self.clients
        if self.kind.goal.abstain:
            abstaining = int(ABSTAINING * self.clients)
            answering -= abstaining
            yield None, None, abstaining
        for group, share in enumerate(self.kind.shares):
            values = VALUES[self.values][min(group, 1)]
            for value in values:
                yield group, value, int(Decimal(share) * answering) // len(values)

    @cached_property
    def laws(self) -> list[tuple[int, NDArray[np.float64]]]:
        """How many clients follow each law of symbols."""
        channel, metric, found = self.question.channel, self.question.metric, []
        for group, value, count in self.cells():
            exact = channel.mixture(group, None if value is None else metric.position(value))
            law = np.array([float(p) for p in exact]) / self.kind.questions
            found.append((count, law if self.kind.questions == 1 else np.append(law, 1 - law.sum())))
        return found

    def counts(self, runs: int, rng: np.random.Generator) -> Counts:
        """Draw the counts of so many studies, one in a row."""
        drawn = [rng.multinomial(count, law, size=runs) for count, law in self.laws]
        if sum(count for count, _ in self.laws) != self.clients:
            raise ValueError(f"{self.clients} clients do not split evenly")
        total: Counts = np.sum(drawn, axis=0, dtype=np.int64)
        return total

    @cached_property
    def means(self) -> list[float]:
        """The true mean of every group, in [-1, 1]."""
        found = []
        for group in range(len(self.kind.shares)):
            cells = [(float(value), count) for g, value, count in self.cells() if g == group and value is not None]
            found.append(2 * sum(v * n for v, n in cells) / sum(n for _, n in cells) - 1)
        return found


@dataclass(frozen=True)
class Runs:
    """Counts of many studies, read like a :class:`fairgauge.estimation.reader.Reader` reads those of one."""

    setting: Setting
    counts: Counts
    interval: str
    refused: Flags = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "refused", np.zeros(len(self.counts), dtype=bool))

    @cached_property
    def laws(self) -> NDArray[np.float64]:
        """The counts as parts of their sum."""
        laws: NDArray[np.float64] = self.counts / self.counts.sum(axis=1, keepdims=True)
        return laws

    def gaps(self, alpha: float) -> Flags:
        """Tell which studies' gaps all hold the truth, or are not given."""
        setting = self.setting
        estimands, means = setting.estimands, setting.means
        d = len(means)
        if issubclass(self._reader, TestReader):
            pairs = [(a, b) for a in range(d) for b in range(a + 1, d)]
            return np.array([self._all_held(row, pairs, alpha) for row in self.counts])
        if estimands.gaps is not None:
            each = alpha / len(estimands.gaps)
            found = [self._holds(gap, means[a] - means[b], each) for (a, b), gap in estimands.gaps.items()]
        elif estimands.means is None:
            raise ValueError("the study tells nothing")
        elif self._reader is NormalReader:
            pairs = [(a, b) for a in range(d) for b in range(a + 1, d)]
            found = [self._difference_holds(a, b, alpha / len(pairs)) for a, b in pairs]
        else:
            # The gaps hold wherever all means do, so they hold at least this often.
            found = [self._holds(m, truth, alpha / d) for m, truth in zip(estimands.means, means, strict=True)]
        together: Flags = np.logical_and.reduce(found)
        return together

    def mean(self, group: int, alpha: float) -> Flags:
        """Tell which studies' mean of a group holds the truth, or is not given."""
        if self.setting.estimands.means is None:
            raise ValueError("the study does not tell means")
        return self._holds(self.setting.estimands.means[group], self.setting.means[group], alpha)

    @property
    def _reader(self) -> type[Reader]:
        return INTERVALS[self.interval].reader

    def _all_held(self, row: Counts, pairs: list[tuple[int, int]], alpha: float) -> bool:
        read, means = self._reader(self.setting.estimands, row.astype(float)), self.setting.means
        try:
            return all(read.believes_gap((a, b), means[a] - means[b], alpha) for a, b in pairs)
        except CannotEstimate:
            return True

    def _believed(self, row: Counts, ratio: Ratio, truth: float, alpha: float) -> bool:
        try:
            return self._reader(self.setting.estimands, row.astype(float)).believes(ratio, truth, alpha)
        except CannotEstimate:
            return True

    def _holds(self, ratio: Ratio, truth: float, alpha: float) -> Flags:
        if issubclass(self._reader, TestReader):
            return np.array([self._believed(row, ratio, truth, alpha) for row in self.counts])
        if ratio.constant is not None:
            return self._within(ratio.over / ratio.constant, truth, alpha)[0]
        given = self._given(ratio, alpha)
        return self._within(ratio.over - truth * ratio.under, 0.0, alpha)[0] | ~given

    def _given(self, ratio: Ratio, alpha: float) -> Flags:
        given = ~self._within(ratio.under, 0.0, alpha)[1]
        self.refused[:] |= ~given
        return given

    def _within(self, score: NDArray[np.float64], truth: float, alpha: float) -> tuple[Flags, Flags]:
        """Tell which averages are within their interval of the truth, and which are not above that."""
        spread = Spread(self.setting.estimands.decoder, score, self.setting.estimands.shares)
        reader = self._reader
        if not issubclass(reader, WidthReader):
            raise TypeError(f"{reader.__name__} has no width")
        below, above = reader.sides(spread, self.setting.clients, alpha)
        average = self.laws @ score
        part = np.ones(len(average))
        if reader is NormalReader:
            seen = self.laws @ score**2 - average**2
            part = np.sqrt(np.maximum(seen, spread.least_variance) / spread.drawn_variance)
        not_above = average - part * below <= truth
        return not_above & (average + part * above >= truth), not_above

    def _difference_holds(self, a: int, b: int, alpha: float) -> Flags:
        """The delta method, as the normal interval of a difference uses it."""
        means, truth = self.setting.estimands.means or (), self.setting.means
        given = self._given(means[a], alpha) & self._given(means[b], alpha)
        value = np.zeros(len(self.laws))
        influence = np.zeros_like(self.laws)
        for ratio, sign in ((means[a], 1), (means[b], -1)):
            under = np.where(given, self.laws @ ratio.under, 1.0)
            mean = self.laws @ ratio.over / under
            value += sign * mean
            influence += sign * (ratio.over - mean[:, None] * ratio.under) / under[:, None]
        deviation = np.sqrt((influence**2 * self.laws).sum(axis=1) / self.setting.clients)
        off: NDArray[np.float64] = np.abs(value - (truth[a] - truth[b])) / deviation
        return (off <= -float(ndtri(alpha / 2))) | ~given


@dataclass(frozen=True)
class Measured:
    """How often an interval held in one setting, and how often it was given."""

    setting: Setting
    interval: str
    quantity: str
    confidence: float
    held: float
    given: float


def measure(setting: Setting, runs: int, rng: np.random.Generator) -> Iterator[Measured]:
    """Yield how often every interval held, for the gaps together and for each mean."""
    counts = setting.counts(runs, rng)
    told = range(len(setting.means)) if setting.estimands.means is not None else ()
    for interval, confidence, group in product(INTERVALS, CONFIDENCES, (None, *told)):
        read = Runs(setting, counts, interval)
        held = read.gaps(1 - confidence) if group is None else read.mean(group, 1 - confidence)
        quantity = "gap" if group is None else f"mean of {group}"
        given = 1 - float(read.refused.mean())
        yield Measured(setting, interval, quantity, confidence, float(held.mean()), given)


@dataclass(frozen=True)
class Watched:
    """How often intervals held at every look at a growing study, by interval and confidence."""

    epsilon: str
    arrival: str
    held: dict[tuple[str, float], float]


def watch(epsilon: str, arrival: str, runs: int, rng: np.random.Generator) -> Watched:
    """Watch studies grow to 100,000 answers at 120 looks; everyone is at 1, so who comes first matters most."""
    setting = Setting(KINDS[0], epsilon, "all at 1", 100_000)
    score = (setting.estimands.gaps or {})[0, 1].over
    laws = Laws(setting.estimands.decoder, setting.estimands.shares)
    # The tested value is the same at every look, so stakes and weights are too.
    bets = AnytimeTest(laws, score, np.ones(len(score)), np.ones(len(score)), 0.5).bets(0.0)
    (first, first_law), (second, second_law) = setting.laws
    left = np.tile([first, second], (runs, 1))
    counts = np.zeros((runs, len(score)), dtype=np.int64)
    missed = {key: np.zeros(runs, dtype=bool) for key in product(("anytime", "normal"), CONFIDENCES)}
    before = 0
    for look in np.unique(np.logspace(1, 5, 120).astype(int)).tolist():
        coming, before = look - before, look
        if arrival == DRAWN:
            firsts = rng.binomial(coming, 0.5, size=runs)
        else:
            firsts = rng.hypergeometric(left[:, 0], left[:, 1], coming)
            left -= np.column_stack([firsts, coming - firsts])
        counts += rng.multinomial(firsts, first_law) + rng.multinomial(coming - firsts, second_law)
        average = counts @ score / look
        deviation = np.sqrt((counts @ score**2 / look - average**2) / look)
        for confidence in CONFIDENCES:
            alpha = 1 - confidence
            missed["anytime", confidence] |= np.max([b.log_money(counts.T) for b in bets], axis=0) >= np.log(2 / alpha)
            missed["normal", confidence] |= np.abs(average) > -float(ndtri(alpha / 2)) * deviation
    return Watched(epsilon, arrival, {key: 1 - float(flags.mean()) for key, flags in missed.items()})


DRAWN, FIXED = "drawn from a population", "a fixed set in random order"
WATCHES = tuple(product(("1", "3"), (DRAWN, FIXED)))


def settings() -> list[Setting]:
    """Return every setting, those of one study beside each other."""
    return [
        Setting(kind, epsilon, values, clients)
        for kind in KINDS
        for epsilon, values, clients in product(kind.epsilons, VALUES, CLIENTS)
    ]
