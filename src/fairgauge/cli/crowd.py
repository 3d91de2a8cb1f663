"""The crowd's numbers as commands take and print them."""

from typing import Any

from fairgauge.cli.mechanisms import own
from fairgauge.crowd import Crowd, crowd_of, factor_sentence, guess_sentence, promised
from fairgauge.crowd.promise import LARGEST_DELTA
from fairgauge.crowd.sentences import is_loose, loose_sentence, rests_on, shown_delta
from fairgauge.study import Study
from fairgauge.study.numbers import as_count, read_decimal


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
        f"  {OF_WHOM}",
    ]


OF_WHOM = (
    "This is for those who see the published counts and no symbol. Whoever runs the collector sees symbols: towards "
    "them the epsilon of each question holds, and no other."
)
