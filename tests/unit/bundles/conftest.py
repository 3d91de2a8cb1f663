"""A sealed study with all its files, as a collector serves them."""

import asyncio
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.collecting.desk import open_desk
from tests.collecting.wire import answer_bytes
from tests.samples import sample_study

STUDY = sample_study()


class Served(NamedTuple):
    """A bundle as one zip, the folder that it unpacks to, and the collector's key."""

    zip: Path
    folder: Path
    key: str


@pytest.fixture(scope="session")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Served:
    """Serve a bundle of 3,000 answers."""
    place = tmp_path_factory.mktemp("collected")

    async def make() -> str:
        async with open_desk(f"sqlite:///{place / 'gauge.db'}", place) as desk:
            await desk.publish(STUDY)
            lines = [answer_bytes(STUDY.digest, (n * 7919).to_bytes(16), n % 4) for n in range(3000)]
            await desk.batch(STUDY, lines)
            assert (await desk.get(f"/studies/{STUDY.digest}/bundle")).status_code == 404
            await desk.post(f"/studies/{STUDY.digest}/close")
            served = await desk.get(f"/studies/{STUDY.digest}/bundle")
            assert served.headers["content-type"] == "application/zip"
            (place / "bundle.zip").write_bytes(served.content)
            key: str = (await desk.get("/key")).json()["key"]
            return key

    key = asyncio.run(make())
    with zipfile.ZipFile(place / "bundle.zip") as archive:
        archive.extractall(place / "folder")
    return Served(place / "bundle.zip", place / "folder", key)


@pytest.fixture
def bundle(collected: Served, tmp_path: Path) -> Served:
    """A copy whose files may be changed."""
    folder = tmp_path / "study"
    folder.mkdir()
    for one in collected.folder.iterdir():
        (folder / one.name).write_bytes(one.read_bytes())
    return Served(collected.zip, folder, collected.key)
