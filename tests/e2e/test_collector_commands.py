"""The collector's commands as an operator and an auditor run them.

Covers: fairgauge.cli.key, fairgauge.cli.serve, fairgauge.cli.store, fairgauge.cli.ticket, fairgauge.cli.token.
"""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairgauge.cli import make_app
from fairgauge.collector.stores import open_store
from fairgauge.collector.stores.store import Published
from fairgauge.errors import InvalidInput, StoreError
from fairgauge.server.bearer_tokens import Gatekeeper
from fairgauge.server.tickets import Tickets
from tests.collecting.desk import open_desk
from tests.collecting.wire import answer_bytes
from tests.samples import sample_study

STUDY = sample_study()


def run(*arguments: str) -> str:
    done = CliRunner().invoke(make_app([arguments[0]]), arguments, catch_exceptions=False)
    return done.output


def test_tokens_are_made_listed_and_revoked(tmp_path: Path):
    folder = str(tmp_path / "s")
    token = run("token", "new", "--name", "alice", "--role", "operator", "--secrets", folder).strip()
    made = json.loads(run("token", "new", "--name", "bob", "--secrets", folder, "--json"))
    gate = Gatekeeper(tmp_path / "s")
    assert (gate.role_of(token), gate.role_of(made["token"])) == ("operator", "reader")
    listed = [line.split() for line in run("token", "list", "--secrets", folder).splitlines()]
    assert [line[:3] for line in listed] == [
        ["name", "role", "expires"],
        ["alice", "operator", "-"],
        ["bob", "reader", "-"],
    ]
    assert all(re.fullmatch(r"20..-..-..T..:00:00Z", line[3]) for line in listed[1:])  # the hour, and no more
    run("token", "revoke", "--name", "alice", "--secrets", folder)
    assert gate.role_of(token) is None
    with pytest.raises(InvalidInput, match="role=king"):
        run("token", "new", "--name", "x", "--role", "king", "--secrets", folder)
    assert "No such command 'destroy'" in run("token", "destroy", "--secrets", folder)
    assert "Missing option '--name'" in run("token", "new", "--secrets", folder)
    (bob,) = json.loads(run("token", "list", "--secrets", folder, "--json"))["tokens"]
    assert (bob["name"], bob["role"], bob["expires"]) == ("bob", "reader", None)
    with pytest.raises(InvalidInput, match="expires=tomorrow"):
        run("token", "new", "--name", "y", "--expires", "tomorrow", "--secrets", folder)


def test_an_open_study_gets_no_tickets(tmp_path: Path):
    address = f"sqlite:///{tmp_path / 'gauge.db'}"

    async def publish() -> None:
        store = await open_store(address)
        for digest, admission in (("a" * 64, "open"), ("b" * 64, "tickets")):
            await store.publish(Published(digest, b"document", admission, "signature", 0))
        await store.close()

    asyncio.run(publish())
    words = ["ticket", "new", "--store", address, "--secrets", str(tmp_path / "secrets"), "--study"]
    with pytest.raises(InvalidInput, match="it is published as open"):
        run(*words, "a" * 64)
    assert len(run(*words, "b" * 64).split()) == len(run(*words, "c" * 64).split()) == 1


def test_tickets_are_made(tmp_path: Path):
    lines = run("ticket", "new", "--study", STUDY.digest, "--count", "5", "--secrets", str(tmp_path)).split()
    book = Tickets.in_folder(tmp_path)
    assert len(set(lines)) == 5
    assert all(book.good(STUDY.digest, bytes.fromhex(line)) for line in lines)
    with pytest.raises(InvalidInput, match="64 lower-case"):
        run("ticket", "new", "--study", "x", "--secrets", str(tmp_path))


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    """A folder with a sealed study, its export in both formats, and the key."""

    async def make() -> None:
        async with open_desk(f"sqlite:///{tmp_path / 'gauge.db'}", tmp_path) as desk:
            one = f"/studies/{STUDY.digest}"
            await desk.publish(STUDY)
            await desk.batch(STUDY, [answer_bytes(STUDY.digest, (n * 7919).to_bytes(16), n % 4) for n in range(3000)])
            await desk.post(f"{one}/close")
            (tmp_path / "study.json").write_bytes(STUDY.to_bytes())
            (tmp_path / "sealed.json").write_bytes((await desk.get(f"{one}/sealed")).content)
            (tmp_path / "answers.ndjson").write_bytes((await desk.get(f"{one}/export")).content)
            (tmp_path / "answers.parquet").write_bytes((await desk.get(f"{one}/export?format=parquet")).content)
            (tmp_path / "key").write_text((await desk.get("/key")).json()["key"])

    asyncio.run(make())
    return tmp_path


def verify(folder: Path, export: str = "answers.ndjson", *more: str) -> str:
    names = (str(folder / name) for name in ("study.json", "sealed.json", export))
    return run("verify", *names, *more)


def broken(folder: Path, *more: str) -> list[str]:
    """Return the sentences about what is broken; the command exits with 1."""
    names = [str(folder / name) for name in ("study.json", "sealed.json", "answers.ndjson")]
    done = CliRunner().invoke(make_app(["verify"]), ["verify", *names, *more, "--json"], catch_exceptions=False)
    assert done.exit_code == 1
    found = json.loads(done.output)
    assert found["verified"] is False
    return [check["sentence"] for check in found["checks"] if check["outcome"] == "broken"]


def test_a_seal_is_checked_from_either_export(sealed: Path):
    said = verify(sealed, "answers.ndjson", "--key", (sealed / "key").read_text())
    assert "sealed.json is the one that the sealed tally gives." in said
    assert "sealed.json is signed with that key." in said
    assert "answers.ndjson was counted again: 3,000 answers, which are the sealed ones." in said
    assert said.splitlines()[-2:] == ["Everything that was checked holds.", "SEALED by the holder of that key."]
    found = json.loads(verify(sealed, "answers.parquet", "--json"))
    assert (found["verified"], [check["outcome"] for check in found["checks"]]) == (True, ["holds", "open", "holds"])
    assert "which it names itself" in found["checks"][1]["sentence"]


def test_when_the_answers_are_removed_there_is_no_export_and_the_seal_can_still_be_checked(sealed: Path):
    store, key = f"sqlite:///{sealed / 'gauge.db'}", (sealed / "key").read_text()
    assert "answers are removed" in run(
        "store", "forget", "--study", STUDY.digest, "--what", "answers", "--store", store
    )

    async def ask() -> list[tuple[int, str]]:
        async with open_desk(store, sealed) as desk:
            one = f"/studies/{STUDY.digest}"
            found = [await desk.get(f"{one}/{what}") for what in ("export", "export?format=parquet", "tally", "sealed")]
            (sealed / "sealed.json").write_bytes(found[-1].content)
            return [(each.status_code, each.text) for each in found]

    asked = asyncio.run(ask())
    assert [status for status, _ in asked] == [410, 410, 200, 200]
    assert "urn:fairgauge:problem:answers-gone" in asked[0][1]
    names = ("verify", str(sealed / "study.json"), str(sealed / "sealed.json"), "--key", key)
    said = run(*names)
    assert "sealed.json is signed with that key." in said
    assert "Not checked:\n  Whether the answers give the sealed tally: there is no export, so nobody counted" in said
    assert "3,000 answers, which are the sealed ones" in verify(sealed)  # with an export that was kept
    (sealed / "answers.ndjson").unlink()
    bent = json.loads((sealed / "sealed.json").read_text())
    for tally in ([900, 600, 750, 750], [750, 750, 750, 749]):
        bent["seal"]["tally"] = tally
        (sealed / "sealed.json").write_text(json.dumps(bent))
        said = run(*names[:-2])
        assert "sealed.json is not by the holder of the key that it names: the seal is forged, or was changed" in said
        assert "sealed.json is not the one that the sealed tally gives." in said
        assert "NOT VERIFIED" in said


def test_a_mistyped_store_is_not_made(tmp_path: Path):
    store, secrets = f"sqlite:///{tmp_path / 'gauhe.db'}", str(tmp_path / "secrets")
    for command in (
        ("key", "adopt", "--store", store, "--secrets", secrets),
        ("store", "forget", "--store", store, "--study", STUDY.digest, "--what", "answers"),
        ("store", "check", "--store", store),
        ("store", "log", "--store", store),
    ):
        with pytest.raises(StoreError, match=r"gauhe\.db is not there"):
            run(*command)
    assert not list(tmp_path.iterdir())


def test_looking_at_a_stopped_store_leaves_it_one_file(sealed: Path):
    store = f"sqlite:///{sealed / 'gauge.db'}"
    run("store", "check", "--store", store)
    run("store", "log", "--store", store)
    run("store", "migrate", "--store", store, "--dry-run")
    run("store", "backup", "--store", store, "-o", str(sealed / "copy.db"))
    (sealed / "place").mkdir()
    place = f"sqlite:///{sealed / 'place' / 'gauge.db'}"
    run("store", "restore", str(sealed / "copy.db"), "--store", place, "--secrets", str(sealed / "secrets"))
    beside = {"gauge.db", "gauge.db.lock"}
    assert (
        {path.name for path in sealed.glob("gauge*")} == {path.name for path in (sealed / "place").iterdir()} == beside
    )


def test_a_shuffled_export_is_the_same_export(sealed: Path):
    lines = (sealed / "answers.ndjson").read_text().splitlines()
    (sealed / "answers.ndjson").write_text("\n".join(reversed(lines)) + "\n")
    assert "3,000 answers" in verify(sealed)


def test_whatever_is_changed_is_noticed(sealed: Path):
    answers, seal = (sealed / "answers.ndjson").read_text(), json.loads((sealed / "sealed.json").read_text())
    lines = answers.splitlines(keepends=True)
    symbol = json.loads(lines[0])["symbol"]
    forged = lines[0].replace(f'"symbol":{symbol}', f'"symbol":{(symbol + 1) % 4}')
    for text in ("".join(lines[1:]), "".join([forged, *lines[1:]]), "".join([*lines, lines[-1]])):
        (sealed / "answers.ndjson").write_text(text)
        (said,) = broken(sealed)
        assert "answers.ndjson is not what was sealed: " in said
    (sealed / "answers.ndjson").write_text(answers)

    def bent(part: str, field: str, value: object) -> list[str]:
        changed = json.loads(json.dumps(seal))
        changed[part][field] = value
        (sealed / "sealed.json").write_text(json.dumps(changed))
        return broken(sealed, "--key", (sealed / "key").read_text())

    assert "contradicts itself: its tally has 3,000 answers, and it says 1." in bent("seal", "answers", 1)[0]
    assert len(bent("seal", "tally", [900, 600, 750, 750])) == 4  # estimate, signature, and export twice
    assert "is of another study" in bent("seal", "study", "0" * 64)[0]
    assert "is not by the holder of this key" in bent("seal", "closed", "2000-01-01T00:00:00Z")[0]
    changed = json.loads(json.dumps(seal))
    changed["estimate"]["questions"][0]["answers"] = 2999
    (sealed / "sealed.json").write_text(json.dumps(changed))
    assert broken(sealed)[0].endswith("sealed.json is not the one that the sealed tally gives.")
    (sealed / "sealed.json").write_text('{"seal": 1}')
    with pytest.raises(InvalidInput, match="must be a sealed study"):
        verify(sealed)


def test_without_the_extra_serve_names_it():
    code = (
        "import sys; sys.modules['uvicorn'] = None\nfrom fairgauge.cli import main\n"
        "sys.argv = ['fairgauge', 'serve']\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, "pip install 'fairgauge[collector]'" in done.stderr) == (1, True)
