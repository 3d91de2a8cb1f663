"""What the answers say: tally, estimate and export."""

import contextlib
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fairgauge.canonical import encode
from fairgauge.collector.access import collector_of, kind_of, may_see, role_of, who
from fairgauge.collector.bundle import MEDIA_TYPE, readme, zipped
from fairgauge.collector.export import FORMATS, HeldResponse, ndjson, parquet
from fairgauge.collector.pages.studies import report_text
from fairgauge.collector.queries import EstimateQuery, ExportQuery, ReportQuery
from fairgauge.collector.seal import column_of, read_sealed
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.shapes import Arrival, Arrivals
from fairgauge.errors import StoreError
from fairgauge.server.coarse_time import moment_of
from fairgauge.server.refusals import AnswersGone, NotSealed


async def tally(request: Request) -> Response:
    """Show the sum of what answers hold."""
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
        raise NotSealed("This study is exported when it is over: two exports would tell who came between.")
    if entry.kept.dropped is not None:
        raise AnswersGone("They were removed after the study was sealed; the tally and the seal are kept.")
    if name := who(request):  # a stranger's look at public answers is no act of an operator, and could fill the log
        with contextlib.suppress(StoreError):  # a disk that is full keeps nobody from saving what is on it
            await collector.record(name, "exported", entry.digest)
    write = ndjson if query.format == "ndjson" else partial(parquet, column=column_of(entry.numbers))
    body = write(entry.digest, collector.store.answers(entry.number), collector.lane)
    places = collector.exports.taken(kind_of(request))
    headers = {"Content-Disposition": f'attachment; filename="{entry.digest[:16]}.{query.format}"'}
    return HeldResponse(places, body, headers=headers, media_type=FORMATS[query.format])


async def bundle(request: Request, query: ReportQuery) -> Response:
    """Send everything of a sealed study that belongs together, as one zip."""
    collector, entry = await _asked(request)
    sealed = await collector.store.sealed(entry.number)
    if sealed is None:
        raise NotSealed("A study is sealed after it has closed.")
    kept = await collector.document(entry.digest)
    why_not = "removed" if kept.dropped is not None else None
    if kept.batch is not None:
        why_not = "known" if entry.contributors_known else "crowd"  # a bundle is made to be passed on
    if role_of(request) is None and not await may_see(collector, entry.digest, ids=True):
        why_not = why_not or "readers"
    if name := who(request):
        with contextlib.suppress(StoreError):
            await collector.record(name, "exported", entry.digest)
    signed = {"study": entry.digest, "key": kept.key, "signature": kept.signature}
    files = {
        "README.txt": readme(entry.digest, why_not),
        "study.json": kept.document,
        "signature.json": encode(signed),
        "tally.json": read_sealed(sealed).seal.counted.to_bytes(),
        "sealed.json": sealed,
        "report.html": (await report_text(request, entry, query.asked or None)).encode(),
    }
    pages = collector.store.answers(entry.number) if why_not is None else None
    body, places = zipped(files, entry.digest, pages, collector.lane), collector.exports.taken(kind_of(request))
    headers = {"Content-Disposition": f'attachment; filename="{entry.digest[:16]}.zip"'}
    return HeldResponse(places, body, headers=headers, media_type=MEDIA_TYPE)


async def _asked(request: Request) -> tuple[Collector, Entry]:
    collector = collector_of(request)
    return collector, await collector.current(request.path_params["digest"])
