"""Tables 1 and 2: as published, with sound privacy, and with the optimal design."""

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from fairgauge.paper import optimal_design
from fairgauge.paper.bounds import PUBLISHED, SOUND, Allocation, chebyshev_error, least_epsilon
from fairgauge.paper.mechanisms import Values, notebook_laplace
from fairgauge.paper.runs import RunClients, channel_gaps, estimated_gaps

CLIENTS = {"1e5": 10**5, "1e6": 10**6, "1e7": 10**7, "1e8": 10**8, "1e9": 10**9}
ERRORS = (0.1, 0.01, 0.001)
EPSILONS = ("0.01", "0.1", "1.0", "10.0")
_TABLE2_CLIENTS = 10**7
_FEW_RUNS, MANY_RUNS = 10, 10_000
# The paper's Table 2 is in units of a metric in [0, 1], of which v in [-1, 1] has two.
_METRIC = 0.5

_Table = dict[str, Any]
_Step = Callable[[], object]


@cache
def printed() -> dict[str, Any]:
    """Return the figures that the paper prints."""
    found: dict[str, Any] = json.loads(files(__package__).joinpath("published.json").read_text(encoding="utf-8"))
    return found


def table1(allocations: Mapping[str, Allocation]) -> _Table:
    """Return the least epsilon for each number of clients and each error, by Chebyshev's inequality."""
    return {
        "unit": printed()["table1_minimum_epsilon"]["unit"],
        "alpha": list(ERRORS),
        **{
            name: {label: [least_epsilon(allocation, k, error) for error in ERRORS] for label, k in CLIENTS.items()}
            for name, allocation in allocations.items()
        },
    }


def optimal_table1(*, step: _Step = lambda: None) -> _Table:
    """Return the same table for the optimal design, by Chebyshev and by the default interval.

    None means above :data:`fairgauge.paper.optimal_design.MOST`.
    """

    def cell(clients: int, error: float, interval: str) -> float | None:
        step()
        return optimal_design.least_epsilon(clients, error, interval=interval)

    return {
        "unit": printed()["table1_minimum_epsilon"]["unit"] + f"; null = above {optimal_design.MOST}",
        "alpha": list(ERRORS),
        **{
            name: {label: [cell(k, error, interval) for error in ERRORS] for label, k in CLIENTS.items()}
            for name, interval in {"optimal, Chebyshev": "chebyshev", "optimal, finite": "finite"}.items()
        },
    }


def client_ratios(*, step: _Step = lambda: None) -> _Table:
    """Return, for each cell of Table 1, how many clients others need for the cell's own epsilon and error.

    The epsilon is the one that the paper claims for the cell, here kept; the unit is the paper's own number of clients.
    """
    found: _Table = {"unit": "clients needed, as a multiple of the row's K, for the epsilon and the error of the cell"}
    for name, allocation in PUBLISHED.items():
        sound = SOUND[name.removesuffix(" opt")]
        found[name] = {}
        for label, clients in CLIENTS.items():
            row = [_ratios(allocation, sound, clients, error) for error in ERRORS]
            step()
            found[name][label] = {key: [cell[key] for cell in row] for key in row[0]}
    return found


def _ratios(published: Allocation, sound: Allocation, clients: int, error: float) -> dict[str, float | None]:
    epsilon = least_epsilon(published, clients, error)
    if epsilon is None:
        return dict.fromkeys(("sound", "optimal, Chebyshev", "optimal, finite"))
    needed = {
        f"optimal, {name}": optimal_design.clients_needed(epsilon, error, interval=name.lower())
        for name in ("Chebyshev", "finite")
    }
    return {
        "sound": sound(epsilon).gap_variance() / published(epsilon).gap_variance(),
        **{name: None if k is None else k / clients for name, k in needed.items()},
    }


def table2(
    allocations: Mapping[str, Allocation], observed: Sequence[Sequence[float]], rng: np.random.Generator
) -> _Table:
    """Return the Chebyshev error and the errors of 10 and of 10,000 runs at ten million clients.

    Args:
        allocations: The mechanisms.
        observed: The metric's observed values in each group, from which clients are drawn.
        rng: Where randomness comes from.
    """
    clients = _clients(observed, rng)

    def errors(allocation: Allocation, epsilon: float) -> Values:
        return estimated_gaps(allocation(epsilon), clients, rng)

    return {
        "unit": printed()["table2_error"]["unit"],
        "epsilon": [float(epsilon) for epsilon in EPSILONS],
        **{
            name: _columns(
                [_METRIC * chebyshev_error(allocation(float(e)).gap_variance(), _TABLE2_CLIENTS) for e in EPSILONS],
                [errors(allocation, float(e)) for e in EPSILONS],
                clients.gaps,
            )
            for name, allocation in allocations.items()
        },
    }


def notebook_table2(observed: Sequence[Sequence[float]], rng: np.random.Generator) -> _Table:
    """Return Table 2 for M_L as the authors' notebook runs it, with its two scales exchanged."""
    return table2({"M_L notebook": notebook_laplace}, observed, rng)


def optimal_table2(
    observed: Sequence[Sequence[float]], rng: np.random.Generator, *, step: _Step = lambda: None
) -> _Table:
    """Return the same table for the optimal design, with both bounds on the error."""
    clients = _clients(observed, rng)
    gaps, bounds = [], []
    for epsilon in map(Decimal, EPSILONS):
        gaps.append(
            channel_gaps(optimal_design.optimal_channel(epsilon), optimal_design.spread_of(epsilon).score, clients, rng)
        )
        bounds.append(
            [
                _METRIC * optimal_design.error_at(epsilon, _TABLE2_CLIENTS, interval=name)
                for name in ("chebyshev", "finite")
            ]
        )
        step()
    columns = _columns([bound[0] for bound in bounds], gaps, clients.gaps)
    return {
        "unit": printed()["table2_error"]["unit"],
        "epsilon": [float(epsilon) for epsilon in EPSILONS],
        "optimal": columns | {"alpha_finite": [bound[1] for bound in bounds]},
    }


def _clients(observed: Sequence[Sequence[float]], rng: np.random.Generator) -> RunClients:
    values = [2 * np.asarray(group, dtype=np.float64) - 1 for group in observed]
    return RunClients.resampled(values, _TABLE2_CLIENTS // 2, MANY_RUNS, rng)


def _columns(alpha: list[float], estimates: list[Values], truth: Values) -> _Table:
    """Return bounds and errors: of the first few runs under the paper's names, of all of them beside these.

    The error is the paper's: between the absolute values of the estimated and of the true gap.
    """
    errors = [_METRIC * np.abs(np.abs(estimate) - np.abs(truth)) for estimate in estimates]
    signed = [_METRIC * np.abs(estimate - truth) for estimate in estimates]
    return {
        "alpha": alpha,
        "mean_error": [float(e[:_FEW_RUNS].mean()) for e in errors],
        "sd": [float(e[:_FEW_RUNS].std()) for e in errors],
        f"mean_error_{MANY_RUNS}": [float(e.mean()) for e in errors],
        f"sd_{MANY_RUNS}": [float(e.std()) for e in errors],
        f"mean_signed_error_{MANY_RUNS}": [float(e.mean()) for e in signed],
        f"covered_{MANY_RUNS}": [float((e <= a).mean()) for e, a in zip(signed, alpha, strict=True)],
    }
