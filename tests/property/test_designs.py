"""Every table that a design makes keeps its epsilon exactly, and its scores are unbiased for its integers."""

from decimal import Decimal

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairgauge.designs import known_designs
from fairgauge.goals.decoder import UNBIASED
from fairgauge.goals.goal import Goal


@st.composite
def goals(draw, most_groups):
    d = draw(st.integers(2, most_groups))
    parts = draw(st.lists(st.integers(1, 60), min_size=d, max_size=d))
    shares = np.maximum(np.array(parts) / sum(parts), 0.01)
    return Goal(
        tuple((shares / shares.sum()).tolist()),
        shares_known=draw(st.booleans()),
        target=draw(st.sampled_from(["gap", "means"])),
        abstain=draw(st.booleans()),
        expect=draw(st.none() | st.floats(-0.9, 0.9)),
    )


def epsilons(most):
    return st.integers(5, 100 * most).map(lambda hundredths: Decimal(hundredths) / 100)


def check(design, goal, epsilon):
    channel = known_designs()[design].make(goal, epsilon)
    assert channel.within(epsilon)
    assert channel.epsilon >= 0.999 * float(epsilon)
    decoder = goal.decoder(channel)
    functionals = [*(w.functional for w in goal.wanted(decoder.inputs)), *goal.needed(decoder.inputs)]
    for functional in functionals:
        score = decoder.score(functional)
        assert score is not None
        assert np.abs(decoder.rows @ score - functional).max() <= UNBIASED * np.abs(functional).max()
    assert np.isfinite(goal.variance(channel))


@settings(max_examples=355, deadline=None, derandomize=True)
@given(goals(6), epsilons(8))
def test_randomized_response(goal, epsilon):
    check("randomized-response", goal, epsilon)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(goals(3), epsilons(8))
def test_laplace(goal, epsilon):
    check("laplace", goal, epsilon)


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(goals(3), epsilons(1))
def test_uncentred(goal, epsilon):
    check("uncentred", goal, epsilon)
