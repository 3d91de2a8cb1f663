"""Which questions one table answers at once: by the total error, a coin that picks one table included.

A device answers one table.  With k tables each gets a k-th of the answers, so what counts is the number of tables times
the variance of a question in its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache
from itertools import combinations
from typing import Any, Protocol, runtime_checkable

from fairgauge.channel import Channel
from fairgauge.designs import AUTO, make_channel
from fairgauge.designs.registry import in_order, own_order
from fairgauge.designs.two_metrics import TwoMetrics, sign_pairs
from fairgauge.errors import Impossible
from fairgauge.planning.choose_design import choose_design
from fairgauge.study import Question, Study
from fairgauge.study.numbers import plain
from fairgauge.study.question import answered_together
from fairgauge.targets.assumed_values import USUAL_SPREAD
from fairgauge.targets.channel_inputs import ABSTAINING
from fairgauge.targets.scores import CENTRED, UNCENTRED, Scores

# What plans and designs call the tables of questions some of which share one.
TOGETHER = "together"
# A table for several is taken if it saves at least this part: separate tables are simpler.
_WORTH = 0.005
# Of more questions than this not every two are tried together, which takes a second or so each.
_TRIED = 8

_Pair = tuple[int, int]


@dataclass(frozen=True)
class DesignedTable:
    """Questions that one table answers, designed, with their places among all that are asked and their variances."""

    places: tuple[int, ...]
    questions: tuple[Question, ...]
    variances: tuple[float, ...]

    @property
    def design(self) -> str:
        """The design of the table."""
        return self.questions[0].design


def name_of(design: str, *, tables: int, questions: int) -> str:
    """Return what plans and designs call a question's table, made by a design, in a study of so many.

    >>> name_of("centred", tables=1, questions=2)
    'together'
    """
    return design if tables == questions else TOGETHER


@runtime_checkable
class Planner(Protocol):
    """Questions that another mechanism than a channel will answer: a type of their own that plans and designs them."""

    def designed(self, epsilon: Decimal, *, design: str) -> tuple[Question, ...]:
        """Return the questions with their mechanism, as :func:`designed` does."""

    def planned(self, **asked: Any) -> Any:
        """Return a plan for each question, as :func:`~fairgauge.planning.plans.plan_questions` does."""


def designed(
    questions: Sequence[Question], epsilon: Decimal, *, design: str = AUTO, clients: float | None = None
) -> tuple[Question, ...]:
    """Return questions as a study has them: with a mechanism, those that one table answers at once beside each other.

    Questions that another mechanism than a channel answers design themselves (:class:`Planner`).

    Guarantee: each has the scores that its table was made for, so whoever reads it decodes it for that.

    Raises:
        InvalidInput: If the design is not known, or epsilon is outside what a table can hold.
        Impossible: If no design reaches it.
    """
    if isinstance(questions, Planner):
        return questions.designed(epsilon, design=design)
    tables = best_tables(questions, epsilon, design=design, clients=clients)
    return tuple(question for table in tables for question in answered_together(map(_published, table.questions)))


def _published(question: Question) -> Question:
    """Return a question with what a study says of it: nothing that is usual, nor what only its design had to know."""
    scores = Scores.of(question)
    spread = None if scores.values.spread == USUAL_SPREAD else question.spread
    abstaining = None if scores.target.abstaining == ABSTAINING else question.abstaining
    return replace(question, spread=spread, abstaining=abstaining, symbols=None, axis=0, beside=())


def best_tables(
    questions: Sequence[Question], epsilon: Decimal, *, design: str = AUTO, clients: float | None = None
) -> list[DesignedTable]:
    """Return the tables that serve questions best: one for each, or one for every two where that is less error in all.

    Where questions have weights the weighted sum of their variances decides; else none may be worse off.  How many
    clients there will be decides on the design of a gap whose shares are estimated.

    Raises:
        InvalidInput: If the design is not known, or epsilon is outside what a table can hold.
        Impossible: If no design reaches it.
    """
    answers = None if clients is None else clients / len(questions)
    alone = _alone(questions, epsilon, design, answers)
    paired = shared_tables(questions, epsilon, design=design, alone=alone)
    return paired if len(paired) < len(alone) and _better(questions, paired, alone) else alone


def shared_tables(
    questions: Sequence[Question], epsilon: Decimal, *, design: str = AUTO, alone: Sequence[DesignedTable] | None = None
) -> list[DesignedTable]:
    """Return the tables where as many questions share one as can: those two together that have the least error in all.

    Guarantee: up to ``_TRIED`` questions no other pairs are better, and in whatever order questions come, the pairs are
    the same.

    Args:
        questions: What is asked.
        epsilon: The privacy loss of one answer.
        design: Which design.
        alone: The table of each question on its own, if it is made already.
    """
    if alone is None:
        alone = _alone(questions, epsilon, design)
    order, tried = _tried(questions)
    shared = {
        pair: replace(both, places=(min(pair), max(pair)))
        for pair in tried
        if (both := _joint_table([questions[min(pair)], questions[max(pair)]], epsilon, design=design)) is not None
    }
    part = fewest_tables(questions) / len(questions)
    chosen = _matched(order, {pair: _cost(questions, table, alone, part) for pair, table in shared.items()})
    taken = {place for pair in chosen for place in pair}
    found = [shared[pair] for pair in chosen] + [one for one in alone if one.places[0] not in taken]
    return sorted(found, key=lambda table: table.places)


def fewest_tables(questions: Sequence[Question]) -> int:
    """Return how many tables there are where as many questions share one as can."""
    order, tried = _tried(questions)
    return len(questions) - len(_matched(order, dict.fromkeys(tried, (0, 0.0))))


def _tried(questions: Sequence[Question]) -> tuple[list[int], list[_Pair]]:
    """Return questions in an order of their own, and every two that can share a table: of many only neighbours."""
    order = sorted(range(len(questions)), key=lambda place: _rank(questions[place]), reverse=True)
    pairs = combinations(order, 2) if len(order) <= _TRIED else zip(order[::2], order[1::2], strict=False)
    return order, [(a, b) for a, b in pairs if can_share([questions[a], questions[b]])]


def _cost(
    questions: Sequence[Question], table: DesignedTable, alone: Sequence[DesignedTable], part: float
) -> tuple[int, float]:
    """Return how many of two questions a table leaves worse off, and what it adds to the sum that decides."""
    ratios = [part * v / alone[n].variances[0] for n, v in zip(table.places, table.variances, strict=True)]
    weights = [float(questions[n].weight or 1) for n in table.places]
    # What has a table of its own gets more of the answers, too: what is saved beside that decides.
    saved = sum(weight * (ratio - part) for weight, ratio in zip(weights, ratios, strict=True))
    weighed = any(question.weight is not None for question in questions)
    return 0 if weighed else sum(ratio > 1 + _WORTH for ratio in ratios), saved


def _matched(order: Sequence[int], costs: Mapping[_Pair, tuple[int, float]]) -> list[_Pair]:
    """Return as many pairs as there can be, no place twice, whose costs are least in sum."""
    if len(order) > _TRIED:
        return list(costs)

    @cache
    def best(left: tuple[int, ...]) -> tuple[int, int, float, tuple[_Pair, ...]]:
        if not left:
            return 0, 0, 0.0, ()
        first, *others = left
        found = [best(tuple(others))]
        for other in others:
            if (cost := costs.get((first, other))) is not None:
                pairs, worse, total, chosen = best(tuple(n for n in others if n != other))
                found.append((pairs - 1, worse + cost[0], total + cost[1], ((first, other), *chosen)))
        # Of equals the first: it pairs what comes first.
        return min(found, key=lambda one: (*one[:2], round(one[2], 9), *(order.index(n) for p in one[3] for n in p)))

    return list(best(tuple(order))[3])


def _rank(question: Question) -> tuple[float, float, float, str]:
    """Return what questions are ordered by, however they come."""
    scores = Scores.of(question)
    spread = 1.0 if scores.values.spread is None else scores.values.spread
    return scores.values.expect or 0.0, spread, float(question.weight or 1), question.metric.name


def _joint_table(questions: Sequence[Question], epsilon: Decimal, *, design: str = AUTO) -> DesignedTable | None:
    """Return a table that answers two questions at once; None if none is known: it takes gaps of two known groups."""
    if not can_share(questions):
        return None
    # One table for both, however they come: turned round where they come the other way.
    turned = _rank(questions[0]) < _rank(questions[1])
    ordered = questions[::-1] if turned else questions
    first, second = (Scores.of(question) for question in ordered)
    if design in (AUTO, CENTRED):
        name = CENTRED
        both_expected = first.values.expected is not None and second.values.expected is not None
        weights = [float(question.weight or 1) for question in ordered]
        order = own_order(first.target)
        least, most = (first.target.shares[group] for group in order)
        problem = TwoMetrics(
            shares=(least, most),
            epsilon=epsilon,
            aims=(first.values.aim, second.values.aim),
            others=(second.values.expected, first.values.expected) if both_expected else (None, None),
            weights=(weights[0] / sum(weights), weights[1] / sum(weights)),
        )
        try:
            channel = in_order(_joint(problem), order)
        except Impossible:
            return None  # two tables of their own will do
    elif design == UNCENTRED and first.target.shares[0] == first.target.shares[1]:
        name, channel = UNCENTRED, sign_pairs(epsilon)
    else:
        return None
    made = _made(ordered, name, epsilon, channel)
    # By the table as it was made, so that whichever way round it is told the numbers are the same.
    variances = [Scores.of(one).variance(channel) for one in made]
    if turned:
        made, variances = _made(questions, name, epsilon, _turned(channel)), variances[::-1]
    return DesignedTable((0, 1), made, tuple(variances))


def _made(questions: Sequence[Question], design: str, epsilon: Decimal, channel: Channel) -> tuple[Question, ...]:
    """Return the questions of one table."""
    return answered_together(
        replace(one, design=design, epsilon=plain(epsilon), mechanism=channel) for one in questions
    )


@lru_cache(maxsize=64)
def _joint(problem: TwoMetrics) -> Channel:
    return problem.channel()


def _turned(channel: Channel) -> Channel:
    """Return the same table for values in the other order."""
    first, second = (range(len(axis)) for axis in channel.axes)
    rows = tuple(channel.row(group, a, b) for group in range(channel.groups) for b in second for a in first)
    return Channel(rows, levels=channel.further[0], groups=channel.groups, further=(channel.levels,))


def can_share(questions: Sequence[Question]) -> bool:
    """Tell whether a table is known that answers questions at once: gaps of two metrics, of two groups with shares."""
    return (
        len(questions) == 2
        and questions[0].attribute == questions[1].attribute
        and all(
            scores.target.groups == 2 and scores.target.kind == "gap" and scores.target.relies_on_shares
            for scores in map(Scores.of, questions)
        )
    )


def _alone(
    questions: Sequence[Question], epsilon: Decimal, design: str, answers: float | None = None
) -> list[DesignedTable]:
    """Return a table for each question."""
    found = []
    for place, question in enumerate(questions):
        scores, auto = Scores.of(question), design == AUTO
        name, channel = (
            choose_design(scores, epsilon, answers) if auto else make_channel(scores, epsilon, design=design)
        )
        found.append(
            DesignedTable((place,), _made([question], name, epsilon, channel), (scores.by(name).variance(channel),))
        )
    return found


def _better(questions: Sequence[Question], paired: Sequence[DesignedTable], alone: Sequence[DesignedTable]) -> bool:
    """Tell whether fewer tables are better: each then gets more answers, and may tell less by each."""
    before = {one.places[0]: len(alone) * one.variances[0] for one in alone}
    after = {n: len(paired) * variance for one in paired for n, variance in zip(one.places, one.variances, strict=True)}
    ratios = {n: after[n] / before[n] for n in before}
    weights = {n: float(question.weight or 1) for n, question in enumerate(questions)}
    saves = sum(weights[n] * ratios[n] for n in ratios) < (1 - _WORTH) * sum(weights.values())
    return saves and (any(question.weight is not None for question in questions) or max(ratios.values()) <= 1 + _WORTH)


def make_study(
    title: str, questions: Sequence[Question], epsilon: Decimal, *, design: str = AUTO, **terms: Any
) -> Study:
    """Design questions, and return the study of them with these terms; its ``planned`` answers decide on the design.

    Raises:
        InvalidInput: If something is out of range.
        Impossible: If no design reaches it.
    """
    made = designed(questions, epsilon, design=design, clients=terms.get("planned"))
    study = Study(title, made, **terms)
    study.check_privacy()
    return study
