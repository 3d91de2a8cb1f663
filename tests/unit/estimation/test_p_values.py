"""How surprising a gap is: the same for a gap and its mirror image, whether shares are known or estimated."""

import pytest

from fairgauge.estimation import estimate
from tests.surveys import expected_tally, people, study, tells_all

PAIR = ("female", "male")


def p_value(
    shares: tuple[str, ...], values: tuple[str, str], tolerance: float, *, each: int = 5000, interval: str = "normal"
) -> float:
    """Return the p-value of a gap between as many women as men with these values."""
    asked = study(tells_all(*shares))
    women, men = values
    tally = expected_tally(asked, people(("female", women, each), ("male", men, each)))
    return estimate(asked, tally, tolerance=tolerance, interval=interval).questions[0].p_values[PAIR]


@pytest.mark.parametrize("shares", [("0.5", "0.5"), ()], ids=["known", "estimated"])
def test_a_negative_gap_is_as_surprising_as_the_positive_one(shares: tuple[str, ...]):
    up, down = p_value(shares, ("0.2", "0"), 0.01), p_value(shares, ("0", "0.2"), 0.01)
    assert 1e-9 < up < 0.1
    assert down == pytest.approx(up, rel=0.05)


@pytest.mark.parametrize("shares", [("0.5", "0.5"), ()], ids=["known", "estimated"])
@pytest.mark.parametrize("values", [("0.2", "0"), ("0", "0.2")])
def test_a_gap_within_the_tolerance_is_no_surprise_on_either_side(shares: tuple[str, ...], values: tuple[str, str]):
    assert p_value(shares, values, 0.3) == 1.0


@pytest.mark.parametrize("interval", ["population", "fixed", "normal"])
@pytest.mark.parametrize("shares", [("0.5", "0.5"), ()], ids=["known", "estimated"])
def test_a_gap_is_as_surprising_as_its_mirror_image_far_from_zero(shares: tuple[str, ...], interval: str):
    """Compared with the tolerance on its own side: with the other one, a tolerance of half the gap would be nothing."""
    up, down = (p_value(shares, values, 0.1, each=15_000, interval=interval) for values in (("0.2", "0"), ("0", "0.2")))
    assert 1e-9 < up < 0.2
    assert down == pytest.approx(up, rel=0.1)
