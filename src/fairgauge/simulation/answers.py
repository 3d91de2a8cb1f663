"""Simulate the answers themselves, by the hundred million, for those who want to try their engines on real input.

A tally needs no answers, and :func:`fairgauge.simulation.simulate` draws it directly.  Here clients are given
(:meth:`Clients.drawn <fairgauge.simulation.clients.Clients.drawn>` draws them from a population), and every one draws
as a device does: 53 bits from the operating system's secure source against an integer threshold to round the value,
and 53 more against the running sums of a row to pick the symbol.  The law is that of ``Channel.draw``, bit for bit;
only the loop over clients is NumPy's.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.channel import ROW_BITS, Channel, Row
from fairgauge.client.answer import ID_BYTES
from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.simulation.clients import Clients, Input
from fairgauge.study import Study
from fairgauge.tallies import Tally

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 2**20  # clients
# Random ids neither repeat nor compress.
_COMPACT: dict[str, Any] = {"use_dictionary": ["symbol"], "compression": {"symbol": "zstd", "id": "none"}}
Symbols = NDArray[np.int32]
_Bytes = Callable[[int], bytes]


def draw(channel: Channel, channel_input: Input, clients: int, *, random: _Bytes = os.urandom) -> Symbols:
    """Draw the symbols of so many clients with the same input, each as ``Channel.draw`` does.

    Those who round their value down come before those who round it up: whoever minds must shuffle.

    Guarantee: exact; each symbol has the distribution ``Channel.mixture``, and they are independent.

    Args:
        channel: The table.
        channel_input: The group's index and the position of each value, as ``Channel.draw`` takes them.
        clients: How many.
        random: Gives that many random bytes; only tests replace it.
    """
    parts: list[tuple[tuple[int, ...], int]] = [((), clients)]
    lacks, group, places = channel.places(*channel_input)
    if lacks:
        return _draw_without(channel, clients, random)
    for below, above, threshold in places:
        split: list[tuple[tuple[int, ...], int]] = []
        for picked, count in parts:
            up = int(np.count_nonzero(_bits(count, random) < threshold))
            split += [((*picked, below), count - up), ((*picked, above), up)]
        parts = split
    return np.concatenate([_pick(channel.row(group, *picked), count, random) for picked, count in parts])


def _draw_without(channel: Channel, clients: int, random: _Bytes) -> Symbols:
    """Draw the symbols of clients without a group or a value."""
    rows, sizes = zip(*channel.rows_without(), strict=True)
    ends = np.cumsum(np.array(sizes[:-1], dtype=np.uint64))
    picked = np.bincount(np.searchsorted(ends, _bits(clients, random), side="right"), minlength=len(rows))
    return np.concatenate([_pick(row, count, random) for row, count in zip(rows, picked.tolist(), strict=True)])


def answers(study: Study, clients: Clients, *, random: _Bytes = os.urandom) -> Iterator[Symbols]:
    """Yield the symbols of clients' answers in the study's numbering, in blocks and in no order."""
    blocks = max(1, -(-clients.total // _BLOCK))
    # Every block has its part of every kind of client.  One order serves all blocks: it is not what is random here.
    order = np.random.default_rng().permutation(clients.total // blocks + len(clients.kinds) + 1)
    for block in range(blocks):
        drawn = [
            _ask(study, inputs, count * (block + 1) // blocks - count * block // blocks, random)
            for inputs, count in clients.kinds
        ]
        symbols = np.concatenate(drawn)
        yield symbols[order[order < len(symbols)]]


def write_parquet(
    study: Study, clients: Clients, path: Path, *, progress: Callable[[int], None] | None = None
) -> Tally:
    """Write clients' answers with random ids as a Parquet file, and return their tally.

    The file has the columns and the digest that a collector's export has.  Memory stays flat: a block at a time.

    Raises:
        InvalidInput: If the file cannot be written.
        MissingExtra: If pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise MissingExtra("Parquet needs pyarrow", "duckdb") from None
    fields = [pa.field("id", pa.binary(ID_BYTES), nullable=False), pa.field("symbol", pa.int32(), nullable=False)]
    schema = pa.schema(fields, metadata={"fairgauge.study": study.digest})
    counts = np.zeros(study.symbols, dtype=np.int64)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with unfinished.open("wb") as file, ParquetWriter(file, schema, **_COMPACT) as writer:
            for symbols in answers(study, clients):
                writer.write_table(_table(symbols, schema))
                counts += np.bincount(symbols, minlength=study.symbols)
                if progress is not None:
                    progress(len(symbols))
        unfinished.replace(path)
    except OSError as reason:
        raise InvalidInput("answers", path, f"cannot be written: {reason.strerror or reason}") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return Tally(study.digest, tuple(counts.tolist()))


def _ask(study: Study, inputs: tuple[Input, ...], clients: int, random: _Bytes) -> Symbols:
    """Let clients with the same inputs toss a fair coin for one table each, and answer it."""
    tosses = np.bincount(_below(len(inputs), clients, random), minlength=len(inputs)).tolist()
    return np.concatenate(
        [
            draw(table[0].channel, table_input, asked, random=random) + np.int32(offset)
            for table, offset, table_input, asked in zip(study.tables, study.offsets, inputs, tosses, strict=False)
        ]
    )


def _pick(row: Row, clients: int, random: _Bytes) -> Symbols:
    """Return for each client the first symbol whose running sum exceeds 53 random bits."""
    sums = np.cumsum(np.array(row[:-1], dtype=np.uint64))
    return np.searchsorted(sums, _bits(clients, random), side="right").astype(np.int32)


def _bits(clients: int, random: _Bytes) -> NDArray[np.uint64]:
    """Return 53 random bits for each client."""
    return np.frombuffer(random(8 * clients), dtype=np.uint64) >> np.uint64(64 - ROW_BITS)


def _below(most: int, clients: int, random: _Bytes) -> NDArray[np.int64]:
    """Return a uniform integer below ``most`` for each client: what would make it uneven is drawn again."""
    if most == 1:
        return np.zeros(clients, dtype=np.int64)
    fair = 2**64 // most * most
    drawn = np.frombuffer(random(8 * clients), dtype=np.uint64).copy()
    while len(again := np.flatnonzero(drawn > fair - 1)):
        drawn[again] = np.frombuffer(random(8 * len(again)), dtype=np.uint64)
    return (drawn % np.uint64(most)).astype(np.int64)


def _table(symbols: Symbols, schema: "pa.Schema") -> "pa.Table":
    import pyarrow as pa

    buffers: list[Any] = [None, pa.py_buffer(os.urandom(ID_BYTES * len(symbols)))]
    ids = pa.FixedSizeBinaryArray.from_buffers(pa.binary(ID_BYTES), len(symbols), buffers)
    return pa.table({"id": ids, "symbol": pa.array(symbols)}, schema)
