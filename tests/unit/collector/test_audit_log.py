"""Who did what is written down, with names and never with secrets; and what else an operator relies on.

Covers: fairgauge.collector.audit_log.
"""

import asyncio
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from fairgauge.cli import make_app
from fairgauge.collector import service
from fairgauge.collector.audit_log import done_words, leave_note, site_words, taken_notes
from fairgauge.errors import StoreFull
from fairgauge.languages import PLAIN, Voice
from tests.collecting.desk import Desk, open_desk
from tests.collecting.servers import ServerProcess
from tests.samples import sample_study
from tests.unit.collector.pages.test_operator_page import HTML, send, sign_in

STUDY = sample_study()


@pytest.mark.parametrize(
    ("did", "german"),
    [
        ("published", "veröffentlichte"),
        ("revoked a token", "widerrief ein Token"),
        ("made 1 ticket", "machte 1 Ticket"),
        ("made 100 tickets", "machte 100 Tickets"),
        (site_words("Lake"), "machte das Ticket der Einrichtung Lake"),
        ("restored a backup", "restored a backup"),  # nobody has said it in German yet
    ],
)
def test_what_was_done_is_told_in_the_readers_language(did: str, german: str) -> None:
    assert PLAIN.tell(done_words(did)) == did
    assert Voice("de").tell(done_words(did)) == german


async def lines(desk: Desk) -> list[tuple[str, str, str]]:
    return [(one.who, one.did, one.about) for one in reversed(await desk.collector.store.events(99))]


def test_what_programs_do_is_written_down(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        await desk.publish(STUDY)  # again: nothing happens, so nothing is written
        await desk.get(f"/studies/{STUDY.digest}/export")
        await desk.post(f"/studies/{STUDY.digest}/close")
        assert await lines(desk) == [
            ("operator", "published", STUDY.digest),
            ("reader", "exported", STUDY.digest),
            ("operator", "closed", STUDY.digest),
        ]

    ask(scene)


def test_what_people_do_on_the_page_is_written_down_and_shown_without_secrets(ask):
    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        proof = {"proof": await sign_in(desk, desk.operator)}
        await desk.publish(STUDY, admission="tickets")
        made = await send(desk, "/operator/tokens", {"action": "new", "name": "eve", "role": "reader"} | proof)
        tickets = await send(desk, "/operator/tickets", {"study": STUDY.digest, "count": "2"} | proof)
        await send(desk, "/operator/tokens", {"action": "revoke", "name": "eve"} | proof)
        await send(desk, "/operator/close", {"study": STUDY.digest, "sure": "yes"} | proof)
        found = await lines(desk)
        assert found == [
            ("operator", "published", STUDY.digest),
            ("operator", "made a token", "eve"),
            ("operator", "made 2 tickets", STUDY.digest),
            ("operator", "revoked a token", "eve"),
            ("operator", "closed", STUDY.digest),
        ]
        page = (await desk.client.get("/operator", headers=HTML)).text
        assert "made 2 tickets" in page
        token = made.text.partition("fgr_")[2].partition("</code>")[0]
        assert len(token) > 40
        for secret in (token, desk.operator, *tickets.text.split()):
            assert secret not in str(found)

    ask(scene)


def test_what_commands_did_in_the_folder_is_written_down_once_also_by_several_collectors(ask):
    def command(*words: str) -> None:
        assert CliRunner().invoke(make_app([words[0]]), words, catch_exceptions=False).exit_code == 0

    async def scene(desk: Desk) -> None:
        folder = desk.collector.secrets
        command("token", "new", "--name", "zoe", "--secrets", str(folder))
        command("token", "revoke", "--name", "zoe", "--secrets", str(folder))
        command("ticket", "new", "--study", STUDY.digest, "--count", "3", "--secrets", str(folder))
        with taken_notes(folder) as notes:  # another collector is about to write them
            assert len(notes) == 3
            with taken_notes(folder) as none:
                assert none == []
            leave_note(folder, "made a token", "late")
        command("key", "rotate", "--secrets", str(folder))
        for _ in range(2):
            await desk.collector.write_notes()
        assert [line[1] for line in await lines(desk)] == ["made a token", "rotated the key"]

    ask(scene)


def test_a_note_that_could_not_be_written_down_is_tried_again(ask, monkeypatch: pytest.MonkeyPatch):
    async def scene(desk: Desk) -> None:
        async def full(*_args: object) -> None:
            raise StoreFull("the disk is full")

        leave_note(desk.collector.secrets, "made a token", "zoe")
        with monkeypatch.context() as broken:
            broken.setattr(desk.collector.store, "record", full)
            with pytest.raises(StoreFull):
                await desk.collector.write_notes()
        await desk.collector.write_notes()
        assert await lines(desk) == [("command line", "made a token", "zoe")]

    ask(scene)


def test_signing_out_ends_the_session_on_the_server_also_after_a_restart(tmp_path: Path):
    store = f"sqlite:///{tmp_path / 'g.db'}"

    async def looks(desk: Desk, cookie: str) -> int:
        return (await desk.client.get("/operator", headers=HTML | {"cookie": cookie})).status_code

    async def play() -> list[int]:
        found = []
        async with open_desk(store, tmp_path) as desk:
            desk.client.base_url = httpx.URL("https://collector")
            done = await send(desk, "/sign-in", {"token": desk.operator})
            cookie = done.headers["set-cookie"].partition(";")[0]
            found.append(await looks(desk, cookie))
            await send(desk, "/sign-out", {}, cookie=cookie)
            found.append(await looks(desk, cookie))
            assert cookie.partition("=")[2] not in str(await desk.collector.store.ended_sessions(0))
        async with open_desk(store, tmp_path) as desk:  # the list comes from the store
            desk.client.base_url = httpx.URL("https://collector")
            await asyncio.sleep(0.2)
            found.append(await looks(desk, cookie))
        return found

    assert asyncio.run(play()) == [200, 303, 303]


def test_a_store_that_cannot_commit_makes_the_collector_not_ready(ask, monkeypatch: pytest.MonkeyPatch):
    async def scene(desk: Desk) -> None:
        async def full(*_args: object) -> None:
            raise StoreFull("the disk is full")

        await desk.publish(STUDY)
        assert (await desk.client.get("/readyz")).status_code == 200
        with monkeypatch.context() as broken:
            broken.setattr(desk.collector.store, "add", full)
            assert (await desk.answer(STUDY, bytes(16), 0)).status_code == 507
            assert (await desk.client.get("/readyz")).status_code == 507  # although a row without meaning would fit
            broken.setattr(service, "_FAILED_SECONDS", 0)
            assert (await desk.client.get("/readyz")).status_code == 200  # nobody tried for a while
            broken.setattr(desk.collector.store, "commit_something", full)
            assert (await desk.client.get("/readyz")).status_code == 507
        assert (await desk.answer(STUDY, bytes(16), 0)).status_code == 200
        assert (await desk.client.get("/readyz")).status_code == 200

    ask(scene)


def test_a_collector_with_other_keys_does_not_start_and_makes_none(tmp_path: Path):
    store = f"sqlite:///{tmp_path / 'g.db'}"
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with ServerProcess(tmp_path / "one", store) as server:
        assert server.stop() == 0
    other = ServerProcess(tmp_path / "two", store).start()
    assert other.process is not None
    assert other.process.wait(30) != 0
    assert "fairgauge key adopt" in other.log.read_text()
    assert not (tmp_path / "two" / "secrets" / "signing.key").exists()
    adopt = ["key", "adopt", "--store", store, "--secrets", str(tmp_path / "two" / "secrets")]
    assert CliRunner().invoke(make_app(["key"]), adopt).exit_code == 0
    with other:
        assert other.stop() == 0
