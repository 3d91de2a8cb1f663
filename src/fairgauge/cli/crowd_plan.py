"""What ``fairgauge plan --crowd-epsilon`` prints."""

from decimal import Decimal

from fairgauge.cli.crowd import known_part
from fairgauge.crowd import Crowd
from fairgauge.crowd.words import shown_delta
from fairgauge.planning import Plan


def promises(plan: Plan) -> list[str]:
    """Say what a plan in the crowd promises to whom, and on what that rests."""
    if plan.crowd is None or plan.best is None:
        return []
    best, terms = plan.row(plan.best), plan.crowd
    batch, delta = int(terms["batch"]), Decimal(repr(terms["delta"]))
    crowd = Crowd(batch, Decimal(repr(terms["observed"])), delta, Decimal(repr(best.crowd_epsilon)))
    return [
        "Two promises to each person:",
        (
            f"  Towards those who run the collector, who see symbols: epsilon {best.epsilon:.4g}, the local one. Every "
            f"device computes it and keeps to its own limit. It rests on nothing else."
        ),
        (
            f"  Towards everyone who reads the published counts: epsilon {best.crowd_epsilon:.4g} at delta "
            f"{shown_delta(delta)}, the crowd's. It rests on one release of all {batch:,} answers, "
            f"{known_part(crowd)}, and on nobody publishing symbols."
        ),
    ]
