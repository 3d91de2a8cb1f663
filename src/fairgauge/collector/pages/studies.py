"""Pages about studies: the index, one study live, and its report."""

import asyncio
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from fairgauge.collector.buckets import moment_of
from fairgauge.collector.pages.html import REPORT_POLICY, page
from fairgauge.collector.pages.live import Live
from fairgauge.collector.pages.results import Reckoner
from fairgauge.collector.problems import wait
from fairgauge.collector.routes.access import collector_of, may_see, only, require_results, role_of
from fairgauge.collector.service import Collector
from fairgauge.collector.stores.base import Published
from fairgauge.study import Study

SHOWN = 100


@dataclass(frozen=True)
class Card:
    """A study on the index."""

    kept: Published
    study: Study
    status: str
    asks: str
    answers: int


class Pages:
    """The pages of one collector."""

    def __init__(self, collector: Collector) -> None:
        self._reckoner = Reckoner(collector)
        self.live = Live(collector, self._reckoner)

    async def index(self, request: Request) -> Response:
        """List studies: those whose results are public, or all of them to whoever has signed in."""
        only(request)
        collector = collector_of(request)
        everything = role_of(request) is not None
        collector.turnstile.enter("readers" if everything else "visitors")
        listed = [kept for kept in await collector.store.studies() if everything or kept.public]
        cards = [
            Card(
                kept,
                study := await collector.study(kept.digest),
                status_of(kept, collector.clock()),
                await asyncio.to_thread(_asks, study),
                sum((await collector.store.tally(kept.number)).values()),
            )
            for kept in listed[:SHOWN]
        ]
        return page(request, "index.html", cards=cards, more=len(listed) - len(cards), everything=everything)

    async def study(self, request: Request) -> Response:
        """Show a study to anyone, and what its answers say to those who may see it."""
        collector, digest = collector_of(request), request.path_params["digest"]
        only(request)
        collector.turnstile.enter("visitors")
        kept = await collector.document(digest)
        study = await collector.study(digest)
        allowed = role_of(request) is not None or await may_see(collector, digest)
        results = await self._reckoner.results(await collector.entry(digest)) if allowed else None
        return page(
            request,
            "study.html",
            kept=kept,
            study=study,
            asks=await asyncio.to_thread(_asks, study),
            state=status_of(kept, collector.clock()),
            published=moment_of(kept.published),
            closed=None if kept.closed is None else moment_of(kept.closed),
            results=results,
            privacy=await asyncio.to_thread(_privacy, study),
            key=collector.signer.public,
            address=str(request.url.replace(path="", query="", fragment="")),
        )

    async def events(self, request: Request) -> Response:
        """Send what the answers say, again and again as they come, as server-sent events."""
        collector, entry = await require_results(request)
        only(request)
        if not collector.ready:
            raise wait("stopping", "The collector is stopping.", 2)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self.live.join(entry), 200, headers, "text/event-stream")

    async def report(self, request: Request) -> Response:
        """Send the report of a study as one file."""
        _, entry = await require_results(request)
        only(request)
        found = await self._reckoner.results(entry)

        def run() -> str:
            from fairgauge.report.document import render_report

            return render_report(found.study, found.tally, found.estimate, over=found.over)

        text = await asyncio.to_thread(run)
        headers = {"Content-Security-Policy": REPORT_POLICY, "Cache-Control": "no-store"}
        return Response(text, 200, headers, "text/html; charset=utf-8")


def status_of(kept: Published, now: float) -> str:
    """Return what a study is doing, in a word."""
    if kept.sealed:
        return "sealed"
    return "closed" if kept.closed is not None or (kept.closes is not None and now >= kept.closes) else "open"


def _asks(study: Study) -> str:
    from fairgauge.report.words import question_sentence

    return " ".join(map(question_sentence, study.questions))


def _privacy(study: Study) -> list[object]:
    from fairgauge.report.views import privacy_view, title_of

    return [{"title": title_of(question), "privacy": privacy_view(question)} for question in study.questions]
