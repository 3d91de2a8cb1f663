"""The game that attackers of published counts play: which of two inputs does a person hold?"""

import math
from collections.abc import Sequence
from decimal import Decimal

from scipy.stats import binom

from fairgauge.channel import ROW_SUM
from fairgauge.crowd import blanket_weights, crowd_of
from tests.samples import sample_question, sample_study

DRAWS, DELTA = 1500, "0.001"
PLAIN = sample_study(sample_question(epsilon="4.2", loss=60))
ROWS = [[weight / ROW_SUM for weight in row] for row in PLAIN.questions[0].channel.table]
# The inputs between which somebody must guess, as rows of the table.
ONE, TWO = 1, 2
_BLANKET = blanket_weights(PLAIN.channels)


def likelier(counts: Sequence[int]) -> int:
    """Return the input that makes these counts likelier: one symbol of the person's, and draws of the blanket."""
    weights = [sum(n * ROWS[x][j] / _BLANKET[j] for j, n in enumerate(counts)) for x in (ONE, TWO)]
    return ONE if weights[0] > weights[1] else TWO


def luck(right: int, games: int) -> float:
    """Return how likely so many right guesses are by the crowd's certificate."""
    crowd = crowd_of(PLAIN, DRAWS, delta=Decimal(DELTA))
    factor = math.exp(crowd.number)
    return float(binom.sf(right - 1, games, (factor + float(crowd.delta)) / (1 + factor)))
