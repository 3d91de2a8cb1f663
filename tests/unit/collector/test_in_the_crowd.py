"""A study in the crowd, from its publication to the check that an answer is in: readers see closed batches only.

Covers: fairgauge.cli.ledger, fairgauge.collector.pages.live_results, fairgauge.collector.result_endpoints.
"""

import asyncio
import json
import re
import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fairgauge.cli import ledger as command
from fairgauge.cli import make_app
from fairgauge.client import Ledger
from fairgauge.client.answer import Answer
from fairgauge.client.inclusion_proof import check_included, leaf_of
from fairgauge.collector.pages.live_results import _release_sentence
from fairgauge.collector.seal import read_sealed
from fairgauge.collector.stores import released_sums
from fairgauge.collector.stores.store import Event
from fairgauge.collector.stores.store_check import check_store
from fairgauge.crowd import blanket_weights, draw_symbols
from fairgauge.errors import InvalidInput, SealBroken
from fairgauge.reports.crowd_promise import crowd_view
from fairgauge.study import Release
from tests.collecting.auditor import faults
from tests.collecting.desk import Desk, open_desk
from tests.collecting.servers import PATIENCE, new_database
from tests.collecting.wire import answer_bytes
from tests.samples import sample_study

SIZE, DRAWS = 30, 12
STUDY = replace(sample_study(), title="In the crowd", release=Release(SIZE, "0.00001", DRAWS))
ONE = f"/studies/{STUDY.digest}"
PROFILE = {"group": {"sex": "female"}, "values": {"recall": 0.5}}
Ask = Callable[..., None]


async def page(desk: Desk, token: str = "") -> str:
    headers = {"accept": "text/html"} | ({"authorization": f"Bearer {token}"} if token else {})
    return (await desk.client.get(ONE, headers=headers)).text


async def send(desk: Desk, count: int) -> None:
    lines = [answer_bytes(STUDY.digest, secrets.token_bytes(16), 1) for _ in range(count)]
    assert (await desk.batch(STUDY, lines)).json()["accepted"] == count


async def publish(desk: Desk) -> None:
    assert (await desk.post("/studies?results=public", STUDY.to_bytes())).status_code == 201


def test_everything_that_readers_see_is_of_closed_batches(ask: Ask):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        for sent, shown in ((SIZE, 0), (SIZE - 1, 0), (1, SIZE), (SIZE - 1, SIZE), (SIZE, 2 * SIZE)):
            await send(desk, sent)
            for token in ("", desk.reader, desk.operator):
                told = (await desk.get(f"{ONE}/tally", token=token)).json()
                assert (told["contributors"], sum(told["counts"])) == (shown, shown + DRAWS * (shown // SIZE))
                assert told["counts"][1] >= shown
                told = (await desk.get(f"{ONE}/estimate", token=token)).json()["questions"][0]["answers"]
                assert told == shown
                report = (await desk.get(f"{ONE}/report", token=token)).text  # may be some seconds old
                assert re.findall(r"(\d+) answers ·", report)[0] in {"0", f"{SIZE}", f"{2 * SIZE}"}
            metrics = (await desk.get("/metrics")).text
            assert "symbol" not in metrics
        text = await page(desk)
        assert ">119 answers<" in text
        # What it shows may be some seconds old, too: of none, one or two closed batches.
        assert re.search("The counts of (30|60) answers are shown. The others wait|No counts are shown yet", text)

    ask(scene)


def test_the_page_has_both_promises_and_says_who_can_link(ask: Ask):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        await send(desk, SIZE + 1)
        text = await page(desk)
        assert ">31 answers<" in text
        assert "No counts are shown yet. They leave in batches of 30 answers: when 60 wait, or" in text
        assert "Towards everyone who reads the study" in text
        assert "with 12 secret random answers among them that the collector adds" in text
        assert "They see every answer by itself, and can link it to the connection that it came over." in text
        found = crowd_view(STUDY)
        assert found is not None
        assert f"a crowd epsilon of {found.epsilon} at delta 0.00001" in text
        assert "even towards someone who knows every other answer" in text
        assert "All answers" not in text
        promises = text[text.index("There are two promises") : text.index("Only what follows holds towards them.")]
        assert promises in (await desk.get(f"{ONE}/report")).text, "page and report say the same"
        await desk.post(f"{ONE}/close")
        assert "Counts left in batches, each with secret random answers of the collector among them" in await page(desk)
        assert "answers.ndjson" not in await page(desk)
        assert "fairgauge ledger check http" in await page(desk)

    ask(scene)


def test_what_is_left_at_closing_is_a_batch_of_its_own_with_its_own_draws(ask: Ask, tmp_path: Path):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        await send(desk, SIZE - 1)
        assert sum((await desk.get(f"{ONE}/tally", token=desk.operator)).json()["counts"]) == 0
        await desk.post(f"{ONE}/close")
        told = (await desk.get(f"{ONE}/tally", token="")).json()
        assert (told["contributors"], sum(told["counts"])) == (SIZE - 1, SIZE - 1 + DRAWS)
        sealed = read_sealed((await desk.get(f"{ONE}/sealed", token="")).content)
        assert (sealed.seal.answers, list(sealed.seal.tally)) == (SIZE - 1, told["counts"])
        assert faults(STUDY, sealed) == ""
        (tmp_path / "answers").write_bytes((await desk.get(f"{ONE}/export", token=desk.operator)).content)
        assert faults(STUDY, sealed, tmp_path / "answers") == ""
        assert (await check_store(desk.collector.store)).faults == ()
        undrawn = replace(sealed, seal=replace(sealed.seal, tally=(0, SIZE - 1, 0, 0)))
        said = "no secret draws of this study: they are 0, and 29 answers leave with 12"
        assert said in faults(STUDY, undrawn, tmp_path / "answers")
        assert "the tally has 0 secret draws, and so many answers leave with 12" in faults(STUDY, undrawn)

    ask(scene)


def test_draws_are_made_once_and_from_the_blanket(ask: Ask, monkeypatch: pytest.MonkeyPatch):
    """Every symbol that is drawn is asked for by the study's own weights, in the transaction that closes a batch."""
    asked: list[tuple[tuple[int, ...], int]] = []
    honest = draw_symbols

    def watched(weights: tuple[int, ...], count: int) -> Counter[int]:
        asked.append((weights, count))
        return honest(weights, count)

    monkeypatch.setattr(released_sums, "draw_symbols", watched)

    async def scene(desk: Desk) -> None:
        asked.clear()
        await publish(desk)
        await send(desk, 2 * SIZE)
        first = (await desk.get(f"{ONE}/tally", token="")).json()["counts"]
        await send(desk, 3)
        await desk.post(f"{ONE}/close")
        await desk.post(f"{ONE}/close")
        last = (await desk.get(f"{ONE}/tally", token="")).json()["counts"]
        assert (sum(first), sum(last)) == (SIZE + DRAWS, 2 * SIZE + 3 + 2 * DRAWS)
        assert last == (await desk.get(f"{ONE}/sealed", token="")).json()["seal"]["tally"]
        assert asked == [(blanket_weights(STUDY.channels), DRAWS)] * 2

    ask(scene)


def test_ids_are_for_operators_and_only_when_the_study_is_over(ask: Ask):
    async def scene(desk: Desk) -> None:
        await publish(desk)
        await send(desk, 3 * SIZE)
        over = ((False, {"": 401, desk.reader: 403, desk.operator: 404}),
                (True, {"": 401, desk.reader: 403, desk.operator: 200}))  # fmt: skip
        for closed, expected in over:
            if closed:
                await desk.post(f"{ONE}/close")
            for token, status in expected.items():
                assert (await desk.get(f"{ONE}/export", token=token)).status_code == status

    ask(scene)


def test_a_device_checks_that_its_answer_is_in(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "ledger"
    mine = Ledger(file).answer(STUDY, PROFILE)
    proofs: dict[str, Any] = {}
    key = ""

    async def scene(desk: Desk) -> None:
        nonlocal key
        await publish(desk)
        await desk.answer(STUDY, bytes.fromhex(mine.id), mine.payload[0])
        assert (await desk.get(f"{ONE}/inclusion", token="")).status_code == 404
        await send(desk, 600)
        await desk.post(f"{ONE}/close")
        for query in ("", "?bucket=0", "?bucket=1"):
            proofs[query] = (await desk.get(f"{ONE}/inclusion{query}", token="")).json()
        assert (await desk.get(f"{ONE}/inclusion?bucket=2", token="")).status_code == 400
        seal = (await desk.get(f"{ONE}/sealed", token="")).json()["seal"]
        assert {proof["root"] for proof in proofs.values()} == {seal["root"]}
        key = (await desk.get("/key", token="")).json()["key"]

    ask(scene)
    own = proofs["?bucket=0" if mine.id < "8" else "?bucket=1"]
    assert proofs[""]["leaves"] is None
    assert mine.id not in json.dumps(proofs)
    check_included(mine, own)
    heard: list[str] = []

    def read(url: str) -> dict[str, Any]:
        heard.append(url.partition("/inclusion")[2])
        return dict(proofs[heard[-1]])

    monkeypatch.setattr(command, "_read", read)
    monkeypatch.setattr(command, "load_study", lambda address, *, digest: STUDY)

    def run(*more: str) -> str:
        address = f"https://collector.example{ONE}"
        typed = ["ledger", "check", address, "--ledger", str(file), *more]
        return CliRunner().invoke(make_app(["ledger"]), typed, catch_exceptions=False).output

    assert "Your answer is among the 601 that were sealed" in (told := run())
    assert "asked about your answer and 600 others" in told  # a batch of 30 hides nobody in half of them
    assert heard == ["", "?bucket=0", "?bucket=1"]
    heard.clear()
    assert json.loads(run("--answers", "601", "--json"))["shared_with"] == len(own["leaves"]) - 1
    assert len(heard) == 2
    with pytest.raises(SealBroken, match="proves from 601 answers, and not from 90"):
        run("--answers", "90")
    assert json.loads(run("--key", key, "--json"))["signed"]
    with pytest.raises(SealBroken, match="not by the holder of this key"):
        run("--key", "A" * 43 + "=")
    with pytest.raises(SealBroken, match="and the seal has"):
        run("--root", "b" * 64)
    with pytest.raises(InvalidInput, match="is not there"):
        run("--ledger", str(tmp_path / "other"))
    heard.clear()
    proofs[""]["answers"] = 2**135  # as if every answer had a bucket of its own
    with pytest.raises(InvalidInput, match="more than can be asked about when 30 are known of"):
        run()
    assert heard == [""]
    monkeypatch.setattr(Ledger, "wants_relay", lambda ledger, study: True)
    with pytest.raises(InvalidInput, match="would show it your address"):
        run()
    assert heard == [""]
    proofs[""]["answers"] = 601
    assert "Your answer is among" in run("--direct")


def test_leaves_tell_nothing_to_who_gave_out_tickets_and_outside_the_crowd_there_are_none(ask: Ask):
    """Whoever knows an id tries all symbols: in the crowd only the device knows it, and elsewhere nothing is shown."""
    plain = replace(STUDY, release=None, admission="tickets")

    async def scene(desk: Desk) -> None:
        await publish(desk)
        assert (await desk.post("/studies?results=public", plain.to_bytes())).status_code == 201
        given = [desk.collector.tickets.new(plain.digest) for _ in range(40)]
        symbols = range(STUDY.symbols)
        for ticket in given:
            assert (await desk.answer(plain, bytes.fromhex(ticket), 1)).status_code in (200, 201, 202)
            mine = Answer(STUDY.digest, secrets.token_hex(16), (1,))
            await desk.answer(STUDY, bytes.fromhex(mine.id), 1)
        for study in (plain, STUDY):
            await desk.post(f"/studies/{study.digest}/close")
        assert (await desk.get(f"/studies/{plain.digest}/inclusion?bucket=0", token="")).status_code == 404
        leaves = set((await desk.get(f"{ONE}/inclusion?bucket=0", token="")).json()["leaves"])
        assert len(leaves) == 40
        tried = {leaf_of(Answer(STUDY.digest, one, (symbol,)).to_bytes()).hex() for one in given for symbol in symbols}
        assert not leaves & tried
        assert leaf_of(mine.to_bytes()).hex() in leaves, "and who has the id finds it"

    ask(scene)


def test_the_ledger_shows_both_sums(tmp_path: Path):
    file = tmp_path / "ledger"
    Ledger(file).answer(STUDY, PROFILE)
    run = CliRunner().invoke(make_app(["ledger"]), ["ledger", "spent", "--ledger", str(file)], catch_exceptions=False)
    found = crowd_view(STUDY)
    assert found is not None
    assert run.output.splitlines() == [
        "sex:",
        "  towards those who run studies: epsilon 1.099; the usual limit is 8",
        f"  towards everyone who reads them: epsilon {Decimal(found.epsilon)} and delta 1e-5",
    ]
    typed = ["ledger", "spent", "--ledger", str(file), "--json"]
    told = json.loads(CliRunner().invoke(make_app(["ledger"]), typed, catch_exceptions=False).output)
    assert told["sex"]["crowd"]["delta"] == 1e-5


def test_a_study_that_another_process_deleted_is_gone():
    address = new_database()

    async def play(folder: Path) -> None:
        async with open_desk(address, folder) as desk:
            await publish(desk)
            await desk.post(f"{ONE}/close")
            assert (await desk.get(f"{ONE}/tally")).status_code == 200
            collector = desk.collector
            for path in (ONE, f"{ONE}/take-part"):
                assert (await desk.get(path)).status_code == 200
            kept, sending = await collector.document(STUDY.digest), await collector.shown(STUDY.digest)
            await collector.store.delete(kept.number, Event(0, "command line", "deleted", STUDY.digest))
            await asyncio.sleep(1.0)  # so long a document is shown without another look
            for path in (ONE, f"{ONE}/take-part"):
                assert (await desk.get(path)).status_code == 404
            for path in ("tally", "estimate", "sealed", "export", "report", "inclusion"):
                assert (await desk.get(f"{ONE}/{path}", token=desk.operator)).status_code == 404
            assert (await desk.answer(STUDY, b"\1" * 16, 0)).status_code == 404
            del sending
            async with asyncio.timeout(PATIENCE):
                while STUDY.digest in collector._shown:  # until its bytes are let go
                    await asyncio.sleep(0.1)
            collector._learned = float("-inf")
            await collector.learn()
            assert STUDY.digest not in collector._studies

    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))


@pytest.mark.parametrize(
    ("shown", "over", "text"),
    [
        (0, False, "No counts are shown yet."),
        (2000, False, "The counts of 2,000 answers are shown."),
        (2000, True, "all of them are shown now."),
        (0, True, ""),
    ],
)
def test_what_is_shown_is_said(shown: int, over: bool, text: str):
    assert text in _release_sentence(1000, shown=shown, over=over)
