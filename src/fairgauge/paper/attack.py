r"""Guess a person's group from one answer.

Two equally likely groups, everyone holding the same value.  Whoever sees one answer guesses the group that makes it
likelier and is right with probability :math:`\frac12 + \frac14 \sum_y |P(y \mid 0) - P(y \mid 1)|`.  An
ε-private mechanism allows at most :math:`e^\varepsilon / (1 + e^\varepsilon)`: 50.25 % at ε = 0.01.
"""

from math import exp

import numpy as np

from fairgauge.channel import Channel
from fairgauge.paper.mechanisms import LaplaceMechanism, Mechanism
from fairgauge.targets.inputs import Inputs

EPSILON = 0.01


def allowed_success(epsilon: float) -> float:
    """Return how often the best guess may be right if the mechanism is ε-private."""
    return 1 / (1 + exp(-epsilon))


def guess_published(mechanism: Mechanism, *, value: float, people: int, rng: np.random.Generator) -> float:
    """Return how often the group of so many people is guessed from one report of a published mechanism each."""
    groups = rng.integers(0, 2, people)
    reported, reports = mechanism.randomise(groups, np.full(people, value), rng)
    if isinstance(mechanism, LaplaceMechanism):
        kept = np.log(mechanism.keep / mechanism.kept_scale) - np.abs(reports - value) / mechanism.kept_scale
        changed = np.log(mechanism.switch / mechanism.changed_scale) - np.abs(reports) / mechanism.changed_scale
        guesses = np.where(kept >= changed, reported, 1 - reported)
    else:
        guesses = reported
    return float((guesses == groups).mean())


def guess_channel(channel: Channel, *, people: int, rng: np.random.Generator) -> float:
    """Return the same for a channel of ours, with the value that helps the guess most."""
    size = len(channel.levels)
    rows = np.array(channel.table, dtype=np.float64)
    rows /= rows.sum(axis=1, keepdims=True)
    first, second = rows[:size], rows[size : 2 * size]
    worst = int(np.abs(first - second).sum(axis=1).argmax())
    groups = rng.integers(0, 2, people)
    counts = [rng.multinomial(int((groups == g).sum()), law[worst]) for g, law in enumerate((first, second))]
    right = np.where(first[worst] >= second[worst], counts[0], counts[1]).sum()
    return float(right / people)


def channel_success(channel: Channel) -> float:
    """Return exactly how often the best guess is right, for the pair of values that helps it most."""
    inputs = Inputs.of(channel)
    rows = np.array(channel.table, dtype=np.float64)
    rows /= rows.sum(axis=1, keepdims=True)
    first, second = rows[inputs.blocks[0]], rows[inputs.blocks[1]]
    return float(0.5 + np.abs(first[:, None] - second[None]).sum(axis=2).max() / 4)
