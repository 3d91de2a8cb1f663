"""What a report says before and behind its numbers: who asked whom and why, and on what the numbers rest."""

from dataclasses import dataclass

from fairgauge.estimation import Estimate
from fairgauge.reports.display import display_of
from fairgauge.reports.particulars import Particulars
from fairgauge.study import Study


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
    return display_of(study.mechanism).assumed(study, estimate, particulars)


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
