"""Stores that others add: by a call, or by a package that is installed beside ours, without a change to our code."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from fairgauge.collector.stores import open_store, register, store_kinds
from fairgauge.collector.stores.sqlite import SqliteStore
from fairgauge.errors import InvalidInput
from tests.collecting.desk import open_desk
from tests.samples import sample_study

STUDY = sample_study()


@pytest.fixture
def schemes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test add kinds of stores that are gone after it."""
    monkeypatch.setattr(store_kinds, "_FACTORIES", dict(store_kinds._FACTORIES))


class ShelfStore(SqliteStore):
    """A store of another make: a file for each shelf."""

    kind = "shelf"

    @classmethod
    async def on(cls, address: str) -> "ShelfStore":
        return await cls.open(Path(address.removeprefix("shelf:")))  # type: ignore[return-value]


def test_a_store_that_was_registered_takes_answers(schemes: None, tmp_path: Path):
    register("shelf", ShelfStore.on)

    async def play() -> None:
        async with open_desk(f"shelf:{tmp_path / 'top'}", tmp_path) as desk:
            assert desk.collector.store.kind == "shelf"
            await desk.publish(STUDY)
            assert (await desk.answer(STUDY, b"\1" * 16, 1)).json() == {"status": "accepted"}
            assert (await desk.answer(STUDY, b"\1" * 16, 1)).json() == {"status": "duplicate"}
            assert await desk.tally(STUDY) == [0, 1, 0, 0]

    asyncio.run(play())


@pytest.mark.parametrize("scheme", ["sqlite", "postgresql", "postgres", "shelf"])
def test_a_scheme_has_one_store(schemes: None, scheme: str):
    if scheme == "shelf":
        register("shelf", ShelfStore.on)
    with pytest.raises(InvalidInput, match=f"scheme={scheme}: is taken"):
        register(scheme, ShelfStore.on)


@pytest.mark.parametrize("address", ["redis://me:secret@host", "sqlite", "sqlite:gauge.db", "sqlite:///", "", "/x.db"])
def test_an_address_without_a_store_is_refused_and_its_password_not_told(address: str):
    with pytest.raises(InvalidInput) as refused:
        asyncio.run(open_store(address))
    assert "secret" not in str(refused.value)


def test_a_package_that_is_installed_adds_a_store(tmp_path: Path):
    """As pip leaves it: a module, and beside it what the package says of itself."""
    (tmp_path / "closet.py").write_text(
        "from pathlib import Path\nfrom fairgauge.collector.stores.sqlite import SqliteStore\n"
        "class Closet(SqliteStore):\n    kind = 'closet'\n"
        "async def open_closet(address):\n    return await Closet.open(Path(address.removeprefix('closet://')))\n"
    )
    about = tmp_path / "closet-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: closet\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[fairgauge.stores]\ncloset = closet:open_closet\n")
    code = (
        f"import asyncio, sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
        "from fairgauge.collector.stores import open_store\n"
        "async def play():\n"
        f"    store = await open_store('closet://{tmp_path / 'gauge.db'}')\n"
        "    print(store.kind, await store.studies())\n    await store.close()\n"
        "asyncio.run(play())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("closet []\n", "")
