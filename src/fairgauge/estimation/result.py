"""What an estimate says: numbers with intervals in the metric's own units, and sentences where there is no number.

Names follow Fairlearn's ``MetricFrame`` where the concept is the same: ``overall``, ``by_group``, ``difference()``,
and their ``_ci`` siblings.  Unlike there, differences are signed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairgauge.errors import CannotEstimate, MissingExtra
from fairgauge.estimation.intervals import GUARANTEES
from fairgauge.estimation.solve import Interval

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Gap:
    """How much higher the first group's mean is than the second's."""

    groups: tuple[str, str]
    interval: Interval
    p_value: float | None = None  # that |gap| is within the tolerance, if one was given

    def to_dict(self) -> dict[str, Any]:
        """Return the gap for JSON."""
        found = {"groups": list(self.groups), **_numbers(self.interval)}
        return found if self.p_value is None else found | {"p_value": self.p_value}


@dataclass(frozen=True)
class Sensitivity:
    """How far the gap could be off for reasons that no interval covers, in the metric's units.

    Args:
        share_error: How far the gap moves if a known share is off by 0.01, the others making up for it; None where
            shares are estimated.
        share_error_is_bound: True if the means are not identified, so that this is the most it could be.
        forged: How far forging 1 % of the answers could move the gap; None if there is no limit.
    """

    share_error: float | None
    share_error_is_bound: bool
    forged: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the sensitivity for JSON."""
        return {
            "gap_moves_per_0.01_of_share": self.share_error,
            "share_error_is_bound": self.share_error_is_bound,
            "gap_moves_per_0.01_forged": self.forged,
        }


@dataclass(frozen=True)
class QuestionEstimate:
    """What the answers to one question say."""

    metric: str
    attribute: str
    groups: tuple[str, ...]
    answers: int
    gaps: tuple[Gap, ...]
    means: dict[str, Interval] | None
    overall_interval: Interval | None
    shares: dict[str, Interval] | None
    answered: Interval | None
    fit: float | None
    sensitivity: Sensitivity | None
    warnings: tuple[str, ...]

    @property
    def gap(self) -> Gap | None:
        """The gap of two groups; of more groups the largest in size."""
        return max(self.gaps, key=lambda gap: abs(gap.interval.estimate), default=None)

    @property
    def overall(self) -> float | None:
        """The mean over everyone who answered."""
        return None if self.overall_interval is None else self.overall_interval.estimate

    @property
    def overall_ci(self) -> tuple[float, float] | None:
        """The interval of ``overall``."""
        return None if self.overall_interval is None else (self.overall_interval.low, self.overall_interval.high)

    @property
    def by_group(self) -> dict[str, float] | None:
        """Each group's mean."""
        return None if self.means is None else {g: mean.estimate for g, mean in self.means.items()}

    @property
    def by_group_ci(self) -> dict[str, tuple[float, float]] | None:
        """The interval of each group's mean."""
        return None if self.means is None else {g: (mean.low, mean.high) for g, mean in self.means.items()}

    def difference(self, first: str | None = None, second: str | None = None) -> float:
        """Return how much higher the first group's mean is than the second's; by default the main gap.

        Raises:
            CannotEstimate: If the answers do not tell.
        """
        return self._gap(first, second).estimate

    def difference_ci(self, first: str | None = None, second: str | None = None) -> tuple[float, float]:
        """Return the interval of ``difference``."""
        interval = self._gap(first, second)
        return interval.low, interval.high

    def _gap(self, first: str | None, second: str | None) -> Interval:
        if first is None and second is None and self.gap is not None:
            return self.gap.interval
        for gap in self.gaps:
            if gap.groups == (first, second):
                return gap.interval
            if gap.groups == (second, first):
                return -gap.interval
        asked = "the gap" if first is None else f"a gap between {first} and {second}"
        raise CannotEstimate(" ".join([f"{self.metric}: these answers do not tell {asked}.", *self.warnings]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        return {
            "metric": self.metric,
            "attribute": self.attribute,
            "answers": self.answers,
            "gap": None if self.gap is None else self.gap.to_dict(),
            "gaps": [gap.to_dict() for gap in self.gaps],
            "means": _named(self.means),
            "overall": None if self.overall_interval is None else _numbers(self.overall_interval),
            "shares": _named(self.shares),
            "answered": None if self.answered is None else _numbers(self.answered),
            "fit_p_value": self.fit,
            "sensitivity": None if self.sensitivity is None else self.sensitivity.to_dict(),
            "warnings": list(self.warnings),
        }

    def rows(self) -> Iterator[tuple[str, Interval]]:
        """Yield every number with what it is called."""
        for gap in self.gaps:
            yield f"{gap.groups[0]} - {gap.groups[1]}", gap.interval
        for group, mean in (self.means or {}).items():
            yield group, mean
        if self.overall_interval is not None:
            yield "overall", self.overall_interval
        for group, share in (self.shares or {}).items():
            yield f"share of {group}", share
        if self.answered is not None:
            yield "answered", self.answered


@dataclass(frozen=True)
class Estimate:
    """What a tally says about a study."""

    study: str
    confidence: float
    interval: str
    tolerance: float | None
    questions: tuple[QuestionEstimate, ...]

    @property
    def guarantee(self) -> str:
        """What the intervals promise, in words."""
        return f"{self.confidence:.4g} confidence; {GUARANTEES[self.interval]}"

    def __getitem__(self, metric: str | tuple[str, str]) -> QuestionEstimate:
        """Return what was found about a metric, or about a metric by an attribute where several are asked for."""
        found = [q for q in self.questions if metric in (q.metric, (q.metric, q.attribute))]
        if len(found) != 1:
            raise KeyError(metric)
        return found[0]

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        return {
            "study": self.study,
            "confidence": self.confidence,
            "interval": self.interval,
            "guarantee": self.guarantee,
            "tolerance": self.tolerance,
            "questions": [question.to_dict() for question in self.questions],
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per number, as a pandas data frame.

        Raises:
            MissingExtra: If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("data frames need pandas", "lab") from None
        return pd.DataFrame(
            [
                {"metric": q.metric, "attribute": q.attribute, "quantity": name, **_numbers(interval)}
                for q in self.questions
                for name, interval in q.rows()
            ]
        )

    def __str__(self) -> str:
        lines = []
        for q in self.questions:
            lines.append(f"{q.metric} by {q.attribute}, {q.answers:,} answers ({self.guarantee})")
            width = max((len(name) for name, _ in q.rows()), default=0)
            lines += [f"  {name:<{width}}  {i.estimate:7.4f}  [{i.low:7.4f}, {i.high:7.4f}]" for name, i in q.rows()]
            lines += [f"  ! {warning}" for warning in q.warnings]
        return "\n".join(lines)


def _numbers(interval: Interval) -> dict[str, float]:
    return {"estimate": interval.estimate, "low": interval.low, "high": interval.high}


def _named(intervals: dict[str, Interval] | None) -> dict[str, dict[str, float]] | None:
    return None if intervals is None else {name: _numbers(interval) for name, interval in intervals.items()}
