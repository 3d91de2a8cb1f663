"""What the answers say: tally, estimate and export."""

import contextlib

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fairgauge.collector.access import collector_of, kind_of, who
from fairgauge.collector.buckets import moment_of
from fairgauge.collector.export import FORMATS, HeldResponse, ndjson, parquet
from fairgauge.collector.queries import EstimateQuery, ExportQuery
from fairgauge.collector.refusals import AnswersGone, NotSealed
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.shapes import Arrival, Arrivals
from fairgauge.errors import StoreError


async def tally(request: Request) -> Response:
    """Show how often each symbol was sent."""
    collector, entry = await _asked(request)
    return Response((await collector.tally(entry)).to_bytes(), media_type="application/json")


async def arrivals(request: Request) -> Response:
    """Show how many answers came in each hour."""
    collector, entry = await _asked(request)
    found = await collector.store.arrivals(entry.number)
    came = [Arrival(moment_of(bucket), count) for bucket, count in found.items()]
    document = Arrivals(entry.digest, collector.config.bucket_seconds, came)
    return Response(document.to_bytes(), media_type="application/json")


async def estimate(request: Request, query: EstimateQuery) -> Response:
    """Show what the tally says now."""
    collector, entry = await _asked(request)
    found = await collector.estimate(entry, confidence=query.confidence, interval=query.interval)
    return JSONResponse(found.to_dict())


async def export(request: Request, query: ExportQuery) -> Response:
    """Send all answers, sorted by id, as NDJSON or Parquet."""
    collector, entry = await _asked(request)
    if entry.kept.batch is not None and not entry.kept.sealed:
        raise NotSealed("A study in the crowd is exported when it is over: two exports would tell who came between.")
    if entry.kept.dropped is not None:
        raise AnswersGone("They were removed after the study was sealed; the tally and the seal are kept.")
    if name := who(request):  # a stranger's look at public answers is no act of an operator, and could fill the log
        with contextlib.suppress(StoreError):  # a disk that is full keeps nobody from saving what is on it
            await collector.record(name, "exported", entry.digest)
    pages = collector.store.answers(entry.number)
    write = ndjson if query.format == "ndjson" else parquet
    body, places = write(entry.digest, pages, collector.lane), collector.exports.taken(kind_of(request))
    headers = {"Content-Disposition": f'attachment; filename="{entry.digest[:16]}.{query.format}"'}
    return HeldResponse(places, body, headers=headers, media_type=FORMATS[query.format])


async def _asked(request: Request) -> tuple[Collector, Entry]:
    collector = collector_of(request)
    return collector, await collector.current(request.path_params["digest"])
