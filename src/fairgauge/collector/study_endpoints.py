"""What programs ask of a collector: studies are published, shown and closed; and whether it is well."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from fairgauge.collector.access import collector_of, who
from fairgauge.collector.admission import PublishingTerms, kept_terms, outsiders_note
from fairgauge.collector.documents import Directory, Exact, Key, Listing, Publication, Standing, Status, Summary
from fairgauge.collector.service import Collector, PublicStudy
from fairgauge.collector.stores.store import Published
from fairgauge.server.coarse_time import moment_of
from fairgauge.server.request_body import media_type, read_body
from fairgauge.server.server_errors import BadMediaType, NotSealed, Stopping
from fairgauge.study import Study

_PIECE = 2**16  # bytes that wait for a reader


async def publish(request: Request, terms: PublishingTerms) -> Response:
    """Publish a study."""
    collector = collector_of(request)
    if media_type(request.scope) != "application/json":
        raise BadMediaType("Send the study as application/json.")
    body = await read_body(request.scope, request.receive, collector.config.limits.study_bytes)
    kept, created = await collector.publish(body, terms)
    if created:
        await collector.record(who(request), "published", kept.digest)
    note = str(outsiders_note(await asyncio.to_thread(Study.from_bytes, kept.document), kept.admission))
    told = Publication(**msgspec.structs.asdict(_summary(collector, kept)), note=note)
    return _json(told, 201 if created else 200, {"Location": f"/studies/{kept.digest}"})


async def listing(request: Request) -> Response:
    """List the studies, the newest first."""
    collector = collector_of(request)
    return _json(Listing([_summary(collector, kept) for kept in await collector.store.studies()]))


async def directory(request: Request) -> Response:
    """Name the studies that hide who answers: whoever asks through a relay sees whether theirs is everybody's."""
    return _json(Directory(await collector_of(request).directory()), headers={"Cache-Control": "no-store"})


async def show(request: Request) -> Response:
    """Show a study's exact bytes, with the collector's signature in a header."""
    shown = await collector_of(request).shown(request.path_params["digest"])
    kept = shown.kept
    headers = {
        "ETag": f'"{kept.digest}"',
        "Vary": "Accept",
        "Cache-Control": "public, max-age=3600",
        "Fairgauge-Admission": kept.admission,
        "Fairgauge-Key": kept.key,
        "Fairgauge-Signature": kept.signature,
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(None, 304, headers)
    if len(kept.document) <= _PIECE:
        return Response(kept.document, 200, headers, "application/json")
    headers["Content-Length"] = str(len(kept.document))
    return StreamingResponse(_pieces(shown), 200, headers, "application/json")


async def _pieces(shown: PublicStudy) -> AsyncIterator[bytes]:
    """Yield a document in pieces; it is held by its one copy for as long as somebody reads, however slowly."""
    for at in range(0, len(shown.kept.document), _PIECE):
        yield shown.kept.document[at : at + _PIECE]


async def status(request: Request) -> Response:
    """Say whether a study takes answers now: small, and never from a cache."""
    collector = collector_of(request)
    kept = await collector.document(request.path_params["digest"])
    standing = Standing(kept.digest, kept.state(collector.clock()), kept_terms(kept).results)
    return _json(standing, headers={"Cache-Control": "no-store"})


async def close(request: Request) -> Response:
    """Close a study and seal it."""
    collector, digest = collector_of(request), request.path_params["digest"]
    await collector.close(digest)
    await collector.record(who(request), "closed", digest)
    return _json(_summary(collector, await collector.document(digest)))


async def sealed(request: Request) -> Response:
    """Show the seal of a closed study."""
    collector = collector_of(request)
    entry = await collector.current(request.path_params["digest"])
    document = await collector.store.sealed(entry.number)
    if document is None:
        raise NotSealed("A study is sealed after it has closed.")
    return Response(document, media_type="application/json")


async def key(request: Request) -> Response:
    """Show the collector's public key."""
    return _json(Key("Ed25519", collector_of(request).signer.public))


def _json(document: Exact, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(document.to_bytes(), status, headers, "application/json")


def _summary(collector: Collector, kept: Published) -> Summary:
    return Summary(
        study=kept.digest,
        title=kept.title,
        **msgspec.structs.asdict(kept_terms(kept)),
        published=moment_of(kept.published),
        status=kept.state(collector.clock()),
        closed=None if kept.closed is None else moment_of(kept.closed),
        key=kept.key,
        signature=kept.signature,
    )


async def alive(_request: Request) -> Response:
    """Say that the process lives."""
    return Response(Status("alive").to_bytes(), media_type="application/json")


async def ready(request: Request) -> Response:
    """Say whether answers can be taken: not if the store cannot be read or cannot commit, nor while stopping."""
    collector = collector_of(request)
    if not collector.ready:
        raise Stopping("The collector is stopping.", 2)
    await collector.store.check()
    await collector.check_commits()
    return Response(Status("ready").to_bytes(), media_type="application/json")


async def metrics(request: Request) -> Response:
    """Show numbers for Prometheus."""
    return Response(collector_of(request).metrics.to_bytes(), media_type="text/plain; version=0.0.4")


async def describe(request: Request) -> Response:
    """Show this interface as an OpenAPI document."""
    return Response(request.scope["app"].described, media_type="application/json")
