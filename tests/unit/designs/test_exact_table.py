"""Integers that hold epsilon exactly, and arithmetic that does not depend on the processor."""

import hashlib
import math
import os
import subprocess
import sys
from decimal import Decimal
from importlib import import_module

import numpy as np
import pytest

from fairgauge.channel import LEVEL_UNIT, ROW_SUM
from fairgauge.designs.classical_designs import _response_rows
from fairgauge.designs.exact_table import _integers, _least_change, exact_channel, exponential, weighted_sums
from fairgauge.errors import Impossible
from fairgauge.targets.channel_inputs import Inputs, Matrix

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
    table = _integers(_response_rows(6, 1.0))
    columns = np.array(table).T
    assert max(math.log(int(c.max()) / int(c.min())) for c in columns) > 1 - 1e-14
    assert exact_channel(_response_rows(6, 1.0), INPUTS, Decimal(1)).within(Decimal(1) * (1 - Decimal("1e-14")))


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
    rows = _response_rows(6, 1.0)
    rare = np.column_stack([rows, 1e-18 * rows[:, 0]])
    assert exact_channel(rare, INPUTS, Decimal(1)).table == exact_channel(rows, INPUTS, Decimal(1)).table


RNG = np.random.default_rng(4)
DESIGNS = """
import hashlib
from decimal import Decimal
from fairgauge.designs import make_channel
from fairgauge.targets import AssumedValues, Scores, Target
even, expected = Target((0.5, 0.5)), AssumedValues(expect=0.8)
asked = [Scores(even), Scores(even, expected), Scores(Target((0.3, 0.7)), AssumedValues(expect=-0.2))]
tables = [make_channel(scores, Decimal("1.5"), design="centred")[1].table for scores in asked]
print(hashlib.sha256(repr(tables).encode()).hexdigest())
"""


def features() -> str:
    """Return the vector instructions that NumPy uses here and could do without."""
    numpy = import_module("numpy._core._multiarray_umath")
    return " ".join(name for name in numpy.__cpu_dispatch__ if numpy.__cpu_features__[name])


def designed(**settings: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", DESIGNS], env=os.environ | settings, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_tables_are_the_same_whatever_the_processor_can_do():
    here = designed()
    # An old processor: other kernels in the linear-algebra library, no vector instructions in NumPy.
    old = designed(OPENBLAS_CORETYPE="Prescott", OPENBLAS_NUM_THREADS="1", NPY_DISABLE_CPU_FEATURES=features())
    assert old == here
    assert designed(OPENBLAS_CORETYPE="Haswell", OPENBLAS_NUM_THREADS="2") == here
    assert len(here.strip()) == len(hashlib.sha256().hexdigest())


def test_the_exponential_is_correctly_rounded():
    for hundredths in range(1, 801, 7):
        epsilon = Decimal(hundredths) / 100
        exact = exponential(epsilon)
        assert abs(Decimal(exact) - epsilon.exp()) <= Decimal(float(np.spacing(exact))) / 2


def test_sums_are_those_of_a_product():
    rows, weights = RNG.normal(size=(5, 40)), RNG.normal(size=40)
    assert weighted_sums(rows, weights) == pytest.approx(rows @ weights, rel=1e-12)


def test_the_least_change_meets_equations_that_follow_from_each_other():
    independent = RNG.normal(size=(4, 9))
    equations = np.vstack([independent, independent[0] + 2 * independent[3]])
    sizes, residual = RNG.uniform(0.1, 1, 9), equations @ RNG.normal(size=9)
    change = _least_change(equations, sizes, residual)
    assert equations @ change == pytest.approx(residual, abs=1e-10)
    # Against the pseudoinverse in coordinates where every size is 1.
    roots = np.sqrt(sizes)
    assert change == pytest.approx(roots * (np.linalg.pinv(equations * roots) @ residual), abs=1e-10)


def test_what_has_no_size_does_not_change():
    change = _least_change(np.array([[1.0, 1.0, 1.0]]), np.array([1.0, 0.0, 3.0]), np.array([4.0]))
    assert change == pytest.approx([1, 0, 3])
