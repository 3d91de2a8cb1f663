r"""Fairness by the names of Fairlearn's functions: demographic parity, equalised odds, equal opportunity.

Equalised odds is about two metrics at once.  If all intervals of both hold together, so does the larger difference, and
the smaller ratio.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from fairgauge.estimation.frame_numbers import largest_gap, ratio_of_groups
from fairgauge.estimation.ratios import over
from fairgauge.estimation.result import QuestionEstimate
from fairgauge.estimation.values import Interval
from fairgauge.study import Question

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
        return over(max, [largest_gap(each) for _, each in found])

    def _smaller_ratio(self, *names: str) -> Interval:
        found = self._together(names, self._sides * len(set(names)))
        return over(min, [ratio_of_groups(question, each) for question, each in found])


def _ends(interval: Interval) -> list[float]:
    return [interval.low, interval.high]
