"""Live pages: one poll for all listeners, a limit on listeners, and nobody left hanging."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from starlette.types import Message

from fairgauge.collector.admission import PublishingTerms
from fairgauge.collector.app import make_app
from fairgauge.collector.pages import live_results
from fairgauge.collector.pages.study_pages import Pages
from fairgauge.server.server_errors import Busy, Stopping
from tests.collecting.desk import Desk, open_desk
from tests.collecting.wire import answer_bytes
from tests.samples import sample_study

STUDY = sample_study()


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run a coroutine function with a collector that has a public study, and its pages."""
    monkeypatch.setattr(live_results, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(live_results, "_POLL_PART", 0)

    def run(scene: Callable[[Desk, Pages], Awaitable[None]], **settings: object) -> None:
        async def play() -> None:
            async with asyncio.timeout(300), open_desk(f"sqlite:///{tmp_path / 'g.db'}", tmp_path, **settings) as desk:
                await desk.collector.publish(STUDY.to_bytes(), PublishingTerms(results="public"))
                await scene(desk, Pages(desk.collector))

        asyncio.run(play())

    return run


async def send(desk: Desk, count: int, start: int = 0) -> None:
    lines = [answer_bytes(STUDY.digest, n.to_bytes(16), n % 4) for n in range(start, start + count)]
    assert (await desk.batch(STUDY, lines)).json()["accepted"] == count


async def news(events: AsyncIterator[bytes]) -> str:
    """Return the next event that is not a comment."""
    async for event in events:
        if event.startswith(b"event:"):
            return event.decode()
    return ""


async def until_shows(events: AsyncIterator[bytes], text: str) -> str:
    while text not in (event := await news(events)):
        assert event
    return event


def test_listeners_hear_of_new_answers_and_of_the_end(watch):
    async def scene(desk: Desk, pages: Pages) -> None:
        events = pages.live.join(await desk.collector.entry(STUDY.digest))
        first = await news(events)
        assert first.startswith("event: results\ndata: <span")
        assert first.endswith("\n\n")
        assert all(line.startswith("data: ") for line in first.strip().splitlines()[1:])
        assert "There are no answers yet." in first
        await send(desk, 300)
        assert 'data-part="verdict"' in await until_shows(events, "300 answers")
        await send(desk, 100, start=300)
        shown = await until_shows(events, "400 answers")
        assert "it holds at every look, with" in shown
        assert "confidence, if clients answer in random order. If they come in waves" in shown
        await desk.collector.close(STUDY.digest)
        await until_shows(events, "event: over")
        assert [event async for event in events] == []
        assert pages.live.listeners == 0

    watch(scene)


def test_a_hundred_listeners_share_one_poll(watch, monkeypatch: pytest.MonkeyPatch):
    async def scene(desk: Desk, pages: Pages) -> None:
        entry, asked = await desk.collector.entry(STUDY.digest), 0
        tally = desk.collector.store.tally

        async def counted(number: int) -> dict[int, int]:
            nonlocal asked
            asked += 1
            return await tally(number)

        monkeypatch.setattr(desk.collector.store, "tally", counted)
        monkeypatch.setattr(live_results, "_POLL_SECONDS", 3600.0)
        listeners = [pages.live.join(entry) for _ in range(100)]
        heard = await asyncio.gather(*(news(events) for events in listeners))
        assert len(set(heard)) == 1
        assert pages.live.listeners == 100
        assert asked == 1
        for events in listeners:
            await events.aclose()  # type: ignore[attr-defined]
        assert pages.live.listeners == 0
        again = pages.live.join(entry)
        assert await news(again) == heard[0]
        assert asked == 1  # who comes and goes begins nothing anew
        (watch,) = pages.live._watches.values()
        assert watch.task is not None
        pages.live.stop()
        await asyncio.wait([watch.task], timeout=60)
        assert watch.task.cancelled()

    watch(scene)


def test_when_nobody_listens_nobody_asks(watch):
    async def scene(desk: Desk, pages: Pages) -> None:
        events = pages.live.join(await desk.collector.entry(STUDY.digest))
        await news(events)
        (watched,) = pages.live._watches.values()
        assert watched.task is not None
        await events.aclose()  # type: ignore[attr-defined]
        done, _ = await asyncio.wait([watched.task], timeout=10)
        assert done
        assert pages.live._watches == {}

    watch(scene)


def test_there_is_a_limit_on_listeners(watch):
    async def scene(desk: Desk, pages: Pages) -> None:
        with pages.live.place():
            with pages.live.place(), pytest.raises(Busy), pages.live.place():
                pass
            with pages.live.place():
                pass

    watch(scene, limits={"listeners": 2})


def test_whoever_comes_when_all_places_are_taken_is_told_before_anything_is_sent(watch, capsys):
    """All ask at once: none is let in between a look at the places and its first event, and then broken off."""

    async def scene(desk: Desk, pages: Pages) -> None:
        app, told = make_app(desk.collector), []
        scope = {
            "type": "http", "method": "GET", "path": f"/studies/{STUDY.digest}/events", "query_string": b"",
            "headers": [], "asgi": {"spec_version": "2.3"}, "root_path": "", "scheme": "http", "server": ("x", 80),
        }  # fmt: skip

        async def listen() -> None:
            begun = asyncio.Event()

            async def receive() -> Message:
                await begun.wait()  # then the other side is gone
                return {"type": "http.disconnect"}

            async def send(message: Message) -> None:
                if message["type"] == "http.response.start":
                    told.append(message["status"])
                    await asyncio.sleep(0.05)
                    begun.set()

            await app(dict(scope), receive, send)

        await asyncio.gather(*(listen() for _ in range(6)))
        assert sorted(told) == [200, 200, 503, 503, 503, 503]

    watch(scene, limits={"listeners": 2})
    assert "fault" not in capsys.readouterr().err


def test_a_store_that_is_away_for_a_while_ends_nothing(watch, monkeypatch: pytest.MonkeyPatch, capsys):
    async def scene(desk: Desk, pages: Pages) -> None:
        events = pages.live.join(await desk.collector.entry(STUDY.digest))
        await news(events)
        good = desk.collector.store.tally

        async def away(_number: int) -> dict[int, int]:
            raise OSError("gone")

        monkeypatch.setattr(desk.collector.store, "tally", away)
        await asyncio.sleep(0.05)
        monkeypatch.setattr(desk.collector.store, "tally", good)
        await send(desk, 200)
        await until_shows(events, "200 answers")
        await events.aclose()  # type: ignore[attr-defined]

    watch(scene)


def test_silence_is_filled_with_comments(watch, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live_results, "_BEAT_SECONDS", 0.02)

    async def scene(desk: Desk, pages: Pages) -> None:
        events = pages.live.join(await desk.collector.entry(STUDY.digest))
        await news(events)
        assert [await anext(events) for _ in range(2)] == [b":\n\n", b":\n\n"]
        await events.aclose()  # type: ignore[attr-defined]

    watch(scene)


def test_stopping_lets_everyone_go(watch):
    async def scene(desk: Desk, pages: Pages) -> None:
        entry = await desk.collector.entry(STUDY.digest)
        events = pages.live.join(entry)
        await news(events)
        waiting = asyncio.create_task(news(events))
        await asyncio.sleep(0.02)
        pages.live.stop()
        assert await waiting == ""
        assert pages.live.listeners == 0
        with pytest.raises(Stopping):
            pages.live.join(entry)

    watch(scene)
