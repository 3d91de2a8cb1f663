"""Whether a plan keeps its word: no comparison worse than with randomized response, and the numbers of the estimate.

A plan reckons with the worst values that groups of one mean can have.  Here they are found by a linear program of their
own, the counts that such clients send on average are made of the table, and ``estimate`` says what it makes of it: its
half-width must be the plan's.  `python -m bench.plans --runs 40` tries so many random questions.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from scipy.optimize import linprog
from scipy.special import ndtri

from fairgauge import Attribute, Metric, Study, estimate
from fairgauge.channel import Channel
from fairgauge.designs import make_channel
from fairgauge.planning.plan_parts import PlanPart
from fairgauge.planning.plans import plan_for
from fairgauge.study import Comparison, Question, TargetName
from fairgauge.tallies import Tally
from fairgauge.targets.assumed_values import Reckoning
from fairgauge.targets.channel_inputs import Matrix, Vector
from fairgauge.targets.scores import Scores, largest_second_moments

RECALL = Metric("recall", 0, 1)
CLIENTS = 10**12  # so many that counts are whole numbers without an error that would show
SIMPLE = "randomized-response"
SEED = 20261116
# Fine values are a grid, and the plan's bound sags by little more than that.
_POINTS, _CLOSE = 401, 2e-3
EPSILONS = ("0.3", "0.7", "1", "1.5", "2")
EXPECTED = (None, "0.5", "0.8", "0.9")


@dataclass(frozen=True)
class Asked:
    """A random question: parts that shares are made of, weights of comparisons (none: all alike), and the rest.

    ``off`` is how far each share may be off; where it is given, something must be expected.
    """

    parts: tuple[int, ...]
    weights: tuple[int, ...]
    epsilon: str
    expect: str | None
    off: str | None = None

    @property
    def attribute(self) -> Attribute:
        """Groups whose shares are thousandths, 0.02 at least."""
        scaled = [max(20, part * 1000 // sum(self.parts)) for part in self.parts]
        scaled[scaled.index(max(scaled))] += 1000 - sum(scaled)
        groups = [f"g{number}" for number in range(len(scaled))]
        pairs = [(a, b) for n, a in enumerate(groups) for b in groups[n + 1 :]]
        planned = [Comparison(a, b, weight) for (a, b), weight in zip(pairs, self.weights, strict=False)]
        shares = [Decimal(part) / 1000 for part in scaled]
        return Attribute("group", groups, shares, comparisons=planned or None, share_error=self.off, answering="alike")


def faults(asked: Asked, *, counted: Callable[[Vector], Vector] = lambda law: law) -> list[str]:
    """Return where a plan does not keep its word.

    Args:
        asked: The question.
        counted: What becomes of the law of symbols on the way; a mutant that changes it is caught.
    """
    wish = Question(RECALL, asked.attribute, expect=asked.expect)
    scores, epsilon = Scores.of(wish), Decimal(asked.epsilon)
    name, channel = make_channel(scores, epsilon)
    designs = list(dict.fromkeys([name, SIMPLE]))
    plan = plan_for(
        scores, RECALL, epsilon=epsilon, clients=CLIENTS, interval="normal", designs=designs, attribute=wish.attribute
    )
    row, simple = plan.row(name), {part.groups: part.variance for part in plan.row(SIMPLE).pairs}
    found = [
        f"{part.name}: {part.variance / simple[part.groups]:.6f} of randomized response"
        for part in row.pairs
        if part.variance > simple[part.groups] * (1 + 1e-9)
    ]
    made = Question(RECALL, wish.attribute, scores.target.kind, name, asked.epsilon, channel, expect=asked.expect)
    study = Study("Planned", [made])
    told_of: list[tuple[tuple[PlanPart, ...], TargetName]] = [(row.pairs, "gap"), (row.means, "means")]
    for parts, target in told_of:
        for part in parts[:: max(1, len(parts) - 1)]:  # the worst and the best
            law = counted(_law(scores.by(name).asking(kind=target), channel, wish.attribute, part))
            counts = np.round(law * CLIENTS).astype(int).tolist()
            told = estimate(study, Tally(study.digest, tuple(counts)), interval="normal")["recall"]
            number = told.gap(*part.groups) if target == "gap" else told.means[part.groups[0]]
            error = (number.high - number.low) / 2
            sure = ndtri(0.01 / 2 / (len(row.pairs) if target == "gap" else 1))
            variance = CLIENTS * (error / RECALL.scale / sure) ** 2
            # A width that pays for shares that may be off says nothing of the variance.
            varies = part.variance if asked.off is None else variance
            if abs(error / (part.error or 0) - 1) > _CLOSE or abs(variance / varies - 1) > 2 * _CLOSE:
                found.append(
                    f"{part.name}: planned ±{part.error:.6g} and K·Var {part.variance:.6g}, "
                    f"estimated ±{error:.6g} and {variance:.6g}"
                )
    return found


def _law(scores: Scores, channel: Channel, attribute: Attribute, part: PlanPart) -> Vector:
    """Return the law of symbols for the values that are worst for a comparison, or for a group's mean."""
    decoder = scores.decoder(channel)
    inputs = decoder.inputs
    numbers = tuple(attribute.groups.index(group) for group in part.groups)
    if scores.target.kind == "gap":
        contrasts = [(c.of[0], c.against[0]) for c in scores.target.contrasts]
        wanted = scores.wanted(inputs)[contrasts.index((numbers[0], numbers[1]))]
    else:
        wanted = scores.wanted(inputs)[numbers[0]]
    # Answers are read with the decoder of the study's own scores.
    score = scores.score(scores.asking(kind="gap").decoder(channel), wanted)
    if score is None:
        raise ValueError("the table does not tell it")
    own = scores.target.kind == "means"
    totals = largest_second_moments(decoder, score, scores.reckonings) - [own * r.mean**2 for r in scores.reckonings]
    reckoning = scores.reckonings[int(np.argmax(totals))]
    second, law = decoder.rows @ score**2, np.zeros(channel.symbols)
    for share, block in zip(scores.target.shares, inputs.blocks, strict=True):
        weights, mixing = _worst(inputs.levels, second[block], reckoning)
        law += share * weights @ mixing @ decoder.rows[block]
    return law


def _worst(levels: Vector, second: Vector, reckoning: Reckoning) -> tuple[Vector, Matrix]:
    """Return the law over fine values whose second moment is largest, and those values as mixtures of levels."""
    values = np.unique(np.concatenate([np.linspace(-1, 1, _POINTS), levels, [reckoning.mean]]))
    mixing = np.array([np.interp(values, levels, one) for one in np.eye(len(levels))]).T
    away = values - reckoning.mean
    solved = linprog(
        -(mixing @ second),
        A_ub=None if reckoning.any_values else [away**2],
        b_ub=None if reckoning.any_values else [reckoning.widest**2],
        A_eq=[np.ones(len(values)), away],
        b_eq=[1, 0],
    )
    if solved.x is None:
        raise ValueError(f"no values have this mean and spread: {solved.message}")
    found = np.maximum(solved.x, 0)
    return found / found.sum(), mixing


def drawn(rng: np.random.Generator) -> Asked:
    """Return a random question: 2 to 12 groups."""
    d = int(rng.integers(2, 13))
    weights = tuple(rng.choice([1, 1, 1, 3], d * (d - 1) // 2).tolist()) if rng.random() < 0.5 else ()
    expect = EXPECTED[int(rng.integers(len(EXPECTED)))]
    return Asked(tuple(rng.integers(1, 21, d).tolist()), weights, str(rng.choice(EPSILONS)), expect)


def main(arguments: list[str] | None = None) -> int:
    """Try and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    runs, rng, bad = parser.parse_args(arguments).runs, np.random.default_rng(SEED), 0
    for _ in range(runs):
        asked = drawn(rng)
        found = faults(asked)
        bad += bool(found)
        print(f"{asked.attribute.shares}, epsilon {asked.epsilon}: {'; '.join(found) or 'kept'}", flush=True)
    print(f"{runs - bad} of {runs} plans keep their word")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
