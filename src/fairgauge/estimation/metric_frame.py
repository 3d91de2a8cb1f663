r"""A frame of metrics by group with the names that Fairlearn's ``MetricFrame`` has, filled from private answers.

Fairlearn reads everyone's label, prediction and group.  Here there is only a tally, so the numbers come with intervals
from the channel itself instead of a bootstrap, and where a study does not tell a number there is a sentence.

The largest, the smallest and the ratio are about all groups at once.  If the intervals of d means hold together, so
does whatever follows from them, and each at :math:`1 - \alpha/d` makes all hold at :math:`1 - \alpha`:

.. math:: \min_g m_g \in \Big[\min_g low_g,\ \min_g high_g\Big]

and so for the largest, for the largest difference, and for the ratio of any two positive means.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, singledispatch
from typing import TYPE_CHECKING, Literal

from fairgauge.channel import Channel
from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.estimation.frame_numbers import (
    checked_method,
    gaps_to_overall,
    largest_gap,
    means_of,
    means_to_overall,
    of_groups,
    overall_of,
    ratio_of_groups,
    ratio_to_overall,
    stated_shares,
)
from fairgauge.estimation.kinds import DEFAULT
from fairgauge.estimation.parity import Parity
from fairgauge.estimation.ratios import over
from fairgauge.estimation.reading import estimate
from fairgauge.estimation.result import Estimate, QuestionEstimate
from fairgauge.estimation.sites.fairlearn import estimate_by_names, fairlearn_metrics
from fairgauge.estimation.values import Interval
from fairgauge.lazy import late
from fairgauge.study import Mechanism, NoisyCounts, Question, Study
from fairgauge.study.checks import check_arguments
from fairgauge.tallies import Tally

if TYPE_CHECKING:
    import pandas as pd

Method = Literal["between_groups", "to_overall"]
Frames = tuple["pd.DataFrame", "pd.DataFrame", "pd.DataFrame"]
Columns = tuple["pd.Series[float]", "pd.Series[float]", "pd.Series[float]"]


class PrivateMetricFrame(Parity):
    """Metrics by group from a study and its tally, in the shapes of a ``MetricFrame`` of several metrics.

    ``overall``, ``difference()`` and the like are a series with an entry for each metric, ``by_group`` is a frame with
    a column for each metric and a row for each group, also where there is one metric.  What ends in ``_ci`` is a list
    of two of these, the low and the high end.

    Guarantee: each ``_ci`` holds the truth with the stated confidence, as the chosen interval does
    (:mod:`fairgauge.estimation.kinds`), for each metric by itself.

    In a study for sites the metrics have the names of Fairlearn's and scikit-learn's functions: ``selection_rate``,
    ``accuracy_score``, ``true_positive_rate``, ``false_positive_rate`` and ``precision_score``.

    Args:
        study: The study, for devices or for sites.
        tally: The count of every symbol, or the sums of what sites counted.
        confidence: How often an interval is to hold the truth.
        interval: The kind of interval, as for :func:`fairgauge.estimation.reading.estimate`.
        attribute: The attribute to group by, where the study asks about several.
        metrics: The names of the metrics to show; all of them unless given.

    Raises:
        BadTally: If the tally is of another study.
        CannotEstimate: From every number that the study or the answers do not tell, in one sentence and why.
        InvalidInput: If an argument is out of range.
        MissingExtra: If pandas is not installed.
    """

    def __init__(  # noqa: PLR0913 - Fairlearn's name for the last, and what it is made of
        self,
        study: Study,
        tally: Tally,
        *,
        confidence: float = 0.99,
        interval: str = DEFAULT,
        attribute: str | None = None,
        metrics: Sequence[str] | None = None,
    ) -> None:
        try:
            import pandas  # noqa: F401 - asked for here, so that a missing extra is one sentence
        except ImportError:
            raise MissingExtra("a metric frame needs pandas", "lab") from None
        check_arguments(study=(study, Study), tally=(tally, Tally))
        attribute = _attribute(study, attribute)
        self._study, self._tally = study, tally
        self._confidence, self._interval, self._attribute = confidence, interval, attribute
        self._questions = _asked(study.mechanism, study, attribute, metrics)
        # Fairlearn sorts the groups.
        self._groups = sorted(self._questions[0][1].attribute.groups)
        self._known: dict[int, Estimate] = {}
        self._estimate = self._at(1)

    _repr_html_ = late("_repr_html_")
    plot = late("plot")

    @property
    def result(self) -> Estimate:
        """The estimate that it shows, of the attribute that it groups by."""
        kept = self._found(self._estimate)
        return replace(
            self._estimate, questions=tuple(each for _, each in kept), asked=tuple(question for question, _ in kept)
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per number, with its interval, as :meth:`Estimate.to_frame` does."""
        return self.result.to_frame()

    @property
    def ci_quantiles(self) -> list[float]:
        """The ends of the intervals: how often the truth is to be below each, at most and at least."""
        alpha = 1 - self._confidence
        return [alpha / 2, 1 - alpha / 2]

    @property
    def sensitive_levels(self) -> list[str]:
        """The attribute's name, in a list."""
        return [self._attribute]

    @property
    def control_levels(self) -> None:
        """There are none: a study has no control features."""
        return

    @property
    def epsilon(self) -> float:
        """The exact privacy loss of each person who answered, or whose records a site counted."""
        return self._study.epsilon

    @property
    def n_answers(self) -> "pd.Series[int]":
        """How many answered each metric's question: people, each of whom answers one, or sites."""
        import pandas as pd

        found = self._found(self._estimate)
        return pd.Series([each.answers for _, each in found], [question.metric.name for question, _ in found])

    @property
    def group_share(self) -> "pd.DataFrame":
        """Each group's share of those who answered: as the study states it, or else as the answers tell it."""
        return self._shares[0]

    @property
    def group_share_ci(self) -> "list[pd.DataFrame]":
        """The intervals of ``group_share``; a share that the study states is as wide as the error it states."""
        return list(self._shares[1:])

    @property
    def overall(self) -> "pd.Series[float]":
        """Each metric's mean over everyone who answered."""
        return self._overall[0]

    @property
    def overall_ci(self) -> "list[pd.Series[float]]":
        """The intervals of ``overall``."""
        return list(self._overall[1:])

    @property
    def by_group(self) -> "pd.DataFrame":
        """Each metric's mean in each group."""
        return self._by_group[0]

    @property
    def by_group_ci(self) -> "list[pd.DataFrame]":
        """The intervals of ``by_group``, each by itself."""
        return list(self._by_group[1:])

    def group_min(self) -> "pd.Series[float]":
        """Return the smallest mean of any group."""
        return self._smallest[0]

    def group_min_ci(self) -> "list[pd.Series[float]]":
        """Return the interval of ``group_min``."""
        return list(self._smallest[1:])

    def group_max(self) -> "pd.Series[float]":
        """Return the largest mean of any group."""
        return self._largest[0]

    def group_max_ci(self) -> "list[pd.Series[float]]":
        """Return the interval of ``group_max``."""
        return list(self._largest[1:])

    def difference(self, method: Method = "between_groups") -> "pd.Series[float]":
        """Return the largest absolute difference between two groups, or between a group and everyone.

        A study whose target is the gap tells the first without telling any group's mean.
        """
        return self._difference(method)[0]

    def difference_ci(self, method: Method = "between_groups") -> "list[pd.Series[float]]":
        """Return the interval of ``difference``."""
        return list(self._difference(method)[1:])

    def ratio(self, method: Method = "between_groups") -> "pd.Series[float]":
        """Return the smallest ratio between two groups, or between a group and everyone; at most 1."""
        return self._ratio(method)[0]

    def ratio_ci(self, method: Method = "between_groups") -> "list[pd.Series[float]]":
        """Return the interval of ``ratio``."""
        return list(self._ratio(method)[1:])

    def __repr__(self) -> str:
        metrics = ", ".join(question.metric.name for _, question in self._questions)
        answers = self._tally.contributors
        return f"PrivateMetricFrame({metrics} by {self._attribute}, {answers:,} answers)"

    def _at(self, together: int) -> Estimate:
        """Return the estimate whose intervals hold together, if so many of them are to."""
        if together not in self._known:
            confidence = 1 - (1 - self._confidence) / together
            self._known[together] = self._made(confidence)
        return self._known[together]

    def _made(self, confidence: float) -> Estimate:
        asked = [question for _, question in self._questions]
        return _estimated(self._study.mechanism, self._study, self._tally, asked, (confidence, self._interval))

    def _together(self, names: Sequence[str], together: int) -> list[tuple[Question, QuestionEstimate]]:
        """Return what was found of metrics, where so many intervals are to hold together."""
        known = [question.metric.name for _, question in self._questions]
        for name in names:
            if name not in known:
                raise InvalidInput("metric", name, f"must be one of {', '.join(known)}")
        found = {question.metric.name: (question, each) for question, each in self._found(self._at(together))}
        return [found[name] for name in dict.fromkeys(names)]

    @property
    def _sides(self) -> int:
        return len(self._groups)

    def _found(self, found: Estimate) -> list[tuple[Question, QuestionEstimate]]:
        return [(question, found.questions[index]) for index, question in self._questions]

    @cached_property
    def _means_together(self) -> Estimate:
        """The estimate in which the means of all groups and the overall mean hold together."""
        return self._at(len(self._groups) + 1)

    @cached_property
    def _shares(self) -> Frames:
        first = self._found(self._estimate)[0][1]

        def shares(question: Question, found: QuestionEstimate) -> dict[str, Interval]:
            known = stated_shares(question)
            told = _with_shares(question.mechanism, found, first)
            return of_groups(found, told.shares, "each group's share") if known is None else known

        return self._frames(shares)

    @cached_property
    def _overall(self) -> Columns:
        return self._columns(lambda _, found: overall_of(found), self._estimate)

    @cached_property
    def _by_group(self) -> Frames:
        return self._frames(lambda _, found: means_of(found))

    @cached_property
    def _smallest(self) -> Columns:
        return self._columns(lambda _, found: over(min, means_of(found).values()), self._at(len(self._groups)))

    @cached_property
    def _largest(self) -> Columns:
        return self._columns(lambda _, found: over(max, means_of(found).values()), self._at(len(self._groups)))

    def _difference(self, method: Method) -> Columns:
        if checked_method(method) == "between_groups":
            return self._columns(lambda _, found: largest_gap(found), self._estimate)
        shares = stated_shares(self._questions[0][1])
        if shares is None:
            return self._columns(lambda _, found: means_to_overall(found), self._means_together)
        return self._columns(lambda _, found: gaps_to_overall(shares, found), self._estimate)

    def _ratio(self, method: Method) -> Columns:
        of = ratio_of_groups if checked_method(method) == "between_groups" else ratio_to_overall
        return self._columns(of, self._at(len(self._groups)) if of is ratio_of_groups else self._means_together)

    def _columns(self, of: Callable[[Question, QuestionEstimate], Interval], found: Estimate) -> Columns:
        import pandas as pd

        intervals = {question.metric.name: of(question, each) for question, each in self._found(found)}
        estimates, lows, highs = (
            pd.Series({name: getattr(interval, end) for name, interval in intervals.items()}, dtype=float)
            for end in ("estimate", "low", "high")
        )
        return estimates, lows, highs

    def _frames(self, of: Callable[[Question, QuestionEstimate], dict[str, Interval]]) -> Frames:
        import pandas as pd

        intervals = {question.metric.name: of(question, each) for question, each in self._found(self._estimate)}
        index = pd.Index(self._groups, name=self._attribute)
        estimates, lows, highs = (
            pd.DataFrame({name: [getattr(column[g], end) for g in index] for name, column in intervals.items()}, index)
            for end in ("estimate", "low", "high")
        )
        return estimates, lows, highs


def _attribute(study: Study, wanted: str | None) -> str:
    """Return the attribute to group by."""
    known = sorted({question.attribute.name for question in study.questions})
    attribute = known[0] if wanted is None and len(known) == 1 else wanted
    if attribute not in known:
        raise InvalidInput("attribute", attribute, f"must be one of {', '.join(known)}")
    return attribute


@singledispatch
def _estimated(
    mechanism: Mechanism, study: Study, tally: Tally, asked: list[Question], terms: tuple[float, str]
) -> Estimate:
    """Return an estimate in which these questions are, at a confidence and with a kind of interval."""
    raise NotImplementedError


@_estimated.register
def _(_: Channel, study: Study, tally: Tally, _asked: list[Question], terms: tuple[float, str]) -> Estimate:
    return estimate(study, tally, confidence=terms[0], interval=terms[1])


@_estimated.register
def _(_: NoisyCounts, study: Study, tally: Tally, asked: list[Question], terms: tuple[float, str]) -> Estimate:
    return estimate_by_names(study, tally, asked, confidence=terms[0], interval=terms[1])


@singledispatch
def _with_shares(mechanism: Mechanism, found: QuestionEstimate, first: QuestionEstimate) -> QuestionEstimate:
    """Return the question whose estimate has the groups' shares."""
    raise NotImplementedError


@_with_shares.register
def _(_: Channel, found: QuestionEstimate, _first: QuestionEstimate) -> QuestionEstimate:
    return found


@_with_shares.register
def _(_: NoisyCounts, _found: QuestionEstimate, first: QuestionEstimate) -> QuestionEstimate:
    return first  # all metrics come from the same counts


@singledispatch
def _asked(
    mechanism: Mechanism, study: Study, attribute: str, metrics: Sequence[str] | None
) -> list[tuple[int, Question]]:
    """Return the questions to show, each with its place in the estimate."""
    raise NotImplementedError


@_asked.register
def _(
    mechanism: NoisyCounts, _study: Study, _attribute: str, metrics: Sequence[str] | None
) -> list[tuple[int, Question]]:
    return list(enumerate(fairlearn_metrics(mechanism, metrics)))


@_asked.register
def _(_: Channel, study: Study, attribute: str, metrics: Sequence[str] | None) -> list[tuple[int, Question]]:
    found = [(index, asked) for index, asked in enumerate(study.questions) if asked.attribute.name == attribute]
    known = [asked.metric.name for _, asked in found]
    for name in metrics or ():
        if name not in known:
            raise InvalidInput("metrics", name, f"must be of {', '.join(known)}")
    return [(index, asked) for index, asked in found if metrics is None or asked.metric.name in metrics]
