"""A study as people describe it, before its channels are designed."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from fairgauge.designs import AUTO
from fairgauge.errors import InvalidInput
from fairgauge.goals.goal import FEW
from fairgauge.goals.wish import Wish
from fairgauge.planning.asking import make_questions
from fairgauge.planning.crossing import Grouping, read_attribute
from fairgauge.planning.tables import served_together
from fairgauge.planning.typed import as_count, as_epsilon, read_by_metric, read_metric, read_model, read_weights
from fairgauge.study import Attribute, Study
from fairgauge.study.attribute import ANY


@dataclass(frozen=True)
class Draft:
    """What people type to make a study, as on the command line."""

    title: str
    groups: list[str]
    metrics: list[str]
    epsilon: str
    attribute: str = "group"
    target: str | None = None
    design: str = AUTO
    abstain: bool = False
    expect: tuple[str, ...] = ()
    spread: tuple[str, ...] = ()
    opens: str | None = None
    closes: str | None = None
    contact: str | None = None
    aim: str | None = None
    share_error: str | None = None
    share_source: str | None = None
    crosses: tuple[str, ...] = ()
    shares: Path | None = None
    compare: tuple[str, ...] = ()
    metric_weights: tuple[str, ...] = ()
    operator: str | None = None
    purpose: str | None = None
    model: str | None = None
    planned: str | None = None
    against: str | None = None
    weigh: tuple[str, ...] = ()
    symbols: int | None = None
    retention: int | None = None
    abstaining: float | None = None
    answering: str = ANY

    def wishes(self) -> list[Wish]:
        """Return what is asked for, one for each metric.

        Raises:
            InvalidInput: If something is typed wrong.
        """
        attribute = self._attribute()
        if not self.metrics:
            raise InvalidInput("metric", "none", "give at least one, such as recall:0:1")
        metrics = [read_metric(typed) for typed in self.metrics]
        weights = read_weights(metrics, self.metric_weights)
        expect, spread = (
            read_by_metric(field, metrics, typed) for field, typed in (("expect", self.expect), ("spread", self.spread))
        )
        may = self.abstain or self.abstaining is not None
        if self.symbols is not None and len(attribute.groups) <= FEW:
            raise InvalidInput("symbols", self.symbols, f"is for {FEW + 1} and more groups: others have the best table")
        wishes = [
            Wish(
                metric,
                attribute,
                self.target,
                may,
                expect.get(metric.name),
                spread.get(metric.name),
                weights.get(metric.name),
                self.abstaining,
                self.symbols,
            )
            for metric in metrics
        ]
        if self.metric_weights and not any(map(served_together, combinations(wishes, 2))):
            rule = "is for several metrics that can share a table: the gaps of two groups that answer alike"
            raise InvalidInput("metric-weight", ", ".join(self.metric_weights), rule)
        return wishes

    def _attribute(self) -> Attribute:
        return read_attribute(
            Grouping(
                self.groups,
                self.attribute,
                self.crosses,
                self.shares,
                self.compare,
                self.against,
                self.weigh,
                self.answering,
            ),
            share_error=self.share_error,
            share_source=self.share_source,
        )

    def study(self, *, progress: Callable[[str], object] = str) -> Study:
        """Design the channels, and return the study.

        Raises:
            InvalidInput: If something is typed wrong.
        """
        wishes = self.wishes()
        progress(", ".join(wish.metric.name for wish in wishes))
        planned = None if self.planned is None else as_count("planned", self.planned)
        questions = make_questions(wishes, as_epsilon(self.epsilon), design=self.design, clients=planned)
        study = Study(
            self.title,
            questions,
            opens=self.opens,
            closes=self.closes,
            contact=self.contact,
            aim=self.aim,
            operator=self.operator,
            purpose=self.purpose,
            model=None if self.model is None else read_model(self.model),
            planned=planned,
            retention=self.retention,
        )
        study.check_privacy()
        return study
