"""A seal is checked page by page: only an export that is out of order is sorted."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fairgauge.collector import seal
from fairgauge.collector.seal import Export, Sealed, check_sealed, read_sealed
from fairgauge.errors import SealBroken
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

    monkeypatch.setattr(seal, "sorted", counted, raising=False)
    monkeypatch.setattr(seal, "PAGE", 64)
    return sizes


def test_what_is_sorted_is_not_sorted_again(sealed: tuple[Sealed, Path], monkeypatch: pytest.MonkeyPatch):
    sizes = count_sorts(monkeypatch)
    check_sealed(STUDY, sealed[0], Export(sealed[1], STUDY.digest))
    assert sizes == []


def test_what_is_out_of_order_is(sealed: tuple[Sealed, Path], monkeypatch: pytest.MonkeyPatch):
    sizes = count_sorts(monkeypatch)
    lines = sealed[1].read_bytes().splitlines(keepends=True)
    sealed[1].write_bytes(b"".join([*lines[500:], *lines[:500]]))
    check_sealed(STUDY, sealed[0], Export(sealed[1], STUDY.digest))
    assert sizes == [1000]
    check_sealed(STUDY, sealed[0], iter(list(Export(sealed[1], STUDY.digest))))  # which cannot be read twice


def test_an_answer_that_is_there_twice_is_noticed(sealed: tuple[Sealed, Path]):
    lines = sealed[1].read_bytes().splitlines(keepends=True)
    sealed[1].write_bytes(b"".join([*lines, lines[3]]))
    with pytest.raises(SealBroken, match="there twice"):
        check_sealed(STUDY, sealed[0], Export(sealed[1], STUDY.digest))
