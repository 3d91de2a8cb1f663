"""The crowd's numbers as commands take and print them."""

from typing import TYPE_CHECKING, Any

from fairgauge.cli._mechanisms import own
from fairgauge.crowd import Crowd, crowd_of, factor_sentence, guess_sentence, promised
from fairgauge.crowd.crowd_epsilon import LARGEST_DELTA
from fairgauge.crowd.sentences import is_loose, loose_sentence, rests_on, shown_delta
from fairgauge.study import Study
from fairgauge.study.numbers import as_count, read_decimal

if TYPE_CHECKING:
    from fairgauge.planning import Plan
from decimal import Decimal


def crowd_asked(study: Study, draws: str | None, delta: str | None) -> Crowd | None:
    """Return what counts with so many secret draws promise, or as many as the study says; None if neither is said."""
    if draws is None:
        return promised(study)
    small, count = LARGEST_DELTA if delta is None else read_decimal("delta", delta), as_count("draws", draws)
    own(study.mechanism, check_draws)("draws", draws)
    return crowd_of(study, count, delta=small)


def check_draws(field: str, typed: str) -> None:
    """Refuse what brings draws where counts hide a person otherwise: not where devices answer."""
    del field, typed


def crowd_document(crowd: Crowd) -> dict[str, Any]:
    """Return it for JSON."""
    return {"draws": crowd.draws, "delta": float(crowd.delta), "epsilon": crowd.number}


def crowd_lines(crowd: Crowd) -> list[str]:
    """Return it for people."""
    number = f"crowd epsilon {crowd.number:.5g} at delta {shown_delta(crowd.delta)}, certified from the integers."
    return [
        f"Counts with {crowd.draws:,} secret draws, even towards someone who knows every other answer: {number}",
        f"  {factor_sentence(crowd)}",
        f"  {guess_sentence(crowd)}",
        f"  {rests_on(crowd)}",
        *([f"  {loose_sentence(crowd)}"] if is_loose(crowd) else []),
        f"  {_OF_WHOM}",
    ]


_OF_WHOM = (
    "This is for those who see the published counts and no symbol. Whoever runs the collector sees symbols: towards "
    "them the epsilon of each question holds, and no other."
)


def _if_half(plan: "Plan") -> str:
    """Say what is left if half of those who are planned with stay away."""
    error = (plan.crowd or {}).get("error_with_half")
    return "" if error is None else f"; if half of them answer, the error is ±{error:.4g}"


def promises(plan: "Plan") -> list[str]:
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
