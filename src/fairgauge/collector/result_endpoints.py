"""What the answers say, for programs: tally, estimate, export, the sealed study as one zip, and proofs of inclusion.

An export is sorted by id, so that its order says nothing about time.  It is written a slice at a time, in the lane that
leaves most of the time to those who answer.
"""

import asyncio
import contextlib
import io
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fairgauge.canonical_json import encode
from fairgauge.client.inclusion_proof import PURPOSE, bucket_of, depth_of, leaf_of, signed_bytes
from fairgauge.collector.access import asker_of, collector_of, may_see, role_of, who
from fairgauge.collector.documents import Arrival, Arrivals, Inclusion
from fairgauge.collector.load_limits import HeldResponse, Lane
from fairgauge.collector.merkle import Growing, Tree
from fairgauge.collector.pages.study_pages import report_text
from fairgauge.collector.query_parameters import FORMATS, EstimateQuery, ExportQuery, InclusionQuery, ReportQuery
from fairgauge.collector.seal import AnswerDigest, lines_of, read_sealed
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.stores.released_sums import payload_of
from fairgauge.errors import InvalidInput, MissingExtra, StoreError
from fairgauge.server.coarse_time import moment_of
from fairgauge.server.server_errors import AnswersGone, NotSealed
from fairgauge.study.mechanism import payload_field

if TYPE_CHECKING:
    import pyarrow as pa
import zipfile
from collections.abc import Mapping


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
    found = await collector.estimate(
        entry, confidence=query.confidence, interval=query.interval, asker=asker_of(request)
    )
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
    write = _ndjson if query.format == "ndjson" else partial(_parquet, column=payload_field(entry.numbers))
    body = write(entry.digest, collector.store.answers(entry.number), collector.lane)
    places = collector.exports.taken(asker_of(request).kind)
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
        "README.txt": _readme(entry.digest, why_not),
        "study.json": kept.document,
        "signature.json": encode(signed),
        "tally.json": read_sealed(sealed).seal.counted.to_bytes(),
        "sealed.json": sealed,
        "report.html": (await report_text(request, entry, query.asked or None)).encode(),
    }
    pages = collector.store.answers(entry.number) if why_not is None else None
    body, places = _zipped(files, entry.digest, pages, collector.lane), collector.exports.taken(asker_of(request).kind)
    headers = {"Content-Disposition": f'attachment; filename="{entry.digest[:16]}.zip"'}
    return HeldResponse(places, body, headers=headers, media_type=MEDIA_TYPE)


async def _asked(request: Request) -> tuple[Collector, Entry]:
    collector = collector_of(request)
    return collector, await collector.current(request.path_params["digest"])


_KEPT = 16  # studies whose trees are kept in memory: 32 bytes for some 256 answers


class Trees:
    """The trees of sealed studies, each made from the answers when it is first asked for, one at a time."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._known: dict[str, tuple[Tree, int]] = {}
        self._making = asyncio.Lock()

    async def find(self, entry: Entry) -> tuple[Tree, int]:
        """Return the tree of a sealed study, and how many answers it is over.

        Raises:
            NotSealed: If it is not in the crowd, or not sealed yet.
            AnswersGone: If its answers were removed.
        """
        if not (entry.kept.in_crowd and entry.kept.sealed):
            raise NotSealed("A study in the crowd has such proofs when it is sealed; others have their export.")
        if entry.kept.dropped is not None:
            raise AnswersGone("They were removed after the study was sealed; the tally and the seal are kept.")
        async with self._making:
            if entry.digest not in self._known:
                made = await self._make(entry)
                if len(self._known) >= _KEPT:
                    self._known.clear()
                self._known[entry.digest] = made
            return self._known[entry.digest]

    async def _make(self, entry: Entry) -> tuple[Tree, int]:
        store = self._collector.store
        sealed = read_sealed(await store.sealed(entry.number) or b"")
        growing = Growing(sealed.seal.answers)
        digest = AnswerDigest(entry.digest, growing=growing)
        async for page in store.answers(entry.number):
            await asyncio.to_thread(digest.add, page)
        tree = growing.tree()
        if tree.root != sealed.seal.root:
            raise StoreError(f"the answers of study {entry.digest} are not those that were sealed")
        return tree, sealed.seal.answers


async def inclusion(request: Request, query: InclusionQuery) -> Response:
    """Show the root, and the leaves of one bucket with their way to it, if one is asked for."""
    collector = collector_of(request)
    entry = await collector.current(request.path_params["digest"])
    tree, answers = await request.scope["app"].trees.find(entry)
    depth = depth_of(answers)
    leaves, path, bucket = None, None, None if query.bucket < 0 else query.bucket
    if bucket is not None:
        if bucket >= 2**depth:
            raise InvalidInput("bucket", bucket, f"must be from 0 to {2**depth - 1}")
        leaves, path = await _leaves(collector, entry, bucket, depth), tree.path(bucket)
    signature = collector.signer.sign(PURPOSE, signed_bytes(entry.digest, answers, tree.root))
    key = collector.signer.public
    found = Inclusion(entry.digest, answers, tree.root, key, signature, bucket, leaves, path)
    return Response(found.to_bytes(), 200, {"Cache-Control": "no-store"}, "application/json")


async def _leaves(collector: Collector, entry: Entry, bucket: int, depth: int) -> list[str]:
    """Return the leaves of a bucket, sorted: their order tells nothing."""
    first = (bucket << (128 - depth)).to_bytes(16)
    found = []
    async for page in collector.store.answers(entry.number, start=first):
        inside = [row for row in page if bucket_of(row[0], depth) == bucket]
        found += [leaf_of(line).hex() for line in lines_of(entry.digest, inside).splitlines()]
        if len(inside) < len(page):
            break
    return sorted(found)


_Pages = AsyncIterator[list[tuple[bytes, str]]]
_PART = 500  # answers that are written out at a time


async def _ndjson(study: str, pages: _Pages, lane: Lane) -> AsyncIterator[bytes]:
    """Yield one canonical answer a line, in parts of some 64 KB: no more than two of them wait to be read."""
    async for page in pages:
        for at in range(0, len(page), _PART):
            async with lane.slice():
                part = lines_of(study, page[at : at + _PART])
            yield part


async def _parquet(study: str, pages: _Pages, lane: Lane, *, column: str = "symbol") -> AsyncIterator[bytes]:
    """Yield a Parquet file with the columns id (16 bytes) and symbol, or counts, as it is being made."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise MissingExtra("Parquet needs pyarrow", "collector") from None
    held = {"symbol": pa.int32(), "counts": pa.list_(pa.field("item", pa.int64(), nullable=False))}[column]
    fields = [pa.field(name, of, nullable=False) for name, of in (("id", pa.binary(16)), (column, held))]
    schema = pa.schema(fields, metadata={"fairgauge.study": study})
    sink = _Sink()
    with ParquetWriter(pa.PythonFile(sink, mode="w"), schema) as writer:
        async for page in pages:
            async with lane.slice():
                writer.write_table(_table(page, schema))
            for part in sink.taken():
                yield part
    for part in sink.taken():
        yield part


def _table(page: list[tuple[bytes, str]], schema: "pa.Schema") -> "pa.Table":
    import pyarrow as pa

    ids, payloads = zip(*page, strict=True)
    held, values = schema.field(1), list(map(payload_of, payloads))
    column = pa.array([value[0] for value in values] if held.name == "symbol" else values, held.type)
    return pa.table({"id": pa.array(ids, pa.binary(16)), held.name: column}, schema)


class _Sink(io.RawIOBase):
    """A file that only grows, and whose bytes are taken away while it does."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        """Take what is written."""
        return True

    def write(self, data: object) -> int:
        """Keep bytes until they are taken."""
        part = bytes(memoryview(data))  # type: ignore[arg-type]
        self._parts.append(part)
        self._size += len(part)
        return len(part)

    def tell(self) -> int:
        """Return how much was written in all."""
        return self._size

    def close(self) -> None:
        """Stay open: what was written is still to be taken."""

    def taken(self) -> Iterator[bytes]:
        """Take what was written, in parts that are small enough to wait for a slow reader."""
        parts, self._parts = self._parts, []
        data = b"".join(parts)
        for at in range(0, len(data), 2**16):
            yield data[at : at + 2**16]


MEDIA_TYPE = "application/zip"
_ANSWERS = "answers.ndjson"
_SAME = (1980, 1, 1, 0, 0, 0)  # the same files make the same bytes, and no time is told
_LEVEL = 1  # answers repeat the study's name, which the quickest level finds

_README = """\
Study {digest}

    fairgauge verify {name} --key KEY

checks that these files belong together: the exact epsilon, the signatures, the seal, the tally{counted} and the report.
KEY is the collector's public key. Take it from somewhere else than from these files: they name it, but a forger would
put another one there.

study.json       what was asked; its SHA-256 is its name
signature.json   the collector's signature of the study
tally.json       {tally}
sealed.json      the seal: the tally, a digest of all answers, the collector's signature, and the estimate
report.html      the results, for people
{last}
"""
_HAS = "answers.ndjson   all answers, sorted by id"
_HAS_NOT = {
    "removed": "The answers are not here: they were removed after the study was sealed.",
    "readers": "The answers are not here: they are for readers with a token.",
    "known": "What each site sent is not here: it is for that site, and for those who run the study.",
    "crowd": "The answers are not here: the study promises that nobody but those who run it sees one by itself.",
}


def _readme(digest: str, why_not: str | None) -> bytes:
    """Return what the bundle says about itself.

    Args:
        digest: The study.
        why_not: Why there are no answers in it: ``removed``, ``readers``, ``known`` or ``crowd``; None if there are.
    """
    last = _HAS if why_not is None else _HAS_NOT[why_not]
    counted = ", the answers" if why_not is None else ""
    tally = "what sites counted in sum, and which sites" if why_not == "known" else "how often each symbol was sent"
    return _README.format(tally=tally, digest=digest, name=f"{digest[:16]}.zip", counted=counted, last=last).encode()


async def _zipped(files: Mapping[str, bytes], study: str, pages: _Pages | None, lane: Lane) -> AsyncIterator[bytes]:
    """Yield a zip with these files, and with the answers, as it is being made.

    Args:
        files: Small files by name.
        study: The study's digest.
        pages: The answers, sorted by id, if they are to be in it.
        lane: Where there is time for it.
    """
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for name, data in files.items():
            async with lane.slice():
                archive.writestr(_info(name), data)
            for part in sink.taken():
                yield part
        if pages is not None:
            with archive.open(_info(_ANSWERS), "w", force_zip64=True) as member:
                async for page in pages:
                    for lines in _parts(study, page):
                        async with lane.slice():
                            member.write(lines)
                        for part in sink.taken():
                            yield part
    for part in sink.taken():
        yield part


def _parts(study: str, page: list[tuple[bytes, str]]) -> Iterator[bytes]:
    for at in range(0, len(page), _PART):
        yield lines_of(study, page[at : at + _PART])


def _info(name: str) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(name, _SAME)
    found.compress_type = zipfile.ZIP_DEFLATED
    found.external_attr = 0o644 << 16
    return found
