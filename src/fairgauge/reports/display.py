"""How a study is shown, by its mechanism: what is counted, in which words, with which pieces of pages.

Reports and pages take all of this from here, and ask no further which mechanism it is.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairgauge.channel import Channel
from fairgauge.estimation import Estimate
from fairgauge.languages import Numeral, Sentence
from fairgauge.reports.device_sentences import device_assumptions, exact_epsilon, odds_sentence, question_sentence
from fairgauge.reports.provenance import Provenance
from fairgauge.reports.site_sentences import (
    answer_command,
    asks_sentence,
    noise_sentence,
    outcome_sentence,
    protected_sentence,
    site_assumptions,
)
from fairgauge.study import Mechanism, NoisyCounts, Question, Study
from fairgauge.study.mechanism import Registry


@dataclass(frozen=True, kw_only=True)
class Display(ABC):
    """What is the same of all studies with one mechanism, and what is said of one.

    Args:
        counted: What is counted: answers, or sites.
        who: Who answers.
        count: The key of how many there are.
        check: The keys of how to check a sealed study, and one that is not sealed.
        template: The file with pieces that reports and pages share; what only one of them has is in a file of the same
            name that starts with ``_report`` or ``_page``.
        kept: The key of what it is called that single answers are kept.
        sent: What an answer is made of, in commands.
        few: Why nothing is shown of a few.
        answered: What a tally counts, where it is said of which study.
        no_ratio: The key of why there is no ratio.
        overview: Whether one table shows what is told of all metrics.
    """

    counted: str
    who: str
    count: str
    check: tuple[str, str]
    template: str
    kept: str
    sent: str
    few: str
    answered: str
    no_ratio: str
    overview: bool

    @abstractmethod
    def none(self, still: str) -> str:
        """Return the key of what is said where there are no answers."""

    @abstractmethod
    def asks(self, study: Study) -> list[tuple[Question, str]]:
        """Return what a study asks, a sentence each, with the question whose names are in it."""

    @abstractmethod
    def about(self, estimate: Estimate) -> str:
        """Return what the numbers are about, to stand next to them; empty where every sentence says so itself."""

    @abstractmethod
    def credited(self, study: Study, answers: Sequence[int]) -> tuple[str, str]:
        """Return how many answers a model card's numbers are based on, and what was done for privacy."""

    def command(self, study: Study, address: str) -> str | None:
        """Return what a contributor who has a ticket types to answer a study; None where a page answers."""
        del study, address
        return None

    @abstractmethod
    def described(self, study: Study) -> dict[str, object]:
        """Return what a report tells of the mechanism itself."""

    @abstractmethod
    def protection(self, question: Question) -> str:
        """Return what answering a question means to one person."""

    @abstractmethod
    def exact(self, question: Question) -> str:
        """Return the exact epsilon, as it is shown."""

    @abstractmethod
    def odds(self, question: Question) -> tuple[float | Fraction | None, str]:
        """Return by which factor an answer can change odds at most, None without limit; and the key of its picture."""

    @abstractmethod
    def assumed(self, study: Study, estimate: Estimate, particulars: Provenance) -> list[str]:
        """Return what has to be true for the numbers to be, a sentence each; what is checked is said to be."""


class _Devices(Display):
    def none(self, still: str) -> str:
        return f"verdict.none{still}"

    def asks(self, study: Study) -> list[tuple[Question, str]]:
        return [(question, question_sentence(question)) for question in study.questions]

    def about(self, estimate: Estimate) -> str:
        del estimate
        return ""

    def credited(self, study: Study, answers: Sequence[int]) -> tuple[str, str]:
        private = f"Each device sent one randomised symbol with epsilon at most {study.epsilon:.4g}."
        return f"Based on {sum(answers):,} answers to the study", private

    def described(self, study: Study) -> dict[str, object]:
        del study
        return {}

    def protection(self, question: Question) -> str:
        return odds_sentence(question)

    def exact(self, question: Question) -> str:
        return exact_epsilon(question.mechanism.epsilon)

    def odds(self, question: Question) -> tuple[float | Fraction | None, str]:
        return question.channel.loss, "odds.picture"

    def assumed(self, study: Study, estimate: Estimate, particulars: Provenance) -> list[str]:
        return device_assumptions(study, estimate, particulars)


class _Sites(Display):
    def none(self, still: str) -> str:
        del still
        return "sites.empty"

    def asks(self, study: Study) -> list[tuple[Question, str]]:
        return [(study.questions[0], asks_sentence(study.questions[0].counts))]

    def about(self, estimate: Estimate) -> str:
        return Sentence.of(f"sites.about-{estimate.kind.text or estimate.interval}")

    def credited(self, study: Study, answers: Sequence[int]) -> tuple[str, str]:
        declared = study.questions[0].epsilon
        private = f"Each site added noise to its counts, with epsilon {declared} for each person."
        return f"Based on what {answers[0]:,} sites counted for the study", private

    def command(self, study: Study, address: str) -> str:
        return answer_command(study, address)

    def described(self, study: Study) -> dict[str, object]:
        site = study.questions[0].counts
        return {
            "asks": asks_sentence(site),
            "outcome": site.outcome,
            "records": site.records,
            "counts": outcome_sentence(site),
            "noise": noise_sentence(site),
        }

    def protection(self, question: Question) -> str:
        return protected_sentence(question.counts)

    def exact(self, question: Question) -> str:
        return Numeral(str(question.counts.loss))

    def odds(self, question: Question) -> tuple[float, str]:
        return math.exp(float(question.counts.loss)), "sites.odds-picture"

    def assumed(self, study: Study, estimate: Estimate, particulars: Provenance) -> list[str]:
        return site_assumptions(study.questions[0].counts, estimate.kind, particulars)


_DISPLAYS: Registry[Display] = Registry(
    {
        Channel: _Devices(
            counted="answers",
            who="devices",
            count="study.answers",
            check=("study.check-all", "study.check-signature"),
            template="_devices.html",
            kept="report.kept",
            sent="symbols",
            few="too few to hide one person among",
            answered="answers to this study",
            no_ratio="ratio.none",
            overview=False,
        ),
        NoisyCounts: _Sites(
            counted="sites",
            who="sites",
            count="sites.count",
            check=("sites.check-all", "sites.check-signature"),
            template="_sites.html",
            kept="report.kept-sites",
            sent="counts of each site",
            few="so few that one could be told apart",
            answered="sites that answered this study",
            no_ratio="sites.no-ratio",
            overview=True,
        ),
    }
)


def display_of(mechanism: Mechanism) -> Display:
    """Return how studies with such a mechanism are shown."""
    return _DISPLAYS[mechanism]
