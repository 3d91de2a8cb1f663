"""A study as people describe it, before its channels are designed."""

from collections.abc import Callable
from dataclasses import dataclass

from fairgauge.designs import AUTO, make_channel
from fairgauge.errors import InvalidInput
from fairgauge.goals.goal import Goal
from fairgauge.planning.typed import Groups, read_epsilon, read_goal, read_groups, read_metric
from fairgauge.study import Metric, Question, Study


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
    expect: float | None = None
    opens: str | None = None
    closes: str | None = None
    contact: str | None = None

    def goals(self) -> list[tuple[Groups, Metric, Goal]]:
        """Return what each question shall estimate.

        Raises:
            InvalidInput: If something is typed wrong.
        """
        groups = read_groups(self.groups, self.attribute)
        if not self.metrics:
            raise InvalidInput("metric", "none", "give at least one, such as recall:0:1")
        metrics = [read_metric(typed) for typed in self.metrics]
        return [
            (groups, metric, read_goal(groups, metric, self.target, abstain=self.abstain, expect=self.expect))
            for metric in metrics
        ]

    def study(self, *, progress: Callable[[str], object] = str) -> Study:
        """Design the channels, and return the study.

        Raises:
            InvalidInput: If something is typed wrong.
        """
        loss, questions = read_epsilon(self.epsilon), []
        for groups, metric, goal in self.goals():
            progress(metric.name)
            name, channel = make_channel(goal, loss, design=self.design)
            questions.append(Question(metric, groups.attribute, goal.target, name, str(loss), channel))
        study = Study(self.title, tuple(questions), opens=self.opens, closes=self.closes, contact=self.contact)
        study.check_privacy()
        return study
