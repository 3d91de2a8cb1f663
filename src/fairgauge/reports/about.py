"""What a report says before and behind its numbers: who asked whom and why, and on what the numbers rest."""

import math
from dataclasses import dataclass
from functools import singledispatch

from fairgauge.channel import Channel
from fairgauge.estimation import Estimate
from fairgauge.reports.display import display_of
from fairgauge.reports.particulars import Particulars
from fairgauge.reports.sites import site_assumptions
from fairgauge.study import Mechanism, NoisyCounts, Question, Study


@dataclass(frozen=True)
class Fact:
    """One line about a study: what it is about, and what is said of it."""

    name: str
    said: str


def facts(study: Study, answers: int, particulars: Particulars) -> list[Fact]:
    """Return who asked whom, why, about which model, and how many answered."""
    found = [
        ("Made on", particulars.date),
        ("Asked by", study.operator),
        ("Questions to", study.contact),
        ("Purpose", study.purpose),
        ("Model", _model(study)),
        ("Answers taken", _when(study)),
        ("Response", response_sentence(study, answers, particulars)),
        (display_of(study.mechanism).kept, _kept(study)),
    ]
    return [Fact(name, said) for name, said in found if said is not None]


def _model(study: Study) -> str | None:
    if study.model is None or study.model.version is None:
        return None if study.model is None else study.model.name
    return f"{study.model.name}, version {study.model.version}"


def _when(study: Study) -> str | None:
    parts = [f"{word} {moment}" for word, moment in (("from", study.opens), ("to", study.closes)) if moment is not None]
    return " ".join(parts) or None


def _kept(study: Study) -> str | None:
    if study.retention is None:
        return None
    return f"for {study.retention} day{'' if study.retention == 1 else 's'} after the study closed"


def counted(study: Study) -> str:
    """Return what is counted: answers of devices, or sites."""
    return display_of(study.mechanism).counted


def response_sentence(study: Study, answers: int, particulars: Particulars) -> str:
    """Return how many answered, of how many, as far as anyone says."""
    said = f"{answers:,} {counted(study)}"
    if particulars.asked is not None:
        part = answers / particulars.asked
        said += f" of {particulars.asked:,} who were asked ({100 * part:.3g} %)"
    else:
        said += "; how many were asked is not stated"
    return said + ("" if study.planned is None else f"; {study.planned:,} were planned")


def assumptions(study: Study, estimate: Estimate, particulars: Particulars) -> list[str]:
    """Return what has to be true for the numbers to be, a sentence each; what is checked is said to be."""
    return _assumed(study.mechanism, study, estimate, particulars)


@singledispatch
def _assumed(mechanism: Mechanism, study: Study, estimate: Estimate, particulars: Particulars) -> list[str]:
    raise NotImplementedError


@_assumed.register
def _(mechanism: NoisyCounts, _: Study, estimate: Estimate, particulars: Particulars) -> list[str]:
    return site_assumptions(mechanism, estimate.kind, particulars)


@_assumed.register
def _(_: Channel, study: Study, estimate: Estimate, particulars: Particulars) -> list[str]:
    kind = estimate.kind
    found = [_about_clients(study, estimate, particulars)]
    found += dict.fromkeys(_about_shares(question) for question in study.questions)
    often = "at one look: whoever looks again and again until it suits needs the kind that holds at every look"
    looks = "at every look together" if "every look" in kind.guarantee else often
    found += [
        f"The intervals are about {kind.about}, {looks}.",
        _about_honesty(study),
        "Each device measured what the metric's name says. What it holds as its owner's group and value is believed.",
        "Devices used the table that the study publishes. A device checks that table before it answers.",
    ]
    return found


def _about_clients(study: Study, estimate: Estimate, particulars: Particulars) -> str:
    answered = sum(question.answers for question in estimate.questions)
    drawn = "are like a random draw from those whom the result is about"
    said = f"Those who answered {drawn}."
    if any(question.attribute.known_shares is None for question in study.questions):
        said = f"Within each group, those who answered {drawn}."
    if particulars.asked is not None and answered < particulars.asked:
        part = f"{100 * (1 - answered / particulars.asked):.3g} %"
        return f"{said} {part} of those who were asked did not answer: if they differ, the result is not about them."
    return f"{said} No number in this report can show whether those who did not answer differ."


def _about_shares(question: Question) -> str:
    attribute = question.attribute
    estimated = (
        f"How often each group answered is not assumed: the groups' shares by {attribute.name} among those who "
        "answered are estimated from the same answers."
    )
    if attribute.shares is None:
        return estimated
    listed = ", ".join(f"{group} {share}" for group, share in zip(attribute.groups, attribute.shares, strict=True))
    source = f" ({attribute.share_source})" if attribute.share_source else ", from a source that is not stated"
    if 1 < attribute.ratio < math.inf:
        off = "" if attribute.share_error is None else f", to ±{attribute.share_error}"
        return (
            f"No group answered more than {attribute.answering} times as often as another, and the groups' shares by "
            f"{attribute.name} in the population are as stated{off}{source}: {listed}."
        )
    if attribute.known_shares is None:
        return (
            f"{estimated} The shares that the study states{source} helped to make its table, and how often groups "
            f"answered beside each other is measured by them: {listed}."
        )
    if attribute.share_error is not None:
        return (
            f"All groups answered equally often, and their shares by {attribute.name} are known to "
            f"±{attribute.share_error}{source}: {listed}."
        )
    return (
        f"All groups answered equally often, so that those who answered have exactly these shares by "
        f"{attribute.name}{source}: {listed}. How far a wrong share would move the gap is said above."
    )


def _about_honesty(study: Study) -> str:
    if study.admission in ("tickets", "blind"):
        return (
            "Everyone answered once and honestly. Tickets saw to the first; the fit check can see some of the second."
        )
    return "Everyone answered once and honestly. The fit check can see some forging, and not all of it."


def seal_facts(study: Study, particulars: Particulars) -> list[Fact]:
    """Return what a seal says, for whoever checks it."""
    seal = particulars.seal
    if seal is None:
        return []
    return [
        Fact("Sealed", f"{seal.answers:,} {counted(study)}, study closed {seal.closed}"),
        Fact("SHA-256 of all answers, sorted by id", seal.answers_sha256),
        Fact("Signature of the seal (Ed25519)", seal.signature),
        Fact("Key that made it", seal.key),
    ]
