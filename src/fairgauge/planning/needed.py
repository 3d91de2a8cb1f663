"""How many answers a published study needs: for the channel that it has, not for one that could be designed."""

import math
from dataclasses import replace

from fairgauge.estimation.kinds import LIVE, check_confidence, kind_of
from fairgauge.planning.widths import planned_width
from fairgauge.study import Question
from fairgauge.targets.target import Goal

_MOST = 1e15
_START = 1e4
_CLOSE = 0.005
_TURNS = 20


def answers_needed(
    question: Question, error: float, *, tables: int = 1, confidence: float = 0.99, interval: str = LIVE
) -> int | None:
    """Return about how many answers a study needs for its gap to have an interval of this half-width.

    Guarantee: to 1 %, by the widths that the estimate uses; of several tables each gets an equal part of answers.

    Args:
        question: What is asked, with its channel.
        error: The half-width, in the metric's units.
        tables: How many tables the study has: each gets an equal part of the answers.
        confidence: How often the interval is to hold the truth.
        interval: Which interval; see :mod:`fairgauge.estimation.kinds`.

    Returns:
        The number of answers to the whole study, or None if none is enough.
    """
    kind, alpha = kind_of(interval), check_confidence(confidence)
    goal = replace(Goal.of(question), target="gap")
    wanted, answers = error / question.metric.scale, _START
    for _ in range(_TURNS):
        width = planned_width(goal, question.channel, answers, kind, alpha)
        if math.isinf(width) or answers > _MOST:
            return None
        if abs(width / wanted - 1) < _CLOSE:
            break
        # A width falls with the square root of the number of answers, nearly.
        answers = max(1.0, answers * (width / wanted) ** 2)
    return tables * math.ceil(answers)


def aimed_error(question: Question, aim: float) -> float:
    """Return the half-width that an aim means for a question: an aim is a part of the metric's range."""
    return 2 * aim * question.metric.scale
