"""What ``fairgauge plan --crowd-epsilon`` prints."""

from decimal import Decimal

from fairgauge.crowd.sentences import shown_delta
from fairgauge.planning import Plan


def _if_half(plan: Plan) -> str:
    """Say what is left if half of those who are planned with stay away."""
    error = (plan.crowd or {}).get("error_with_half")
    return "" if error is None else f"; if half of them answer, the error is ±{error:.4g}"


def promises(plan: Plan) -> list[str]:
    """Say what a plan in the crowd promises to whom, and on what that rests."""
    if plan.crowd is None or plan.best is None:
        return []
    best, terms = plan.row(plan.best), plan.crowd
    batch, delta = int(terms["batch"]), Decimal(repr(terms["delta"]))
    return [
        "Two promises to each person:",
        (
            f"  Towards those who run the collector, who see symbols: epsilon {best.epsilon:.4g}, the local one. Every "
            f"device computes it and keeps to its own limit. It rests on nothing else."
        ),
        (
            f"  Towards everyone who reads the published counts, even someone who knows every other answer: epsilon "
            f"{best.crowd_epsilon:.4g} at delta {shown_delta(delta)}, the crowd's. It rests on the collector adding "
            f"{best.draws:,} secret draws to each batch before it shows counts, and on nobody publishing symbols."
        ),
        (
            f"Counts leave when {2 * batch:,} answers wait, or when the study closes, however many have come by then: "
            f"fewer than planned have wider intervals, since the draws stay as many{_if_half(plan)}."
        ),
    ]
