"""From probabilities to integers that hold epsilon exactly."""

import math
from decimal import Decimal

import numpy as np
import pytest

from fairgauge.channel import LEVEL_UNIT, ROW_SUM
from fairgauge.designs.randomized_response import response_rows
from fairgauge.designs.rounding import _integers, exact_channel
from fairgauge.errors import Impossible
from fairgauge.goals.inputs import Inputs, Matrix

INPUTS = Inputs(2, np.array([-1.0, 1 / 3, 1.0]))


def extreme_rows(epsilon: float, symbols: int, seed: int) -> Matrix:
    """Columns with ratios of exactly e^epsilon; complements in pairs make rows sum to one."""
    rng = np.random.default_rng(seed)
    likely = rng.random((6, symbols)) < 0.5
    weights = rng.dirichlet(np.ones(symbols))
    both = np.hstack([likely * weights, ~likely * weights])
    rest = np.hstack([weights, weights])
    rows: Matrix = (rest + np.expm1(epsilon) * both) / (np.exp(epsilon) + 1)
    return rows


@pytest.mark.parametrize("epsilon", ["0.001", "0.05", "0.3", "1", "2.718281828459045", "8", "12"])
@pytest.mark.parametrize("seed", range(5))
def test_epsilon_holds_exactly_and_next_to_nothing_is_lost(epsilon: str, seed: int):
    rows = extreme_rows(float(epsilon), 20, seed)
    channel = exact_channel(rows, INPUTS, Decimal(epsilon))
    assert channel.within(Decimal(epsilon))
    assert channel.epsilon <= float(epsilon)
    assert channel.epsilon >= (1 - 1e-8) * float(epsilon)
    assert np.array(channel.table) / ROW_SUM == pytest.approx(rows, rel=1e-6)
    assert channel.levels == (-LEVEL_UNIT, round(LEVEL_UNIT / 3), LEVEL_UNIT)


def test_ratios_that_are_exactly_at_epsilon_need_some_mixing():
    """Else mixing could be left out, and this would not be noticed."""
    table = _integers(response_rows(6, 1.0))
    columns = np.array(table).T
    assert max(math.log(int(c.max()) / int(c.min())) for c in columns) > 1 - 1e-14
    assert exact_channel(response_rows(6, 1.0), INPUTS, Decimal(1)).within(Decimal(1) * (1 - Decimal("1e-14")))


def test_solver_noise_is_mixed_away():
    rows = extreme_rows(1.0, 20, 0)
    noisy = rows * (1 + 1e-7 * np.random.default_rng(3).standard_normal(rows.shape))
    channel = exact_channel(noisy, INPUTS, Decimal(1))
    assert channel.within(Decimal(1))
    assert channel.epsilon > 0.999


def test_what_no_mixing_can_repair_is_refused():
    with pytest.raises(Impossible, match="epsilon=1 "):
        exact_channel(extreme_rows(1.01, 20, 0), INPUTS, Decimal(1))


def test_integers_are_rounded_towards_the_middle_of_their_column():
    exact = np.array([[10.25, 20.75], [14.75, 16.25]]) / 31
    spare = np.array([[0.9], [0.9]])
    rows = np.hstack([exact / 100, spare])
    low_then_high = np.array(_integers(rows))[:, :2]
    wanted = rows[:, :2] * ROW_SUM
    assert low_then_high[0].tolist() == [math.ceil(wanted[0, 0]), math.floor(wanted[0, 1])]
    assert low_then_high[1].tolist() == [math.floor(wanted[1, 0]), math.ceil(wanted[1, 1])]


def test_what_a_row_lacks_goes_to_the_heaviest_column():
    rows = extreme_rows(2.0, 20, 1)
    heaviest = rows.sum(axis=0).argmax()
    off = np.array(_integers(rows)) - rows * ROW_SUM
    assert np.array(_integers(rows)).sum(axis=1).tolist() == [ROW_SUM] * 6
    assert np.abs(np.delete(off, heaviest, axis=1)).max() < 1


def test_a_symbol_too_rare_for_integers_is_left_out():
    rows = response_rows(6, 1.0)
    rare = np.column_stack([rows, 1e-18 * rows[:, 0]])
    assert exact_channel(rare, INPUTS, Decimal(1)).table == exact_channel(rows, INPUTS, Decimal(1)).table
