r"""What the paper's theorems claim about privacy, and what is exactly true.

The exact loss is :math:`\sup \ln(\Pr[y \mid x] / \Pr[y \mid x'])` over all inputs x, x' and outputs y.  For M_R the
probabilities are linear in v, so the extreme values -1 and 1 decide, and enumerating them is a proof.  For M_L the log
ratio of a kept to a changed client is

.. math:: \varepsilon_1 + \ln\frac{k}{k_0} + \varepsilon_2 \Big(\frac{|v'|}{k} - \frac{|v' - v|}{k_0}\Big)

with :math:`k_0 = 2` in the paper.  It is bounded in v' only if :math:`k = k_0`.

What that means for one person is an attack: guess a group from one answer.  Two equally likely groups, everyone holding
the same value.  Whoever sees one answer guesses the group that makes it
likelier and is right with probability :math:`\frac12 + \frac14 \sum_y |P(y \mid 0) - P(y \mid 1)|`.  An
ε-private mechanism allows at most :math:`e^\varepsilon / (1 + e^\varepsilon)`: 50.25 % at ε = 0.01.
"""

from dataclasses import dataclass
from itertools import pairwise, product
from math import exp, inf, log

import numpy as np

from fairgauge.channel import Channel
from fairgauge.paper.mechanisms import LaplaceMechanism, PaperMechanism, Published, ResponseMechanism
from fairgauge.targets.channel_inputs import Inputs

_Pair = tuple[int, float]


@dataclass(frozen=True)
class _Loss:
    """The exact privacy loss, and where it happens: this output is likelier by e^epsilon for first than for second.

    Where epsilon is infinite, the output's value goes to the infinity that is given, and the ratio with it.
    """

    epsilon: float
    first: _Pair
    second: _Pair
    output: _Pair


def claimed_epsilon(mechanism: PaperMechanism) -> float:
    """Return what Theorem 1 (M_R) or Theorem 2 (M_L) says."""
    e1, e2 = mechanism.group_epsilon, mechanism.value_epsilon
    if isinstance(mechanism, LaplaceMechanism):
        k = mechanism.k
        return max(e2, log(2 / k) + e2 / 2 - e1, log(k / 2) + e2 / k + e1)
    return max(e1, e2)


def exact_loss(mechanism: Published) -> _Loss:
    """Return the exact privacy loss with a worst pair of inputs and a worst output."""
    if isinstance(mechanism, LaplaceMechanism):
        return _laplace_loss(mechanism)
    inputs: list[_Pair] = list(product(range(mechanism.groups), (1.0, -1.0)))
    found = [
        _Loss(_log_response(mechanism, output, x) - _log_response(mechanism, output, z), x, z, output)
        for x, z, output in product(inputs, inputs, inputs)
    ]
    return max(found, key=lambda loss: loss.epsilon)


def _log_response(mechanism: ResponseMechanism, output: _Pair, given: _Pair) -> float:
    """Return ln Pr[output | given] for values that are -1 or 1."""
    e2 = mechanism.value_epsilon
    if output[0] != given[0]:
        return -mechanism.group_epsilon + log(mechanism.keep) - log(2)
    log_truth = -np.log1p(exp(-e2))
    return log(mechanism.keep) + float(log_truth) - (e2 if output[1] != given[1] else 0.0)


def _laplace_loss(mechanism: LaplaceMechanism) -> _Loss:
    e1, e2, k, kept_k = mechanism.group_epsilon, mechanism.value_epsilon, mechanism.k, mechanism.kept_k
    if k < kept_k:
        return _Loss(inf, (0, 1.0), (1, 1.0), (0, inf))
    if k > kept_k:
        return _Loss(inf, (1, 1.0), (0, 1.0), (0, inf))
    value = _Loss(2 * e2 / k, (0, 1.0), (0, -1.0), (0, 1.0))
    group = _Loss(e1 + e2 / k, (0, 1.0), (1, 1.0), (0, 1.0))
    return max(value, group, key=lambda loss: loss.epsilon)


def clipped_loss(mechanism: LaplaceMechanism) -> float:
    """Return the loss of M_L if reports were clipped to [-1, 1] on the device, with ends as atoms.

    The log ratio is piecewise linear in v' with kinks at 0 and v, so kinks and ends decide; an atom's ratio is that
    of two tails.
    """
    e1, kept, changed = mechanism.group_epsilon, mechanism.kept_scale, mechanism.changed_scale
    values = (-1.0, 0.0, 1.0)
    losses = [2 / kept]
    for v in values:
        for y in values:
            density = e1 + log(changed / kept) + abs(y) / changed - abs(y - v) / kept
            tail = e1 + 1 / changed - (1 - v) / kept
            losses += [abs(density), abs(tail)]
    return max(losses)


def delta(mechanism: LaplaceMechanism, epsilon: float) -> float:
    """Return the δ that M_L with two groups needs to be (ε, δ)-private: its hockey-stick divergence.

    Between the kinks of the two densities each is an exponential and their log ratio is linear, so every piece of the
    integral is exact.  Values -1, 0 and 1 are tried; no smaller δ will do.
    """
    log_keep, log_switch = log(mechanism.keep), log(mechanism.switch)
    kept, changed = mechanism.kept_scale, mechanism.changed_scale

    def excess(v: float, w: float) -> float:
        """Inputs (0, v) and (1, w): the part of the reports of group 0, then of group 1."""
        first = _hockey_stick((log_keep, v, kept), (log_switch + epsilon, 0.0, changed))
        return first + _hockey_stick((log_switch, 0.0, changed), (log_keep + epsilon, w, kept))

    across = max(excess(v, w) for v, w in product((-1.0, 0.0, 1.0), repeat=2))
    return max(across, _hockey_stick((log_keep, 1.0, kept), (log_keep + epsilon, -1.0, kept)))


_Weighted = tuple[float, float, float]


def _hockey_stick(p: _Weighted, q: _Weighted) -> float:
    """Return the integral of max(0, p - q) for two Laplace densities with log weight, centre and scale."""
    edges = [-inf, *sorted({p[1], q[1]}), inf]
    return sum(_piece(p, q, low, high) for low, high in pairwise(edges))


def _piece(p: _Weighted, q: _Weighted, low: float, high: float) -> float:
    """Return the integral over a piece without a kink inside: the log ratio is linear and changes sign once at most."""
    end = low if low > -inf else high
    ratio = _log_density(p, end) - _log_density(q, end)
    slope = _slope(p, high) - _slope(q, high)
    if slope > 0:
        low = max(low, end - ratio / slope)
    elif slope < 0:
        high = min(high, end - ratio / slope)
    elif ratio <= 0:
        return 0.0
    return max(0.0, _mass(p, low, high) - _mass(q, low, high)) if low < high else 0.0


def _slope(part: _Weighted, high: float) -> float:
    """Return the slope of a log density on a piece that ends at high: up before the centre, down after it."""
    return (1 if high <= part[1] else -1) / part[2]


def _log_density(part: _Weighted, y: float) -> float:
    weight, centre, scale = part
    return weight - log(2 * scale) - abs(y - centre) / scale


def _mass(part: _Weighted, low: float, high: float) -> float:
    """Return the integral of one density over a piece on one side of its centre."""
    weight, centre, scale = part
    near, far = sorted((abs(low - centre), abs(high - centre)))
    # Weights reach e^26: the difference of two tails keeps its digits, one minus a tail would not.
    return (exp(weight - near / scale) - exp(weight - far / scale)) / 2


def allowed_success(epsilon: float) -> float:
    """Return how often the best guess may be right if the mechanism is ε-private."""
    return 1 / (1 + exp(-epsilon))


def guess_published(mechanism: PaperMechanism, *, value: float, people: int, rng: np.random.Generator) -> float:
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
