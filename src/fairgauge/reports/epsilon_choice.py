"""What an epsilon costs and buys, while somebody chooses it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from markupsafe import Markup

from fairgauge.languages import PLAIN, Numeral, Sentence, Voice
from fairgauge.planning.choose_epsilon import GOOD, NO_STUDY, enough
from fairgauge.planning.plan_parts import Parts, PlanPart, errors_for, parts_for, parts_of_study
from fairgauge.reports.figures import trade_figure
from fairgauge.reports.question_view import naming, title_of
from fairgauge.reports.small_multiples import minus
from fairgauge.reports.units import Unit, level_of, part_of_hundred, unit_of
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.target import Target

_EPSILONS = [Decimal(text) for text in ("0.1", "0.25", "0.5", "1", "2")]


@dataclass(frozen=True)
class PlanView:
    """What so many answers would tell about one question.

    Args:
        title: The metric and the attribute.
        sentence: What the answers tell, and what one answer tells of a person.
        rows: Every comparison, or every group, with its error, the worst first; none where there is only one.
        heading: What the rows are.
        means: Beside comparisons, every group with the error of its mean; none where the table tells none.
        means_heading: What those are.
        figure: The error for other epsilons; None for a study that is made.
        about_figure: What it shows, to stand behind the sentence; empty where there is none.
    """

    title: str
    sentence: str
    rows: tuple[tuple[str, str], ...]
    heading: str
    means: tuple[tuple[str, str], ...]
    means_heading: str
    figure: Markup | None
    about_figure: str


@dataclass(frozen=True)
class _Told:
    """What is told of one question: its metric, and what each of its numbers will be known to."""

    metric: Metric
    attribute: Attribute
    target: str
    epsilon: Decimal
    clients: int
    questions: int
    told: Parts
    error: float

    @property
    def parts(self) -> tuple[PlanPart, ...]:
        """What each comparison, or each group's mean, will be known to."""
        return self.told.parts

    @property
    def unit(self) -> Unit:
        """Gaps are told in points; a mean of 0.8 stays 0.8."""
        return unit_of(self.metric) if self.target == "gap" else level_of(self.metric)

    def view(self, voice: Voice, points: Sequence[tuple[float, float]] = ()) -> PlanView:
        """Return what to show of it, with a picture of the error at other epsilons if these are given."""
        several, sentence, about, figure = len(self.parts) > 1, voice.tell(self.sentence()), "", None
        if points:
            unit = self.unit.name or Sentence.of("plan.own-unit")
            about = voice.tell(Sentence.of("plan.picture-worst" if several else "plan.picture", unit=unit))
            drawn = [(epsilon, error * self.unit.factor) for epsilon, error in points]
            figure = trade_figure(drawn, float(self.epsilon), description=sentence, voice=voice)
        mean_of = voice.say("plan.mean-of")
        return PlanView(
            title=voice.tell(title_of(self.metric, self.attribute)),
            sentence=sentence,
            rows=self._rows(self.parts, self.unit, voice) if several else (),
            heading=voice.say("plan.comparison") if self.target == "gap" else mean_of,
            means=self._rows(self.told.means, level_of(self.metric), voice) if several else (),
            means_heading=mean_of,
            figure=figure,
            about_figure=about,
        )

    def _rows(self, parts: Sequence[PlanPart], unit: Unit, voice: Voice) -> tuple[tuple[str, str], ...]:
        return tuple((voice.named(_name(part)), voice.tell(unit.of(part.error or 0, "±"))) for part in parts)

    def sentence(self) -> str:
        """Return what so many answers tell: the worst and the best of several, never only one."""
        told = partial(Sentence.of, epsilon=Numeral(self.epsilon), answers=self.clients, what=self._what())
        key, shared = ("plan.told-shared", {"questions": self.questions}) if self.questions > 1 else ("plan.told", {})
        said, nothing = [self._if_so(told(key, sure=part_of_hundred(0.99), **shared))], self._nothing()
        if self.attribute.share_error is not None:
            said.append(Sentence.of("plan.off", error=Numeral(self.attribute.share_error)))
            # How many clients it takes does not follow from the square root then.
            nothing = [Sentence.of("plan.little-off")] if nothing else []
        least = min((part.error for part in self.parts if part.error is not None), default=self.error)
        said = nothing if nothing and least >= 2 * self.metric.scale else said + nothing
        if self.told.about_means is not None:
            said.append(self.told.about_means)
        factor = math.ceil(math.exp(self.epsilon) * 100) / 100
        return Sentence.together([*said, Sentence.of("plan.odds", factor=Numeral(f"{factor:.2f}"))])

    def _if_so(self, said: str) -> str:
        """Return a sentence with what is assumed of how often groups answer."""
        target = Target(self.attribute.reckoned_shares, ratio=self.attribute.ratio)
        if target.most_ratio == math.inf:
            return said
        if target.most_ratio == 1:
            return Sentence.of("plan.if-all", said=said)
        return Sentence.of("plan.if-ratio", said=said, ratio=Numeral(f"{target.most_ratio:g}"))

    def _nothing(self) -> list[str]:
        """Return that so few answers tell next to nothing, and how many would; nothing where they tell something."""
        reach = 2 * self.metric.scale
        if self.error < NO_STUDY * reach:
            return []
        best = min((part.error for part in self.parts if part.error is not None), default=self.error)
        if best < NO_STUDY * reach:
            found = Sentence.of("plan.part", name=_name(self.parts[0]))
        elif self.error >= reach:
            found = Sentence.of("plan.nothing", answers=self.clients)
        else:
            found = Sentence.of("plan.little", error=self.unit.of(self.error, "±"))
        good = GOOD * reach
        needed = enough(self.clients, self.error, good)
        return [found, Sentence.of("plan.takes", error=self.unit.of(good, "±"), needed=needed)]

    def _what(self) -> str:
        if len(self.parts) < 2:
            return Sentence.of("plan.gap" if self.target == "gap" else "plan.mean", error=self.unit.of(self.error, "±"))
        worst, best = self.parts[0], self.parts[-1]
        most, least = (self.unit.of(part.error or 0, "±") for part in (worst, best))
        ends = Sentence.of("plan.ends", worst=_name(worst), most=most, best=_name(best), least=least)
        return ends if self.target == "gap" else Sentence.of("plan.means-ends", ends=ends)


def plan_views(questions: Sequence[Question], epsilon: Decimal, clients: int, voice: Voice = PLAIN) -> list[PlanView]:
    """Return what so many answers would tell, for the chosen epsilon and for others."""
    parts = parts_for(questions, epsilon, clients=clients)
    errors = errors_for(questions, sorted({*_EPSILONS, epsilon}), clients=clients)
    found = []
    for question, part, points in zip(questions, parts, errors, strict=True):
        own = (question.metric, question.attribute, question.target)
        told = _Told(*own, epsilon, clients, len(questions), part, dict(points)[float(epsilon)])
        found.append(told.view(voice, points))
    return found


def study_views(study: Study, clients: int, voice: Voice = PLAIN) -> list[PlanView]:
    """Return what so many answers to a study would tell whose tables are made."""
    parts = parts_of_study(study, clients=clients)
    return [
        _Told(
            question.metric,
            question.attribute,
            question.target,
            Decimal(question.epsilon),
            clients,
            len(study.questions),
            found,
            max((part.error or 0 for part in found.parts), default=math.inf),
        ).view(naming(study, question, voice))
        for question, found in zip(study.questions, parts, strict=True)
    ]


def _name(part: PlanPart) -> str:
    first, *other = part.groups
    return minus(first, other[0]) if other else first
