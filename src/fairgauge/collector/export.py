"""All answers of a study for re-analysis elsewhere: sorted by id, so that the order says nothing about time."""

import io
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from fairgauge.collector.load_limits import Lane
from fairgauge.collector.seal import lines_of
from fairgauge.collector.stores.released_sums import payload_of
from fairgauge.errors import MissingExtra

if TYPE_CHECKING:
    import pyarrow as pa

Pages = AsyncIterator[list[tuple[bytes, str]]]
PART = 500  # answers that are written out at a time
FORMATS = {"ndjson": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}


async def ndjson(study: str, pages: Pages, lane: Lane) -> AsyncIterator[bytes]:
    """Yield one canonical answer a line, in parts of some 64 KB: no more than two of them wait to be read."""
    async for page in pages:
        for at in range(0, len(page), PART):
            async with lane.slice():
                part = lines_of(study, page[at : at + PART])
            yield part


async def parquet(study: str, pages: Pages, lane: Lane, *, column: str = "symbol") -> AsyncIterator[bytes]:
    """Yield a Parquet file with the columns id (16 bytes) and symbol, or counts, as it is being made."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise MissingExtra("Parquet needs pyarrow", "collector") from None
    held = {"symbol": pa.int32(), "counts": pa.list_(pa.field("item", pa.int64(), nullable=False))}[column]
    fields = [pa.field(name, of, nullable=False) for name, of in (("id", pa.binary(16)), (column, held))]
    schema = pa.schema(fields, metadata={"fairgauge.study": study})
    sink = Sink()
    with ParquetWriter(pa.PythonFile(sink, mode="w"), schema) as writer:
        async for page in pages:
            async with lane.slice():
                writer.write_table(_table(page, schema))
            for part in sink.taken():
                yield part
    for part in sink.taken():
        yield part


class HeldResponse(StreamingResponse):
    """A response that takes a place for as long as it is being sent; beyond the places, it is refused."""

    def __init__(self, places: AbstractContextManager[None], body: AsyncIterator[bytes], **more: Any) -> None:
        super().__init__(body, **more)
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it.

        Raises:
            Busy: If there is no place left; nothing is sent then.
        """
        with self._places:
            await super().__call__(scope, receive, send)


def _table(page: list[tuple[bytes, str]], schema: "pa.Schema") -> "pa.Table":
    import pyarrow as pa

    ids, payloads = zip(*page, strict=True)
    held, values = schema.field(1), list(map(payload_of, payloads))
    column = pa.array([value[0] for value in values] if held.name == "symbol" else values, held.type)
    return pa.table({"id": pa.array(ids, pa.binary(16)), held.name: column}, schema)


class Sink(io.RawIOBase):
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
