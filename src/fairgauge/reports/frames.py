"""Studies, plans and tallies as data frames of pandas, one row for each thing that one would list."""

from typing import TYPE_CHECKING, Any

from fairgauge.errors import MissingExtra
from fairgauge.estimation.values import numbers_of

if TYPE_CHECKING:
    import pandas as pd

    from fairgauge.estimation import Interval
    from fairgauge.estimation.result import QuestionEstimate
    from fairgauge.planning import Plan, Plans
    from fairgauge.planning.choose_epsilon import EpsilonChoices
    from fairgauge.study import Study
    from fairgauge.tallies import Tally


def study_frame(study: "Study") -> "pd.DataFrame":
    """Return one row for each question."""
    return _frame(
        [
            {
                "metric": question.metric.name,
                "low": float(question.metric.low),
                "high": float(question.metric.high),
                "attribute": question.attribute.name,
                "groups": ", ".join(question.attribute.groups),
                "target": question.target,
                "design": question.design,
                "epsilon": question.mechanism.epsilon,
                "symbols": question.mechanism.size,
            }
            for question in study.questions
        ]
    )


def plan_frame(plan: "Plan") -> "pd.DataFrame":
    """Return one row for each design."""
    return _frame([row.to_dict() for row in plan.rows])


def plans_frame(plans: "Plans") -> "pd.DataFrame":
    """Return one row for each design of each metric."""
    named = zip(plans.metrics, plans.plans, strict=True)
    return _frame([{"metric": name, **row.to_dict()} for name, plan in named for row in plan.rows])


def question_estimate_frame(found: "QuestionEstimate") -> "pd.DataFrame":
    """Return one row for each number of a question, as an estimate's own frame has them."""
    if found.whole is not None:
        return found.whole.only(found).to_frame()
    about = {"metric": found.metric, "attribute": found.attribute}
    return _frame([{**about, "quantity": name, **numbers_of(one)} for name, one in found.rows()])


def interval_frame(interval: "Interval") -> "pd.DataFrame":
    """Return one row: the estimate and its interval."""
    return _frame([numbers_of(interval)])


def choices_frame(found: "EpsilonChoices") -> "pd.DataFrame":
    """Return one row for each epsilon of each question."""
    return _frame([{"metric": each.metric.name, **_flat(row.to_dict())} for each in found.each for row in each.rows])


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "parts"}


def tally_frame(tally: "Tally") -> "pd.DataFrame":
    """Return one row for each symbol."""
    return _frame([{"symbol": symbol, "count": count} for symbol, count in enumerate(tally.counts)])


def _frame(rows: list[dict[str, Any]]) -> "pd.DataFrame":
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("data frames need pandas", "lab") from None
    return pd.DataFrame(rows)
