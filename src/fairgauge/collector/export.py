"""All answers of a study for re-analysis elsewhere: sorted by id, so that the order says nothing about time."""

import io
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from fairgauge.collector.seal import lines_of
from fairgauge.errors import MissingExtra

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = {"ndjson": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}


async def ndjson(study: str, pages: AsyncIterator[list[tuple[bytes, int]]]) -> AsyncIterator[bytes]:
    """Yield one canonical answer a line."""
    async for page in pages:
        yield lines_of(study, page)


async def parquet(study: str, pages: AsyncIterator[list[tuple[bytes, int]]]) -> AsyncIterator[bytes]:
    """Yield a Parquet file with the columns id (16 bytes) and symbol, as it is being made."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise MissingExtra("Parquet needs pyarrow", "collector") from None
    schema = pa.schema(
        [pa.field("id", pa.binary(16), nullable=False), pa.field("symbol", pa.int32(), nullable=False)],
        metadata={"fairgauge.study": study},
    )
    sink = _Sink()
    with ParquetWriter(pa.PythonFile(sink, mode="w"), schema) as writer:
        async for page in pages:
            writer.write_table(_table(page, schema))
            yield sink.taken()
    yield sink.taken()


def _table(page: list[tuple[bytes, int]], schema: "pa.Schema") -> "pa.Table":
    import pyarrow as pa

    ids, symbols = zip(*page, strict=True)
    return pa.table({"id": pa.array(ids, pa.binary(16)), "symbol": pa.array(symbols, pa.int32())}, schema)


class _Sink(io.RawIOBase):
    """A file that only grows, and whose bytes are taken away while it does."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        part = bytes(memoryview(data))  # type: ignore[arg-type]
        self._parts.append(part)
        self._size += len(part)
        return len(part)

    def tell(self) -> int:
        return self._size

    def close(self) -> None:
        """Stay open: what was written is still to be taken."""

    def taken(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)
