"""What the answers say: tally, estimate and export, for readers, or for everyone where results are public."""

import math

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from fairgauge.collector.buckets import moment_of
from fairgauge.collector.export import FORMATS, ndjson, parquet
from fairgauge.collector.routes.access import only, require, require_results
from fairgauge.errors import InvalidInput


async def tally(request: Request) -> Response:
    """Show how often each symbol was sent."""
    collector, entry = await require_results(request)
    only(request)
    return Response((await collector.tally(entry)).to_bytes(), media_type="application/json")


async def arrivals(request: Request) -> Response:
    """Show how many answers came in each hour."""
    collector = require(request, "reader")
    only(request)
    entry = await collector.entry(request.path_params["digest"])
    found = await collector.store.arrivals(entry.number)
    return JSONResponse(
        {
            "study": entry.digest,
            "bucket_seconds": collector.config.bucket_seconds,
            "arrivals": [{"start": moment_of(bucket), "answers": count} for bucket, count in found.items()],
        }
    )


async def estimate(request: Request) -> Response:
    """Show what the tally says now."""
    collector, entry = await require_results(request)
    only(request, "confidence", "interval")
    typed = request.query_params.get("confidence", "0.99")
    try:
        confidence = float(typed)
    except ValueError:
        confidence = math.nan
    if not 0 < confidence < 1:
        raise InvalidInput("confidence", typed, "must be a number above 0 and below 1")
    interval = request.query_params.get("interval", "finite")
    return JSONResponse((await collector.estimate(entry, confidence=confidence, interval=interval)).to_dict())


async def export(request: Request) -> Response:
    """Send all answers, sorted by id, as NDJSON or Parquet."""
    collector, entry = await require_results(request, ids=True)
    only(request, "format")
    kind = request.query_params.get("format", "ndjson")
    if kind not in FORMATS:
        raise InvalidInput("format", kind, f"must be {' or '.join(FORMATS)}")
    pages = collector.store.answers(entry.number)
    body = ndjson(entry.digest, pages) if kind == "ndjson" else parquet(entry.digest, pages)
    headers = {"Content-Disposition": f'attachment; filename="{entry.digest[:16]}.{kind}"'}
    return StreamingResponse(body, headers=headers, media_type=FORMATS[kind])
