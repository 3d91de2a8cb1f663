"""A published study is in one state, and everything that names it names the same one."""

import re
from dataclasses import replace

import pytest

from fairgauge.collector.stores.store import Published, State
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


@pytest.mark.parametrize(
    ("lang", "now_open", "was_open", "ends"),
    [
        ("en", "Everyone may answer", "Everyone could answer", "Closed"),
        ("de", "Alle dürfen antworten", "Alle durften antworten", "Beendet"),
        ("ar", "يحق للجميع أن يجيبوا، ولذلك لا", "كان يحق للجميع أن يجيبوا", "انتهت في"),
    ],
)
def test_who_may_answer_is_said_in_the_past_when_a_study_is_over(
    ask, lang: str, now_open: str, was_open: str, ends: str
):
    now, study = [float(OPENS)], replace(TIMED, closes="2026-01-01T23:59:59Z")

    async def scene(desk: Desk) -> None:
        async def page() -> str:
            headers = {"accept": "text/html", "accept-language": lang}
            return (await desk.client.get(f"/studies/{study.digest}", headers=headers)).text

        await desk.publish(study)
        told = await page()
        assert now_open in told
        assert was_open not in told
        now[0] = CLOSES
        await desk.collector.close_what_is_due()
        told = await page()
        assert now_open not in told
        assert was_open in told
        assert f'<dt>{ends}</dt><dd><time datetime="{study.closes}">' in told

    ask(scene, clock=lambda: now[0])


@pytest.mark.parametrize("early", [True, False])
def test_a_study_never_closed_before_it_closes(ask, early: bool):
    study = replace(TIMED, closes="2026-01-02T01:37:00Z")
    now = [CLOSES + 3600 + 36 * 60.0]  # a minute before its end

    async def scene(desk: Desk) -> None:
        await desk.publish(study)
        if early:
            await desk.collector.close(study.digest)
        now[0] += 120
        await desk.collector.close_what_is_due()
        told = (await desk.client.get(f"/studies/{study.digest}", headers={"accept": "text/html"})).text
        said = re.findall(r"<dt>([^<]*)</dt><dd><time datetime=\"2026-01-02T([0-9:]*)Z", told)
        hour = ("Closed after", "01:00:00")
        assert said[1:] == ([("Was to close", "01:37:00"), hour] if early else [("Closed", "01:37:00")])
        sealed = (await desk.get(f"/studies/{study.digest}/sealed")).json()["seal"]["closed"]
        assert sealed == f"2026-01-02T01:{'00' if early else '37'}:00Z"

    ask(scene, clock=lambda: now[0])
