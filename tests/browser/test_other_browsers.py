"""The same visit in Firefox and in WebKit: one script, from the link to the check that the answer is counted."""

import json
import os
from collections.abc import Iterator

import pytest

from fairgauge.study import Study
from tests.browser.conftest import Collecting
from tests.browser.drivers import PACKAGES, STARTS, Driver, installed
from tests.browser.test_languages import SPOKEN, say, spoken_study
from tests.vectors import full, simple


@pytest.fixture(scope="module", params=list(STARTS))
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """A browser with a fresh profile."""
    name = request.param
    if not installed(name) and os.environ.get("FAIRGAUGE_BROWSER") != "required":
        pytest.skip(f"{name} is not installed; on Debian: apt-get install {PACKAGES[name]}")
    with STARTS[name](tmp_path_factory.mktemp(name)) as found:
        yield found


def test_a_person_takes_part(driver: Driver, collector: Collecting) -> None:
    study = spoken_study(f"In {driver.name}")
    address = f"{collector.url}{collector.publish(study, results='public')}/take-part?lang=de"
    driver.goto(address)
    driver.until(lambda: driver.text("#form"))
    assert driver.text("#title") == SPOKEN["de"]["title"]
    assert driver.text("#who").startswith(say("de", "who.title"))
    driver.click("#draw")
    assert driver.text("#complaint-value-0").startswith("„verstanden“ muss eine Zahl von 0 bis 1 sein")
    driver.click(".choices .choice:nth-child(2)")
    driver.type("#value-0", "83 %")
    driver.click("#draw")
    driver.until(lambda: driver.text("#bytes"))
    body = driver.text("#bytes")
    assert sorted(json.loads(body)) == ["id", "study", "symbol"]
    assert sum(collector.counts(study)) == 0, "nothing leaves before it is seen"
    driver.click("#send")
    driver.until(lambda: say("de", "thanks.title") in driver.text("#ready-title"))
    driver.until(lambda: driver.text("#results"))
    counts = collector.counts(study)
    assert sum(counts) == counts[json.loads(body)["symbol"]] == 1
    driver.click("#counted summary")
    driver.click("#recheck")
    driver.until(lambda: driver.text("#rechecked") == say("de", "thanks.yes"))
    # Another visit, from right to left: the same answer, and nothing is drawn anew.
    driver.goto(address.replace("lang=de", "lang=ar"))
    driver.until(lambda: driver.text("#status") == say("ar", "state.answered"))
    assert driver.text("#bytes") == body
    assert driver.run("return getComputedStyle(document.querySelector('main')).direction") == "rtl"
    assert sum(collector.counts(study)) == 1
    # The switch, with a click, and from there to the results in the same language.
    driver.click(".languages [hreflang=de]")
    driver.until(lambda: driver.text("#status") == say("de", "state.answered"))
    driver.until(lambda: driver.text("#results a"))
    driver.click("#results a")
    driver.until(lambda: driver.text(".live") == say("de", "study.live"))
    assert driver.text("h1") == SPOKEN["de"]["title"]
    driver.click(".languages [hreflang=ar]")
    driver.until(lambda: driver.text(".live") == say("ar", "study.live"))
    assert driver.run("return getComputedStyle(document.querySelector('main')).direction") == "rtl"


def test_a_study_that_was_changed_is_refused(driver: Driver, collector: Collecting) -> None:
    """The digest is computed in this browser too: a page for one study does not take another."""
    one, other = Study("One", spoken_study().questions), Study("Other", spoken_study().questions)
    collector.publish(one)
    driver.goto(f"{collector.url}{collector.publish(other)}/take-part")
    driver.until(lambda: driver.text("#form"))
    script = """
        const { loadStudy } = await import("/static/fairgauge-client.js");
        return loadStudy(`/studies/${args[0]}`, { digest: args[1] }).then(() => "taken", (error) => error.message);
    """
    assert "this is another study" in driver.run(script, one.digest, other.digest)
    assert driver.run(script, one.digest, one.digest) == "taken"


def test_what_python_says_this_browser_says(driver: Driver, collector: Collecting) -> None:
    driver.goto(f"{collector.url}{collector.publish(spoken_study('Vectors'))}/take-part")
    check = simple.FILE.with_name("check.js").read_text(encoding="utf-8").replace("export ", "")
    script = f"{check}\nreturn check(await import('/static/fairgauge-client.js'), JSON.parse(args[0]));"
    for file in (simple.FILE, full.FILE):
        assert driver.run(script, file.read_text(encoding="utf-8")) == []
