"""What ``fairgauge plan --crowd-epsilon`` takes and prints."""

from decimal import Decimal

from fairgauge.cli.crowd import CrowdTerms, known_part
from fairgauge.client.limits import STUDY_LIMIT
from fairgauge.crowd import Crowd
from fairgauge.crowd.words import shown_delta
from fairgauge.errors import InvalidInput
from fairgauge.planning import Plan
from fairgauge.planning.crowd import CrowdAim
from fairgauge.planning.typed import read_decimal


def read_aim(
    clients: str | None, epsilon: str | None, delta: str | None, observed: str | None, local_limit: str | None
) -> CrowdAim | None:
    """Read what a plan is to keep in the crowd, as typed."""
    given = {"delta": delta, "observed": observed, "local-limit": local_limit}
    if epsilon is None:
        for name, typed in given.items():
            if typed is not None:
                raise InvalidInput(name, typed, "must be given with --crowd-epsilon")
        return None
    if clients is None:
        raise InvalidInput("crowd-epsilon", epsilon, "needs --clients: among how many a person is hidden")
    terms = CrowdTerms.read(clients, delta, observed)
    limit = STUDY_LIMIT if local_limit is None else read_decimal("local-limit", local_limit)
    return CrowdAim(read_decimal("crowd-epsilon", epsilon), terms.batch, terms.delta, terms.observed, limit)


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
