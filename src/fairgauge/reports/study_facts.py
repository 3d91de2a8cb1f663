"""What a report says before and behind its numbers: who asked whom and why, and on what the numbers rest."""

from dataclasses import dataclass

from fairgauge.estimation import Estimate
from fairgauge.languages import Moment, Sentence
from fairgauge.reports.display import display_of
from fairgauge.reports.provenance import Provenance
from fairgauge.reports.units import part_of
from fairgauge.study import Study


@dataclass(frozen=True)
class _Fact:
    """One line about a study: what it is about, and what is said of it."""

    name: str
    said: str


def facts(study: Study, answers: int, particulars: Provenance) -> list[_Fact]:
    """Return who asked whom, why, about which model, and how many answered."""
    found = [
        ("report.made-on", None if particulars.date is None else Moment(particulars.date)),
        ("report.asked-by", study.operator),
        ("report.questions-to", study.contact),
        ("report.purpose", study.purpose),
        ("report.model", _model(study)),
        ("report.taken", _when(study)),
        (RESPONSE, _response_sentence(study, answers, particulars)),
        (display_of(study.mechanism).kept, _kept(study)),
    ]
    return [_Fact(Sentence.of(key), said) for key, said in found if said is not None]


RESPONSE = "report.response"


def _model(study: Study) -> str | None:
    if study.model is None or study.model.version is None:
        return None if study.model is None else study.model.name
    return Sentence.of("who.version", name=study.model.name, version=study.model.version)


def _when(study: Study) -> str | None:
    ends = {name: Moment(at) for name, at in (("first", study.opens), ("last", study.closes)) if at is not None}
    key = {("first", "last"): "report.from-to", ("first",): "report.from", ("last",): "report.to"}.get(tuple(ends))
    return None if key is None else Sentence.of(key, **ends)


def _kept(study: Study) -> str | None:
    return None if study.retention is None else Sentence.of("report.kept-days", count=study.retention)


def counted(study: Study) -> str:
    """Return what is counted: answers of devices, or sites."""
    return display_of(study.mechanism).counted


def _response_sentence(study: Study, answers: int, particulars: Provenance) -> str:
    """Return how many answered, of how many, as far as anyone says."""
    came = Sentence.of(display_of(study.mechanism).count, count=answers)
    if particulars.asked is not None:
        part = part_of(answers / particulars.asked)
        said = Sentence.of("report.of-asked", answers=came, asked=particulars.asked, part=part)
    else:
        said = Sentence.of("report.not-stated", answers=came)
    return said if study.planned is None else Sentence.of("report.planned", said=said, planned=study.planned)


def assumptions(study: Study, estimate: Estimate, particulars: Provenance) -> list[str]:
    """Return what has to be true for the numbers to be, a sentence each; what is checked is said to be."""
    return display_of(study.mechanism).assumed(study, estimate, particulars)


def seal_facts(study: Study, particulars: Provenance) -> list[_Fact]:
    """Return what a seal says, for whoever checks it."""
    seal = particulars.seal
    if seal is None:
        return []
    came = Sentence.of(display_of(study.mechanism).count, count=seal.answers)
    return [
        _Fact(
            Sentence.of("report.sealed"), Sentence.of("report.sealed-said", answers=came, moment=Moment(seal.closed))
        ),
        _Fact(Sentence.of("report.seal-digest"), seal.answers_sha256),
        _Fact(Sentence.of("report.seal-signature"), seal.signature),
        _Fact(Sentence.of("report.seal-key"), seal.key),
    ]
