"""Sentences about studies for devices of one person each."""

import math
from functools import reduce

from fairgauge.estimation import Estimate
from fairgauge.languages import Label, Numeral, Sentence
from fairgauge.reports.provenance import Provenance
from fairgauge.reports.units import part_of
from fairgauge.study import Attribute, Question, Study


def question_sentence(question: Question) -> str:
    """Return what a question asks."""
    metric, attribute = Label(question.metric.name), question.attribute
    if attribute.cross:
        by = tuple(Label(factor.name) for factor in attribute.cross)
        return Sentence.of("question.cross", count=len(attribute.groups), metric=metric, attributes=by)
    return Sentence.of("question.differ", metric=metric, groups=tuple(attribute.groups))


def odds_sentence(question: Question) -> str:
    """Return what a question's privacy means to a person."""
    epsilon = question.mechanism.epsilon
    if math.isinf(epsilon):
        return Sentence.of("odds.no-privacy")
    factor = Numeral(f"{math.ceil(math.exp(epsilon) * 100) / 100:.2f}")
    names = (*(one.name for one in question.attribute.factors), question.metric.name)
    return Sentence.of(
        "odds.sentence", about=tuple(Sentence.of("privacy.your", name=Label(name)) for name in names), factor=factor
    )


def privacy_sentence(question: Question) -> str:
    """Return what a question's privacy means to a person, to stand behind a colon."""
    said = odds_sentence(question)
    return said[0].lower() + said[1:-1]


def exact_epsilon(epsilon: float) -> str:
    """Return an epsilon rounded up to six digits, so that what is shown is never too good."""
    if math.isinf(epsilon):
        return Sentence.of("odds.infinite")
    scaled = 10.0 ** (5 - math.floor(math.log10(epsilon))) if epsilon > 0 else 1.0
    return Numeral(f"{math.ceil(round(epsilon * scaled, 6)) / scaled:.6g}")


def device_assumptions(study: Study, estimate: Estimate, particulars: Provenance) -> list[str]:
    """Return what has to be true for the numbers to be, where devices answered; what is checked is said to be."""
    looks = Sentence.of("rests.every-look" if "every look" in estimate.kind.guarantee else "rests.one-look")
    found = [_about_clients(study, estimate, particulars)]
    found += dict.fromkeys(_about_shares(question) for question in study.questions)
    honest = "rests.honest-tickets" if study.admission in ("tickets", "blind") else "rests.honest"
    found += [
        Sentence.of("rests.about", about=Sentence.of("rests.of-clients"), looks=looks),
        *map(Sentence.of, (honest, "rests.measured", "rests.table")),
    ]
    return found


def _about_clients(study: Study, estimate: Estimate, particulars: Provenance) -> str:
    answered = sum(question.answers for question in estimate.questions)
    within = any(question.attribute.known_shares is None for question in study.questions)
    drawn = Sentence.of("rests.drawn-within" if within else "rests.drawn")
    if particulars.asked is not None and answered < particulars.asked:
        return Sentence.together([drawn, Sentence.of("rests.part", part=part_of(1 - answered / particulars.asked))])
    return Sentence.together([drawn, Sentence.of("rests.unknown")])


def shares_told(attribute: Attribute) -> str:
    """Return the shares that a study states, as a list."""
    each = [
        Sentence.of("report.share", group=group, share=Numeral(share))
        for group, share in zip(attribute.groups, attribute.shares or (), strict=True)
    ]
    key = "list.apart" if attribute.cross else "list.within"
    return reduce(lambda said, one: Sentence.of(key, first=said, second=one), each)


def _about_shares(question: Question) -> str:
    attribute, about = question.attribute, {"attribute": Label(question.attribute.name)}
    if attribute.shares is None:
        return Sentence.of("rests.estimated", **about)
    shares = shares_told(attribute)
    given = attribute.share_source
    source = Sentence.of("rests.no-source") if given is None else Sentence.of("shares.source", source=given.rstrip("."))
    if 1 < attribute.ratio < math.inf:
        said = [Sentence.of("rests.ratio", ratio=Numeral(attribute.answering or ""), shares=shares, **about)]
        if attribute.share_error is not None:
            said.append(Sentence.of("rests.off", error=Numeral(attribute.share_error)))
        return Sentence.together([*said, source])
    if attribute.known_shares is None:
        return Sentence.together(
            [Sentence.of("rests.estimated", **about), Sentence.of("rests.helped", shares=shares), source]
        )
    if attribute.share_error is not None:
        error = Numeral(attribute.share_error)
        return Sentence.together([Sentence.of("rests.known-to", error=error, shares=shares, **about), source])
    return Sentence.together([Sentence.of("rests.exact", shares=shares, **about), source, Sentence.of("rests.wrong")])
