r"""A frame of metrics by group with the names that Fairlearn's ``MetricFrame`` has, filled from private answers.

Fairlearn reads everyone's label, prediction and group.  Here there is only a tally, so the numbers come with intervals
from the channel itself instead of a bootstrap, and where a study does not tell a number there is a sentence.

The largest, the smallest and the ratio are about all groups at once.  If the intervals of d means hold together, so
does whatever follows from them, and each at :math:`1 - \alpha/d` makes all hold at :math:`1 - \alpha`:

.. math:: \min_g m_g \in \Big[\min_g low_g,\ \min_g high_g\Big]

and so for the largest, for the largest difference, and for the ratio of any two positive means.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.estimation.kinds import DEFAULT
from fairgauge.estimation.ratios import at_most_one, over
from fairgauge.estimation.reading import estimate
from fairgauge.estimation.result import Estimate, QuestionEstimate
from fairgauge.estimation.values import Interval
from fairgauge.lazy import above
from fairgauge.study import Question, Study
from fairgauge.study.checks import check_arguments
from fairgauge.tallies import Tally

if TYPE_CHECKING:
    import pandas as pd

Method = Literal["between_groups", "to_overall"]
Frames = tuple["pd.DataFrame", "pd.DataFrame", "pd.DataFrame"]
Columns = tuple["pd.Series[float]", "pd.Series[float]", "pd.Series[float]"]


class PrivateMetricFrame:
    """Metrics by group from a study and its tally, in the shapes of a ``MetricFrame`` of several metrics.

    ``overall``, ``difference()`` and the like are a series with an entry for each metric, ``by_group`` is a frame with
    a column for each metric and a row for each group, also where there is one metric.  What ends in ``_ci`` is a list
    of two of these, the low and the high end.

    Guarantee: each ``_ci`` holds the truth with the stated confidence, as the chosen interval does
    (:mod:`fairgauge.estimation.kinds`), for each metric by itself.

    Args:
        study: The study.
        tally: The count of every symbol.
        confidence: How often an interval is to hold the truth.
        interval: The kind of interval, as for :func:`fairgauge.estimation.reading.estimate`.
        attribute: The attribute to group by, where the study asks about several.

    Raises:
        BadTally: If the tally is of another study.
        CannotEstimate: From every number that the study or the answers do not tell, in one sentence and why.
        InvalidInput: If an argument is out of range.
        MissingExtra: If pandas is not installed.
    """

    def __init__(
        self,
        study: Study,
        tally: Tally,
        *,
        confidence: float = 0.99,
        interval: str = DEFAULT,
        attribute: str | None = None,
    ) -> None:
        try:
            import pandas  # noqa: F401 - asked for here, so that a missing extra is one sentence
        except ImportError:
            raise MissingExtra("a metric frame needs pandas", "lab") from None
        check_arguments(study=(study, Study), tally=(tally, Tally))
        asked = sorted({question.attribute.name for question in study.questions})
        attribute = asked[0] if attribute is None and len(asked) == 1 else attribute
        if attribute not in asked:
            raise InvalidInput("attribute", attribute, f"must be one of {', '.join(asked)}")
        self._study, self._tally = study, tally
        self._confidence, self._interval, self._attribute = confidence, interval, attribute
        self._questions = [
            (index, question) for index, question in enumerate(study.questions) if question.attribute.name == attribute
        ]
        # Fairlearn sorts the groups.
        self._groups = sorted(self._questions[0][1].attribute.groups)
        self._estimate = self._at(1)

    _repr_html_ = above("fairgauge.reports.notebook", "frame_html")
    plot = above("fairgauge.reports.plots", "plot_frame")

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
        """The exact privacy loss of each person who answered."""
        return self._study.epsilon

    @property
    def n_answers(self) -> "pd.Series[int]":
        """How many answered each metric's question; a person answers one question of a study."""
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

    def equalized_odds_difference(self, tpr: str, fpr: str) -> float:
        """Return the larger of the largest differences in the true and in the false positive rate (Fairlearn's)."""
        return self._equalized_odds(tpr, fpr).estimate

    def equalized_odds_difference_ci(self, tpr: str, fpr: str) -> list[float]:
        """Return the interval of ``equalized_odds_difference``: all gaps of both metrics hold together in it.

        Args:
            tpr: The name of the metric that is the true positive rate, or recall.
            fpr: The name of the metric that is the false positive rate.
        """
        found = self._equalized_odds(tpr, fpr)
        return [found.low, found.high]

    def _equalized_odds(self, tpr: str, fpr: str) -> Interval:
        names = [question.metric.name for _, question in self._questions]
        for field, name in (("tpr", tpr), ("fpr", fpr)):
            if name not in names:
                raise InvalidInput(field, name, f"must be one of {', '.join(names)}")
        both = {question.metric.name: found for question, found in self._found(self._at(2))}
        return over(max, [_largest_gap(both[name]) for name in dict.fromkeys((tpr, fpr))])

    def ratio(self, method: Method = "between_groups") -> "pd.Series[float]":
        """Return the smallest ratio between two groups, or between a group and everyone; at most 1."""
        return self._ratio(method)[0]

    def ratio_ci(self, method: Method = "between_groups") -> "list[pd.Series[float]]":
        """Return the interval of ``ratio``."""
        return list(self._ratio(method)[1:])

    def __repr__(self) -> str:
        metrics = ", ".join(question.metric.name for _, question in self._questions)
        return f"PrivateMetricFrame({metrics} by {self._attribute}, {self._tally.total:,} answers)"

    def _at(self, together: int) -> Estimate:
        """Return the estimate whose intervals hold together, if so many of them are to."""
        confidence = 1 - (1 - self._confidence) / together
        return estimate(self._study, self._tally, confidence=confidence, interval=self._interval)

    def _found(self, found: Estimate) -> list[tuple[Question, QuestionEstimate]]:
        return [(question, found.questions[index]) for index, question in self._questions]

    @cached_property
    def _means_together(self) -> Estimate:
        """The estimate in which the means of all groups and the overall mean hold together."""
        return self._at(len(self._groups) + 1)

    @cached_property
    def _shares(self) -> Frames:
        def shares(question: Question, found: QuestionEstimate) -> dict[str, Interval]:
            known = _stated_shares(question)
            return _of_groups(found, found.shares, "each group's share") if known is None else known

        return self._frames(shares)

    @cached_property
    def _overall(self) -> Columns:
        return self._columns(lambda _, found: _overall(found), self._estimate)

    @cached_property
    def _by_group(self) -> Frames:
        return self._frames(lambda _, found: _means(found))

    @cached_property
    def _smallest(self) -> Columns:
        return self._columns(lambda _, found: over(min, _means(found).values()), self._at(len(self._groups)))

    @cached_property
    def _largest(self) -> Columns:
        return self._columns(lambda _, found: over(max, _means(found).values()), self._at(len(self._groups)))

    def _difference(self, method: Method) -> Columns:
        if _checked(method) == "between_groups":
            return self._columns(lambda _, found: _largest_gap(found), self._estimate)
        shares = _stated_shares(self._questions[0][1])
        if shares is None:
            return self._columns(lambda _, found: _means_to_overall(found), self._means_together)
        return self._columns(lambda _, found: _gaps_to_overall(shares, found), self._estimate)

    def _ratio(self, method: Method) -> Columns:
        of = _ratio_of_groups if _checked(method) == "between_groups" else _ratio_to_overall
        return self._columns(of, self._at(len(self._groups)) if of is _ratio_of_groups else self._means_together)

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


def _checked(method: str) -> str:
    if method not in ("between_groups", "to_overall"):
        raise InvalidInput("method", method, "must be between_groups or to_overall")
    return method


def _of_groups(found: QuestionEstimate, told: dict[str, Interval], what: str) -> dict[str, Interval]:
    if len(told) < len(found.groups):
        raise found.untold(what)
    return told


def _means(found: QuestionEstimate) -> dict[str, Interval]:
    return _of_groups(found, found.means, "each group's mean")


def _overall(found: QuestionEstimate) -> Interval:
    if found.overall is None:
        raise found.untold("the overall mean")
    return found.overall


def _largest_gap(found: QuestionEstimate) -> Interval:
    """Return the largest gap in size; the intervals of all gaps hold together."""
    pairs = list(combinations(found.groups, 2))
    if any(pair not in found.gaps and pair[::-1] not in found.gaps for pair in pairs):
        raise found.untold("the gap between every two groups")
    return over(max, [found.gap(*pair).size for pair in pairs])


def _stated_shares(question: Question) -> dict[str, Interval] | None:
    """Return the shares that the study states, as far as they may be off; None if they are estimated."""
    attribute = question.attribute
    if attribute.share_values is None:
        return None
    error = float(attribute.share_error or 0)
    return {
        group: Interval(share, max(share - error, 0.0), min(share + error, 1.0))
        for group, share in zip(attribute.groups, attribute.share_values, strict=True)
    }


def _gaps_to_overall(shares: dict[str, Interval], found: QuestionEstimate) -> Interval:
    r"""Return the largest difference to everyone where shares are known: each is a weighted sum of gaps.

    .. math:: m_g - \sum_h s_h m_h = \sum_h s_h (m_g - m_h)

    Each product is least and largest at ends of the share's and of the gap's interval.
    """
    _largest_gap(found)
    sums = []
    for group in shares:
        gaps = [(share, found.gap(group, other)) for other, share in shares.items() if other != group]
        ends = [[s * d for s in (share.low, share.high) for d in (gap.low, gap.high)] for share, gap in gaps]
        estimate = sum(share.estimate * gap.estimate for share, gap in gaps)
        sums.append(Interval(estimate, sum(map(min, ends)), sum(map(max, ends))))
    return over(max, [each.size for each in sums])


def _means_to_overall(found: QuestionEstimate) -> Interval:
    """Return the largest difference to everyone where the means of groups and of everyone hold together."""
    everyone = _overall(found)
    means = _means(found).values()
    return over(
        max,
        [Interval(m.estimate - everyone.estimate, m.low - everyone.high, m.high - everyone.low).size for m in means],
    )


def _positive(question: Question, found: QuestionEstimate, interval: Interval) -> Interval:
    """Return the interval of a mean within what the metric can be, for a ratio that makes sense."""
    low, high = float(question.metric.low), float(question.metric.high)
    if low < 0 or min(interval.estimate, interval.high) <= 0:
        raise found.untold("a ratio: a mean is not clearly above zero")
    return Interval(interval.estimate, max(interval.low, low), min(interval.high, high))


def _ratio_of_groups(question: Question, found: QuestionEstimate) -> Interval:
    means = [_positive(question, found, mean) for mean in _means(found).values()]
    return at_most_one(over(min, means), over(max, means))


def _ratio_to_overall(question: Question, found: QuestionEstimate) -> Interval:
    everyone = _positive(question, found, _overall(found))
    means = [_positive(question, found, mean) for mean in _means(found).values()]
    return over(min, [at_most_one(mean, everyone) for mean in means])
