"""What a study's answers say, ready for a page; worked out once for each tally, however many people look."""

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairgauge.collector.service import AIM, Collector, Entry
from fairgauge.study import Study
from fairgauge.tally import Tally

if TYPE_CHECKING:
    from fairgauge.estimate import Estimate, Interval
    from fairgauge.report.views import ProgressView, QuestionView

CONFIDENCE = 0.99
INTERVAL = "anytime"  # people look at a page whenever they like, and as often as they like
KEPT = 64  # studies whose results are kept in memory
_BUDGET = 1.5  # seconds to spend on the past at a time; what is left is done at the next look


@dataclass(frozen=True)
class Results:
    """What the answers to a study say."""

    study: Study
    tally: Tally
    estimate: "Estimate"
    questions: list["QuestionView"]
    progress: list["ProgressView"]
    over: bool
    complete: bool  # whether the whole past is drawn


@dataclass
class _Known:
    """What is known of a study that never changes: what it needs, and each question's gap at looks of the past."""

    needed: list[int | None] | None = None
    past: dict[int, list["Interval | None"]] = field(default_factory=dict)
    last: Results | None = None


class Reckoner:
    """Works results out, and remembers them."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._known: OrderedDict[str, _Known] = OrderedDict()

    async def results(self, entry: Entry) -> Results:
        """Return what the answers say now."""
        known = self._known.setdefault(entry.digest, _Known())
        self._known.move_to_end(entry.digest)
        if len(self._known) > KEPT:
            self._known.popitem(last=False)
        # Before the tally: a study that is closed after this has that tally, or the next look will show it.
        kept = await self._collector.document(entry.digest)
        tally, over = await self._collector.tally(entry), kept.closed is not None
        last = known.last
        if last is not None and last.complete and (last.tally, last.over) == (tally, over):
            return last
        looks = await self._collector.store.looks(entry.number)
        study, aim = await self._collector.study(entry.digest), float(kept.aim or AIM)
        tallies = [Tally(entry.digest, tuple(look.get(s, 0) for s in range(entry.symbols))) for look in looks]
        now = _Now(study, tally, over, aim, tallies)
        known.last = await self._collector.reckon(lambda: _reckon(now, known))
        return known.last


@dataclass(frozen=True)
class _Now:
    """What a study's results are worked out from."""

    study: Study
    tally: Tally
    over: bool
    aim: float
    looks: list[Tally]


def _reckon(now: _Now, known: _Known) -> Results:
    study, tally = now.study, now.tally
    # Here, and not above: a collector that restarts takes answers a second earlier.
    from fairgauge.estimate import estimate
    from fairgauge.plan.needed import answers_needed
    from fairgauge.report.figures import Look
    from fairgauge.report.views import progress_view, views
    from fairgauge.report.words import headline

    found = estimate(study, tally, confidence=CONFIDENCE, interval=INTERVAL)
    errors = [2 * now.aim * question.metric.scale for question in study.questions]
    if known.needed is None:
        known.needed = [
            answers_needed(question, error, questions=len(study.questions), confidence=CONFIDENCE, interval=INTERVAL)
            for question, error in zip(study.questions, errors, strict=True)
        ]
    started = time.monotonic()
    main = [headline(question) for question in found.questions]
    past = [look for look in now.looks if look.total < tally.total]
    for look in reversed(past):  # the latest first: they matter most
        if look.total not in known.past and time.monotonic() - started < _BUDGET:
            then = estimate(study, look, confidence=CONFIDENCE, interval=INTERVAL)
            known.past[look.total] = [
                None if gap is None else next((g.interval for g in q.gaps if g.groups == gap.groups), None)
                for q, gap in zip(then.questions, main, strict=True)
            ]
    progress = []
    for number, (question, gap) in enumerate(zip(study.questions, main, strict=True)):
        drawn: list[Look] = []
        if gap is not None:
            done = [look.total for look in past if look.total in known.past]
            drawn = [Look(total, interval) for total in done if (interval := known.past[total][number]) is not None]
            drawn.append(Look(tally.total, gap.interval))
        needed = known.needed[number]
        progress.append(progress_view(question, tally.total, error=errors[number], needed=needed, looks=drawn))
    complete = all(look.total in known.past for look in past)
    return Results(study, tally, found, views(study, found, over=now.over), progress, now.over, complete)
