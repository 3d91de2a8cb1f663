r"""A frame of metrics by group with the names that Fairlearn's ``MetricFrame`` has, filled from private answers.

Fairlearn reads everyone's label, prediction and group.  Here there is only a tally, so the numbers come with intervals
from the channel itself instead of a bootstrap, and where a study does not tell a number there is a sentence.

The largest, the smallest and the ratio are about all groups at once.  If the intervals of d means hold together, so
does whatever follows from them, and each at :math:`1 - \alpha/d` makes all hold at :math:`1 - \alpha`:

.. math:: \min_g m_g \in \Big[\min_g low_g,\ \min_g high_g\Big]

and so for the largest, for the largest difference, and for the ratio of any two positive means.

*Parity*: fairness by the names of Fairlearn's functions.

Equalised odds is about two metrics at once.  If all intervals of both hold together, so does the larger difference, and
the smaller ratio.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from fairgauge.errors import CannotEstimate, InvalidInput, MissingExtra
from fairgauge.estimation.inference import SUM_READERS
from fairgauge.estimation.interval import Interval, at_most_one, over
from fairgauge.estimation.interval_kinds import DEFAULT
from fairgauge.estimation.result import Estimate, QuestionEstimate
from fairgauge.lazy import late
from fairgauge.study import Question, Study
from fairgauge.study.field_checks import check_arguments
from fairgauge.tallies import Tally

if TYPE_CHECKING:
    import pandas as pd


def _checked_method(method: str) -> str:
    """Return the method, if it is one of Fairlearn's."""
    if method not in ("between_groups", "to_overall"):
        raise InvalidInput("method", method, "must be between_groups or to_overall")
    return method


def _of_groups(found: QuestionEstimate, told: dict[str, Interval], what: str) -> dict[str, Interval]:
    """Return what is told of groups, if it is told of all."""
    if len(told) < len(found.groups):
        raise found.untold(what)
    return told


def _means_of(found: QuestionEstimate) -> dict[str, Interval]:
    """Return the mean of every group."""
    return _of_groups(found, found.means, "each group's mean")


def _overall_of(found: QuestionEstimate) -> Interval:
    """Return the mean over everyone."""
    if found.overall is None:
        raise found.untold("the overall mean")
    return found.overall


def _largest_gap(found: QuestionEstimate) -> Interval:
    """Return the largest gap in size; the intervals of all gaps hold together."""
    pairs = list(combinations(found.groups, 2))
    told, planned = ({frozenset(pair) for pair in some} for some in (found.gaps, found.untold_gaps))
    lacking = {frozenset(pair) for pair in pairs} - told
    if found.gaps and not lacking <= planned:
        raise CannotEstimate(
            f"{found.metric}: the study did not plan to compare every two groups, so the largest gap of all has no "
            "interval; a study that compares all of them tells it"
        )
    if lacking:
        raise found.untold("the gap between every two groups")
    return over(max, [found.gap(*pair).size for pair in pairs])


def _stated_shares(question: Question) -> dict[str, Interval] | None:
    """Return the shares that the study states, as far as they may be off; None if they are estimated."""
    attribute = question.attribute
    if question.known_shares is None:
        return None
    error = float(attribute.share_error or 0)
    return {
        group: Interval(share, max(share - error, 0.0), min(share + error, 1.0))
        for group, share in zip(attribute.groups, question.known_shares, strict=True)
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
    everyone = _overall_of(found)
    means = _means_of(found).values()
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
    """Return the smallest mean over the largest; all means hold together."""
    means = [_positive(question, found, mean) for mean in _means_of(found).values()]
    return at_most_one(over(min, means), over(max, means))


def _ratio_to_overall(question: Question, found: QuestionEstimate) -> Interval:
    """Return the smallest ratio of a group and everyone; all means hold together."""
    everyone = _positive(question, found, _overall_of(found))
    means = [_positive(question, found, mean) for mean in _means_of(found).values()]
    return over(min, [at_most_one(mean, everyone) for mean in means])


_SELECTED, _TRUE, _FALSE = "selection_rate", "true_positive_rate", "false_positive_rate"


class Parity(ABC):
    """What a frame with the right metrics says of fairness; whoever calls a metric otherwise names it."""

    @abstractmethod
    def _together(self, names: Sequence[str], together: int) -> list[tuple[Question, QuestionEstimate]]:
        """Return what was found of metrics, where so many intervals are to hold together."""

    @property
    @abstractmethod
    def _sides(self) -> int:
        """How many groups there are."""

    def demographic_parity_difference(self, selection_rate: str = _SELECTED) -> float:
        """Return the largest difference in the selection rate between two groups."""
        return self._larger_gap(selection_rate).estimate

    def demographic_parity_difference_ci(self, selection_rate: str = _SELECTED) -> list[float]:
        """Return the interval of ``demographic_parity_difference``."""
        return _ends(self._larger_gap(selection_rate))

    def demographic_parity_ratio(self, selection_rate: str = _SELECTED) -> float:
        """Return the smallest selection rate of a group over the largest."""
        return self._smaller_ratio(selection_rate).estimate

    def demographic_parity_ratio_ci(self, selection_rate: str = _SELECTED) -> list[float]:
        """Return the interval of ``demographic_parity_ratio``."""
        return _ends(self._smaller_ratio(selection_rate))

    def equal_opportunity_difference(self, tpr: str = _TRUE) -> float:
        """Return the largest difference in the true positive rate between two groups."""
        return self._larger_gap(tpr).estimate

    def equal_opportunity_difference_ci(self, tpr: str = _TRUE) -> list[float]:
        """Return the interval of ``equal_opportunity_difference``."""
        return _ends(self._larger_gap(tpr))

    def equal_opportunity_ratio(self, tpr: str = _TRUE) -> float:
        """Return the smallest true positive rate of a group over the largest."""
        return self._smaller_ratio(tpr).estimate

    def equal_opportunity_ratio_ci(self, tpr: str = _TRUE) -> list[float]:
        """Return the interval of ``equal_opportunity_ratio``."""
        return _ends(self._smaller_ratio(tpr))

    def equalized_odds_difference(self, tpr: str = _TRUE, fpr: str = _FALSE) -> float:
        """Return the larger of the largest differences in the true and in the false positive rate."""
        return self._larger_gap(tpr, fpr).estimate

    def equalized_odds_difference_ci(self, tpr: str = _TRUE, fpr: str = _FALSE) -> list[float]:
        """Return the interval of ``equalized_odds_difference``: all gaps of both metrics hold together in it.

        Args:
            tpr: The name of the metric that is the true positive rate, or recall.
            fpr: The name of the metric that is the false positive rate.
        """
        return _ends(self._larger_gap(tpr, fpr))

    def equalized_odds_ratio(self, tpr: str = _TRUE, fpr: str = _FALSE) -> float:
        """Return the smaller of the smallest ratios of the true and of the false positive rate."""
        return self._smaller_ratio(tpr, fpr).estimate

    def equalized_odds_ratio_ci(self, tpr: str = _TRUE, fpr: str = _FALSE) -> list[float]:
        """Return the interval of ``equalized_odds_ratio``: all rates of both metrics hold together in it."""
        return _ends(self._smaller_ratio(tpr, fpr))

    def _larger_gap(self, *names: str) -> Interval:
        found = self._together(names, len(set(names)))
        return over(max, [_largest_gap(each) for _, each in found])

    def _smaller_ratio(self, *names: str) -> Interval:
        found = self._together(names, self._sides * len(set(names)))
        return over(min, [_ratio_of_groups(question, each) for question, each in found])


def _ends(interval: Interval) -> list[float]:
    return [interval.low, interval.high]


Method = Literal["between_groups", "to_overall"]
Frames = tuple["pd.DataFrame", "pd.DataFrame", "pd.DataFrame"]
Columns = tuple["pd.Series[float]", "pd.Series[float]", "pd.Series[float]"]


class PrivateMetricFrame(Parity):
    """Metrics by group from a study and its tally, in the shapes of a ``MetricFrame`` of several metrics.

    ``overall``, ``difference()`` and the like are a series with an entry for each metric, ``by_group`` is a frame with
    a column for each metric and a row for each group, also where there is one metric.  What ends in ``_ci`` is a list
    of two of these, the low and the high end.

    Guarantee: each ``_ci`` holds the truth with the stated confidence, as the chosen interval does
    (:mod:`fairgauge.estimation.interval_kinds`), for each metric by itself.

    In a study for sites the metrics have the names of Fairlearn's and scikit-learn's functions: ``selection_rate``,
    ``accuracy_score``, ``true_positive_rate``, ``false_positive_rate`` and ``precision_score``.

    Args:
        study: The study, for devices or for sites.
        tally: The count of every symbol, or the sums of what sites counted.
        confidence: How often an interval is to hold the truth.
        interval: The kind of interval, as for :func:`fairgauge.estimation.inference.estimate`.
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
        self._questions = SUM_READERS[study.mechanism].framed(study, attribute, metrics)
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
        reader = SUM_READERS[self._study.mechanism]
        return reader.estimate_framed(self._study, self._tally, asked, (confidence, self._interval))

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
            known = _stated_shares(question)
            told = SUM_READERS[question.mechanism].with_shares(found, first)
            return _of_groups(found, told.shares, "each group's share") if known is None else known

        return self._frames(shares)

    @cached_property
    def _overall(self) -> Columns:
        return self._columns(lambda _, found: _overall_of(found), self._estimate)

    @cached_property
    def _by_group(self) -> Frames:
        return self._frames(lambda _, found: _means_of(found))

    @cached_property
    def _smallest(self) -> Columns:
        return self._columns(lambda _, found: over(min, _means_of(found).values()), self._at(len(self._groups)))

    @cached_property
    def _largest(self) -> Columns:
        return self._columns(lambda _, found: over(max, _means_of(found).values()), self._at(len(self._groups)))

    def _difference(self, method: Method) -> Columns:
        if _checked_method(method) == "between_groups":
            return self._columns(lambda _, found: _largest_gap(found), self._estimate)
        shares = _stated_shares(self._questions[0][1])
        if shares is None:
            return self._columns(lambda _, found: _means_to_overall(found), self._means_together)
        return self._columns(lambda _, found: _gaps_to_overall(shares, found), self._estimate)

    def _ratio(self, method: Method) -> Columns:
        of = _ratio_of_groups if _checked_method(method) == "between_groups" else _ratio_to_overall
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


def _attribute(study: Study, wanted: str | None) -> str:
    """Return the attribute to group by."""
    known = sorted({question.attribute.name for question in study.questions})
    attribute = known[0] if wanted is None and len(known) == 1 else wanted
    if attribute not in known:
        raise InvalidInput("attribute", attribute, f"must be one of {', '.join(known)}")
    return attribute
