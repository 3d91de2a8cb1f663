"""Sentences about studies for sites that hold many people."""

import math

from fairgauge.estimation.kinds import IntervalKind
from fairgauge.languages import Numeral, Told
from fairgauge.reports.particulars import Particulars
from fairgauge.study import NoisyCounts


def protection_sentence(site: NoisyCounts) -> str:
    """Return what a site's noise means to one of its people, and what it does not hide, for a command."""
    said = protected_sentence(site)
    return f"Privacy: {said[0].lower()}{said[1:]}"


def protected_sentence(site: NoisyCounts) -> str:
    """Return what a site's noise means to one of its people, and what it does not hide."""
    factor = Numeral(f"{math.ceil(math.exp(float(site.declared)) * 100) / 100:.2f}")
    return Told.of("sites.protection", count=site.records, factor=factor, epsilon=Numeral(site.declared))


def noise_sentence(site: NoisyCounts) -> str:
    """Return how the exact epsilon follows from the integers of the noise law.

    >>> from fairgauge.study import Attribute
    >>> counts = NoisyCounts(Attribute("sex", ["female", "male"]), "confusion", "1.5", records=2)
    >>> noise_sentence(counts).partition(", and ")[2]
    'one person moves the counts by 4 in sum: 4 × 3/8 = 3/2.'
    """
    decay, loss = Numeral(site.decay), Numeral(site.loss)
    return Told.of("sites.noise", decay=decay, moved=Numeral(site.moved), loss=loss)


def asks_sentence(site: NoisyCounts) -> str:
    """Return what a study for sites asks, of all that its counts tell.

    >>> from fairgauge.study import Attribute
    >>> asks_sentence(NoisyCounts(Attribute("sex", ["female", "male"]), "confusion", "1")).partition("rate or ")[2]
    'precision differ between female and male?'
    """
    first, *others = [metric.name for metric in site.metrics]
    told: str = first
    for number, name in enumerate(others, start=1):
        told = Told.of("list.or" if number == len(others) else "list.within", first=told, second=name)
    attribute = site.attribute
    if attribute.cross:
        by = tuple(factor.name for factor in attribute.cross)
        return Told.of("question.cross", count=len(attribute.groups), metric=told, attributes=by)
    return Told.of("question.differ", metric=told, groups=tuple(attribute.groups))


def outcome_sentence(site: NoisyCounts) -> str:
    """Return what a site counts, and who counts as one person."""
    if site.metric is None or site.levels is None:
        what = "whether the truth and the model's prediction are 0 or 1"
    else:
        what = f"the level of {site.metric.name} that is next to its value, one of {len(site.levels)}"
    most = "One record" if site.records == 1 else f"Up to {site.records} records"
    count = "counts" if site.records == 1 else "count"
    who = "" if site.person is None else f" One person is: {site.person.rstrip('.')}."
    return (
        f"Each site counted its records by {site.attribute.name}, and by {what}: {site.size} counts. "
        f"{most} of each person {count}.{who} Every record that counts, counts alike, in whichever site it is."
    )


def site_assumptions(site: NoisyCounts, kind: IntervalKind, particulars: Particulars) -> list[str]:
    """Return what has to be true for the numbers to be, where sites counted."""
    missing = "No number in this report can show whether sites that did not answer differ."
    if particulars.asked is not None:
        missing = f"{particulars.asked:,} sites were asked. If those that did not answer differ, it is not about them."
    most = "One record of each person counts" if site.records == 1 else f"{site.records} records of each person count"
    people = f"{most} at most, as far as sites tell people apart."
    once = "Tickets saw to the first. " if particulars.seal is not None else ""
    return [
        f"The intervals are about {kind.about}, at one look. {missing}",
        f"{people} Whoever is in two sites counts in both, and is protected by each of them separately.",
        "Records without a group or an outcome are left out: if they differ, the result is not about them.",
        (
            f"Each site answered once, counted what the study says, and added the noise that the study says. {once}"
            "Nothing shows whether a site made its counts up: one that did could move the result without limit."
        ),
        "What a site holds as the group, the truth and the prediction of a person is believed.",
    ]
