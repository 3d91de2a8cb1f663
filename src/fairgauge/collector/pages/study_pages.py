"""Pages about studies: the list of them, one study live, and its report."""

import asyncio
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from fairgauge.client.sending_epoch import ENOUGH_TOGETHER, RARELY, others_of
from fairgauge.collector.access import asker_of, collector_of, may_see, role_of
from fairgauge.collector.admission import outsiders_note
from fairgauge.collector.load_limits import Desk, HeldResponse
from fairgauge.collector.pages.html import REPORT_POLICY, address_of, page, voice_of
from fairgauge.collector.pages.live_results import Live, Reckoner
from fairgauge.collector.query_parameters import ReportQuery
from fairgauge.collector.seal import read_sealed
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.stores.store import Published
from fairgauge.errors import CannotEstimate, InvalidInput
from fairgauge.languages import OWN, Numeral, Sentence, Voice
from fairgauge.reports.crowd_promise import crowd_view
from fairgauge.reports.display import display_of
from fairgauge.reports.html_report import render_report
from fairgauge.reports.provenance import Provenance, check_asked
from fairgauge.reports.question_view import naming, privacy_views
from fairgauge.reports.translated_names import title_in
from fairgauge.reports.units import part_of
from fairgauge.server.coarse_time import moment_of
from fairgauge.study import Study

_SHOWN = 100
_REMEMBERED = 10_000
_LISTED_SECONDS, _LISTS = 1.0, 16


async def index(request: Request) -> Response:
    """List studies: those whose results are public, or all of them to whoever has signed in."""
    everything = role_of(request) is not None
    pages, voice = pages_of(request), voice_of(request)
    cards, more = await (pages.catalogue.cards(voice, everything=True) if everything else pages.catalogue.listed(voice))
    listed = partial(page, request, "index.html", cards=cards, more=more, everything=everything)
    return await pages.desk.work(listed, asker_of(request))


async def study(request: Request) -> Response:
    """Show a study to anyone, and what its answers say to those who may see it."""
    collector, pages, digest = collector_of(request), pages_of(request), request.path_params["digest"]
    voice, kept = voice_of(request), await collector.document(digest)
    found, asked = await collector.study(digest), await pages.catalogue.asked(digest, voice)
    allowed = role_of(request) is not None or await may_see(collector, digest)
    results = await pages.reckoner.results(await collector.entry(digest)) if allowed else None

    def shown() -> Response:
        return page(
            request,
            "study.html",
            kept=kept,
            study=found,
            display=display_of(found.mechanism),
            own=display_of(found.mechanism).described(found),
            asked=asked,
            state=kept.state(collector.clock()),
            published=moment_of(kept.published),
            closed=None if kept.closed is None else moment_of(kept.closed),
            results=results,
            told=None if results is None else results.told(voice),
            privacy=privacy_views(found, voice),
            crowd=None if found.release is None else crowd_view(found, voice),
            key=kept.key,
            address=address_of(request),
        )

    return await pages.desk.work(shown, asker_of(request))


async def events(request: Request) -> Response:
    """Send what the answers say, again and again as they come, as server-sent events."""
    entry = await collector_of(request).current(request.path_params["digest"])
    headers = {"Cache-Control": "no-store", "Vary": "Accept-Language", "X-Accel-Buffering": "no"}
    live = pages_of(request).live
    sent = live.join(entry, voice_of(request))
    return HeldResponse(live.place(asker_of(request).kind), sent, headers=headers, media_type="text/event-stream")


async def report(request: Request, query: ReportQuery) -> Response:
    """Send the report of a study as one file."""
    entry = await collector_of(request).current(request.path_params["digest"])
    tag = voice_of(request).tag
    text = await report_text(request, entry, query.asked or None, language=tag)
    headers = {"Content-Security-Policy": REPORT_POLICY, "Cache-Control": "no-store"}
    headers |= {"Content-Language": tag, "Vary": "Accept-Language"}
    return Response(text, 200, headers, "text/html; charset=utf-8")


async def report_text(request: Request, entry: Entry, asked: int | None, *, language: str = OWN) -> str:
    """Return the report of a study, with its seal if it has one, and with how many were asked if an operator says.

    Raises:
        InvalidInput: If somebody else says it, or it is fewer than answered.
    """
    collector = collector_of(request)
    found = await pages_of(request).reckoner.results(entry)
    if found.at_end and not found.over:
        raise CannotEstimate("answers to this study are summed up when it closes, so its report is made then")
    if found.waiting:
        raise CannotEstimate(f"answers to this study come in {found.study.order}, so its report is made when it closes")
    sealed = await collector.store.sealed(entry.number) if found.over else None
    if asked is not None and role_of(request) != "operator":
        raise InvalidInput("asked", asked, "must be said by an operator: sign in, or send a token")
    said = Provenance(
        date=datetime.fromtimestamp(collector.clock(), UTC).date().isoformat(),
        over=found.over,
        asked=check_asked(asked, found.tally.contributors),
        seal=None if sealed is None else read_sealed(sealed).note,
        language=language,
    )
    made = partial(render_report, found.study, found.tally, found.estimate, said)
    return await collector.desk.work(made, asker_of(request))


@dataclass(frozen=True)
class _Asked:
    """What a list says of a study in one language; it never changes.  ``lang`` is the title's, if the study says it."""

    title: str
    asks: str
    lang: str | None = None
    count: str = "study.answers"  # the key of how many there are
    contributors_known: bool = False
    sharing: str = ""  # how many share an epoch, for its operator
    outsiders: str = ""  # what people outside of it do if everyone may answer, for its operator


@dataclass(frozen=True)
class _Card:
    """A study on a list."""

    kept: Published
    asked: _Asked
    state: str
    answers: int
    published: str


class _Catalogue:
    """The studies of one collector."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._asked: dict[tuple[str, Voice], _Asked] = {}
        self._listed: dict[Voice, tuple[float, tuple[list[_Card], int]]] = {}  # what strangers were shown, and when
        self._listing = asyncio.Lock()

    async def asked(self, digest: str, voice: Voice) -> _Asked:
        """Return what a study asks."""
        found = self._asked.get((digest, voice))
        if found is None:
            found = await asyncio.to_thread(_read, await self._collector.study(digest), voice)
            if len(self._asked) >= _REMEMBERED:
                self._asked.clear()
            self._asked[digest, voice] = found
        return found

    async def listed(self, voice: Voice) -> tuple[list[_Card], int]:
        """Return the newest studies whose results are public, as they were within the last second.

        Each costs a look into the store, and a hundred for every stranger who comes by held up answers by a quarter of
        a second.
        """
        async with self._listing:
            now = self._collector.clock()
            when, found = self._listed.get(voice, (float("-inf"), ([], 0)))
            if not 0 <= now - when < _LISTED_SECONDS:
                if len(self._listed) >= _LISTS:
                    self._listed.clear()
                self._listed[voice] = now, (found := await self.cards(voice, everything=False))
            return found

    async def cards(self, voice: Voice, *, everything: bool) -> tuple[list[_Card], int]:
        """Return the newest studies, all or those with public results, and how many there are beyond them."""
        listed = [kept for kept in await self._collector.store.studies() if everything or kept.public]
        return [await self._card(kept, voice) for kept in listed[:_SHOWN]], max(0, len(listed) - _SHOWN)

    async def _card(self, kept: Published, voice: Voice) -> _Card:
        asked = await self.asked(kept.digest, voice)
        answers = sum((await self._collector.store.arrivals(kept.number)).values())
        return _Card(kept, asked, kept.state(self._collector.clock()), answers, moment_of(kept.published))


def _read(study: Study, voice: Voice) -> _Asked:
    title, lang = title_in(study, voice)
    display = display_of(study.mechanism)
    said = [naming(study, question, voice).tell(sentence) for question, sentence in display.asks(study)]
    count, known = display.count, study.mechanism.contributors_known
    outsiders = voice.tell(outsiders_note(study, "open"))
    return _Asked(title, " ".join(said), lang, count, known, voice.tell(_sharing(study)), outsiders)


def _sharing(study: Study) -> str:
    """Return how many share an epoch with an answer; nothing if the study does not tell."""
    others = others_of(study.planned, study.epoch, study.opens, study.closes)
    if others is None:
        return ""
    told, alone = Numeral(f"{others:.3g}"), math.exp(-others)
    if alone >= RARELY:
        often = part_of(round(alone, 2))
        return Sentence.of("desk.sharing-alone", alone=often, enough=ENOUGH_TOGETHER, others=told)
    if others < ENOUGH_TOGETHER:
        return Sentence.of("desk.sharing-few", enough=ENOUGH_TOGETHER, others=told)
    return Sentence.of("desk.sharing", others=told)


class Pages:
    """The pages of one collector."""

    def __init__(self, collector: Collector) -> None:
        self.catalogue = _Catalogue(collector)
        self.reckoner = Reckoner(collector)
        self.live = Live(collector, self.reckoner)
        self.desk = Desk(collector.lane)  # of its own: pages are quick, and wait for no report
        self.designing = asyncio.Lock()  # one at a time: answers come first


def pages_of(request: Request) -> Pages:
    """Return the pages of the collector that a request is for."""
    found: Pages = request.scope["app"].pages
    return found
