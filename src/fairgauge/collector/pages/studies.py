"""Pages about studies: the index, one study live, and its report."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from fairgauge.collector.buckets import moment_of
from fairgauge.collector.pages.catalogue import Catalogue
from fairgauge.collector.pages.html import REPORT_POLICY, on_loopback, page
from fairgauge.collector.pages.live import Live
from fairgauge.collector.pages.operator import Operator
from fairgauge.collector.pages.results import Reckoner
from fairgauge.collector.routes.access import collector_of, may_see, only, require_results, role_of
from fairgauge.collector.service import Collector
from fairgauge.study import Study


class Pages:
    """The pages of one collector."""

    def __init__(self, collector: Collector) -> None:
        self._catalogue = Catalogue(collector)
        self._reckoner = Reckoner(collector)
        self.live = Live(collector, self._reckoner)
        self.operator = Operator(self._catalogue)

    async def index(self, request: Request) -> Response:
        """List studies: those whose results are public, or all of them to whoever has signed in."""
        only(request)
        everything = role_of(request) is not None
        collector_of(request).turnstile.enter("readers" if everything else "visitors")
        cards, more = await self._catalogue.cards(everything=everything)
        return page(request, "index.html", cards=cards, more=more, everything=everything)

    async def study(self, request: Request) -> Response:
        """Show a study to anyone, and what its answers say to those who may see it."""
        collector, digest = collector_of(request), request.path_params["digest"]
        only(request)
        collector.turnstile.enter("visitors")
        kept = await collector.document(digest)
        study, asked = await collector.study(digest), await self._catalogue.asked(digest)
        allowed = role_of(request) is not None or await may_see(collector, digest)
        results = await self._reckoner.results(await collector.entry(digest)) if allowed else None
        return page(
            request,
            "study.html",
            kept=kept,
            study=study,
            asks=asked.asks,
            state=self._catalogue.state(kept, asked),
            published=moment_of(kept.published),
            closed=None if kept.closed is None else moment_of(kept.closed),
            results=results,
            privacy=await asyncio.to_thread(_privacy, study),
            key=collector.signer.public,
            address=f"{'http' if on_loopback(request) else 'https'}://{request.headers.get('host', 'collector')}",
        )

    async def events(self, request: Request) -> Response:
        """Send what the answers say, again and again as they come, as server-sent events."""
        _, entry = await require_results(request)
        only(request)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self.live.join(entry), 200, headers, "text/event-stream")

    async def report(self, request: Request) -> Response:
        """Send the report of a study as one file."""
        _, entry = await require_results(request)
        only(request)
        found = await self._reckoner.results(entry)

        def run() -> str:
            from fairgauge.reports.document import render_report

            return render_report(found.study, found.tally, found.estimate, over=found.over)

        text = await asyncio.to_thread(run)
        headers = {"Content-Security-Policy": REPORT_POLICY, "Cache-Control": "no-store"}
        return Response(text, 200, headers, "text/html; charset=utf-8")


def _privacy(study: Study) -> list[dict[str, object]]:
    # Here, and not above: a collector that restarts takes answers a second earlier.
    from fairgauge.reports.views import privacy_view, title_of

    return [{"title": title_of(question), "privacy": privacy_view(question)} for question in study.questions]
