"""Publishing, showing and closing studies."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fairgauge.collector.buckets import moment_of
from fairgauge.collector.limits import read_body
from fairgauge.collector.pages.html import wants_html
from fairgauge.collector.pages.studies import Pages
from fairgauge.collector.problems import Problem, problem_of
from fairgauge.collector.routes.access import collector_of, only, require, require_results
from fairgauge.collector.service import AIM, Collector, Terms
from fairgauge.collector.stores.base import Published
from fairgauge.errors import FairgaugeError


async def publish_or_list(request: Request) -> Response:
    """Publish a study, or list all."""
    if request.method == "POST":
        return await publish(request)
    return await (pages_of(request).index(request) if wants_html(request) else listing(request))


async def publish(request: Request) -> Response:
    """Publish a study (operators)."""
    collector = require(request, "operator")
    only(request, "admission", "results", "aim")
    terms = Terms(**request.query_params)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem("bad-media-type", "Send the study as application/json.")
    body = await read_body(request.scope, request.receive, collector.config.limits.study_bytes)
    try:
        kept, created = await collector.publish(body, terms)
    except FairgaugeError as error:
        raise problem_of(error, kind="bad-study") from None
    headers = {"Location": f"/studies/{kept.digest}"}
    return JSONResponse(_summary(collector, kept), 201 if created else 200, headers)


async def listing(request: Request) -> Response:
    """List the studies, the newest first (readers)."""
    collector = require(request, "reader")
    only(request)
    return JSONResponse({"studies": [_summary(collector, kept) for kept in await collector.store.studies()]})


async def show(request: Request) -> Response:
    """Show a study to anyone: a page to a browser, else its exact bytes, with the collector's signature in a header."""
    if wants_html(request):
        return await pages_of(request).study(request)
    collector = collector_of(request)
    only(request)
    collector.turnstile.enter("answers")  # devices ask this before they answer
    kept = await collector.document(request.path_params["digest"])
    headers = {
        "ETag": f'"{kept.digest}"',
        "Vary": "Accept",
        "Cache-Control": "public, max-age=3600",
        "Fairgauge-Admission": kept.admission,
        "Fairgauge-Signature": kept.signature,
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(None, 304, headers)
    return Response(kept.document, 200, headers, "application/json")


async def close(request: Request) -> Response:
    """Close a study and seal it (operators)."""
    collector = require(request, "operator")
    only(request)
    digest = request.path_params["digest"]
    await collector.close(digest)
    return JSONResponse(_summary(collector, await collector.document(digest)))


async def sealed(request: Request) -> Response:
    """Show the seal of a closed study (readers, or everyone if results are public)."""
    collector, entry = await require_results(request)
    only(request)
    document = await collector.store.sealed(entry.number)
    if document is None:
        raise Problem("not-sealed", "A study is sealed after it has closed.")
    return Response(document, media_type="application/json")


async def key(request: Request) -> Response:
    """Show the collector's public key to anyone."""
    only(request)
    return JSONResponse({"algorithm": "Ed25519", "key": collector_of(request).signer.public})


def pages_of(request: Request) -> Pages:
    """Return the pages of the collector that a request is for."""
    found: Pages = request.scope["app"].pages
    return found


def _summary(collector: Collector, kept: Published) -> dict[str, object]:
    return {
        "study": kept.digest,
        "title": kept.title,
        "admission": kept.admission,
        "results": "public" if kept.public else "readers",
        "aim": kept.aim or AIM,
        "published": moment_of(kept.published),
        "status": "sealed" if kept.sealed else "open" if kept.closed is None else "closed",
        "closed": None if kept.closed is None else moment_of(kept.closed),
        "key": collector.signer.public,
        "signature": kept.signature,
    }
