"""Flower's deployment, with devices that try to let marked values out: none gets through."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairgauge.client import Ledger
from fairgauge.client.refusals import _TEXT
from fairgauge.client.site_settings import SiteSettings
from fairgauge.study import Attribute
from tests.e2e.flower.engines import Federation, federation
from tests.samples import sample_question, sample_study
from tests.sites import confusion_study


def zigzag(number: int) -> bytes:
    """Return a positive number as Flower sends it: doubled, then seven bits a byte, the lowest first."""
    left = 2 * number
    digits = []
    while left:
        digits.append(left & 127 | (128 if left > 127 else 0))
        left >>= 7
    return bytes(digits)


# Numbers so long that no moment, port, key or id has their digits or bytes by chance.
GROUP, VALUE, EXAMPLES = PRIVATE = "platypus", 0.8125390625, 918_273_645_546_373
OPEN = "wombat", 0.3417578125, 827_364_554_637_281
STUDY = sample_study(
    sample_question(attribute=Attribute("animal", (GROUP, "koala"), ("0.5", "0.5"), answering="alike"))
)
SITES = confusion_study()
PATIENT, OPEN_PATIENT = "echidna", "bandicoot"
ALL_MARKS = ["group", "value as text", "value in binary", "examples as text", "examples in binary"]


def marks_in(*places: bytes, marks: tuple[str, float, int] = PRIVATE) -> list[str]:
    """Return which of the marks are anywhere in these places, in any form that they could have."""
    group, value, examples = marks
    forms = (group.encode(), str(value).encode(), struct.pack("<d", value), str(examples).encode(), zigzag(examples))
    return [name for name, form in zip(ALL_MARKS, forms, strict=True) if any(form in place for place in places)]


def charged(here: Path) -> list[object]:
    return [Ledger(path).spent() for path in sorted((here / "ledgers").glob("*.sqlite3"))]


def answered(here: Path) -> int:
    return len((here / "answers.ndjson").read_bytes().splitlines())


def prepare(here: Path) -> None:
    (here / "study.json").write_bytes(STUDY.to_bytes())
    (here / "sites.json").write_bytes(SITES.to_bytes())
    (here / "marks.json").write_text(json.dumps({"private": PRIVATE, "open": OPEN}))


def site(folder: Path, mode: str) -> Path:
    """Write the records of a site that holds many people, each of them marked, and its own settings."""
    folder.mkdir()
    mark = OPEN_PATIENT if mode == "open" else PATIENT
    rows = [f"{mark}-{n:03d},{('female', 'male')[n % 2]},{n % 3 // 2},{n % 5 // 4}" for n in range(300)]
    (folder / "patients.csv").write_text("\n".join(["who,sex,truth,prediction", *rows]) + "\n")
    may = {"attributes": {"sex": ["female", "male"]}, "confusion": True}
    settings = {"records": "patients.csv", "columns": {"person": "who"}, **may}
    (folder / "site.json").write_text(json.dumps(settings))
    SiteSettings.load(folder / "site.json").prepare()
    return folder / "site.json"


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Federation]:
    here = tmp_path_factory.mktemp("deployed")
    prepare(here)
    devices: list[dict[str, str | int | bool]] = [
        {"mode": mode, "animal": GROUP, "fairgauge-app": True, "fairgauge-site": str(site(here / mode, mode))}
        for mode in ("honest", "bad", "open")
    ]
    with federation(here, devices) as running:
        yield running


def what_the_server_has(running: Federation) -> list[bytes]:
    """Every byte that reached the SuperLink, what it logged and stored, and what the ServerApp saw of the replies."""
    here = running.here
    stored = [path.read_bytes() for path in sorted(here.glob("superlink.*"))]
    return [bytes(running.line.heard), (here / "received").read_bytes(), *stored]


def test_the_deployment(deployed: Federation) -> None:
    shown = deployed.run(bad="raising")
    assert "private metrics: 3 replies, 2 new answers" in shown, "one whose evaluation fails answers as any"
    assert STUDY.digest in shown
    spent = charged(deployed.here)
    assert len(spent) == 2  # bad, honest
    assert spent[0] == spent[1] != {}

    # A second run on the same devices: the same answer again, for which nothing more is spent.  The bad one has lost
    # its ledger, evaluates anew and is interrupted; a node counts once.
    (deployed.here / "ledgers" / "bad.sqlite3").unlink()
    shown += deployed.run(bad="interrupting")
    assert "private metrics: 3 replies, 0 new answers" in shown
    assert charged(deployed.here) == spent
    assert answered(deployed.here) == 2

    # The gap is called by the names of the groups, as the study has them.
    places = [place.replace(b"platypus - koala", b"") for place in (*what_the_server_has(deployed), shown.encode())]
    assert marks_in(*places) == []
    # The mutant twin: the open device does without the mod, and every mark of its own is there.
    assert marks_in(bytes(deployed.line.heard), marks=OPEN) == ALL_MARKS
    assert _TEXT.encode() not in (deployed.here / "received").read_bytes()

    # On the device: what failed, and where, without the words of whoever failed.
    told = deployed.logs("supernode1")
    assert "the app's own code failed with ValueError at" in told
    assert "the app's own code failed with KeyboardInterrupt at" in told
    assert marks_in(told.encode()) == []


def test_a_reply_holds_the_answer_and_a_constant(deployed: Federation) -> None:
    received = (deployed.here / "received").read_bytes().decode(errors="replace")
    for line in (deployed.here / "answers.ndjson").read_text().splitlines():
        symbol = json.loads(line)["symbol"]
        words = [int(json.loads(line)["id"][start : start + 8], 16) for start in range(0, 32, 8)]
        content = f"'num-examples': 1, 'study': {[int(STUDY.digest[s : s + 8], 16) for s in range(0, 64, 8)]}, "
        assert f"{{{content}'id': {words}, 'payload': [{symbol}]}}" in received


def test_sites_that_hold_many_people(deployed: Federation) -> None:
    """Two sites answer from their own records; the open one does without the mod, and its records are all there."""
    shown = deployed.run(study="sites.json", bad="honest")
    assert "private metrics: 3 replies, 2 new answers" in shown
    lines = [json.loads(line) for line in (deployed.here / "sites.json.ndjson").read_text().splitlines()]
    assert [set(line) for line in lines] == [{"study", "id", "counts"}] * 2
    # The open device has records of its own, so that they can be told from the others wherever they are.
    places = [*what_the_server_has(deployed), shown.encode(), deployed.logs("supernode0").encode()]
    assert not any(PATIENT.encode() in place for place in places)
    received = (deployed.here / "received").read_bytes()
    assert all(received.count(f"{OPEN_PATIENT}-{n:03d},".encode()) > 0 for n in range(300)), "the twin that leaks"
    assert OPEN_PATIENT.encode() in bytes(deployed.line.heard)
    assert [Ledger(deployed.here / mode / "ledger.sqlite3").spent() for mode in ("honest", "bad")] == [{"sex": 1}] * 2
    assert not (deployed.here / "open" / "ledger.sqlite3").exists()
