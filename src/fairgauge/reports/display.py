"""How a study is shown, by its mechanism: what is counted, in which words, with which pieces of pages.

Reports and pages take all of this from here, and ask no further which mechanism it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

from fairgauge.channel import Channel
from fairgauge.estimation import Estimate
from fairgauge.languages import Told
from fairgauge.reports.sites import asks_sentence, noise_sentence, outcome_sentence
from fairgauge.reports.words import question_sentence
from fairgauge.study import Mechanism, NoisyCounts, Question, Study


@dataclass(frozen=True)
class Display:
    """What is the same of all studies with one mechanism.

    Args:
        counted: What is counted: answers, or sites.
        who: Who answers.
        count: The key of how many there are.
        check: The keys of how to check a sealed study, and one that is not sealed.
        template: The file with pieces that reports and pages share; what only one of them has is in a file of the same
            name that starts with ``_report`` or ``_page``.
        kept: What it is called that single answers are kept.
        few: Why nothing is shown of a few.
        answered: What a tally counts, where it is said of which study.
        overview: Whether one table shows what is told of all metrics.
    """

    counted: str = "answers"
    who: str = "devices"
    count: str = "study.answers"
    check: tuple[str, str] = ("study.check-all", "study.check-signature")
    template: str = "_devices.html"
    kept: str = "Single answers are kept"
    few: str = "too few to hide one person among"
    answered: str = "answers to this study"
    overview: bool = False


_DEVICES = Display()
_SITES = Display(
    counted="sites",
    who="sites",
    count="sites.count",
    check=("sites.check-all", "sites.check-signature"),
    template="_sites.html",
    kept="What single sites sent is kept",
    few="so few that one could be told apart",
    answered="sites that answered this study",
    overview=True,
)


@singledispatch
def display_of(mechanism: Mechanism) -> Display:
    """Return how studies with such a mechanism are shown."""
    raise NotImplementedError


@singledispatch
def asks(mechanism: Mechanism, study: Study) -> list[tuple[Question, str]]:
    """Return what a study asks, a sentence each, with the question whose names are in it."""
    raise NotImplementedError


@singledispatch
def about(mechanism: Mechanism, estimate: Estimate) -> str:
    """Return what the numbers are about, to stand next to them; empty where every sentence says so itself."""
    raise NotImplementedError


@singledispatch
def credited(mechanism: Mechanism, study: Study, answers: Sequence[int]) -> tuple[str, str]:
    """Return how many answers a model card's numbers are based on, and what was done for privacy."""
    raise NotImplementedError


@singledispatch
def described(mechanism: Mechanism) -> dict[str, object]:
    """Return what a report tells of the mechanism itself."""
    raise NotImplementedError


@display_of.register
def _(_: Channel) -> Display:
    return _DEVICES


@asks.register
def _(_: Channel, study: Study) -> list[tuple[Question, str]]:
    return [(question, question_sentence(question)) for question in study.questions]


@about.register
def _(_: Channel, _estimate: Estimate) -> str:
    return ""


@credited.register
def _(_: Channel, study: Study, answers: Sequence[int]) -> tuple[str, str]:
    private = f"Each device sent one randomised symbol with epsilon at most {study.epsilon:.4g}."
    return f"Based on {sum(answers):,} answers to the study", private


@described.register
def _(_: Channel) -> dict[str, object]:
    return {}


@display_of.register
def _(_: NoisyCounts) -> Display:
    return _SITES


@asks.register
def _(mechanism: NoisyCounts, study: Study) -> list[tuple[Question, str]]:
    return [(study.questions[0], asks_sentence(mechanism))]


@about.register
def _(_: NoisyCounts, estimate: Estimate) -> str:
    return Told.of(f"sites.about-{estimate.kind.text or estimate.interval}")


@credited.register
def _(mechanism: NoisyCounts, _study: Study, answers: Sequence[int]) -> tuple[str, str]:
    private = f"Each site added noise to its counts, with epsilon {mechanism.declared} for each person."
    return f"Based on what {answers[0]:,} sites counted for the study", private


@described.register
def _(mechanism: NoisyCounts) -> dict[str, object]:
    return {
        "asks": asks_sentence(mechanism),
        "outcome": mechanism.outcome,
        "records": mechanism.records,
        "counts": outcome_sentence(mechanism),
        "noise": noise_sentence(mechanism),
    }
