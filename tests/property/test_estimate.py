"""What holds for every channel, every count and every way to ask."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fairgauge.channel import ROW_SUM, Channel
from fairgauge.estimation import estimate
from fairgauge.paper.fixed_intervals import Spread
from fairgauge.study import Question
from fairgauge.tallies import Tally
from fairgauge.targets.symbol_scores import Decoder
from tests.samples import THREE_LEVELS
from tests.surveys import ENDS, VALUE, attribute, study


@st.composite
def channels(draw: st.DrawFn) -> Channel:
    """Small channels whose weights differ by a factor of four at most."""
    levels = draw(st.sampled_from([ENDS, THREE_LEVELS]))
    abstain = draw(st.booleans())
    symbols = draw(st.integers(2, 6))
    rows = []
    for _ in range(2 * len(levels) + abstain):
        weights = draw(st.lists(st.integers(100, 400), min_size=symbols, max_size=symbols))
        scaled = [weight * ROW_SUM // sum(weights) for weight in weights]
        rows.append((*scaled[:-1], ROW_SUM - sum(scaled[:-1])))
    return Channel(tuple(rows), levels, 2, abstain)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    shares = draw(st.sampled_from([(), ("0.5", "0.5"), ("0.1", "0.9")]))
    return Question(VALUE, attribute(*shares), "means", "any", "1.4", draw(channels()))


SCORES = st.lists(st.floats(-10, 10), min_size=6, max_size=6)


@given(channels(), SCORES, st.sampled_from([None, (0.3, 0.7)]), st.floats(1e-3, 3))
def test_every_client_is_within_the_bounds(
    channel: Channel, numbers: list[float], shares: tuple[float, float] | None, tilt: float
):
    score = np.array(numbers[: channel.symbols])
    spread = Spread(Decoder.even(channel, np.array([0.5, 0.5])), score, None)
    rows = spread.decoder.rows
    mean = rows @ score
    variance = rows @ score**2 - mean**2
    slack = 1e-9 * (1 + float(np.abs(score).max()) ** 2)
    assert spread.least_variance - slack <= variance.min()
    assert variance.max() <= spread.variance + slack
    assert np.abs(score[None, :] - mean[:, None]).max() <= spread.reach + slack
    for sign in (1, -1):
        exact = np.log((rows * np.exp(sign * tilt * (score[None, :] - mean[:, None]))).sum(axis=1))
        bound = spread.cumulant(np.array([tilt]), sign)[0]
        assert exact.max() <= bound + slack
    if shares is not None:
        known = Spread(spread.decoder, score, np.array(shares))
        assert known.variance <= spread.variance + slack


@settings(max_examples=40)
@given(st.data(), questions(), st.sampled_from(["normal"]))
def test_numbers_are_finite_ordered_and_nested(data: st.DataObject, question: Question, interval: str):
    asked = study(question)
    counts = data.draw(st.lists(st.integers(0, 10**6), min_size=asked.symbols, max_size=asked.symbols))
    tally = Tally(asked.digest, tuple(counts))
    wide = estimate(asked, tally, confidence=0.999, interval=interval).questions[0]
    narrow = estimate(asked, tally, confidence=0.6, interval=interval).questions[0]
    inner = dict(narrow.rows())
    for name, outer in wide.rows():
        assert np.isfinite([outer.low, outer.estimate, outer.high]).all()
        assert outer.low <= outer.estimate <= outer.high
        assert outer.low <= inner[name].low <= inner[name].high <= outer.high
    assert wide.fit is None or 0 <= wide.fit <= 1


@settings(max_examples=25)
@given(st.data(), questions(), st.sampled_from(["anytime", "normal"]))
def test_the_p_value_excludes_exactly_what_the_interval_does(data: st.DataObject, question: Question, interval: str):
    asked = study(question)
    counts = data.draw(st.lists(st.integers(0, 10**5), min_size=asked.symbols, max_size=asked.symbols))
    found = estimate(asked, Tally(asked.digest, tuple(counts)), confidence=0.9, interval=interval, tolerance=0.1)
    for pair, gap in found.questions[0].gaps.items():
        p_value = found.questions[0].p_values[pair]
        excluded = gap.low > 0.1 or gap.high < -0.1
        if p_value < 0.099:
            assert excluded
        if p_value > 0.101:
            assert not excluded


@settings(max_examples=30)
@given(st.data(), questions())
def test_the_order_of_groups_turns_the_sign_and_nothing_else(data: st.DataObject, question: Question):
    if question.attribute.shares not in (None, ("0.5", "0.5")):
        return
    asked = study(question)
    counts = data.draw(st.lists(st.integers(0, 10**5), min_size=asked.symbols, max_size=asked.symbols))
    found = estimate(asked, Tally(asked.digest, tuple(counts))).questions[0]
    if found.gaps:
        gap, turned = found.gap("female", "male"), found.gap("male", "female")
        assert (turned.estimate, turned.low, turned.high) == (-gap.estimate, -gap.high, -gap.low)
