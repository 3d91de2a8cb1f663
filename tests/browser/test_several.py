"""Several questions, and attributes that cross, from a real collector to a verified bundle."""

import io
import json
import os
import random
import secrets
import zipfile
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from fairgauge import Attribute, Metric, Population, Study, answer, design
from fairgauge.simulation import simulate
from fairgauge.simulation.population import read_cell
from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.taking import open_form, randomise, send
from tests.browser.test_pages import PHONE, WIDE, check_fits
from tests.browser.visitor import barriers
from tests.programs import programs

EXAMPLE = Path(__file__).parents[2] / "examples" / "sex-by-age"
LOOKS = {"wide": WIDE, "phone": PHONE}


def at_once() -> tuple[Study, Population]:
    """Two metrics that one table answers at once."""
    sex = Attribute("sex", {"female": 0.5, "male": 0.5}, answering="alike")
    asked = design([Metric("recall", 0, 1), Metric("false alarms", 0, 1)], sex, epsilon=3, spread="max", expect="0.8")
    study = Study("Recall and false alarms, by sex", asked)
    assert len(study.tables) == 1
    rows = [("female", "1", "0", 700), ("female", "0", "1", 300), ("male", "1", "0", 900), ("male", "0", "1", 100)]
    names = ("sex", "recall", "false alarms", "count")
    return study, Population(tuple(read_cell(dict(zip(names, row, strict=True))) for row in rows))


def crossed() -> tuple[Study, Population]:
    return Study.load(EXAMPLE / "study.json"), Population.from_csv(EXAMPLE / "population.csv")


def batch(collector: Collecting, study: Study, symbols: list[int]) -> None:
    random.Random(1).shuffle(symbols)
    lines = [f'{{"id":"{secrets.token_hex(16)}","study":"{study.digest}","symbol":{s}}}' for s in symbols]
    for start in range(0, len(lines), 10_000):
        told = httpx.post(
            f"{collector.url}/studies/{study.digest}/answers",
            content="\n".join(lines[start : start + 10_000]),
            headers={"content-type": "application/x-ndjson"},
            timeout=120,
        )
        assert told.json()["accepted"] == len(lines[start : start + 10_000])


CASES = {
    "at once": (at_once, {"sex": "female"}, {"recall": "0.9", "false alarms": "0.1"}, 5_000),
    "crossed": (crossed, {"sex": "female", "age": "50+"}, {"recall": "0.9", "fpr": "0.1"}, 10_000),
}

# A name that is written for programs is shown as people say it.
SPOKEN = {"fpr": "false positive rate"}


@pytest.mark.parametrize("case", CASES)
def test_from_the_page_to_a_verified_bundle(collector: Collecting, visitor: OpenVisitor, case: str, tmp_path: Path):
    make, groups, values, clients = CASES[case]
    study, population = make()
    here = collector.publish(study, results="public")

    person = visitor(viewport=PHONE)
    page = open_form(person, study)
    # Cells are not listed by their names, which have commas in them.
    among = "6 groups by sex and age" if case == "crossed" else "female and male"
    shown_as = {name: SPOKEN.get(name, name) for name in values}
    asks = [f"Does the model’s {name} differ between {among}?" for name in shown_as.values()]
    assert page.locator("ul.asks li").all_text_contents() == asks
    for group in groups.values():
        page.get_by_label(group, exact=True).check()
    for name, value in values.items():
        page.get_by_label(f"Your {shown_as[name]}").fill(value)
    check_fits(page)
    assert barriers(page) == []
    body = json.loads(randomise(page))
    send(page)
    sent = [body["symbol"]]
    # One answer is about every question of its table, and costs one epsilon.
    costs = page.locator("#memory dd").all_text_contents()
    assert f"epsilon {study.questions[0].epsilon}" in costs

    profile = {"group": groups, "values": values}
    for _ in range(20):
        one = answer(study, profile)
        told = httpx.post(
            f"{collector.url}{here}/answers",
            content=one.to_bytes(),
            headers={"content-type": "application/json"},
            timeout=120,
        )
        assert told.json() == {"status": "accepted"}
        sent.append(one.payload[0])
    tally = simulate(study, population, clients=clients, seed=3)
    batch(collector, study, [symbol for symbol, count in enumerate(tally.counts) for _ in range(count)])
    expected = [count + sent.count(symbol) for symbol, count in enumerate(tally.counts)]
    assert collector.counts(study) == expected

    collector.ask("POST", f"{here}/close")
    reader = visitor()
    shown, reported = reader.open(here), reader.open(f"{here}/report")
    expect(shown.locator(".verdict")).to_have_count(2)
    for name in shown_as.values():
        alike = f"Every person counts alike, however many records their {name} is worked out from."
        expect(shown.get_by_text(alike)).to_have_count(1)
    for look, viewport in LOOKS.items():
        for page in (shown, reported):
            page.set_viewport_size(viewport)  # type: ignore[arg-type]
            check_fits(page)
            assert barriers(page) == []
        if folder := os.environ.get("FAIRGAUGE_LOOK"):
            shown.screenshot(path=f"{folder}/{case}-study-{look}.png", full_page=True)
            reported.screenshot(path=f"{folder}/{case}-report-{look}.png", full_page=True)

    bundle = collector.ask("GET", f"{here}/bundle").content
    (tmp_path / "bundle.zip").write_bytes(bundle)
    assert zipfile.ZipFile(io.BytesIO(bundle)).testzip() is None
    key = collector.ask("GET", "/key").json()["key"]
    ran = programs().fairgauge("verify", "bundle.zip", "--key", key, folder=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for sentence in (
        f"answers.ndjson was counted again: {clients + len(sent):,} answers, which are the sealed ones.",
        "report.html is what this study and this tally give, byte for byte: every number, word and picture.",
        "Everything that was checked holds.",
    ):
        assert sentence in ran.stdout
