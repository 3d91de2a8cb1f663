"""Accuracy per privacy: how many clients each mechanism needs for the same error with the same confidence.

Two groups of equal size with known shares, a metric from 0 to 1, the gap to within 0.01 with 99 % confidence, for the
worst values that clients can hold.  Under a normal interval the number of clients is proportional to K·Var(gap), so
ratios are those of the variances, whatever the error.  Peers are about those who answer, and so are we beside them:
what randomising adds.  Last come plans for people who are drawn, by our own designs.
"""

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from math import exp, log, tanh
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from bench.lines import Line
from fairgauge.designs import make_channel
from fairgauge.estimation.interval_kinds import DEFAULT
from fairgauge.paper.bounds import clients_needed as planned_by_the_paper
from fairgauge.paper.mechanisms import published_response, sound_laplace, sound_response
from fairgauge.planning.plans import plan_for
from fairgauge.study import Metric
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

LIMITS = Path(__file__).parents[1] / "tests" / "data" / "limits.json"
EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
ERROR, CONFIDENCE = 0.01, 0.99
BALANCED = Scores(Target((0.5, 0.5)))
RECALL = Metric("recall", 0, 1)

Values = NDArray[np.float64]
VALUES: Values = np.linspace(-1, 1, 2001)


def gap_variance(group_epsilon: float, noise: Callable[[Values], Values]) -> float:
    """Return K·Var(gap) of a mechanism that randomises the group, forgets the value if it changed, then adds noise.

    The group stays with probability a.  A client of value v adds a (w(v) + v²) - a² v² to the variance of its own
    group's sum, and (1 - a) w(0) to the other's; each sum is divided by a times half the clients.

    Args:
        group_epsilon: What is spent on the group.
        noise: The variance w(v) of an unbiased report of the value.
    """
    a = 1 / (1 + exp(-group_epsilon))
    zero = float(noise(np.zeros(1))[0])
    return float((a * noise(VALUES) + a * (1 - a) * VALUES**2 + (1 - a) * zero).max()) * 4 / a**2


def bernoulli(epsilon: float) -> float:
    """Return the variance of the group mean over one bit, with the split that makes it private."""
    contrast = tanh(epsilon / 2)
    return gap_variance(epsilon - log(2 * exp(epsilon) / (exp(epsilon) + 1)), lambda v: 1 / contrast**2 - v**2)


def laplace(epsilon: float) -> float:
    """Return the variance of the group mean over Laplace noise of scale 2/ε."""
    return gap_variance(epsilon / 2, lambda v: np.full_like(v, 8 / epsilon**2))


def piecewise(epsilon: float) -> float:
    """Return the variance of the group mean over the piecewise mechanism (Wang et al. 2019), as two groups split it."""
    group = epsilon * (0.156 * log(2) + 0.148)
    half = exp((epsilon - group) / 2)
    return gap_variance(group, lambda v: v**2 / (half - 1) + (half + 3) / (3 * (half - 1) ** 2))


def nprr(epsilon: float, *, steps: int = 8) -> float:
    """Return the variance of the group mean over NPRR (Waudby-Smith et al. 2023): randomized response on a grid."""
    levels = 2 * np.arange(steps + 1) / steps - 1
    kept = (exp(epsilon) - 1) / (exp(epsilon) + steps)

    def noise(values: Values) -> Values:
        below = np.floor((values + 1) / 2 * steps) * 2 / steps - 1
        rounded = values**2 + (values - below) * (below + 2 / steps - values)
        return np.asarray((kept * rounded + (1 - kept) * np.mean(levels**2)) / kept**2 - values**2)

    return gap_variance(epsilon - log((steps + 1) * exp(epsilon) / (exp(epsilon) + steps)), noise)


# The mechanisms of "Estimating Group Means Under Local Differential Privacy" (PETS 2025), from the papers they rest on.
PEERS = {"one bit": bernoulli, "Laplace": laplace, "piecewise": piecewise, "NPRR": nprr}


def normal_clients(variance: float) -> float:
    """Return how many clients a normal interval needs."""
    return variance * (NormalDist().inv_cdf((1 + CONFIDENCE) / 2) / (2 * ERROR)) ** 2


def clients_needed() -> Iterator[Line]:
    """Clients for the same error, as a ratio to ours."""
    limits = {row["epsilon"]: row["limit"] for row in json.loads(LIMITS.read_text())["gap"] if row["share"] == 0.5}
    for epsilon in EPSILONS:
        variance = BALANCED.privacy_variance(make_channel(BALANCED, Decimal(str(epsilon)), design="uncentred")[1])
        ours = normal_clients(variance)
        against = f"ours, {ours:,.0f}, normal interval"
        title = f"clients for ±{ERROR}, epsilon {epsilon:g}:"
        claimed = published_response(epsilon).gap_variance()
        yield _line(f"{title} the paper's M_R as claimed (not private)", normal_clients(claimed), ours, against)
        for name, mechanism in (("M_R", sound_response), ("M_L", sound_laplace)):
            sound = mechanism(epsilon).gap_variance()
            yield _line(f"{title} the paper's {name} made sound", normal_clients(sound), ours, against)
        found = {name: peer(epsilon) for name, peer in PEERS.items()}
        best = min(found, key=found.__getitem__)
        for name, peer in found.items():
            aim = "at least 2.3" if name == best and epsilon <= 1 else ""
            what = f"{title} group mean over {name}" + (", the best peer" if name == best else "")
            yield _line(what, normal_clients(peer), ours, against, aim)
        yield _line(f"{title} the limit", normal_clients(limits[epsilon]), ours, against)
        planned = planned_by_the_paper(sound_response, epsilon, 2 * ERROR, confidence=CONFIDENCE)
        yield _line(
            f"{title} the paper's planning (Chebyshev, sound M_R)",
            planned,
            ours,
            against,
            "about 40" if epsilon == 1 else "",
        )
    yield from _by_default()


def _by_default() -> Iterator[Line]:
    """Yield the same under our default interval, which holds for every number of clients drawn from a population."""
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        loss = Decimal(str(epsilon))
        found = plan_for(BALANCED, RECALL, epsilon=loss, error=ERROR, confidence=CONFIDENCE)
        peer = found.row("randomized-response").clients
        ours, name = min((row.clients, row.design) for row in found.rows if row.clients is not None)
        assert peer is not None
        what = f"people for ±{ERROR}, epsilon {epsilon:g}: randomized response, both with our default interval"
        aim = "at least 2.3" if epsilon <= 1 else ""
        yield _line(what, peer, ours, f"ours ({name}), {ours:,}, {DEFAULT} interval", aim)


def _line(what: str, clients: float, ours: float, against: str, aim: str = "") -> Line:
    return Line(what, f"{clients:,.0f}", against, clients / ours, aim)
