"""A published study is in one state, and everything that names it names the same one."""

import pytest

from fairgauge.collector.stores.base import Published, State
from fairgauge.study import Study
from tests.collecting.desk import Desk
from tests.samples import sample_question

TIMED = Study("Timed", [sample_question()], opens="2026-01-01T00:00:00Z", closes="2026-01-02T00:00:00Z")
OPENS, CLOSES = 1767225600, 1767312000


@pytest.mark.parametrize(
    ("now", "closed", "sealed", "state"),
    [
        (OPENS - 1, None, False, "not open yet"),
        (OPENS, None, False, "open"),
        (CLOSES - 1, None, False, "open"),
        (CLOSES, None, False, "closed"),
        (OPENS, OPENS, False, "closed"),
        (OPENS - 1, OPENS - 1, False, "closed"),
        (OPENS, OPENS, True, "sealed"),
        (CLOSES, CLOSES, True, "sealed"),
    ],
)
def test_the_state_of_a_study(now: int, closed: int | None, sealed: bool, state: State):
    kept = Published("", b"", "open", "", 0, closes=CLOSES, opens=OPENS, closed=closed, sealed=sealed)
    assert kept.state(now) == state


def test_interface_pages_and_answers_agree(ask):
    now = OPENS - 1.0
    path = f"/studies/{TIMED.digest}"

    async def named(desk: Desk, state: str) -> bool:
        (listed,) = (await desk.get("/studies")).json()["studies"]
        browser = {"accept": "text/html", "authorization": f"Bearer {desk.reader}"}
        pages = [(await desk.client.get(where, headers=browser)).text for where in ("/", path)]
        told = await desk.get(f"{path}/status", token="")
        assert told.json() == {"study": TIMED.digest, "status": state, "results": "readers"}
        assert told.headers["cache-control"] == "no-store", "a cache would call a study open that is closed"
        return listed["status"] == state and all(f">{state}<" in page or f" {state}" in page for page in pages)

    async def scene(desk: Desk) -> None:
        nonlocal now
        assert (await desk.publish(TIMED)).json()["status"] == "not open yet"
        assert await named(desk, "not open yet")
        assert (await desk.answer(TIMED, b"\1" * 16, 1)).status_code == 425
        now = OPENS
        assert await named(desk, "open")
        assert (await desk.answer(TIMED, b"\1" * 16, 1)).status_code == 200
        assert (await desk.post(f"{path}/close")).json()["status"] == "sealed"
        assert await named(desk, "sealed")
        assert (await desk.answer(TIMED, b"\2" * 16, 1)).status_code == 410

    ask(scene, clock=lambda: now)
