"""Answers that come in waves: nothing is shown before the end, and then what does not depend on their order."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from fairgauge.collector.pages.study_pages import Pages
from fairgauge.errors import BadStudy, CannotEstimate
from fairgauge.estimation import estimate
from fairgauge.study import Study
from fairgauge.tallies import Tally
from tests.collecting.desk import Desk
from tests.collecting.wire import answer_bytes
from tests.samples import sample_question, sample_study

STUDY = Study("By country", [sample_question()], order="waves")


def test_a_page_waits_for_the_end(ask: Callable[..., None]) -> None:
    async def scene(desk: Desk) -> None:
        await desk.post("/studies?results=public", STUDY.to_bytes())
        path = f"/studies/{STUDY.digest}"
        lines = [answer_bytes(STUDY.digest, n.to_bytes(16), 0) for n in range(300)]
        assert (await desk.batch(STUDY, lines)).json()["accepted"] == 300
        shown = (await desk.client.get(path, headers={"accept": "text/html"})).text
        assert "300 answers" in shown
        assert "come in waves, say one country after another" in shown
        assert "nothing is shown before the study closes" in shown
        assert "The band is where the gap lies" not in shown
        assert "The numbers" not in shown
        assert f"{path}/report" not in shown
        for part in ("report", "estimate", "estimate?interval=anytime"):
            refused = await desk.client.get(f"{path}/{part}")
            assert refused.status_code == 422
            assert "come in waves" in refused.json()["detail"]
        await desk.collector.close(STUDY.digest)
        shown = (await desk.client.get(path, headers={"accept": "text/html"})).text
        assert "The numbers" in shown
        assert "however many answered, at one look" in shown
        assert "The band is where the gap lies" not in shown
        assert "come in waves" not in shown
        assert (await desk.client.get(f"{path}/report")).status_code == 200
        assert (await desk.client.get(f"{path}/estimate")).status_code == 200
        results = await Pages(desk.collector).reckoner.results(await desk.collector.entry(STUDY.digest))
        assert results.estimate.interval == "population"

    ask(scene)


def test_an_interval_that_takes_random_order_is_refused() -> None:
    tally = Tally(STUDY.digest, (10, 20, 30, 40))
    with pytest.raises(CannotEstimate, match="come in waves, and anytime intervals hold only in random order"):
        estimate(STUDY, tally, interval="anytime")
    assert estimate(STUDY, tally).interval == "population"
    study = sample_study()
    assert estimate(study, replace(tally, study=study.digest), interval="anytime").interval == "anytime"


def test_there_is_one_way_to_say_it() -> None:
    with pytest.raises(BadStudy, match="order=random: must be waves, or left out"):
        Study("Random", [sample_question()], order="random")
    assert Study.from_bytes(STUDY.to_bytes()) == STUDY
    assert b'"order":"waves"' in STUDY.to_bytes()
