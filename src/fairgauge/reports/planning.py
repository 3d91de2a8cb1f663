"""What an epsilon costs and buys, while somebody chooses it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from markupsafe import Markup

from fairgauge.languages import MINUS, Label
from fairgauge.planning.choose_epsilon import no_study_sentence
from fairgauge.planning.rows import Parts, PlanPart, errors_for, parts_for, parts_of_study
from fairgauge.reports.figures import trade_figure
from fairgauge.reports.units import Unit, level_of, unit_of
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.target import Target, condition

_EPSILONS = [Decimal(text) for text in ("0.1", "0.25", "0.5", "1", "2")]


@dataclass(frozen=True)
class PlanView:
    """What so many answers would tell about one question.

    Args:
        title: The metric and the attribute.
        sentence: What the answers tell, and what one answer tells of a person.
        unit: In which units errors are.
        rows: Every comparison, or every group, with its error, the worst first; none where there is only one.
        heading: What the rows are.
        means: Beside comparisons, every group with the error of its mean; none where the table tells none.
        figure: The error for other epsilons; None for a study that is made.
    """

    title: str
    sentence: str
    unit: str
    rows: tuple[tuple[str, str], ...]
    heading: str
    means: tuple[tuple[str, str], ...] = ()
    figure: Markup | None = None
    means_heading: str = "mean of"

    @property
    def about_figure(self) -> str:
        """What the picture shows, to stand behind the sentence; empty where there is none."""
        worst = "worst " if self.rows else ""
        return f" The picture shows the {worst}error, in {self.unit}, for other epsilons." if self.figure else ""


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
    def least(self) -> float:
        """The error of what is told best."""
        return min((part.error for part in self.parts if part.error is not None), default=self.error)

    @property
    def unit(self) -> Unit:
        """Gaps are told in points; a mean of 0.8 stays 0.8."""
        return unit_of(self.metric) if self.target == "gap" else level_of(self.metric)

    def view(self, figure: Markup | None = None) -> PlanView:
        unit, several = self.unit, len(self.parts) > 1
        level = level_of(self.metric)
        rows = [(_name(part), unit.of(part.error or 0, "±")) for part in self.parts]
        means = [(_name(part), level.of(part.error or 0, "±")) for part in self.told.means]
        return PlanView(
            title=f"{Label(self.metric.name)} by {Label(self.attribute.name)}",
            sentence=self.sentence(),
            unit=unit.name or "the metric's units",
            rows=tuple(rows) if several else (),
            heading="comparison" if self.target == "gap" else "mean of",
            means=tuple(means) if several else (),
            figure=figure,
        )

    def sentence(self) -> str:
        """Return what so many answers tell: the worst and the best of several, never only one."""
        shared = f", shared by {self.questions} questions," if self.questions > 1 else ""
        if_so = condition(Target(self.attribute.reckoned_shares, ratio=self.attribute.ratio))
        known = f"give {self._what()} (99 % confidence){f', {if_so}' if if_so else ''}."
        told = f"With epsilon {self.epsilon}, {self.clients:,} answers{shared} {known}"
        tells_nothing = no_study_sentence(self.clients, self.error, self.metric, self.parts)
        if self.attribute.share_error is not None:
            told += f" It allows for shares that are off by {self.attribute.share_error}."
            # How many clients it takes does not follow from the square root then.
            tells_nothing = None if tells_nothing is None else "So few answers, or shares so uncertain, tell little."
        if tells_nothing is not None:
            told = tells_nothing if self.least >= 2 * self.metric.scale else f"{told} {tells_nothing}"
        if self.told.about_means is not None:
            told += f" {self.told.about_means}"
        factor = math.ceil(math.exp(self.epsilon) * 100) / 100
        return f"{told} Whoever sees an answer can change their odds about a person by at most a factor {factor:.2f}."

    def _what(self) -> str:
        if len(self.parts) < 2:
            what = "the gap" if self.target == "gap" else "each group's mean"
            return f"{what} to about ±{self.unit.of(self.error)}"
        worst, best = self.parts[0], self.parts[-1]
        said = [f"{_name(part)} to about ±{self.unit.of(part.error or 0)}" for part in (worst, best)]
        means = "" if self.target == "gap" else "each group's mean: "
        return f"{means}{said[0]} at worst, {said[1]} at best"


def plan_views(questions: Sequence[Question], epsilon: Decimal, clients: int) -> list[PlanView]:
    """Return what so many answers would tell, for the chosen epsilon and for others."""
    parts = parts_for(questions, epsilon, clients=clients)
    errors = errors_for(questions, sorted({*_EPSILONS, epsilon}), clients=clients)
    found = []
    for question, part, points in zip(questions, parts, errors, strict=True):
        told = _Told(
            question.metric,
            question.attribute,
            question.target,
            epsilon,
            clients,
            len(questions),
            part,
            dict(points)[float(epsilon)],
        )
        figure = trade_figure(_drawn(points, told.unit), float(epsilon), description=told.sentence())
        found.append(told.view(figure))
    return found


def study_views(study: Study, clients: int) -> list[PlanView]:
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
        ).view()
        for question, found in zip(study.questions, parts, strict=True)
    ]


def _name(part: PlanPart) -> str:
    return f" {MINUS} ".join(part.groups)


def _drawn(points: Sequence[tuple[float, float]], unit: Unit) -> list[tuple[float, float]]:
    return [(epsilon, error * unit.factor) for epsilon, error in points]
