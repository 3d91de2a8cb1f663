"""Estimates: group means, gaps and intervals from the count of every symbol, and an honest word where they end.

>>> from decimal import Decimal
>>> from fairgauge import Attribute, Metric, Population, Question, Study, estimate
>>> from fairgauge.designs import make_channel
>>> from fairgauge.targets import Scores, Target
>>> from fairgauge.simulation import Cell, simulate
>>> scores = Scores(Target((0.5, 0.5), shares_known=False))
>>> name, channel = make_channel(scores, Decimal(1), design="randomized-response")
>>> recall, sex = Metric("recall", "0", "1"), Attribute("sex", ("female", "male"), ("0.5", "0.5"))
>>> study = Study("Recall by sex", (Question(recall, sex, "gap", name, "1", channel),))
>>> cells = (Cell("female", Decimal("0.78"), 500_000), Cell("male", Decimal("0.82"), 500_000))
>>> tally = simulate(study, Population(cells), seed=7)
>>> gap = estimate(study, tally)["recall"].gap("female", "male")
>>> gap.low < -0.04 < gap.high
True
"""

from typing import TYPE_CHECKING

from fairgauge.lazy import lazily

if TYPE_CHECKING:
    from fairgauge.estimation.inference import estimate
    from fairgauge.estimation.interval import Interval
    from fairgauge.estimation.interval_kinds import KINDS, IntervalKind
    from fairgauge.estimation.result import Estimate, Headline, QuestionEstimate, Sensitivity

__all__ = [
    "KINDS",
    "Estimate",
    "Headline",
    "Interval",
    "IntervalKind",
    "QuestionEstimate",
    "Sensitivity",
    "estimate",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "KINDS": "interval_kinds",
        "Estimate": "result",
        "Headline": "result",
        "Interval": "interval",
        "IntervalKind": "interval_kinds",
        "QuestionEstimate": "result",
        "Sensitivity": "result",
        "estimate": "inference",
    },
)
