"""What could be done where few people tell too little: what an expectation, 95 %, the crowd or sites would give."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from fairgauge.client.budget import STUDY_LIMIT
from fairgauge.crowd import default_delta
from fairgauge.errors import Impossible, InvalidInput
from fairgauge.estimation.interval_kinds import DEFAULT, check_confidence, kind_of
from fairgauge.planning.choose_design import choose_design
from fairgauge.planning.counted_questions import ask_counts
from fairgauge.planning.crowd_plan import CrowdAim, least_draws
from fairgauge.planning.planned_widths import planned_width
from fairgauge.planning.plans import plan_questions
from fairgauge.study import Question
from fairgauge.study.attribute import ANY
from fairgauge.study.numbers import plain
from fairgauge.targets.scores import Scores

# What is tried where nobody says: a mean as good models have, the usual confidence of others, and so many sites.
_EXPECTED, _LESS_SURE, _SITES = Decimal("0.9"), 0.95, 20
_FEWEST_EACH = 10
# With more groups a search for one table takes as long as the plan itself did.
_MOST_GROUPS = 6


@dataclass(frozen=True)
class Way:
    """Something that could be done, and what it gives.

    Args:
        what: What it is, in words.
        error: The half-width of the interval then, in the metric's units.
        options: What to type for it: an option's name and its value; None for one that is to be left out.
    """

    what: str
    error: float
    options: Mapping[str, str | None]

    def reaches(self, wanted: float) -> bool:
        """Tell whether it gives such an error; plans are good to one part in a thousand."""
        return self.error <= 1.001 * wanted


@dataclass(frozen=True)
class FewPeople:
    """A plan of one question that tells too little.

    Args:
        question: What is asked.
        clients: How many people there are.
        epsilon: The privacy loss of one answer.
        confidence: How often the interval is to hold the truth.
        interval: Which interval.
    """

    question: Question
    clients: int
    epsilon: Decimal
    confidence: float = 0.99
    interval: str = DEFAULT

    def alone(self, *, progress: Callable[[str], object] = str) -> Way:
        """Return what the question gets in a study of its own, where it shares the answers with no other."""
        metric, expect = self.question.metric, self.question.expect
        what = f"{metric.name} alone, in a study of its own"
        progress(what)
        asked = {"metric": f"{metric.name}:{metric.low}:{metric.high}", "metric-weight": None, "error": None}
        asked |= {"expect": None if expect is None else str(expect), "epsilon": plain(self.epsilon)}
        return Way(what, self._error(), asked)

    def ways(self, *, progress: Callable[[str], object] = str) -> Iterator[Way]:
        """Yield what could be done, one at a time: each takes a table of its own.

        Guarantee: an error is what ``plan`` gives for the same options, with the design that is best at the most local
        epsilon where it is about the crowd.
        """
        if len(self.question.attribute.groups) > _MOST_GROUPS:
            return
        changes = list(self._changes())
        for what, fields, options in changes:
            progress(what)
            yield Way(what, replace(self, **fields)._error(), options)
        if self.epsilon < STUDY_LIMIT:
            counts = {"epsilon": None, "error": None, "crowd-epsilon": plain(self.epsilon)}
            said = f"epsilon {self.epsilon} towards all who read counts, {STUDY_LIMIT} towards who runs the collector"
            yield from self._in_crowd(f"counts in the crowd: {said}", counts, progress)
            if changes:
                whole = replace(self, **{name: value for _, fields, _ in changes for name, value in fields.items()})
                for _, _, options in changes:
                    counts = options | counts
                words = " and ".join(what for what, _, _ in changes)
                yield from whole._in_crowd(f"the crowd, with {words}", counts, progress)
        yield from self._at_sites(progress)

    def _changes(self) -> Iterator[tuple[str, dict[str, Any], dict[str, str | None]]]:
        metric, here = self.question.metric, {"error": None, "epsilon": plain(self.epsilon)}
        if self.question.expect is None:
            low, high = Decimal(metric.low), Decimal(metric.high)
            # Of what can be negative, such as a difference of two models, people expect about nothing.
            mean = "0" if low < 0 < high else plain(low + _EXPECTED * (high - low))
            expecting = {"question": replace(self.question, expect=mean)}
            yield f"an expected mean of {mean}", expecting, {**here, "expect": mean}
        if self.confidence > _LESS_SURE:
            sure = f"{_LESS_SURE:g}"
            yield f"{100 * _LESS_SURE:g} % confidence", {"confidence": _LESS_SURE}, {**here, "confidence": sure}

    def _error(self, aim: CrowdAim | None = None) -> float:
        scores, kind = Scores.of(self.question), kind_of(self.interval)
        design, channel = choose_design(scores, self.epsilon if aim is None else aim.local_limit, self.clients)
        drawn = 0.0 if aim is None else least_draws([channel], aim).draws / self.clients
        alpha = check_confidence(self.confidence)
        width = planned_width(scores.by(design), channel, self.clients, kind, alpha, drawn=drawn)
        return self.question.metric.scale * width

    def _in_crowd(
        self, what: str, options: Mapping[str, str | None], progress: Callable[[str], object]
    ) -> Iterator[Way]:
        progress(what)
        try:
            error = self._error(CrowdAim(self.epsilon, self.clients, default_delta(self.clients)))
        except (Impossible, InvalidInput):
            return
        yield Way(what, error, options)

    def _at_sites(self, progress: Callable[[str], object]) -> Iterator[Way]:
        each = self.clients // _SITES
        if each < _FEWEST_EACH or self.question.target != "gap":
            return
        what = f"{_SITES} sites that hold {each:,} people each, if sites hold them"
        progress(what)
        attribute = replace(self.question.attribute, answering=ANY, share_error=None, comparisons=None)
        asked = ask_counts(
            self.question.metric, attribute, "levels", people=each, expect=self.question.expect,
            spread=self.question.spread,
        )  # fmt: skip
        given: dict[str, Any] = {"clients": _SITES, "epsilon": self.epsilon, "confidence": self.confidence}
        error = plan_questions(asked, **given)[0].rows[0].error
        if error is not None:
            options = {"outcome": "levels", "sites": str(_SITES), "people": str(each), "epsilon": plain(self.epsilon)}
            gone = dict.fromkeys(("clients", "error", "answering", "interval", "share-error", "detect", "plot"))
            yield Way(what, error, {**gone, **options})
