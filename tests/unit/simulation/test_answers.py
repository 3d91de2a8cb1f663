"""Answers drawn in blocks: the same bits give the same symbols as on a device, and files hold what was counted."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.client.randomiser import draw_symbol
from fairgauge.errors import InvalidInput
from fairgauge.simulation import Cell, Population
from fairgauge.simulation import answers as room
from fairgauge.simulation.answers import answers, draw, write_parquet
from fairgauge.simulation.clients import Clients
from fairgauge.tallies import from_files
from tests.samples import THREE_LEVELS, sample_channel, two_questions

CHANNEL = sample_channel(levels=THREE_LEVELS, abstain=True)
POSITIONS = [None, Fraction(-LEVEL_UNIT), Fraction(LEVEL_UNIT, 7), Fraction(LEVEL_UNIT // 3), Fraction(LEVEL_UNIT)]
PEOPLE = Clients.of(
    two_questions(),
    Population(
        (
            Cell("female", Decimal("0.3"), 700, "recall"),
            Cell("male", Decimal(1), 300, "recall"),
            Cell("old", Decimal("0.1"), 600, "error"),
            Cell(None, None, 400, "error"),
        )
    ),
)


def words(*bits: int) -> bytes:
    """Return the bytes of which 53 bits are these, and the 11 others all ones."""
    return np.array([(each << 11) + 2**11 - 1 for each in bits], dtype=np.uint64).tobytes()


class Fixed:
    """Random bytes that are given in advance."""

    def __init__(self, *parts: bytes) -> None:
        self._parts: Iterator[bytes] = iter(parts)

    def __call__(self, size: int) -> bytes:
        part = next(self._parts) if size else b""
        assert len(part) == size
        return part


def edges(channel: Channel, group: int | None, position: Fraction | None) -> list[tuple[int, int]]:
    """Return every pair of draws at which something changes, and their neighbours."""
    abstains, member, ((low, high, threshold),) = channel.places(group, position)
    below, above = (channel.table[-1] if abstains else channel.row(member, level) for level in (low, high))
    first = {0, threshold - 1, threshold, ROW_SUM - 1}
    second = {r for row in (below, above) for end in accumulate(row) for r in (end - 1, end)} | {0}
    return [(a, b) for a in sorted(first) for b in sorted(second) if 0 <= a < ROW_SUM and 0 <= b < ROW_SUM]


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("group", [0, 1])
def test_the_same_bits_give_the_same_symbol_as_on_a_device(group: int, position: Fraction | None):
    for pair in edges(CHANNEL, group, position):
        bits = iter(pair)
        expected = draw_symbol(CHANNEL, group, position, bits=lambda _, bits=bits: next(bits))  # type: ignore[misc]
        assert draw(CHANNEL, (group, position), 1, random=Fixed(*map(words, pair))).tolist() == [expected]


def test_those_who_lack_something_draw_as_on_a_device_where_there_is_no_row_to_abstain():
    channel = sample_channel(groups=3, levels=THREE_LEVELS)
    for index in range(channel.rows):
        start = -(-ROW_SUM * index // channel.rows)
        for pair in (
            (first % ROW_SUM, end - 1) for first in (start - 1, start) for end in accumulate(channel.table[0])
        ):
            bits = iter(pair)
            expected = draw_symbol(channel, None, None, bits=lambda _, bits=bits: next(bits))  # type: ignore[misc]
            assert draw(channel, (None, None), 1, random=Fixed(*map(words, pair))).tolist() == [expected]


def test_coins_that_would_be_unfair_are_tossed_again():
    unfair = (2**64 - 1).to_bytes(8, "little")  # 2^64 - 1 is divisible by 3, so this one is the single word too many
    tosses = Fixed(unfair + (7).to_bytes(8, "little"), (5).to_bytes(8, "little"))
    assert room._below(3, 2, tosses).tolist() == [2, 1]


def test_everyone_answers_once_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(room, "_BLOCK", 64)
    blocks = list(answers(two_questions(), PEOPLE))
    assert len(blocks) == 16
    assert sum(map(len, blocks)) == 1000
    assert {int(symbol) for block in blocks for symbol in block} == set(range(14))


def test_the_file_holds_what_was_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(room, "_BLOCK", 300)
    study, file, told = two_questions(), tmp_path / "answers.parquet", list[int]()
    tally = write_parquet(study, PEOPLE, file, progress=told.append)
    assert (tally.contributors, sum(told)) == (1000, 1000)
    for engine in ("polars", "duckdb"):
        assert from_files(study, [file], engine=engine, deduplicate=True) == tally
    assert len(set(pq.read_table(file)["id"].to_pylist())) == 1000
    assert [path.name for path in tmp_path.iterdir()] == ["answers.parquet"]


def test_nothing_half_written_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(InvalidInput, match="cannot be written: No such file or directory"):
        write_parquet(two_questions(), PEOPLE, tmp_path / "missing" / "answers.parquet")
    monkeypatch.setattr(room, "_table", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_parquet(two_questions(), PEOPLE, tmp_path / "answers.parquet")
    assert list(tmp_path.iterdir()) == []
