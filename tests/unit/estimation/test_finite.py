"""The width that the paper's tables use."""

import numpy as np
import pytest

from fairgauge.estimation.finite import finite
from fairgauge.estimation.spread import Spread
from fairgauge.goals.decoder import Decoder
from tests.surveys import coin_channel

HALF = np.array([0.5, 0.5])
COIN = Spread(Decoder.even(coin_channel(), HALF), np.array([-4.0, 4.0]), HALF)


@pytest.mark.parametrize(
    ("answers", "alpha", "width"),
    [(100, 0.05, 1.0842691015), (10_000, 0.01, 0.1302060581), (1_000_000, 0.01, 0.0105981667)],
)
def test_its_numbers_are_these(answers: int, alpha: float, width: float):
    assert max(finite(COIN, answers, alpha)) == pytest.approx(width, rel=1e-9)
