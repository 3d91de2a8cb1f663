"""Copies of what sites sent are counted, and a store that contradicts itself about sites is found."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fairgauge.client import Answer
from fairgauge.collector.stores import backup
from tests.collecting.desk import Desk, open_desk
from tests.collecting.servers import new_store
from tests.sites import levels_study
from tests.unit.collector.stores.test_backup import programs

__all__ = ["programs"]  # a fixture

STUDY = levels_study()
CHANGES = {
    "a count": "UPDATE answers SET payload = replace(payload, '90', '91')",
    "no counts": "UPDATE answers SET payload = '' WHERE payload LIKE '0,%'",
    "one count less": "UPDATE answers SET payload = replace(payload, '90,', '')",
    "a site less": "DELETE FROM answers WHERE payload LIKE '0,%'",
    "a site more": "INSERT INTO answers SELECT study, x'00112233445566778899aabbccddeeff', payload "
    "FROM answers LIMIT 1",
}


async def answered(desk: Desk, sites: int = 3) -> None:
    await desk.publish(STUDY)
    for number in range(sites):
        ticket = desk.collector.tickets.of_site(STUDY.digest, f"site {number}")
        body = Answer(STUDY.digest, ticket, (number, 80, -3, 7, 90, 12)).to_bytes()
        assert (await desk.post(f"/studies/{STUDY.digest}/answers", body, token="")).status_code == 200
    await desk.post(f"/studies/{STUDY.digest}/close")


async def filled(address: str, folder: Path) -> None:
    async with open_desk(address, folder) as desk:
        await answered(desk)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_copy_holds_every_site(kind: str, tmp_path: Path):
    address = new_store(kind, tmp_path)
    asyncio.run(filled(address, tmp_path))
    copied = asyncio.run(backup.back_up(address, tmp_path / "copy"))
    assert (copied.studies, copied.answers, copied.seals, copied.faults) == (1, 3, 1, ())


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("sound")
    asyncio.run(filled(f"sqlite:///{folder / 'gauge.db'}", folder))
    return (folder / "gauge.db").read_bytes()


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_found(sound: bytes, tmp_path: Path, what: str):
    path = tmp_path / "gauge.db"
    path.write_bytes(sound)
    assert asyncio.run(backup.check(f"sqlite:///{path}")).faults == ()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert connection.execute(CHANGES[what]).rowcount > 0
    assert len(asyncio.run(backup.check(f"sqlite:///{path}")).faults) > 0
