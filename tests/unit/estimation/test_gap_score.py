"""The score of a gap: its mean is zero at the right gap and share, whatever c is; and c is found before it is used."""

import numpy as np
import pytest

from fairgauge.estimation.estimands import Estimands, estimands_of
from fairgauge.estimation.gap_score import GapScore, nodes_about
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.comparisons import Pair
from tests.surveys import tells_all


def score_of(estimands: Estimands, pair: Pair = (0, 1), expect: float | None = None) -> GapScore:
    first, second = (estimands.mean_of(side) for side in pair)
    return GapScore((first.over, second.over), (first.under, second.under), expect)


def law(estimands: Estimands, shares: tuple[float, ...], means: tuple[float, ...], silent: float = 0.0) -> Vector:
    levels = estimands.decoder.inputs.levels
    rows = np.eye(len(levels))
    parts = [s * np.array([np.interp(m, levels, row) for row in rows]) for s, m in zip(shares, means, strict=True)]
    inputs = np.concatenate([*((1 - silent) * part for part in parts), *([np.array([silent])] if silent else [])])
    return np.asarray(inputs @ estimands.decoder.rows)


CASES = [
    (tells_all(), (0.3, 0.7), (0.4, -0.2), 0.0, (0, 1)),
    (tells_all(groups=3), (0.34, 0.2, 0.46), (0.9, 0.4, -0.7), 0.0, (0, 1)),
    (tells_all(groups=3), (0.34, 0.2, 0.46), (0.9, 0.4, -0.7), 0.0, (2, (0, 1))),
    (tells_all(abstain=True), (0.3, 0.7), (0.4, -0.2), 0.25, (0, 1)),
]


@pytest.mark.parametrize(("question", "shares", "means", "silent", "pair"), CASES)
def test_what_the_score_averages_to(question, shares, means, silent, pair):
    """The two identities, for groups, sides of several groups, and people who abstain: to 1e-12."""
    estimands = estimands_of(question)
    sides = [(side,) if isinstance(side, int) else side for side in pair]
    q_a, q_b = ((1 - silent) * sum(shares[g] for g in side) for side in sides)
    m_a, m_b = (sum(shares[g] * means[g] for g in side) / sum(shares[g] for g in side) for side in sides)
    true, both, gap = q_a / (q_a + q_b), q_a + q_b, m_a - m_b
    symbols = law(estimands, shares, means, silent)
    score = score_of(estimands, pair)
    for c in (-1.0, 0.1, 0.8):
        for value in (gap, gap + 0.3, -1.5):
            base, slope = (each[0] for each in score.lines(value, np.array([true])))
            mean = float((base + c * slope) @ symbols)
            assert mean == pytest.approx(q_a * q_b / (q_a + q_b) * (gap - value), abs=1e-12)
        for p in (0.05, 0.5, 0.9):
            base, slope = (each[0] for each in score.lines(gap, np.array([p])))
            middle = p * m_a + (1 - p) * m_b
            assert float((base + c * slope) @ symbols) == pytest.approx(both * (middle - c) * (true - p), abs=1e-12)
    assert score.estimate(symbols) == pytest.approx(gap, abs=1e-12)


def parts_of(estimands: Estimands, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).multinomial(2000, law(estimands, (0.4, 0.6), (0.7, 0.5)), size=5).astype(float)


def test_each_c_is_known_before_its_part():
    """What comes later changes nothing: a c that is chosen from all answers would not be fixed for its part."""
    estimands = estimands_of(tells_all())
    score, parts = score_of(estimands, expect=0.2), parts_of(estimands)
    found = score.centres(parts, 0.0)
    assert found[0] == 0.2
    for part in range(1, 5):
        changed = parts.copy()
        changed[part:] = parts_of(estimands, 2)[part:]
        again = score.centres(changed, 0.0)
        # The last one also knows how many answers its own part has, and throws decide that.
        assert (again[: part + 1] == found[: part + 1]).all()


def test_c_is_drawn_towards_what_is_expected_by_as_much_as_it_is_told_badly():
    estimands = estimands_of(tells_all())
    parts = parts_of(estimands)
    over, under = (sum(of) for of in (score_of(estimands).sums, score_of(estimands).shares))
    earlier = parts[:2].sum(axis=0)
    mean = float(over @ earlier) / float(under @ earlier)
    error = float((over - mean * under) ** 2 @ earlier) / float(under @ earlier) ** 2
    for expect, start, spread in ((None, 0.0, 0.5), (0.2, 0.2, 0.2)):
        score = score_of(estimands, expect=expect)
        expected = start + (mean - start) * spread**2 / (spread**2 + error)
        assert score.centres(parts, 0.0)[2] == pytest.approx(expected, abs=1e-12)
        moved = start + (mean + 0.8 * (0.6 * error) ** 0.5 - start) * spread**2 / (spread**2 + error)
        assert score.centres(parts, 0.8)[2] == pytest.approx(moved, abs=1e-12)


@pytest.mark.parametrize("end", [-1.0, 1.0])
def test_c_is_a_mean_that_there_can_be(end: float):
    """Everybody of both groups seems to be at three, which is noise: c is one, and so it is for a share of 0.6."""
    first, second = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    score = GapScore((3 * end * first, 3 * end * second), (first, second), None)
    assert list(score.centres(np.full((5, 2), 10.0), 0.0)[1:4]) == [end] * 3
    p = 0.6
    assert score.estimate(np.full(2, 50.0), (p, 1.0)) == pytest.approx((1 - 2 * p) * 2 * end * 50 / (100 * p * (1 - p)))


def test_the_last_part_catches_up():
    estimands = estimands_of(tells_all())
    score, parts = score_of(estimands, expect=0.5), parts_of(estimands)
    centres, sizes = score.centres(parts, 0.0), parts.sum(axis=1)
    aim = score.centres(np.vstack([parts[:4], 0 * parts[4:]]), 0.0)[4]
    assert abs(centres[4]) < 1
    assert float(sizes @ centres) / sizes.sum() == pytest.approx(aim, abs=1e-12)


def test_nothing_is_asked_of_parts_that_are_empty():
    estimands = estimands_of(tells_all())
    assert score_of(estimands, expect=0.3).centres(np.zeros((5, 6)), 0.0).tolist() == [0.3] * 5


def test_nodes_reach_from_one_end_to_the_other():
    for expect in (None, -1.0, 0.0, 1.0):
        nodes = nodes_about(expect)
        assert nodes[0] == -1.5
        assert nodes[-1] == 1.5
        assert (np.diff(nodes) > 0).all()
