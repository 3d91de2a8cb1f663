"""Small studies with counts, for tests of what is made of them: exact where a sum over outcomes is short."""

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

import numpy as np

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.designs import make_channel
from fairgauge.simulation import Cell, Population
from fairgauge.simulation.clients import table_input
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.tallies import Tally
from fairgauge.targets.scores import Scores
from tests.samples import RECALL, sample_channel

ENDS = (-LEVEL_UNIT, LEVEL_UNIT)
# In [-1, 1] units, so that numbers in tests are those of the mathematics.
VALUE = Metric("value", "-1", "1")
NAMES = ("female", "male", "other")


def coin_channel() -> Channel:
    """Two symbols: Pr[1] is 1/2 + v/4 in the first group and 1/2 - v/4 in the second.

    The score of the gap with equal shares is -4 or 4, and nothing but the gap can be told.
    """
    often, seldom = ROW_SUM // 4 * 3, ROW_SUM // 4
    return Channel(((often, seldom), (seldom, often), (seldom, often), (often, seldom)), ENDS, 2)


def attribute(*shares: str, groups: int = 2) -> Attribute:
    """Groups with these shares, or so many with unknown shares."""
    return Attribute("sex", NAMES[: len(shares) or groups], shares or None, answering="alike" if shares else "any")


def coin_question(metric: Metric = VALUE) -> Question:
    return Question(metric, attribute("0.5", "0.5"), "gap", "coin", "1.0986122886681098", coin_channel())


def tells_all(*shares: str, metric: Metric = VALUE, groups: int = 2, abstain: bool = False) -> Question:
    """A question whose channel tells every group's share and mean."""
    channel = sample_channel(groups=len(shares) or groups, abstain=abstain)
    return Question(metric, attribute(*shares, groups=groups), "means", "sample", "1.1", channel)


def study(*questions: Question) -> Study:
    return Study("Survey", questions)


@lru_cache(maxsize=16)
def designed(scores: Scores, epsilon: str, *, design: str = "auto") -> Question:
    """A question with a real design."""
    name, channel = make_channel(scores, Decimal(epsilon), design=design)
    groups = (
        attribute(*map(str, scores.target.shares))
        if scores.target.shares_known
        else attribute(groups=scores.target.groups)
    )
    return Question(RECALL, groups, scores.target.kind, name, epsilon, channel)


def people(*cells: tuple[str | None, str | None, int]) -> Population:
    return Population(tuple(Cell(g, None if v is None else Decimal(v), n) for g, v, n in cells))


def expected_tally(asked: Study, population: Population) -> Tally:
    """The counts that answers have on average, rounded: estimates from them are right but for the rounding."""
    parts = []
    for table in asked.tables:
        channel = table[0].channel
        mean = np.zeros(channel.symbols)
        for cell in population.cells:
            mean += cell.count * np.array([float(p) for p in channel.mixture(*table_input(table, cell))])
        parts.append(_rounded(mean / len(asked.tables)))
    return Tally(asked.digest, tuple(n for part in parts for n in part))


def _rounded(mean: Sequence[float] | np.ndarray) -> list[int]:
    """Round to integers with the same sum, by largest remainders."""
    down = np.floor(mean).astype(int)
    most = np.argsort(down - np.asarray(mean))[: round(float(np.sum(mean))) - int(down.sum())]
    down[most] += 1
    return [int(n) for n in down]
