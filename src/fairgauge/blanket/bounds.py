r"""How close the certified number is: the bound behind it, computed tightly, and data sets that no bound can beat.

.. math:: \delta \le \frac1n E\bigl[(L_1 + \dots + L_n)_+\bigr], \qquad
          \Pr[L = (P_{xj} - e^\epsilon P_{yj}) / w_j] = w_j, \quad \Pr[L = 0] = 1 - \sum_j w_j

With a row :math:`P_{x_0}` in the place of w it is an equality, for a person among others who all hold :math:`x_0`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import numpy.typing as npt

from fairgauge.blanket.sums import Vector, positive_part, stages_above, stages_below
from fairgauge.channel import ROW_SUM
from fairgauge.crowd import Crowd
from fairgauge.crowd.laws import Blanket
from fairgauge.crowd.search import Law, best_t
from fairgauge.study import Study

MOST_LAWS = 1000
PRECISION = 1e-5
STEP = 1e-4
# The lattice raises a data set's own delta too; this is more than it raises epsilon by.
SLACK = 1e-3

Table = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Closeness:
    """What lies on both sides of the truth: no bound is below ``lower``, and ``tight`` is one.

    Args:
        tight: The smallest epsilon of the bound above, or None where too many laws would have to be compared.
        lower: An epsilon that a concrete data set exceeds.
    """

    tight: float | None
    lower: float


def closeness(study: Study, crowd: Crowd) -> Closeness:
    """Return how close a study's certified crowd epsilon is to what could be proved at most."""
    blankets = [Blanket.of(table[0].channel.table) for table in study.tables]
    local = float(max(question.mechanism.epsilon_bound for question in study.questions))
    if local == 0:
        return Closeness(0.0, 0.0)
    lower = _lower(blankets, crowd, local)
    return Closeness(_tight(blankets, crowd, local), min(lower, float(crowd.epsilon)))


def tight_delta(laws: Sequence[Law], draws: tuple[int, int], epsilon: float) -> float:
    """Return the bound at epsilon, for one pair of rows in each question."""
    factor = math.exp(epsilon)
    weights = np.array([weight / len(laws) for law in laws for weight, _, _ in law])
    values = np.array([own - factor * other for law in laws for _, own, other in law])
    if values.max() <= 0:
        return 0.0
    chances = np.append(weights, max(0.0, 1 - weights.sum()))
    tilt = best_t([[law] for law in laws], math.prod(draws), epsilon)
    return positive_part(np.append(values, 0.0), chances, draws, tilt)


def _tight(blankets: Sequence[Blanket], crowd: Crowd, local: float) -> float | None:
    """Return the least epsilon that holds for all pairs: those that Chernoff cannot rule out are all computed."""
    delta, people, draws = float(crowd.delta), crowd.people, stages_below(crowd.people)
    tables = [_ratios(blanket) for blanket in blankets]
    worst: list[Law] | None = None
    found = 0.0
    while True:
        at = float(crowd.epsilon) if worst is None else found
        laws = _suspects(tables, people, delta, at, worst)
        if laws is None:
            return None
        deltas = [tight_delta(suspect, draws, at) for suspect in laws]
        if worst is not None and max(deltas, default=0.0) <= delta * (1 + 1e-3):
            return min(found, local)
        if not laws:
            return min(float(crowd.epsilon), local)
        worst = list(laws[int(np.argmax(deltas))])
        crossing = _crossing(partial(tight_delta, worst, draws), delta, local)
        # The lattice moves with epsilon, so that a law may be just above what is wanted where it was just below.
        found = crossing if crossing > found else found * (1 + STEP)
        if found >= local:
            return local


def _suspects(
    tables: Sequence[tuple[Vector, Table]], people: int, delta: float, epsilon: float, worst: list[Law] | None
) -> list[tuple[Law, ...]] | None:
    """Return the laws, one pair for each question, whose delta may be above the one that is wanted."""
    widest = worst or [_law(weights, rows, *_widest(weights, rows)) for weights, rows in tables]
    t = best_t([[law] for law in widest], people, epsilon)
    if worst is None:
        tops = [divmod(int(found.argmax()), len(found)) for found in _all_moments(tables, epsilon, t)]
        return [tuple(_law(*table, *top) for table, top in zip(tables, tops, strict=True))]
    suspicious = [np.ones((len(rows), len(rows)), dtype=bool) for _, rows in tables]
    for other in t * np.array([0.6, 0.75, 0.9, 1.0, 1.1, 1.3, 1.6]):  # any t gives a bound, and another pair another t
        moments = _all_moments(tables, epsilon, float(other))
        aim = math.expm1((math.log(delta) + math.log(other) + 1 + math.log(people)) / people)
        total = sum(float(found.max()) for found in moments)
        for index, found in enumerate(moments):
            suspicious[index] &= (found + total - found.max()) / len(tables) >= aim
    choices: list[list[Law]] = []
    for (weights, rows), kept in zip(tables, suspicious, strict=True):
        laws = (_law(weights, rows, int(x), int(y)) for x, y in np.argwhere(kept))
        choices.append(list({_name(law): law for law in laws}.values()))
    return list(product(*choices)) if math.prod(map(len, choices)) <= MOST_LAWS else None


def _all_moments(tables: Sequence[tuple[Vector, Table]], epsilon: float, t: float) -> list[Table]:
    return [_moments(weights, rows, epsilon, t) for weights, rows in tables]


def _name(law: Law) -> str:
    """Return the same for laws that differ by what was rounded to integers, or by the order of their symbols."""
    return " ".join(sorted(f"{weight:.5e} {own:.5e} {other:.5e}" for weight, own, other in law))


def _moments(weights: Vector, rows: Table, epsilon: float, t: float) -> Table:
    """Return M - 1 of every pair of rows."""
    rises = rows[:, None, :] - math.exp(epsilon) * rows[None, :, :]
    found: Table = np.expm1(np.minimum(t * rises, 600.0)) @ weights
    return found


def _lower(blankets: Sequence[Blanket], crowd: Crowd, local: float) -> float:
    """Return an epsilon below which no bound can be: a person among others who all hold the same."""
    laws = [_worst_company(np.array(blanket.rows, dtype=np.float64) / ROW_SUM) for blanket in blankets]
    draws = stages_above(crowd.people)
    found = _crossing(partial(tight_delta, laws, draws), float(crowd.delta), local)
    return found * (1 - SLACK)


def _worst_company(table: Table) -> Law:
    """Return the law of the pair of rows, and of the others' row, that differ most in the others' view."""
    best = (-1.0, 0, 0, 0)
    for company, row in enumerate(table):
        scaled = table / np.sqrt(row)
        norms = (scaled**2).sum(axis=1)
        far = norms[:, None] + norms[None, :] - 2 * scaled @ scaled.T
        place = int(far.argmax())
        best = max(best, (float(far.flat[place]), *divmod(place, len(table)), company))
    _, x, y, company = best
    return _law(table[company], table / table[company], x, y)


def _crossing(delta_at: Callable[[float], float], delta: float, local: float) -> float:
    """Return where a delta that falls with epsilon reaches the one that is wanted."""
    low, high = 0.0, local
    while high - low > PRECISION * high:
        middle = (low + high) / 2
        if delta_at(middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def _ratios(blanket: Blanket) -> tuple[Vector, Table]:
    least = np.array(blanket.least, dtype=np.float64)
    return least / ROW_SUM, np.array(blanket.rows, dtype=np.float64) / least


def _law(weights: Vector, rows: Table, x: int, y: int) -> Law:
    return list(zip(weights.tolist(), rows[x].tolist(), rows[y].tolist(), strict=True))


def _widest(weights: Vector, rows: Table) -> tuple[int, int]:
    scaled = rows * np.sqrt(weights)
    far = ((scaled[:, None, :] - scaled[None, :, :]) ** 2).sum(axis=2)
    x, y = np.unravel_index(int(far.argmax()), far.shape)
    return int(x), int(y)
