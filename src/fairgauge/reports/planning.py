"""What an epsilon costs and buys, while somebody chooses it."""

import math
from dataclasses import dataclass
from decimal import Decimal

from markupsafe import Markup

from fairgauge.goals.goal import Goal
from fairgauge.planning.choosing import GOOD, choices, enough, no_study_sentence
from fairgauge.planning.draft import Draft
from fairgauge.planning.trade import errors_for, errors_together
from fairgauge.planning.typed import as_epsilon
from fairgauge.reports.figures import trade_figure
from fairgauge.reports.units import unit_of
from fairgauge.study import Metric

_EPSILONS = [Decimal(text) for text in ("0.1", "0.25", "0.5", "1", "2")]


@dataclass(frozen=True)
class PlanView:
    """What so many answers would tell about one question."""

    title: str
    sentence: str
    figure: Markup
    unit: str


def plan_views(draft: Draft, clients: int) -> list[PlanView]:
    """Return what so many answers would tell, for the chosen epsilon and for others.

    Raises:
        InvalidInput: If something in the draft is typed wrong.
    """
    chosen = as_epsilon(draft.epsilon)
    epsilons = sorted({*_EPSILONS, chosen})
    found = []
    wishes = draft.wishes()
    several = errors_together(wishes, epsilons, clients=clients) if len(wishes) > 1 else []
    for number, wish in enumerate(wishes):
        metric, goal, unit = wish.metric, Goal.of(wish), unit_of(wish.metric)
        points = several[number] if several else errors_for(goal, metric, epsilons, clients=clients)
        error = dict(points)[float(chosen)]
        what = "the gap" if goal.target == "gap" else "each group's mean"
        sentence = (
            f"With epsilon {chosen}, {clients:,} answers give {what} to about ±{unit.of(error)} (99 % confidence)."
        )
        if several:
            sentence = sentence.replace("answers give", f"answers, shared by {len(wishes)} questions, give")

        def needed(goal: Goal = goal, metric: Metric = metric, error: float = error) -> int:
            if several:  # which share the answers
                return enough(clients, error, 2 * GOOD * metric.scale)
            return choices(goal, metric, clients, epsilons=[chosen]).rows[0].clients

        tells_nothing = no_study_sentence(clients, error, metric, needed)
        if tells_nothing is not None:
            sentence = f"{'' if error >= 2 * metric.scale else sentence + ' '}{tells_nothing}"
        factor = math.ceil(math.exp(chosen) * 100) / 100
        sentence += f" Whoever sees an answer can change their odds about a person by at most a factor {factor:.2f}."
        drawn = [(epsilon, one * unit.factor) for epsilon, one in points]
        figure = trade_figure(drawn, float(chosen), description=sentence)
        title = f"{metric.name} by {wish.attribute.name}"
        found.append(PlanView(title, sentence, figure, f"{unit.word}s" if unit.word else "the metric's units"))
    return found
