"""Arithmetic that does not depend on the processor."""

import hashlib
import os
import subprocess
import sys
from decimal import Decimal
from importlib import import_module

import numpy as np
import pytest

from fairgauge.designs.same_bits import exponential, least_change, weighted_sums

RNG = np.random.default_rng(4)
DESIGNS = """
import hashlib
from decimal import Decimal
from fairgauge.designs import make_channel
from fairgauge.goals.goal import Goal
goals = [Goal((0.5, 0.5)), Goal((0.5, 0.5), expect=0.8), Goal((0.3, 0.7), expect=-0.2)]
tables = [make_channel(goal, Decimal("1.5"), design="centred")[1].table for goal in goals]
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
    change = least_change(equations, sizes, residual)
    assert equations @ change == pytest.approx(residual, abs=1e-10)
    # Against the pseudoinverse in coordinates where every size is 1.
    roots = np.sqrt(sizes)
    assert change == pytest.approx(roots * (np.linalg.pinv(equations * roots) @ residual), abs=1e-10)


def test_what_has_no_size_does_not_change():
    change = least_change(np.array([[1.0, 1.0, 1.0]]), np.array([1.0, 0.0, 3.0]), np.array([4.0]))
    assert change == pytest.approx([1, 0, 3])
