"""A seal has one format, and is checked page by page: only an export that is out of order is sorted.

Covers: fairgauge.bundles.seal_check.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

import pytest

from fairgauge.bundles import seal_check
from fairgauge.bundles.seal_check import Export, check_answers
from fairgauge.client import Answer
from fairgauge.collector.answer_endpoint import _read_answer
from fairgauge.collector.seal import Sealed, read_sealed, seal_of
from fairgauge.collector.service import Entry
from fairgauge.collector.stores.store import Published, Store
from fairgauge.errors import OF_BEFORE, InvalidInput, SealBroken, StoreError
from fairgauge.server.server_errors import BadAnswer
from tests.collecting.auditor import faults
from tests.collecting.desk import open_desk
from tests.collecting.wire import answer_bytes
from tests.samples import sample_study

STUDY = sample_study()


@pytest.fixture
def sealed(tmp_path: Path) -> tuple[Sealed, Path]:
    """A seal of a thousand answers, and their export."""

    async def make() -> Sealed:
        async with open_desk(f"sqlite:///{tmp_path / 'gauge.db'}", tmp_path) as desk:
            await desk.publish(STUDY)
            await desk.batch(STUDY, [answer_bytes(STUDY.digest, (n * 7919).to_bytes(16), n % 4) for n in range(1000)])
            await desk.post(f"/studies/{STUDY.digest}/close")
            (tmp_path / "answers").write_bytes((await desk.get(f"/studies/{STUDY.digest}/export")).content)
            return read_sealed((await desk.get(f"/studies/{STUDY.digest}/sealed")).content)

    return asyncio.run(make()), tmp_path / "answers"


def count_sorts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    sizes: list[int] = []

    def counted(answers: Any) -> list[Any]:
        found = sorted(answers)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(seal_check, "sorted", counted, raising=False)
    monkeypatch.setattr(seal_check, "_PAGE", 64)
    return sizes


def test_what_is_sorted_is_not_sorted_again(sealed: tuple[Sealed, Path], monkeypatch: pytest.MonkeyPatch):
    sizes = count_sorts(monkeypatch)
    assert faults(STUDY, *sealed) == ""
    assert sizes == []


def test_what_is_out_of_order_is(sealed: tuple[Sealed, Path], monkeypatch: pytest.MonkeyPatch):
    sizes = count_sorts(monkeypatch)
    lines = sealed[1].read_bytes().splitlines(keepends=True)
    sealed[1].write_bytes(b"".join([*lines[500:], *lines[:500]]))
    assert faults(STUDY, *sealed) == ""
    assert sizes == [1000]


def test_an_answer_that_is_there_twice_is_noticed(sealed: tuple[Sealed, Path]):
    lines = sealed[1].read_bytes().splitlines(keepends=True)
    sealed[1].write_bytes(b"".join([*lines, lines[3]]))
    assert "there twice" in faults(STUDY, *sealed)


def test_two_answers_that_exchange_their_symbols_are_noticed(sealed: tuple[Sealed, Path]):
    """As many answers, the same ids, the same tally: only the digest of the lines tells."""
    one, other, *rest = sealed[1].read_bytes().splitlines(keepends=True)
    assert b'"symbol":0' in one
    assert b'"symbol":1' in other
    swapped = [one.replace(b'"symbol":0', b'"symbol":1'), other.replace(b'"symbol":1', b'"symbol":0')]
    sealed[1].write_bytes(b"".join([*swapped, *rest]))
    assert "is not what was sealed: answers_sha256 is " in faults(STUDY, *sealed)


@pytest.mark.parametrize(
    ("field", "other", "said"),
    [
        ("study", "0" * 64, f"is of another study: {'0' * 64}"),
        ("answers", 999, "answers is 1000 by the export, and 999"),
        ("answers_sha256", "0" * 64, "answers_sha256 is "),
        ("tally", (249, 251, 250, 250), "tally is (250, 250, 250, 250) by the export"),
    ],
)
def test_everything_that_a_seal_says_is_compared(sealed: tuple[Sealed, Path], field: str, other: Any, said: str):
    document, export = sealed
    assert faults(STUDY, document, export) == ""
    assert said in faults(STUDY, replace(document, seal=replace(document.seal, **{field: other})), export)


def test_the_root_is_compared(sealed: tuple[Sealed, Path]):
    with pytest.raises(SealBroken, match="root is "):
        check_answers(STUDY, replace(sealed[0].seal, root="0" * 64), Export(lambda: sealed[1].open("rb"), STUDY))


def test_an_estimate_that_the_tally_does_not_give_is_noticed(sealed: tuple[Sealed, Path]):
    (question,) = sealed[0].estimate["questions"]
    (gap,) = question["gaps"]
    for changed in (gap | {"low": gap["low"] - 1e-4}, gap | {"groups": gap["groups"][::-1]}):
        estimate = sealed[0].estimate | {"questions": [question | {"gaps": [changed]}]}
        assert "is not the one that the sealed tally gives" in faults(STUDY, replace(sealed[0], estimate=estimate))
    assert faults(STUDY, sealed[0]) == ""


class Stored:
    """A store of four answers whose tallies may say something else."""

    def __init__(self, counts: dict[int, int], shown: dict[int, int]) -> None:
        self._counts, self._shown = counts, shown

    async def counts(self, _number: int) -> dict[int, int]:
        return self._counts

    async def tally(self, _number: int) -> dict[int, int]:
        return self._shown

    async def arrivals(self, _number: int) -> dict[int, int]:
        return {0: sum(self._counts.values())}

    async def answers(self, _number: int) -> AsyncIterator[list[tuple[bytes, str]]]:
        yield [(bytes([number]) * 16, str(number % 2)) for number in (1, 2, 3)]
        yield [(bytes([4]) * 16, "0")]


@pytest.mark.parametrize(
    ("counts", "shown", "sealed"),
    [
        ({0: 2, 1: 2}, {0: 2, 1: 2}, True),
        ({0: 3, 1: 1}, {0: 3, 1: 1}, False),
        ({0: 2, 1: 2}, {0: 3, 1: 1}, False),
        ({0: 3, 1: 1}, {0: 2, 1: 2}, False),
        ({0: 2, 1: 2, 3: 1}, {0: 2, 1: 2, 3: 1}, False),
    ],
)
def test_a_study_is_sealed_only_if_its_tallies_are_what_its_answers_give(
    counts: dict[int, int], shown: dict[int, int], sealed: bool
):
    kept = Published(STUDY.digest, STUDY.to_bytes(), "open", "", 0, None, number=1, closed=3600)
    store = cast("Store", Stored(counts, shown))
    if sealed:
        assert asyncio.run(seal_of(store, STUDY, kept)).tally == (2, 2, 0, 0)
    else:
        with pytest.raises(StoreError, match="does not equal its answers: it is not sealed"):
            asyncio.run(seal_of(store, STUDY, kept))


@pytest.mark.parametrize(("part", "value"), [("version", None), ("format", 2), ("format", 3)])
def test_a_seal_of_before_is_refused(sealed: tuple[Sealed, Path], part: str, value: int | None):
    found = sealed[0]
    document = asdict(found) | {"seal": found.seal.to_dict()}
    if part == "version":
        del document["version"]
    else:
        document["seal"][part] = value
    with pytest.raises(InvalidInput, match=OF_BEFORE):
        read_sealed(json.dumps(document).encode())


@pytest.mark.parametrize("value", [0, 4, 1.0, True, "1"])
def test_a_seal_of_another_format_is_refused(sealed: tuple[Sealed, Path], value: object):
    found = sealed[0]
    document = asdict(found) | {"seal": found.seal.to_dict() | {"format": value}}
    with pytest.raises(InvalidInput, match=r"^sealed\.format=.*: must be 1$"):
        read_sealed(json.dumps(document).encode())


@pytest.mark.parametrize("changes", [{"root": "0" * 64}, {"sites": ()}])
def test_a_seal_has_the_parts_of_its_study(sealed: tuple[Sealed, Path], changes: dict[str, Any]):
    changed = replace(sealed[0], seal=replace(sealed[0].seal, **changes))
    assert "must be those that seals of such studies have" in faults(STUDY, changed)


def test_counts_of_a_site_are_no_symbol_of_a_device(tmp_path: Path):
    line = Answer(STUDY.digest, "0" * 32, (1, 2)).to_bytes() + b"\n"
    (tmp_path / "answers.ndjson").write_bytes(line)
    with pytest.raises(InvalidInput, match="line 1: counts=2 counts: must be one symbol"):
        list(Export(lambda: (tmp_path / "answers.ndjson").open("rb"), STUDY))
    with pytest.raises(BadAnswer, match="counts=not shown: must be one symbol"):
        _read_answer(line, Entry(Published(STUDY.digest, b"", "open", "", 0, number=7), STUDY.symbols))
