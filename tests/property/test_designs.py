"""Every table that a design makes keeps its epsilon exactly, and its scores are unbiased for its integers."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairgauge.designs import known_designs
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.scores import Scores
from fairgauge.targets.symbol_scores import _UNBIASED
from fairgauge.targets.target import Target


@st.composite
def questions(draw, most_groups):
    d = draw(st.integers(2, most_groups))
    parts = draw(st.lists(st.integers(1, 60), min_size=d, max_size=d))
    shares = np.maximum(np.array(parts) / sum(parts), 0.01)
    return Scores(
        Target(
            tuple((shares / shares.sum()).tolist()),
            shares_known=draw(st.booleans()),
            kind=draw(st.sampled_from(["gap", "means"])),
            abstain=draw(st.booleans()),
        ),
        AssumedValues(expect=draw(st.none() | st.floats(-0.9, 0.9))),
    )


def epsilons(most):
    return st.integers(5, 100 * most).map(lambda hundredths: Decimal(hundredths) / 100)


def check(design, scores, epsilon):
    channel = known_designs()[design].make(scores, epsilon)
    assert channel.within(epsilon)
    assert channel.epsilon >= 0.999 * float(epsilon)
    decoder = scores.decoder(channel)
    functionals = [*(w.functional for w in scores.wanted(decoder.inputs)), *scores.target.needed(decoder.inputs)]
    for functional in functionals:
        score = decoder.score(functional)
        assert score is not None
        assert np.abs(decoder.rows @ score - functional).max() <= _UNBIASED * np.abs(functional).max()
    assert np.isfinite(scores.variance(channel))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(questions(6), epsilons(8))
def test_randomized_response(scores, epsilon):
    check("randomized-response", scores, epsilon)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(questions(3), epsilons(8))
def test_laplace(scores, epsilon):
    check("laplace", scores, epsilon)


@st.composite
def gaps_of_two(draw):
    share = draw(st.integers(1, 99)) / 100
    known = draw(st.booleans())
    expect = draw(st.floats(-1, 1) if not known else st.none() | st.floats(-1, 1))
    spread = draw(st.none() | st.floats(0.01, 1))
    return Scores(
        Target((share, 1 - share), shares_known=known), AssumedValues(expect=expect, spread=spread), design="centred"
    )


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(gaps_of_two(), epsilons(4))
def test_centred(scores, epsilon):
    channel = known_designs()["centred"].make(scores, epsilon)
    assert channel.within(epsilon)
    assert channel.epsilon >= 0.999 * float(epsilon)
    decoder = scores.decoder(channel)
    score = scores.score(decoder, scores.wanted(decoder.inputs)[0])
    assert score is not None
    # Unbiased in every population with these shares: the mean is (v - c)/p in one group, -(v - c)/p in the other.
    m = len(decoder.inputs.levels)
    means = (decoder.rows @ score).reshape(2, m) * np.array([[scores.target.shares[0]], [-scores.target.shares[1]]])
    constants = decoder.inputs.levels - means
    assert np.ptp(constants) <= 1e-9
    if not scores.target.shares_known:
        assert constants[0, 0] == pytest.approx(scores.values.aim.mean, abs=1e-9)
    # Nobody need know the LP for this: no score of the table has less total error than the decoder's, by much.
    assert scores.variance(channel) <= 1.001 * scores.by("").variance(channel)


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(questions(3), epsilons(1))
def test_uncentred(scores, epsilon):
    check("uncentred", scores, epsilon)
