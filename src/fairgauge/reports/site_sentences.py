"""Sentences about studies for sites that hold many people."""

import math

from fairgauge.estimation.interval_kinds import IntervalKind
from fairgauge.languages import Label, Numeral, Sentence
from fairgauge.reports.provenance import Provenance
from fairgauge.study import NoisyCounts, Study


def protection_sentence(site: NoisyCounts) -> str:
    """Return what a site's noise means to one of its people, and what it does not hide, for a command."""
    said = protected_sentence(site)
    return f"Privacy: {said[0].lower()}{said[1:]}"


def protected_sentence(site: NoisyCounts) -> str:
    """Return what a site's noise means to one of its people, and what it does not hide."""
    factor = Numeral(f"{math.ceil(math.exp(float(site.declared)) * 100) / 100:.2f}")
    return Sentence.of("sites.protection", count=site.records, factor=factor, epsilon=Numeral(site.declared))


def noise_sentence(site: NoisyCounts) -> str:
    """Return how the exact epsilon follows from the integers of the noise law.

    >>> from fairgauge.study import Attribute
    >>> counts = NoisyCounts(Attribute("sex", ["female", "male"]), "confusion", "1.5", records=2)
    >>> noise_sentence(counts).partition(", and ")[2]
    'one person moves the counts by 4 in sum: 4 × 3/8 = 3/2.'
    """
    decay, loss = Numeral(site.decay), Numeral(site.loss)
    return Sentence.of("sites.noise", decay=decay, moved=Numeral(site.moved), loss=loss)


def asks_sentence(site: NoisyCounts) -> str:
    """Return what a study for sites asks, of all that its counts tell.

    >>> from fairgauge.study import Attribute
    >>> asks_sentence(NoisyCounts(Attribute("sex", ["female", "male"]), "confusion", "1")).partition("rate or ")[2]
    'precision differ between female and male?'
    """
    first, *others = [Label(metric.name) for metric in site.metrics]
    told: str = first
    for number, name in enumerate(others, start=1):
        told = Sentence.of("list.or" if number == len(others) else "list.within", first=told, second=name)
    attribute = site.attribute
    if attribute.cross:
        by = tuple(Label(factor.name) for factor in attribute.cross)
        return Sentence.of("question.cross", count=len(attribute.groups), metric=told, attributes=by)
    return Sentence.of("question.differ", metric=told, groups=tuple(attribute.groups))


def outcome_sentence(site: NoisyCounts) -> str:
    """Return what a site counts, and who counts as one person."""
    if site.metric is None or site.levels is None:
        what = Sentence.of("sites.truth")
    else:
        what = Sentence.of("sites.level", metric=Label(site.metric.name), levels=len(site.levels))
    said = [
        Sentence.of("sites.counted", attribute=Label(site.attribute.name), what=what, size=site.size),
        Sentence.of("sites.records-count", count=site.records),
    ]
    said += [] if site.person is None else [Sentence.of("sites.person", person=site.person.rstrip("."))]
    return Sentence.together([*said, Sentence.of("sites.alike")])


def site_assumptions(site: NoisyCounts, kind: IntervalKind, particulars: Provenance) -> list[str]:
    """Return what has to be true for the numbers to be, where sites counted."""
    missing = Sentence.of("rests.sites-unknown")
    if particulars.asked is not None:
        missing = Sentence.of("rests.sites-asked", asked=particulars.asked)
    honest = ["rests.sites-honest", *(["rests.sites-tickets"] if particulars.seal is not None else [])]
    return [
        Sentence.together(
            [Sentence.of("rests.sites-about", about=Sentence.of(f"rests.of-{kind.text or kind.name}")), missing]
        ),
        Sentence.together([Sentence.of("rests.sites-people", count=site.records), Sentence.of("rests.sites-twice")]),
        Sentence.of("rests.sites-left-out"),
        Sentence.together([Sentence.of(key) for key in (*honest, "rests.sites-made-up")]),
        Sentence.of("rests.sites-believed"),
    ]


def answer_command(study: Study, address: str) -> str:
    """Return what a contributor who has a ticket types to answer a study."""
    lines = [f"fairgauge answer {address}/studies/{study.digest}", f"--site site.json --send {address} --ticket TICKET"]
    return " \\\n    ".join(lines)
