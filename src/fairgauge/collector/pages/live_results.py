"""What a study's answers say, ready for a page; worked out once for each tally, however many people look.

Working it out takes milliseconds for two groups with known shares, and seconds for many groups with unknown ones.  So
only one request at a time works on a study and others take what it finds; what took long is shown for a while longer;
and of the past as much is worked out as there is time for, at least one look, the rest when somebody looks again.

Whoever watches a study is sent its newest state, as server-sent events of one poll for everyone.  A listener that is
slow skips states, and holds up nobody.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from fairgauge.collector.admission import PublishingTerms
from fairgauge.collector.load_limits import EVERYONE, STRANGER, Desk, Slots
from fairgauge.collector.pages.html import ENGLISH, templates
from fairgauge.collector.service import Collector, Entry
from fairgauge.estimation import Estimate, Interval, QuestionEstimate, estimate
from fairgauge.estimation.inference import live_kind
from fairgauge.estimation.interval_kinds import DEFAULT
from fairgauge.languages import Sentence, Voice
from fairgauge.planning.planned_widths import aimed_error, answers_needed
from fairgauge.reports.display import Display, display_of
from fairgauge.reports.figures import Look
from fairgauge.reports.non_response import any_sentence
from fairgauge.reports.question_view import Progress, ProgressView, QuestionView, naming, progress_view, views
from fairgauge.reports.units import part_of_hundred
from fairgauge.server.logs import log_fault
from fairgauge.server.server_errors import Stopping
from fairgauge.study import Study
from fairgauge.study.noisy_counts import FEWEST
from fairgauge.tallies import Tally

_CONFIDENCE = 0.99
_KEPT = 64  # studies whose results are kept in memory
_BUDGET = 1.5  # seconds for one look, most of them for the past
_REST = 5  # how much longer results are shown than they took to be worked out
_VOICES = 16  # ways of writing in which results are kept in memory
_POLL_SECONDS = 1.0
_BEAT_SECONDS = 15.0  # a comment from time to time tells both sides that the other one is still there
_POLL_PART = 10  # working results out may take a tenth of the time
_RETRY = b"retry: 3000\n\n"
_OVER = b"event: over\ndata: \n\n"


@dataclass(frozen=True)
class _SpokenResults:
    """What the answers to a study say, in one language."""

    questions: list[QuestionView]
    progress: list[ProgressView]
    held: bool
    released: str
    sure: str
    guarantee: str
    bands: list[str]  # what each picture of the past is about
    display: Display
    about: str  # what the numbers are about, if sentences do not say so
    holds: str  # on what gaps rest that do not rest on how often groups answered


@dataclass(frozen=True)
class Results:
    """What the answers to a study say."""

    study: Study
    tally: Tally
    estimate: Estimate
    progress: list[Progress]
    over: bool
    complete: bool  # whether the whole past is drawn
    batch: int | None = None  # how many answers a batch has, if counts leave in batches
    at_end: bool = False  # whether they leave at the end only
    answers: int = 0  # how many came, whether their counts may be seen or not
    spoken: dict[Voice, _SpokenResults] = field(default_factory=dict, compare=False, repr=False)

    @property
    def waiting(self) -> bool:
        """Whether answers come in waves and more may come, so that no interval holds yet."""
        return self.study.order is not None and not self.over

    @property
    def live(self) -> bool:
        """Whether an interval holds at every look, while answers come."""
        return self.study.order is None and not self.at_end

    @property
    def unsummed(self) -> bool:
        """Whether there is no sum to show: a sum of nothing would read as if nobody had answered."""
        return self.at_end and self.held

    @property
    def came(self) -> int:
        """How many answers came, or sites, whether anything of them is shown or not."""
        return self.answers if self.batch is not None else self.tally.contributors

    @property
    def held(self) -> bool:
        """Whether nothing is shown: answers come in waves, or none of their counts may be seen."""
        return self.waiting or self.answers > self.tally.contributors == 0 or (self.at_end and not self.over)

    @property
    def released(self) -> str:
        """What is shown of the answers, and when more will be; empty if all of it always is."""
        if self.at_end:
            return _sites_sentence(self.answers, over=self.over)
        if self.waiting:
            return Sentence.of("results.waves")
        return (
            "" if self.batch is None else _release_sentence(self.batch, shown=self.tally.contributors, over=self.over)
        )

    def told(self, voice: Voice) -> _SpokenResults:
        """Return all of it in a language; whoever asks next in the same way gets the same."""
        found = self.spoken.get(voice)
        if found is None:
            if len(self.spoken) >= _VOICES:
                self.spoken.clear()
            found = self.spoken[voice] = _told(self, voice)
        return found


@dataclass
class _Known:
    """What is known of a study that never changes: what it needs, and each question's gaps at looks of the past."""

    needed: list[int | None] | None = None
    past: dict[int, list[dict[tuple[str, str], Interval]]] = field(default_factory=dict)
    last: Results | None = None
    fresh_until: float = 0.0
    working: asyncio.Lock = field(default_factory=asyncio.Lock)


class Reckoner:
    """Works results out, and remembers them."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._known: OrderedDict[str, _Known] = OrderedDict()

    async def results(self, entry: Entry) -> Results:
        """Return what the answers say now."""
        known = self._known.setdefault(entry.digest, _Known())
        self._known.move_to_end(entry.digest)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        async with known.working:
            return await self._newest(entry, known)

    async def _newest(self, entry: Entry, known: _Known) -> Results:
        # Before the tally: a study that is closed after this has that tally, or the next look will show it.
        kept = await self._collector.document(entry.digest)
        tally, over = await self._collector.tally(entry), kept.closed is not None
        apart = kept.batch is not None
        answers = await self._collector.answers(entry) if apart else tally.contributors
        last = known.last
        if last is not None and last.over == over:
            same = last.tally == tally
            if last.answers != answers and apart:
                known.last = last = replace(last, answers=answers, spoken={})
            if (same and last.complete) or (not same and time.monotonic() < known.fresh_until):
                return last
        looks = await self._collector.store.looks(entry.number)
        study, aim = await self._collector.study(entry.digest), float(kept.aim or PublishingTerms().aim)
        tallies = [entry.shown(look) for look in looks]
        now = _Now(study, tally, over, kept.at_end, aim, tallies)
        started = time.monotonic()
        found = await self._collector.desk.work(lambda: _reckon(now, known), EVERYONE)
        known.last = replace(found, batch=kept.batch, at_end=kept.at_end, answers=answers)
        known.fresh_until = time.monotonic() + _REST * (time.monotonic() - started)
        return known.last


@dataclass(frozen=True)
class _Now:
    """What a study's results are worked out from."""

    study: Study
    tally: Tally
    over: bool
    at_end: bool
    aim: float
    looks: list[Tally]


def _reckon(now: _Now, known: _Known) -> Results:
    study, tally = now.study, now.tally
    started = time.monotonic()
    # Where answers come in waves only the end counts, by an interval that does not take random order; and where nothing
    # is shown before.
    # A study that is over shows the interval of its seal, and nothing that was said on the way.
    interval = DEFAULT if now.over else live_kind(study)
    if known.last is not None and known.last.tally == tally and known.last.estimate.interval == interval:
        found = known.last.estimate
    else:
        found = estimate(study, tally, confidence=_CONFIDENCE, interval=interval)
    if now.over or now.at_end:
        return Results(study, tally, found, [], now.over, complete=True)
    errors = [aimed_error(question, now.aim) for question in study.questions]
    if known.needed is None:
        known.needed = [
            answers_needed(
                question,
                error,
                tables=len(study.tables),
                confidence=_CONFIDENCE,
                interval=interval,
                drawn=study.drawn_for_each,
            )
            for question, error in zip(study.questions, errors, strict=True)
        ]
    past = [look for look in now.looks if look.contributors < tally.contributors and study.order is None]
    for look in reversed([look for look in past if look.contributors not in known.past]):  # the latest matter most
        then = estimate(study, look, confidence=_CONFIDENCE, interval=interval)
        known.past[look.contributors] = [q.gaps for q in then.questions]
        if time.monotonic() - started > _BUDGET:  # here, so that at least one is done at each look
            break
    progress: list[Progress] = []
    for number, told in enumerate(found.questions):
        drawn: list[Look] = []
        main = told.headline
        if main.groups is not None and main.interval is not None:
            done = [look.contributors for look in past if look.contributors in known.past]
            then_known = [(total, known.past[total][number].get(main.groups)) for total in done]
            drawn = [Look(total, interval) for total, interval in then_known if interval is not None]
            drawn.append(Look(tally.contributors, main.interval))
        needed = known.needed[number]
        progress.append(Progress(tally.contributors, errors[number], needed, drawn))
    complete = all(look.contributors in known.past for look in past)
    return Results(study, tally, found, progress, now.over, complete)


def _drawn(found: QuestionEstimate) -> str:
    pair = found.headline.groups
    if len(found.gaps) < 2 or pair is None:
        return Sentence.of("results.gap")
    return Sentence.of("results.gap-between", first=pair[0], second=pair[1])


def _told(results: Results, voice: Voice) -> _SpokenResults:
    study, estimate = results.study, results.estimate
    steps = zip(study.questions, results.progress, strict=False)  # of sites nothing is shown on the way
    return _SpokenResults(
        views(study, estimate, over=results.over, voice=voice),
        [progress_view(question, step, naming(study, question, voice)) for question, step in steps],
        held=results.held,
        released=voice.tell(results.released),
        sure=voice.tell(part_of_hundred(estimate.confidence)),
        guarantee=voice.say(f"interval.{estimate.kind.text or estimate.interval}"),
        bands=[
            naming(study, one, voice).tell(_drawn(told))
            for one, told in zip(study.questions, estimate.questions, strict=True)
        ],
        display=display_of(study.mechanism),
        about=voice.tell(display_of(study.mechanism).about(estimate)),
        holds=voice.tell(any_sentence(zip(study.questions, estimate.questions, strict=True)) or ""),
    )


def _release_sentence(batch: int, *, shown: int, over: bool) -> str:
    """Return what is shown of the answers, and when more will be.

    >>> _release_sentence(1000, shown=0, over=False)
    'No counts are shown yet. They leave in batches of 1,000 answers: when 2,000 wait, or the study closes.'
    """
    if over:
        return Sentence.of("results.released") if shown else ""
    if not shown:
        return Sentence.of("results.not-yet", batch=batch, twice=2 * batch)
    return Sentence.of("results.some", shown=shown, batch=batch)


def _sites_sentence(answered: int, *, over: bool) -> str:
    """Return how many sites answered, and when their sum is shown; empty where it is.

    >>> _sites_sentence(2, over=False).partition(": ")[0]
    '2 sites have answered. What they counted is summed up and shown when the study closes'
    >>> _sites_sentence(3, over=True)
    ''
    """
    if not over:
        told = Sentence.of("sites.answered", count=answered) if answered else Sentence.of("sites.none")
        return Sentence.together([told, Sentence.of("sites.waiting")])
    if answered >= FEWEST or not answered:
        return ""
    return Sentence.of("sites.too-few", fewest=FEWEST)


class Live:
    """Everyone who watches, by study."""

    def __init__(self, collector: Collector, reckoner: Reckoner) -> None:
        self._collector = collector
        self._reckoner = reckoner
        self._watches: dict[str, _Watch] = {}
        self._stopped = asyncio.Event()
        self._places = Slots("listeners", collector.config.limits.listeners)
        collector.metrics.listeners.set_function(lambda: self.listeners)

    @property
    def listeners(self) -> int:
        """How many there are."""
        return sum(watch.listeners for watch in self._watches.values())

    def stop(self) -> None:
        """Let everyone go, so that the collector can end; browsers come back by themselves."""
        self._stopped.set()
        for watch in self._watches.values():
            watch.tell()
            if watch.task is not None:
                watch.task.cancel()

    def place(self, kind: str = STRANGER) -> AbstractContextManager[None]:
        """Take a place of a kind for as long as this lasts; whoever is sent something takes it before that begins."""
        return self._places.taken(kind)

    def join(self, entry: Entry, voice: Voice = ENGLISH) -> AsyncIterator[bytes]:
        """Return events for one more listener, in a language.

        Raises:
            Stopping: If the collector is about to end.
        """
        if self._stopped.is_set():
            raise Stopping("The collector is stopping.", 2)
        return self._listen(entry, voice)

    async def _listen(self, entry: Entry, voice: Voice) -> AsyncIterator[bytes]:
        with self._watching(entry) as watch:
            seen = 0
            yield _RETRY
            while not self._stopped.is_set():
                if watch.version > seen:
                    seen, found = watch.version, watch.found
                    yield await asyncio.shield(watch.event(voice))  # others may wait for it too
                    if found is not None and found.over:
                        yield _OVER
                        return
                elif not await watch.wait(_BEAT_SECONDS):
                    yield b":\n\n"

    @contextmanager
    def _watching(self, entry: Entry) -> Iterator["_Watch"]:
        watch = self._watches.get(entry.digest)
        if watch is None:
            watch = self._watches[entry.digest] = _Watch(self._collector.desk)
            watch.task = asyncio.get_running_loop().create_task(self._poll(entry, watch))
        watch.listeners += 1
        try:
            yield watch
        finally:
            watch.listeners -= 1

    async def _poll(self, entry: Entry, watch: "_Watch") -> None:
        """Look again and again, until nobody watches: whoever comes and goes meanwhile begins nothing anew."""
        last: Results | None = None
        while watch.listeners:
            started = time.monotonic()
            try:
                found = await self._reckoner.results(entry)
            except Exception as error:  # noqa: BLE001 - a store that is away now may be back at the next turn
                log_fault(error)
            else:
                if found is not last:
                    last = found
                    watch.show(found)
            await asyncio.sleep(max(_POLL_SECONDS, _POLL_PART * (time.monotonic() - started)))
        del self._watches[entry.digest]


class _Watch:
    """A study that is watched: what is newest, as an event in every language that is listened to, and a bell."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.task: asyncio.Task[None] | None = None
        self.listeners = 0
        self.version = 0
        self.found: Results | None = None
        self._events: dict[Voice, asyncio.Future[bytes]] = {}
        self._bell = asyncio.Event()

    def show(self, found: Results) -> None:
        """Take what is newest, and wake everyone who waits."""
        self.found, self._events = found, {}
        self.version += 1
        self.tell()

    def event(self, voice: Voice) -> "asyncio.Future[bytes]":
        """Return what is newest as an event; it is written once for all who listen in the same language."""
        if self.found is None:
            raise LookupError("there is nothing to show yet")
        if voice not in self._events:
            self._events[voice] = asyncio.ensure_future(
                self._desk.work(partial(_event_of, self.found, voice), EVERYONE)
            )
        return self._events[voice]

    def tell(self) -> None:
        """Wake everyone who waits."""
        self._bell.set()
        self._bell = asyncio.Event()

    async def wait(self, seconds: float) -> bool:
        """Wait for news; False if there are none for so long."""
        try:
            async with asyncio.timeout(seconds):
                await self._bell.wait()
        except TimeoutError:
            return False
        return True


def _event_of(results: Results, voice: Voice) -> bytes:
    """Return what a page shows of results, as an event."""
    text = templates().get_template("live.html").render(results=results, told=results.told(voice), voice=voice)
    lines = "".join(f"data: {line}\n" for line in text.splitlines())
    return f"event: results\n{lines}\n".encode()
