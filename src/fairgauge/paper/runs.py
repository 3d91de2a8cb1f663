"""Whole experiments in one draw: the estimates of many runs, exact in law at any number of clients.

No client is drawn.  Clients with the same group and value are exchangeable, so how many of them keep their group, and
how many of those send +1, are binomial; and a sum of n Laplace variables of scale s is s times the difference of two
independent Gamma(n) variables.  A run at ten million clients costs what one at a hundred costs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairgauge.channel import LEVEL_UNIT, Channel
from fairgauge.paper.mechanisms import LaplaceMechanism, Published, Values

_Counts = NDArray[np.int64]
# So many numbers at a time keep memory small.
_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class RunClients:
    """The clients of many runs of an experiment with two groups.

    Args:
        values: The distinct values that members of each group hold.
        counts: For each group, how many clients hold each value, one row per run.
    """

    values: tuple[Values, Values]
    counts: tuple[_Counts, _Counts]

    @classmethod
    def fixed(cls, values: Sequence[Sequence[float] | Values], size: int, runs: int) -> "RunClients":
        """Return clients whose groups have equal sizes and hold the given values in turn, the same in every run."""
        first, second = (np.asarray(v, dtype=np.float64) for v in values)
        rows = [np.array([(size + i) // len(v) for i in range(len(v))])[::-1] for v in (first, second)]
        return cls((first, second), (np.tile(rows[0], (runs, 1)), np.tile(rows[1], (runs, 1))))

    @classmethod
    def resampled(
        cls, observed: Sequence[Sequence[float] | Values], size: int, runs: int, rng: np.random.Generator
    ) -> "RunClients":
        """Return clients drawn with replacement from what was observed, anew for each run, as many in each group."""
        (first, often), (second, seldom) = (np.unique(np.asarray(v, np.float64), return_counts=True) for v in observed)
        drawn = [rng.multinomial(size, n / n.sum(), runs) for n in (often, seldom)]
        return cls((first, second), (drawn[0], drawn[1]))

    @classmethod
    def drawn(
        cls, values: Sequence[Sequence[float] | Values], total: int, runs: int, rng: np.random.Generator
    ) -> "RunClients":
        """Return clients drawn from a population of two equal groups that hold the given values, as many of each."""
        first, second = (np.asarray(v, dtype=np.float64) for v in values)
        law = np.concatenate([np.full(len(v), 0.5 / len(v)) for v in (first, second)])
        counts = rng.multinomial(total, law, runs)
        return cls((first, second), (counts[:, : len(first)], counts[:, len(first) :]))

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.counts[0])

    @property
    def sizes(self) -> _Counts:
        """The size of each group in each run."""
        return np.column_stack([rows.sum(axis=1) for rows in self.counts])

    @property
    def gaps(self) -> Values:
        """The true gap of each run: the first group's mean minus the second's."""
        means = [rows @ v / rows.sum(axis=1) for rows, v in zip(self.counts, self.values, strict=True)]
        return np.asarray(means[0] - means[1], dtype=np.float64)


def estimated_gaps(mechanism: Published, clients: RunClients, rng: np.random.Generator) -> Values:
    """Return the signed gap that each run of a published mechanism estimates."""
    means = estimated_means(mechanism, clients, rng)
    return np.asarray(means[:, 0] - means[:, 1], dtype=np.float64)


def estimated_means(mechanism: Published, clients: RunClients, rng: np.random.Generator) -> Values:
    """Return the two group means that each run of a published mechanism estimates, one row per run.

    Guarantee: exact; the estimates have the law that drawing every client would give them.
    """
    sums = np.zeros((clients.runs, 2))
    for group in (0, 1):
        kept = rng.binomial(clients.counts[group], mechanism.keep)
        changed = clients.counts[group].sum(axis=1) - kept.sum(axis=1)
        own, other = _sums(mechanism, kept, changed, clients.values[group], rng)
        sums[:, group] += own
        sums[:, 1 - group] += other
    return mechanism.means(sums, clients.sizes)


def _sums(
    mechanism: Published, kept: _Counts, changed: _Counts, values: Values, rng: np.random.Generator
) -> tuple[Values, Values]:
    """Return, for each run, the sum of v' over one group's clients that kept and that changed their group."""
    if isinstance(mechanism, LaplaceMechanism):
        noise = [
            scale * (rng.standard_gamma(n) - rng.standard_gamma(n))
            for n, scale in ((kept.sum(axis=1), mechanism.kept_scale), (changed, mechanism.changed_scale))
        ]
        return kept @ values + noise[0], noise[1]
    plus = rng.binomial(kept, (1 + mechanism.contrast * values) / 2).sum(axis=1)
    plus_changed = rng.binomial(changed, 0.5)
    return (2 * plus - kept.sum(axis=1)).astype(np.float64), (2 * plus_changed - changed).astype(np.float64)


def channel_gaps(channel: Channel, score: Values, clients: RunClients, rng: np.random.Generator) -> Values:
    """Return the signed gap that each run of one of our channels estimates, with the gap's score of each symbol.

    Guarantee: exact; each cell is one multinomial of the very mixture that clients draw from.
    """
    totals: Values = np.zeros(clients.runs)
    for group, (values, counts) in enumerate(zip(clients.values, clients.counts, strict=True)):
        for value, cell in zip(values, counts.T, strict=True):
            law = np.array(channel.mixture(group, Fraction(value) * LEVEL_UNIT), dtype=np.float64)
            step = max(1, _AT_ONCE // channel.symbols)
            for start in range(0, clients.runs, step):
                totals[start : start + step] += rng.multinomial(cell[start : start + step], law / law.sum()) @ score
    return np.asarray(totals / clients.sizes.sum(axis=1), dtype=np.float64)
