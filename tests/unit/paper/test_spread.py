"""Bounds of the spread against brute force over values."""

import numpy as np
import pytest

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.paper.spread import Spread
from fairgauge.targets.decoder import Decoder
from fairgauge.targets.inputs import Vector
from tests.samples import THREE_LEVELS
from tests.surveys import ENDS, coin_channel

TILTS = np.array([1e-3, 0.1, 1.0, 5.0])


def random_channel(seed: int, *, groups: int, levels: tuple[int, ...], symbols: int, abstain: bool) -> Channel:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(groups * len(levels) + abstain):
        weights = (rng.uniform(1, 4, symbols) * 2**40).astype(int)
        scaled = [int(w) * ROW_SUM // int(weights.sum()) for w in weights]
        rows.append((*scaled[:-1], ROW_SUM - sum(scaled[:-1])))
    return Channel(tuple(rows), levels, groups, abstain)


def spread_of(channel: Channel, score: Vector, shares: tuple[float, ...] | None) -> Spread:
    guess = np.array(shares or (1 / channel.groups,) * channel.groups)
    return Spread(Decoder.even(channel, guess), score, None if shares is None else np.array(shares))


CHANNELS = {
    "two levels": random_channel(1, groups=2, levels=ENDS, symbols=3, abstain=False),
    "three levels": random_channel(2, groups=2, levels=THREE_LEVELS, symbols=5, abstain=False),
    "abstain": random_channel(3, groups=2, levels=THREE_LEVELS, symbols=4, abstain=True),
    "three groups": random_channel(4, groups=3, levels=ENDS, symbols=4, abstain=True),
    "coin": coin_channel(),
}
SHARES: dict[int, list[tuple[float, ...] | None]] = {2: [None, (0.5, 0.5), (0.2, 0.8)], 3: [None, (0.2, 0.3, 0.5)]}
CASES = [(name, shares) for name, channel in CHANNELS.items() for shares in SHARES[channel.groups]]
EVERY_CASE = pytest.mark.parametrize(("name", "shares"), CASES)


def score_of(channel: Channel) -> Vector:
    return np.random.default_rng(9).normal(size=channel.symbols) * 3


def laws(channel: Channel) -> list[Vector]:
    """The law of symbols for each block of inputs, on a fine grid of values."""
    rows = np.array(channel.table, dtype=np.float64) / ROW_SUM
    m = len(channel.levels)
    levels = np.array(channel.levels) / LEVEL_UNIT
    grid = np.sort(np.append(np.linspace(-1, 1, 4001), levels))
    blocks = []
    for g in range(channel.groups):
        columns = rows[g * m : (g + 1) * m].T
        blocks.append(np.array([np.interp(grid, levels, column) for column in columns]).T)
    return [*blocks, rows[-1:]] if channel.abstain else blocks


def joined(of_blocks: list[float], shares: tuple[float, ...] | None, worst=max) -> float:
    """The average client: by shares among those who answer, and any part of people may abstain."""
    if shares is None:
        return float(worst(of_blocks))
    average = sum(p * b for p, b in zip(shares, of_blocks, strict=False))
    return float(worst([average, *of_blocks[len(shares) :]]))


@EVERY_CASE
def test_variance_is_the_largest_over_all_values(name: str, shares: tuple[float, ...] | None):
    channel = CHANNELS[name]
    score = score_of(channel)
    variances = [law @ score**2 - (law @ score) ** 2 for law in laws(channel)]
    spread = spread_of(channel, score, shares)
    assert spread.variance == pytest.approx(joined([float(v.max()) for v in variances], shares), rel=1e-6)
    assert spread.least_variance == pytest.approx(joined([float(v.min()) for v in variances], shares, min), rel=1e-9)


@EVERY_CASE
def test_reach_is_the_largest_distance_of_a_score_from_its_mean(name: str, shares: tuple[float, ...] | None):
    channel = CHANNELS[name]
    score = score_of(channel)
    furthest = max(float(np.abs(score - mean).max()) for law in laws(channel) for mean in law[::400] @ score)
    assert spread_of(channel, score, shares).reach == pytest.approx(furthest, rel=1e-2)
    assert spread_of(channel, score, shares).reach >= furthest - 1e-12


@EVERY_CASE
@pytest.mark.parametrize("sign", [1, -1])
def test_cumulant_is_the_largest_over_all_values(name: str, shares: tuple[float, ...] | None, sign: int):
    channel = CHANNELS[name]
    score = score_of(channel)
    found = spread_of(channel, score, shares).cumulant(TILTS, sign)
    for tilt, bound in zip(TILTS, found, strict=True):
        tops = [
            float((np.log(law @ np.exp(sign * tilt * score)) - sign * tilt * (law @ score)).max())
            for law in laws(channel)
        ]
        brute = joined(tops, shares)
        assert bound >= brute * (1 - 1e-9) - 1e-12
        assert bound == pytest.approx(brute, rel=1e-5, abs=1e-12)


def test_a_small_tilt_gives_half_the_variance():
    for name, shares in CASES:
        spread = spread_of(CHANNELS[name], score_of(CHANNELS[name]), shares)
        tilt = np.array([1e-4])
        for sign in (1, -1):
            assert spread.cumulant(tilt, sign)[0] == pytest.approx(1e-8 * spread.variance / 2, rel=1e-2)


def test_large_scores_do_not_overflow():
    spread = spread_of(coin_channel(), np.array([-1e5, 1e5]), (0.5, 0.5))
    for sign in (1, -1):
        assert np.isfinite(spread.cumulant(np.array([1.0]), sign)).all()


def test_a_constant_score_does_not_spread():
    spread = spread_of(coin_channel(), np.array([2.0, 2.0]), (0.5, 0.5))
    assert spread.variance == pytest.approx(0, abs=1e-12)
    assert spread.cumulant(TILTS, 1) == pytest.approx(0, abs=1e-12)
