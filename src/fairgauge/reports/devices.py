"""Sentences about studies for devices of one person each."""

import math

from fairgauge.estimation import Estimate
from fairgauge.languages import Numeral, Told
from fairgauge.reports.particulars import Particulars
from fairgauge.study import Question, Study


def question_sentence(question: Question) -> str:
    """Return what a question asks."""
    metric, attribute = question.metric.name, question.attribute
    if attribute.cross:
        by = tuple(factor.name for factor in attribute.cross)
        return Told.of("question.cross", count=len(attribute.groups), metric=metric, attributes=by)
    return Told.of("question.differ", metric=metric, groups=tuple(attribute.groups))


def odds_sentence(question: Question) -> str:
    """Return what a question's privacy means to a person."""
    epsilon = question.mechanism.epsilon
    if math.isinf(epsilon):
        return Told.of("odds.no-privacy")
    factor = Numeral(f"{math.ceil(math.exp(epsilon) * 100) / 100:.2f}")
    names = (*(one.name for one in question.attribute.factors), question.metric.name)
    return Told.of("odds.sentence", about=tuple(Told.of("privacy.your", name=name) for name in names), factor=factor)


def privacy_sentence(question: Question) -> str:
    """Return what a question's privacy means to a person, to stand behind a colon."""
    said = odds_sentence(question)
    return said[0].lower() + said[1:-1]


def exact_epsilon(epsilon: float) -> str:
    """Return an epsilon rounded up to six digits, so that what is shown is never too good."""
    if math.isinf(epsilon):
        return Told.of("odds.infinite")
    scaled = 10.0 ** (5 - math.floor(math.log10(epsilon))) if epsilon > 0 else 1.0
    return Numeral(f"{math.ceil(round(epsilon * scaled, 6)) / scaled:.6g}")


def device_assumptions(study: Study, estimate: Estimate, particulars: Particulars) -> list[str]:
    """Return what has to be true for the numbers to be, where devices answered; what is checked is said to be."""
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
