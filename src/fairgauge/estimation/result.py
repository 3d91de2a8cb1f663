"""What an estimate says: numbers with intervals in the metric's own units, the one gap to speak of, and sentences."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from fairgauge.errors import CannotEstimate, InvalidInput, MissingExtra
from fairgauge.estimation.interval import Interval, Told, numbers_of
from fairgauge.estimation.interval_kinds import IntervalKind
from fairgauge.estimation.tipping import tipping_factor, tipping_factor_of_means
from fairgauge.lazy import late
from fairgauge.study import Question

if TYPE_CHECKING:
    import pandas as pd


Kind = Literal["clear", "open", "early", "untold"]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Headline:
    """The gap that people hear of first.

    Args:
        kind: ``clear``: one group is served better.  ``open``: the interval holds zero.  ``early``: the interval is
            as wide as all gaps that there can be, or there is no answer yet.  ``untold``: the study cannot tell.
        groups: Whose gap: the first group's mean less the second's.
        interval: The gap.
        largest: Whether the intervals show that no other two groups differ as much.
        p_value: That the gap is within the tolerance, if one was given.
    """

    kind: Kind
    groups: Pair | None = None
    interval: Interval | None = None
    largest: bool = False
    p_value: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the headline for JSON."""
        if self.groups is None or self.interval is None:
            return {"kind": self.kind}
        found = {"kind": self.kind, "groups": list(self.groups), **self.interval.to_dict(), "largest": self.largest}
        return found if self.p_value is None else found | {"p_value": self.p_value}


def headline_of(
    gaps: Mapping[Pair, Interval], p_values: Mapping[Pair, float], *, answers: int, untold: int = 0
) -> Headline:
    r"""Return the headline: the largest of the gaps that are clear, else the largest.

    It is said to be the largest gap only where that is known:

    .. math:: \mathrm{low}\,|g_{ab}| > \max_{(c, d) \neq (a, b)} \mathrm{high}\,|g_{cd}|

    A gap that is not told could be any.

    Guarantee: the intervals of all gaps hold together, so where ``largest`` is said it is true with their confidence.
    """
    if not gaps:
        return Headline("untold" if answers else "early")
    known = {pair: gap for pair, gap in gaps.items() if gap.clear} or gaps
    main = max(known, key=lambda pair: abs(known[pair].estimate))
    gap = gaps[main]
    others = [other.size.high for pair, other in gaps.items() if pair != main]
    least, most = gap.bounds
    kind: Kind = "early" if gap.high - gap.low >= most - least else "clear" if gap.clear else "open"
    largest = not untold and all(gap.size.low > other for other in others)
    return Headline(kind, main, gap, largest, p_values.get(main))


@dataclass(frozen=True)
class Sensitivity:
    """How far the gap could be off at most for reasons that no interval covers, in the metric's units.

    Args:
        share_error: The most that the gap moves if each known share is off by up to 0.01; None where shares are
            estimated.
        forged: The most that the gap moves if 1 % of the answers are forged; None if there is no limit.
        share_gap: Which gap moves that far with shares.
        forged_gap: Which gap moves that far with forged answers.
    """

    share_error: float | None
    forged: float | None
    share_gap: tuple[str, str] | None = None
    forged_gap: tuple[str, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the sensitivity for JSON."""
        return {
            "gap_moves_per_0.01_of_share": self.share_error,
            "gap_moves_per_0.01_forged": self.forged,
            "share_gap": None if self.share_gap is None else list(self.share_gap),
            "forged_gap": None if self.forged_gap is None else list(self.forged_gap),
        }


@dataclass(frozen=True)
class QuestionEstimate:
    """What the answers to one question say.

    Args:
        metric: What was measured.
        attribute: How people are grouped.
        groups: The groups' names.
        answers: How many answered this question.
        gaps: How much higher the first side's mean is than the second's, for all that the study compares: what it
            planned, or else every two groups in order.  All of them hold together.
        means: Each group's mean.
        overall: The mean over everyone who answered, or None where the answers do not tell.
        shares: Each group's share of those who answered, where the study does not state it.
        answered: The part of people who did not abstain, where they may.
        p_values: For each gap, that its size is within the tolerance, if one was given; all hold together.
        fit: A p-value that these are honest answers.
        sensitivity: What no interval covers.
        warnings: Sentences for people.
        impact_ratio: The smallest mean over the largest, where all means are told and none is near zero.
        margins: The mean of each group of the attributes that cross, over all groups of the others.
        untold_gaps: What the study compares and these answers do not tell.
        response: How many times as often the first side of a comparison answered as the second, if the shares that the
            study states are those of the population.  All of them hold together.
    """

    metric: str
    attribute: str
    groups: tuple[str, ...]
    answers: int
    gaps: dict[tuple[str, str], Interval]
    means: dict[str, Interval]
    overall: Interval | None
    shares: dict[str, Interval]
    answered: Interval | None
    p_values: dict[tuple[str, str], float]
    fit: float | None
    sensitivity: Sensitivity | None
    warnings: tuple[str, ...]
    impact_ratio: Interval | None = None
    margins: dict[str, Interval] = field(default_factory=dict)
    untold_gaps: tuple[tuple[str, str], ...] = ()
    response: dict[tuple[str, str], Interval] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gaps", Told(self.gaps, self._no_gap))
        object.__setattr__(self, "means", Told(self.means, partial(self._no_number, "mean")))
        object.__setattr__(self, "margins", Told(self.margins, partial(self._no_number, "mean")))
        object.__setattr__(self, "shares", Told(self.shares, partial(self._no_number, "share")))

    # The estimate that it is part of, which knows the confidence; not a field, since it would hold itself.
    whole: ClassVar["Estimate | None"] = None

    _repr_html_ = late("_repr_html_")
    to_frame = late("to_frame")

    @cached_property
    def headline(self) -> Headline:
        """The gap to speak of, and what can be said of it."""
        return headline_of(self.gaps, self.p_values, answers=self.answers, untold=len(self.untold_gaps))

    @property
    def tipping(self) -> float | None:
        """By which factor the odds of answering must differ within a group so that the headline's sign could turn."""
        gap = self.headline.interval
        if gap is None or self.sensitivity is None:
            return None  # sites count everyone
        return tipping_factor(gap)

    @property
    def tipping_of_means(self) -> float | None:
        """The same factor, if the means of both sides are within their intervals as well; None if one is not told."""
        main, told = self.headline, self.means | self.margins
        if main.interval is None or main.groups is None or self.tipping is None or not told.keys() >= set(main.groups):
            return None
        first, second = (told[side] for side in main.groups)
        return tipping_factor_of_means(main.interval, (first, second))

    def gap(self, first: str | None = None, second: str | None = None) -> Interval:
        """Return how much higher the first group's mean is than the second's; a margin is a group too.

        Where the study compares two groups alone they need not be named: the first less the second.

        Raises:
            CannotEstimate: If the answers do not tell, or the study did not plan to compare them.
            InvalidInput: If there is no such group.
        """
        if first is None or second is None:
            if (first, second) != (None, None) or len(self.gaps) + len(self.untold_gaps) != 1:
                raise self._no_gap(None)
            (first, second), *_ = (*self.gaps, *self.untold_gaps)
        return -self.gaps[second, first] if (second, first) in self.gaps else self.gaps[first, second]

    def untold(self, what: str) -> CannotEstimate:
        """Return the error for a number that these answers do not tell, with the reasons that are known."""
        return CannotEstimate(" ".join([f"{self.metric}: these answers do not tell {what}.", *self.warnings]))

    def _no_gap(self, pair: object) -> Exception:
        if not isinstance(pair, tuple) or len(pair) != 2:
            return InvalidInput("gap", pair, f"must be two of the groups {', '.join(self.groups)}")
        for group in pair:
            if group not in self._sides:
                return self._no_group(group)
        if pair[0] == pair[1]:
            return InvalidInput("gap", " and ".join(pair), "must be between two different groups")
        if pair[::-1] in self.gaps:
            return InvalidInput("gap", " and ".join(pair), "is there in the other order; the method gap() takes either")
        if self.gaps and not any(f"{pair[0]} and {pair[1]}" in warning for warning in self.warnings):
            known = "; ".join(f"{a} and {b}" for a, b in self.gaps)
            return CannotEstimate(
                f"{self.metric}: the study did not plan to compare {pair[0]} and {pair[1]}, but {known}"
            )
        return self.untold(f"the gap between {pair[0]} and {pair[1]}")

    def _no_number(self, what: str, group: object) -> Exception:
        return self.untold(f"the {what} of {group}") if group in self._sides else self._no_group(group)

    def _no_group(self, group: object) -> InvalidInput:
        return InvalidInput("group", group, f"must be one of {', '.join(self._sides)}")

    @property
    def _sides(self) -> list[str]:
        """The groups, the margins, and whatever else is compared."""
        return list(dict.fromkeys([*self.groups, *self.margins, *(side for pair in self.gaps for side in pair)]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        return {
            "metric": self.metric,
            "attribute": self.attribute,
            "answers": self.answers,
            "headline": self.headline.to_dict(),
            "gaps": [
                {"groups": list(pair), **gap.to_dict()}
                | ({"p_value": self.p_values[pair]} if pair in self.p_values else {})
                for pair, gap in self.gaps.items()
            ],
            "means": _named(self.means),
            **({"margins": _named(self.margins)} if self.margins else {}),
            "overall": None if self.overall is None else self.overall.to_dict(),
            "impact_ratio": None if self.impact_ratio is None else self.impact_ratio.to_dict(),
            "shares": _named(self.shares),
            "answered": None if self.answered is None else self.answered.to_dict(),
            "response_ratios": [{"groups": list(pair), **ratio.to_dict()} for pair, ratio in self.response.items()],
            "tipping_factor": self.tipping,
            "fit_p_value": self.fit,
            "sensitivity": None if self.sensitivity is None else self.sensitivity.to_dict(),
            "warnings": list(self.warnings),
        }

    def rows(self) -> Iterator[tuple[str, Interval]]:
        """Yield every number with what it is called."""
        for (first, second), gap in self.gaps.items():
            yield f"{first} - {second}", gap
        yield from self.margins.items()
        yield from self.means.items()
        if self.overall is not None:
            yield "overall", self.overall
        if self.impact_ratio is not None:
            yield "impact ratio", self.impact_ratio
        for group, share in self.shares.items():
            yield f"share of {group}", share
        if self.answered is not None:
            yield "answered", self.answered
        for (first, second), ratio in self.response.items():
            yield f"response of {first} / {second}", ratio


@dataclass(frozen=True)
class Estimate:
    """What a tally says about a study."""

    study: str
    confidence: float
    kind: IntervalKind
    tolerance: float | None
    questions: tuple[QuestionEstimate, ...]
    asked: tuple[Question, ...] = field(default=(), repr=False, compare=False)  # for pictures, in the questions' order

    def __post_init__(self) -> None:
        for question in self.questions:
            object.__setattr__(question, "whole", self)

    def only(self, question: QuestionEstimate) -> "Estimate":
        """Return the estimate of one of its questions alone."""
        place = next(n for n, one in enumerate(self.questions) if one is question)
        found = replace(self, questions=(), asked=self.asked[place : place + 1])
        object.__setattr__(found, "questions", (question,))
        return found

    _repr_html_ = late("_repr_html_")
    plot = late("plot")

    @property
    def interval(self) -> str:
        """What the kind of its intervals is called."""
        return self.kind.name

    @property
    def guarantee(self) -> str:
        """What the intervals promise, in words, and what they assume of who answers."""
        said = [f"{self.confidence:.4g} confidence", self.kind.guarantee]
        alike = list(dict.fromkeys(asked.attribute.name for asked in self.asked if asked.known_shares is not None))
        others = any(asked.whoever_answers for asked in self.asked)
        if alike:
            whose = f" of {', '.join(alike)}" if others else ""
            said.append(f"IF all groups{whose} answered equally often")
        ratios = dict.fromkeys(asked.attribute.answering for asked in self.asked if _condition(asked, alike=False))
        said += [f"if no group answered more than {ratio} times as often as another" for ratio in ratios]
        if others:
            said.append("what is about several groups together, and shares, are of those who answered")
        people = [asked for asked in self.asked if asked.whoever_answers or asked.known_shares is not None]
        if not all(asked.mechanism.abstain for asked in people):
            said.append("as if nobody outside the study answered, which is not known")
        return "; ".join(said)

    def __getitem__(self, metric: str | tuple[str, str]) -> QuestionEstimate:
        """Return what was found about a metric, or about a metric by an attribute where several are asked for.

        Raises:
            InvalidInput: If nothing was asked about it, or more than one thing; it names what was.
        """
        found = [q for q in self.questions if metric in (q.metric, (q.metric, q.attribute))]
        if len(found) == 1:
            return found[0]
        if found:
            pairs = " or ".join(str((q.metric, q.attribute)) for q in found)
            raise InvalidInput("metric", metric, f"is asked about more than once: must be {pairs}")
        asked = dict.fromkeys(q.metric for q in self.questions)
        raise InvalidInput("metric", metric, f"must be one of {', '.join(asked)}")

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        return {
            "study": self.study,
            "confidence": self.confidence,
            "interval": self.interval,
            "about": self.kind.about,
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
        return pd.DataFrame(list(self.table()))

    def table(self) -> Iterator[dict[str, Any]]:
        """Yield one row per number: what it is about, what it is called, its interval, and what it assumes."""
        if_so = {asked.attribute.name: said for asked in self.asked if (said := _condition(asked))}
        conditions = bool(if_so) or any(q.response for q in self.questions)
        for q in self.questions:
            stated = set(map(id, q.response.values()))
            for name, interval in q.rows():
                about = {"metric": q.metric, "attribute": q.attribute, "quantity": name}
                assumed = if_so.get(q.attribute, "")
                if id(interval) in stated:
                    assumed = "IF the stated shares are those of the people"
                yield about | numbers_of(interval) | ({"condition": assumed} if conditions else {})

    def __str__(self) -> str:
        lines = []
        for q in self.questions:
            lines.append(f"{q.metric} by {q.attribute}, {q.answers:,} answers ({self.guarantee})")
            width = max((len(name) for name, _ in q.rows()), default=0)
            shown = [(name, interval.shown) for name, interval in q.rows()]
            lines += [f"  {name:<{width}}  {i.estimate:7.4f}  [{i.low:7.4f}, {i.high:7.4f}]" for name, i in shown]
            lines += [f"  ! {warning}" for warning in q.warnings]
        return "\n".join(lines)


def _condition(asked: Question, *, alike: bool = True) -> str:
    """Return what numbers assume of how often groups answered; nothing where that is nothing."""
    if asked.known_shares is not None:
        return "IF all groups answered equally often" if alike else ""
    if not asked.whoever_answers or asked.attribute.ratio == math.inf:
        return ""
    return f"if no group answered more than {asked.attribute.answering} times as often as another"


def _named(intervals: dict[str, Interval]) -> dict[str, dict[str, Any]] | None:
    return {name: interval.to_dict() for name, interval in intervals.items()} or None
