"""A study for sites at the collector, from its publication to its bundle: once each, and only the sum is shown.

Covers: fairgauge.collector.seal, fairgauge.collector.pages.live_results, fairgauge.collector.stores.released_sums
"""

import asyncio
import io
import json
import re
import zipfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from html import unescape
from pathlib import Path

import httpx
import pytest

from fairgauge.bundles.seal_check import Export
from fairgauge.client.answer import Answer
from fairgauge.collector.audit_log import leave_note, site_words
from fairgauge.collector.pages.live_results import _sites_sentence
from fairgauge.collector.seal import Sealed, _listed_name, read_sealed
from fairgauge.collector.stores.released_sums import payload_text
from fairgauge.collector.stores.store import Event
from fairgauge.collector.stores.store_check import check_store
from fairgauge.errors import FairgaugeError, InvalidInput
from fairgauge.study import Study
from fairgauge.study.noisy_counts import MOST_IN_CELL
from fairgauge.tallies import Tally
from fairgauge.tallies.site_files import from_site_files
from tests.collecting.auditor import faults
from tests.collecting.desk import Desk, open_desk
from tests.collecting.servers import new_store
from tests.sites import levels_study
from tests.unit.collector.pages.test_operator_page import send as post
from tests.unit.collector.pages.test_operator_page import sign_in

STUDY = levels_study()
ONE = f"/studies/{STUDY.digest}"
NAMES = ("Charité", "St Mary", "Clínic", "Karolinska", "Mercy")
COUNTS = {name: (200 + at, 20 - at, -1, 210, 22, 90 + at) for at, name in enumerate(NAMES)}
Ask = Callable[..., None]


def ticket(desk: Desk, name: str, study: Study = STUDY) -> str:
    return desk.collector.tickets.of_site(study.digest, name)


@pytest.mark.parametrize("name", ["", "x" * 101, " lake", "lake\n"])
def test_what_is_no_name_of_a_site_gets_no_ticket(ask: Ask, name: str):
    async def scene(desk: Desk) -> None:
        assert ticket(desk, "x" * 100) == ticket(desk, "x" * 100) != ticket(desk, "x" * 99)
        with pytest.raises(InvalidInput, match="must be 1 to 100 printable characters"):
            ticket(desk, name)

    ask(scene)


def answer(desk: Desk, name: str, counts: tuple[int, ...] | None = None) -> Answer:
    return Answer(STUDY.digest, ticket(desk, name), counts or COUNTS[name])


async def send(desk: Desk, body: Answer | bytes, kind: str = "application/json") -> httpx.Response:
    data = body if isinstance(body, bytes) else body.to_bytes()
    return await desk.post(f"{ONE}/answers", data, kind=kind, token="")


async def publish(desk: Desk, study: Study = STUDY) -> None:
    assert (await desk.post("/studies?results=public", study.to_bytes())).status_code == 201


async def close(desk: Desk) -> None:
    assert (await desk.post(f"{ONE}/close")).json()["status"] == "sealed"


async def page(desk: Desk, token: str = "") -> str:
    headers = {"accept": "text/html"} | ({"authorization": f"Bearer {token}"} if token else {})
    return unescape((await desk.client.get(ONE, headers=headers)).text).replace("\N{NO-BREAK SPACE}", " ")


def both(tmp_path: Path, kind: str, scene: Callable[[Desk], Awaitable[None]]) -> None:
    address = new_store(kind, tmp_path)

    async def play() -> None:
        async with open_desk(address, tmp_path) as desk:
            await scene(desk)

    asyncio.run(play())


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_each_site_counts_once_and_the_tally_is_their_sum(kind: str, tmp_path: Path):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        for name in NAMES:
            assert (await send(desk, answer(desk, name))).json() == {"status": "accepted"}
            assert (await send(desk, answer(desk, name))).json() == {"status": "duplicate"}
        other = await send(desk, answer(desk, "Mercy", COUNTS["Charité"]))
        assert (other.status_code, other.json()["type"]) == (409, "urn:fairgauge:problem:conflict")
        await close(desk)
        late = await send(desk, answer(desk, "Late", COUNTS["Mercy"]))
        assert late.status_code == 410
        assert (await send(desk, answer(desk, "Mercy"))).json() == {"status": "duplicate"}
        expected = Tally.of(STUDY, [answer(desk, name) for name in NAMES]).shown
        assert (await desk.get(f"{ONE}/tally", token="")).content == expected.to_bytes()
        rows = {row.id.hex(): (row.state, row.other) for row in await desk.collector.store.ticketed(1)}
        assert rows[ticket(desk, "Late")] == ("late", False)
        assert rows[ticket(desk, "Mercy")] == ("answered", True)
        assert rows[ticket(desk, "St Mary")] == ("answered", False)
        checked = await check_store(desk.collector.store)
        assert (checked.faults, checked.answers, checked.seals) == ((), len(NAMES), 1)

    both(tmp_path, kind, scene)


def test_of_two_tables_with_one_ticket_at_two_collectors_one_counts(tmp_path: Path):
    address = new_store("postgresql", tmp_path)

    async def play() -> None:
        async with open_desk(address, tmp_path) as one, open_desk(address, tmp_path) as two:
            await publish(one)
            tables = [tuple(range(n, n + 6)) for n in range(6)]
            for name in NAMES:
                sent = [send((one, two)[n % 2], answer(one, name, table)) for n, table in enumerate(tables)]
                found = await asyncio.gather(*sent)
                assert sorted(response.status_code for response in found) == [200, 409, 409, 409, 409, 409]
                kept = {id_.hex(): payload async for page in two.collector.store.answers(1) for id_, payload in page}
                first = tables[[response.status_code for response in found].index(200)]
                assert kept[ticket(one, name)] == payload_text(first)
            closing, late = await asyncio.gather(one.post(f"{ONE}/close"), send(two, answer(two, "Late", (1,) * 6)))
            assert closing.status_code == 200
            sealed = read_sealed((await two.get(f"{ONE}/sealed")).content).seal
            assert sealed.answers == len(NAMES) + (late.status_code == 200), "what is acknowledged is sealed"

    asyncio.run(play())


def test_nothing_of_a_site_is_shown_before_the_end_and_never_by_itself(ask: Ask, tmp_path: Path):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        empty = Tally.of(STUDY, []).shown.to_bytes()
        for number, name in enumerate(NAMES, start=1):
            await send(desk, answer(desk, name))
            for token in ("", desk.reader, desk.operator):
                assert (await desk.get(f"{ONE}/tally", token=token)).content == empty
                for path in ("estimate", "report"):
                    assert (await desk.get(f"{ONE}/{path}", token=token)).status_code == 422
                assert (await desk.get(f"{ONE}/export", token=token)).status_code in (401, 403, 404)
                shown = await page(desk, token)
                assert _sites_sentence(number, over=False) in shown
                assert f"{ONE}/tally" not in shown, "a sum of nothing would read as if nobody had answered"
        await close(desk)
        assert (await desk.get(f"{ONE}/export", token="")).status_code == 401
        assert (await desk.get(f"{ONE}/export")).status_code == 403  # a reader
        exported = (await desk.get(f"{ONE}/export", token=desk.operator)).content
        by_id = sorted((answer(desk, name) for name in NAMES), key=lambda one: one.id)
        assert exported == b"".join(one.to_bytes() + b"\n" for one in by_id)
        table = (await desk.get(f"{ONE}/export?format=parquet", token=desk.operator)).content
        kept = list(Export(lambda: io.BytesIO(table), STUDY))
        assert kept == [(bytes.fromhex(one.id), payload_text(one.payload)) for one in by_id]
        export = tmp_path / "export.parquet"
        export.write_bytes(table)
        assert from_site_files(STUDY, [export]) == Tally.of(STUDY, by_id)
        shown = await page(desk)
        assert f"{ONE}/tally" in shown
        assert "The model's score is between" in shown
        assert "holds for the people that these sites see" in shown
        for token in (desk.reader, desk.operator):
            bundle = zipfile.ZipFile(io.BytesIO((await desk.get(f"{ONE}/bundle", token=token)).content))
            assert "answers.ndjson" not in bundle.namelist()
            assert b"What each site sent is not here" in bundle.read("README.txt")
            everything = b"".join(bundle.read(name) for name in bundle.namelist())
            for name, counts in COUNTS.items():
                assert ticket(desk, name).encode() not in everything
                assert ",".join(map(str, counts)).encode() not in everything

    ask(scene)


@pytest.mark.parametrize("sites", [0, 1, 2])
def test_of_fewer_than_three_sites_nothing_is_ever_shown(ask: Ask, sites: int):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        for name in NAMES[:sites]:
            await send(desk, answer(desk, name))
        await close(desk)
        assert (await desk.get(f"{ONE}/tally")).content == Tally.of(STUDY, []).shown.to_bytes()
        sealed = read_sealed((await desk.get(f"{ONE}/sealed")).content)
        assert (sealed.seal.answers, sealed.seal.sites, sum(map(abs, sealed.seal.tally))) == (sites, (), 0)
        told = "Fewer than 3 sites answered, so nothing is shown" if sites else "No site is in this tally"
        assert told in await page(desk)
        report = (await desk.get(f"{ONE}/report")).text
        assert "No site is in this tally: none answered, or so few that their sum is not shown." in report
        assert "no answers" not in report, "two may have answered, as the seal says"
        assert (await check_store(desk.collector.store)).faults == ()

    ask(scene)


BAD = {
    "huge": lambda one: one.replace(b"[200", b"[" + b"9" * 300),
    "too large": lambda one: one.replace(b"[200", b"[%d" % (MOST_IN_CELL + 1)),
    "a float": lambda one: one.replace(b"[200", b"[200.0"),
    "an exponent": lambda one: one.replace(b"[200", b"[2e2"),
    "NaN": lambda one: one.replace(b"[200", b"[NaN"),
    "infinite": lambda one: one.replace(b"[200", b"[-Infinity"),
    "true": lambda one: one.replace(b"[200", b"[true"),
    "text": lambda one: one.replace(b"[200", b'["200"'),
    "null": lambda one: one.replace(b"[200", b"[null"),
    "nested": lambda one: one.replace(b"[200", b"[[200]"),
    "one cell less": lambda one: one.replace(b"[200,", b"["),
    "one cell more": lambda one: one.replace(b"[200,", b"[200,0,"),
    "no counts": lambda one: one.replace(b"counts", b"count"),
    "counts twice": lambda one: one.replace(b'{"counts"', b'{"counts":[1],"counts"'),
    "a symbol": lambda one: one.replace(b'{"counts"', b'{"symbol":1,"counts"'),
    "another study": lambda one: one.replace(STUDY.digest.encode(), b"a" * 64),
    "no JSON": lambda one: one[:-1],
    "not UTF-8": lambda one: one + b"\xff",
    "deep": lambda one: one.replace(b"[200", b"[" * 60 + b"200"),
}


def test_what_is_no_answer_of_a_site_is_refused_and_nothing_is_stored(ask: Ask):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        good = answer(desk, "Charité").to_bytes()
        for what, spoil in BAD.items():
            found = await send(desk, spoil(good))
            assert (found.status_code, found.json()["type"]) == (400, "urn:fairgauge:problem:bad-answer"), what
            assert "200" not in found.json()["detail"].replace(STUDY.digest, ""), what
        assert (await send(desk, good + b" " * 4096)).status_code == 413
        assert (await send(desk, b"[" * 10_000_000)).status_code == 413
        assert (await send(desk, good.replace(ticket(desk, "Charité").encode(), b"0" * 32))).status_code == 403
        assert await desk.collector.store.ticketed(1) == []
        assert desk.collector.bodies.held == 0
        assert (await send(desk, good)).json() == {"status": "accepted"}
        lines = good + b"\n" + answer(desk, "Mercy").to_bytes()
        found = (await send(desk, lines, "application/x-ndjson")).json()
        assert (found["accepted"], found["duplicates"]) == (1, 1)

    ask(scene, rates={"faulty": 1e6})


@pytest.mark.parametrize("kind", ["answers", "tickets"])
def test_a_site_is_counted_before_its_body_is_read(ask: Ask, kind: str):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        rates = desk.collector.turnstile._rates
        before = rates["tickets"]._level
        assert (await send(desk, b"{" + b" " * 500)).status_code == 400
        assert rates["tickets"]._level < before - 3, "and what it has more than other answers is charged"
        rates[kind]._level = -1e9
        assert (await send(desk, b"{")).status_code == 429

    ask(scene, limits={"answer_bytes": 128})


def test_of_the_largest_sites_there_is_a_sum_and_no_products(ask: Ask):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        most = (MOST_IN_CELL,) + (-MOST_IN_CELL,) * 5
        assert {(await send(desk, answer(desk, name, most))).status_code for name in NAMES} == {200}
        await close(desk)
        assert (await desk.get(f"{ONE}/tally")).json()["counts"][:2] == [5 * MOST_IN_CELL, -5 * MOST_IN_CELL]
        exported = (await desk.get(f"{ONE}/export", token=desk.operator)).content.splitlines()
        answers = [Answer.from_bytes(line) for line in exported]
        assert Tally.of(STUDY, answers).products == (), "no JSON reader would take them for exact"
        assert Tally.of(STUDY, answers[:2]).products[0] == 2 * MOST_IN_CELL**2

    ask(scene)


def test_a_study_for_sites_opens_and_closes_as_any_other(ask: Ask, monkeypatch: pytest.MonkeyPatch):
    del monkeypatch
    timed = replace(STUDY, opens="2026-01-02T00:00:00Z", closes="2026-01-03T00:00:00Z")
    now = [1767225600.0]  # 2026-01-01

    async def scene(desk: Desk) -> None:
        await publish(desk, timed)
        own = Answer(timed.digest, ticket(desk, "Charité", timed), COUNTS["Charité"])
        path = f"/studies/{timed.digest}/answers"
        early = await desk.post(path, own.to_bytes(), token="")
        assert (early.status_code, early.json()["type"]) == (425, "urn:fairgauge:problem:too-early")
        now[0] += 86400
        assert (await desk.post(path, own.to_bytes(), token="")).json() == {"status": "accepted"}
        now[0] += 86400  # not sealed yet, and over all the same
        late = Answer(timed.digest, ticket(desk, "Mercy", timed), COUNTS["Mercy"])
        assert (await desk.post(path, late.to_bytes(), token="")).status_code == 410
        assert (await desk.post(path, own.to_bytes(), token="")).json() == {"status": "duplicate"}
        assert {row.state for row in await desk.collector.store.ticketed(1)} == {"answered", "late"}

    ask(scene, clock=lambda: now[0])


def test_terms_that_make_no_sense_for_sites_are_refused(ask: Ask):
    async def scene(desk: Desk) -> None:
        assert (await desk.publish(STUDY)).json()["admission"] == "tickets"  # whatever was asked for
        document = json.loads(STUDY.to_bytes())
        release = {"batch": 30, "delta": "0.0001", "draws": 9}
        for more in ({"admission": "open"}, {"release": release}, {"gateway": "AQAg"}, {"epoch": 3600}):
            found = await desk.post("/studies", json.dumps(document | more).encode())
            assert (found.status_code, found.json()["field"]) == (400, *more)

    ask(scene)


def test_the_auditor_recounts_and_finds_every_change(ask: Ask, tmp_path: Path):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        for name in NAMES:
            await send(desk, answer(desk, name))
        await close(desk)
        sealed = read_sealed((await desk.get(f"{ONE}/sealed")).content)
        export = tmp_path / "answers.ndjson"
        export.write_bytes((await desk.get(f"{ONE}/export", token=desk.operator)).content)
        assert faults(STUDY, sealed, export) == faults(STUDY, sealed) == ""
        first, *rest = export.read_bytes().splitlines(keepends=True)
        moved = first.replace(b"20", b"21", 1)
        renamed = re.sub(rb'"id":"\w+"', b'"id":"' + b"f" * 32 + b'"', first)
        for forged in ([*rest], [moved, *rest], [renamed, *rest]):
            export.write_bytes(b"".join(forged))
            assert "is not what was sealed" in faults(STUDY, sealed, export)
        export.write_bytes(b"".join([first, *rest] * 2))
        assert "twice" in faults(STUDY, sealed, export)

    ask(scene)


def test_dropped_answers_leave_the_sum_and_the_list_of_sites(ask: Ask):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        for name in NAMES:
            await send(desk, answer(desk, name))
        await close(desk)
        before = (await desk.get(f"{ONE}/tally")).content
        assert await desk.collector.store.drop_answers(1, Event(0, "clock", "dropped", STUDY.digest))
        assert (await desk.get(f"{ONE}/tally")).content == before
        assert (await desk.get(f"{ONE}/export", token=desk.operator)).status_code == 410
        assert (await send(desk, answer(desk, "Mercy"))).status_code == 410
        assert {one.state for one in await desk.collector.store.ticketed(1)} == {"answered"}
        assert (await check_store(desk.collector.store)).faults == ()
        assert await desk.collector.store.delete(1, Event(0, "clock", "deleted", STUDY.digest))
        assert await desk.collector.store.ticketed(1) == []

    ask(scene)


def test_the_operator_names_sites_and_sees_who_is_missing(ask: Ask):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        desk.client.base_url = httpx.URL("http://localhost")
        proof = await sign_in(desk, desk.operator)
        form = {"proof": proof, "study": STUDY.digest, "sites": "St Mary\r\nMercy\nSt Mary\n\nMissing"}
        made = (await post(desk, "/operator/tickets", form)).text
        assert made == "".join(f"{ticket(desk, name)}\t{name}\n" for name in ("St Mary", "Mercy", "Missing"))
        await send(desk, answer(desk, "Mercy"))
        await send(desk, answer(desk, "Mercy", COUNTS["St Mary"]))
        text = re.sub(r"<[^>]+>", " ", (await desk.client.get("/operator")).text)
        text = " ".join(text.split())
        assert "1 of 3 sites that are known here answered." in text
        assert re.search(r"Mercy [0-9a-f]{16} answered ?; other counts came with its ticket, and were refused", text)
        assert re.search(r"Missing [0-9a-f]{16} not yet", text)
        await close(desk)
        await send(desk, answer(desk, "St Mary"))
        text = " ".join(re.sub(r"<[^>]+>", " ", (await desk.client.get("/operator")).text).split())
        assert re.search(r"St Mary [0-9a-f]{16} came after the end", text)
        assert re.search(r"Missing [0-9a-f]{16} did not answer", text)
        bad = await post(desk, "/operator/tickets", form | {"sites": "x" * 101})
        assert bad.status_code == 400

    ask(scene)


def test_the_page_where_people_take_part_tells_sites_which_command(ask: Ask):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        text = re.sub(
            '<span class="whole">(.*?)</span>', r"\1", unescape((await desk.client.get(f"{ONE}/take-part")).text)
        )
        assert "Each answers once, on its own machine, with this command" in text
        assert f"fairgauge answer https://collector/studies/{STUDY.digest}" in text
        assert "--send https://collector --ticket TICKET" in text
        assert re.findall(r"<script[^>]*>", text) == ['<script type="module" src="../../live.js">'], (
            "which copies the command"
        )
        german = (await desk.client.get(f"{ONE}/take-part?lang=de")).text
        assert "Einrichtungen" in german

    ask(scene)


def test_the_seal_is_signed_with_its_sites(ask: Ask):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        for name in NAMES[:3]:
            await send(desk, answer(desk, name))
        await close(desk)
        document = (await desk.get(f"{ONE}/sealed")).json()
        assert document["seal"]["format"] == 1
        assert document["seal"]["sites"] == sorted(
            _listed_name(bytes.fromhex(ticket(desk, name))) for name in NAMES[:3]
        )
        assert document["estimate"]["interval"] == "population"

        def spoiled(**change: object) -> Sealed:
            return read_sealed(json.dumps(document | {"seal": document["seal"] | change}).encode())

        assert faults(STUDY, spoiled()) == ""
        assert "contradicts itself" in faults(STUDY, spoiled(sites=document["seal"]["sites"][1:]))
        changes: list[dict[str, object]] = [{"sites": None}, {"format": 3}, {"products": []}]
        for change in changes:
            with pytest.raises(FairgaugeError):
                spoiled(**change)

    ask(scene)


def test_whom_to_expect_is_not_read_out_of_the_words_of_a_note(tmp_path: Path):
    async def play() -> None:
        async with open_desk(f"sqlite:///{tmp_path / 'gauge.db'}", tmp_path) as desk:
            await desk.publish(STUDY)
            leave_note(desk.collector.secrets, site_words("Nobody"), STUDY.digest)
            leave_note(desk.collector.secrets, site_words("the site St Mary"), STUDY.digest, site="St Mary")
            await desk.collector.write_notes()
            number = (await desk.collector.entry(STUDY.digest)).number
            assert [one.name for one in await desk.collector.store.ticketed(number)] == ["St Mary"]
            assert len(await desk.collector.store.events(10)) >= 2

    asyncio.run(play())
