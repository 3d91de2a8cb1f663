"""Silence says nothing: one harness for every way in, the attacks, and each defence switched off as their mutant.

Device, agent, browser and sites are here; Flower and NVFlare have the same harness in ``tests/unit/flower`` and
``tests/unit/nvflare``.  ``make attacks`` asks 10,000 questions, and this file 90 unless ``FAIRGAUGE_QUESTIONS`` says
otherwise.
"""

import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairgauge.channel import LEVEL_UNIT
from fairgauge.client import Ledger, Limits, answer, load_study
from fairgauge.client.agent import Agent
from fairgauge.client.agent_settings import AgentSettings
from fairgauge.client.budget import UNLIMITED
from fairgauge.client.refusals import Refusal
from fairgauge.client.site_settings import SiteSettings, answer_asked
from fairgauge.errors import FairgaugeError, InvalidInput
from fairgauge.study import Attribute, Metric, NoisyCounts, Study, counted
from tests.samples import sample_question, sample_study
from tests.silence import (
    LACKING,
    LAW_PEOPLE,
    MUTANTS,
    NOT_LISTED,
    PEOPLE,
    Person,
    Reading,
    Way,
    answers_as_one_row,
    documents,
    groups_read,
    law_studies,
    narrowed,
    of_another_law,
    outsiders_law,
    person,
    quick_folder,
    read_group,
    refuses_a_foreign_group,
    refuses_a_missing_record,
    refuses_a_value_out_of_range,
    steps_of,
    told_apart,
    value_read,
)
from tests.statistical.exact import FALSE_POSITIVE_RATE, p_value
from tests.vectors.node import needs_node, run_client

QUESTIONS = int(os.environ.get("FAIRGAUGE_QUESTIONS", "90"))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as found:
        yield found


def device(who: Person, folder: Path) -> Callable[[bytes], str]:
    """An app with the Python package."""
    ledger = Ledger(folder / "ledger")

    def ask(document: bytes) -> str:
        try:
            return ledger.answer(load_study(document), who, limit=UNLIMITED).to_bytes().decode()
        except Exception as problem:  # noqa: BLE001 - whatever gets out of it can be seen
            return f"{type(problem).__name__}: {problem}"

    return ask


def agent(who: Person, folder: Path, **settings: Any) -> Callable[[bytes], str]:
    """The agent, asked in one connection."""
    (folder / "agent.json").write_text(json.dumps({"limit": "1000", **settings}))
    (folder / "profile.json").touch(mode=0o600)
    (folder / "profile.json").write_text(json.dumps(who))
    held = Agent(AgentSettings.load(folder / "agent.json"))
    talk = held.conversation()
    return lambda document: "\n".join(talk.reply(verb + document).decode() for verb in (b"check ", b"answer "))


def limited_agent(who: Person, folder: Path) -> Callable[[bytes], str]:
    """The agent, asked for answers alone."""
    agent(who, folder, limit="1")
    talk = Agent(AgentSettings.load(folder / "agent.json")).conversation()
    return lambda document: talk.reply(b"answer " + document).decode()


def settled_agent(who: Person, folder: Path) -> Callable[[bytes], str]:
    """The agent of somebody who settled what may be asked."""
    return agent(who, folder, attributes={"sex": ["female", "male"]}, metrics={"recall": [0, 1]})


def agent_without_a_file(who: Person, folder: Path) -> Callable[[bytes], str]:
    """An agent whose profile is gone where somebody has nothing."""
    ask = agent(who, folder)
    if who == PEOPLE["nothing"]:
        (folder / "profile.json").unlink()
        (folder / "profile.json").symlink_to(folder / "profile.json")  # a name without a file
    return ask


WAYS: dict[str, Way] = {
    "device": device,
    "agent": agent,
    "settled agent": settled_agent,
    "agent without a file": agent_without_a_file,
}


@pytest.mark.parametrize("name", WAYS)
def test_nothing_but_what_was_drawn_tells_people_apart(name: str, folder: Path) -> None:
    asked = documents()[:3] if name == "agent without a file" else documents()
    assert told_apart(WAYS[name], folder, asked, own=["profile.json"]) == []


@pytest.mark.parametrize("mutant", MUTANTS)
@pytest.mark.parametrize("name", ["device", "agent"])
def test_the_harness_sees_a_device_that_refuses_for_what_somebody_has(
    name: str, mutant: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    MUTANTS[mutant](monkeypatch)
    assert told_apart(WAYS[name], folder, documents()[:4], own=["profile.json"]) != []


def test_people_whom_a_table_must_treat_alike_get_the_very_same_answer(folder: Path) -> None:
    """The same draws for people who are all outside of a study give the same symbol: nothing else is left to tell."""
    (study,) = [narrowed(0, 1, "yyy", "zzz")]
    seen = set()
    for number, who in enumerate(PEOPLE.values()):
        os.urandom._stream.seed("alike")  # type: ignore[attr-defined]
        seen.add(Ledger(folder / str(number)).answer(study, who, limit=UNLIMITED))
    assert len(seen) == 1


@pytest.mark.parametrize("name", ["device", "agent"])
def test_everybody_takes_the_same_steps_to_an_answer(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No instruction depends on what is private once it is read, so that time has nothing to tell but of reading it."""

    def steps(who: str, place: str = "") -> int:
        (folder / f"{who}{place}").mkdir()
        ask = WAYS[name](PEOPLE[who], folder / f"{who}{place}")
        ask(narrowed(0, 1, "yyy", "zzz").to_bytes())  # what is made once in a process
        asked = [narrowed(0, 1, "female", "zzz"), narrowed(0, 1, "female", "zzz", abstain=True), narrowed(0, "0.5")]
        # A few instructions depend on what is drawn.
        os.urandom._stream.seed("steps")  # type: ignore[attr-defined]
        return steps_of(lambda: [ask(study.to_bytes()) for study in asked])

    steps("female", " before")  # tables are worked out once in a process
    found = {who: steps(who) for who in PEOPLE}
    assert len(set(found.values())) == 1, found
    assert found["female"] > 1000
    placed = Metric._placed
    monkeypatch.setattr(Metric, "nearest", lambda metric, value: None if value is None else placed(metric, Fraction(1)))
    assert steps_of(lambda: answer(narrowed(), PEOPLE["no value"])) < steps_of(lambda: answer(narrowed(), person()))


@pytest.mark.parametrize("name", ["device", "agent"])
def test_what_is_drawn_for_those_outside_follows_the_fixed_mixture(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Falsely alarmed three times in a million runs; its twins are somebody who is inside, and one row for all."""
    assert of_another_law(WAYS[name], folder / "honest") == ["female"]
    answers_as_one_row(monkeypatch)
    assert of_another_law(WAYS[name], folder / "mutant") == LAW_PEOPLE


# The attacks of before.


def answers_of(way: Way, who: Person, folder: Path) -> Callable[[Study], bool]:
    folder.mkdir()
    ask = way(who, folder)
    return lambda study: '"symbol"' in ask(study.to_bytes())


@pytest.mark.parametrize("name", ["device", "agent"])
def test_two_questions_read_a_group_and_thirty_a_value_only_where_the_defence_is_off(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    man = person("male", "0.6328125")
    honest = answers_of(WAYS[name], man, folder / "honest")
    assert groups_read(honest) == ["female", "male"]
    assert value_read(honest) == pytest.approx(0, abs=1e-8), "every range is answered, so the lower half each time"
    with monkeypatch.context() as patch:
        refuses_a_foreign_group(patch)
        assert groups_read(answers_of(WAYS[name], man, folder / "groups")) == ["male"]
    with monkeypatch.context() as patch:
        refuses_a_value_out_of_range(patch)
        assert value_read(answers_of(WAYS[name], man, folder / "values")) == pytest.approx(0.6328125, abs=1e-8)


def reading(way: Way, folder: Path, count: int) -> Reading:
    """Attack a woman and a man by a way in, within a limit of 1."""
    people = {}
    for who in ("female", "male"):
        (folder / who).mkdir(parents=True)
        people[who] = way(person(who), folder / who)

    def ask(who: str, study: Study) -> tuple[str, int | None]:
        said = people[who](study.to_bytes())
        symbol = re.search(r'"symbol":(\d+)', said)
        return re.sub(r'"(symbol":\d+|id":"\w+")', "", said), None if symbol is None else int(symbol[1])

    def spent(who: str) -> float:
        return float(Ledger(next((folder / who).glob("ledger*"))).spent()["sex"])

    return read_group(ask, spent, count)


def limited_device(who: Person, folder: Path) -> Callable[[bytes], str]:
    ledger = Ledger(folder / "ledger")

    def ask(document: bytes) -> str:
        try:
            return ledger.answer(load_study(document), who, limit=Limits(Decimal(1))).to_bytes().decode()
        except FairgaugeError as problem:
            return str(problem)

    return ask


@pytest.mark.parametrize("way", [limited_device, limited_agent])
def test_many_small_questions_tell_no_more_than_the_ledger_says(way: Way, folder: Path) -> None:
    found = reading(way, folder, QUESTIONS)
    assert not found.certain
    assert all(abs(odds) <= spent <= 1 for odds, spent in zip(found.odds, found.spent, strict=True))
    assert found.spent[0] == found.spent[1] >= min(0.99, QUESTIONS * 1.9e-4)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_many_small_questions_tell_everything_where_the_defence_is_off(
    mutant: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    MUTANTS[mutant](monkeypatch)
    found = reading(limited_device, folder, 9)
    assert found.certain == (mutant == "a foreign group is refused"), "both have the same value"


# Sites: they differ in the record of one person.

RECORDS = {
    "a woman": "female,1,0,40",
    "a man": "male,1,0,40",
    "another": "other,1,0,40",
    "nobody's group": ",1,0,40",
    "no outcome": "male,,,",
    "words": f"male,{NOT_LISTED},{NOT_LISTED},{NOT_LISTED}",
    "far above": "male,1,0,76000",
    "broken": f'male,1,"0,{NOT_LISTED}',
    "too short": "male",
}


def site_studies() -> list[Study]:
    def levels(name: str, high: Any, groups: tuple[str, ...] = ("female", "male"), by: str = "sex") -> Study:
        metric = Metric(name, 0, high)
        asked = NoisyCounts(Attribute(by, groups), "levels", 1, metric=metric, levels=(-LEVEL_UNIT, LEVEL_UNIT))
        return Study("Load", counted(asked))

    confusion = [
        Study("Counts", counted(NoisyCounts(Attribute("sex", groups), "confusion", 1)))
        for groups in (("female", "male"), ("male", "zzz"), ("yyy", "zzz"))
    ]
    foreign = [levels("hiv", 1), levels("load", 100, ("a", "b"), by="creed"), sample_study(sample_question())]
    return [*confusion, *(levels("load", high) for high in (100, 41, 39)), *foreign]


def ask_site(record: str, folder: Path, *, listed: bool) -> list[str]:
    """Ask a site every study; everything that can be seen, but for the counts and the id."""
    folder.mkdir()
    (folder / "patients.csv").write_text(f"sex,truth,prediction,load\nfemale,1,1,10\n{record}\nmale,0,0,20\n")
    may: dict[str, Any] = {"attributes": {"sex": ["female", "male"]}, "metrics": {"load": [0, 100]}, "confusion": True}
    found = []
    for study in site_studies():
        asked = study.mechanism
        if listed and isinstance(asked, NoisyCounts):  # a site that was talked into each of them
            metrics = {} if asked.metric is None else {asked.metric.name: [asked.metric.low, asked.metric.high]}
            groups = {asked.attribute.name: list(asked.attribute.groups)}
            may = {"attributes": groups, "metrics": metrics, "confusion": not metrics, "studies": [study.digest]}
        (folder / "site.json").write_text(json.dumps({"records": "patients.csv", "limit": "1000", **may}))
        try:
            SiteSettings.load(folder / "site.json").prepare()
        except InvalidInput as problem:  # a column that nobody has
            found.append(str(problem).replace(str(folder), ""))
        said = answer_asked(folder / "site.json", study)
        if isinstance(said, Refusal):
            found.append(f"{said.code} {said.text}")
        else:
            found.append(f"{said.study} {len(said.payload)}")
        ledger = folder / "ledger.sqlite3"
        spent = sorted(Ledger(ledger).spent().items()) if ledger.exists() else []
        found.append(f"{spent} {sorted(path.name for path in folder.iterdir())}")
    return found


@pytest.mark.parametrize("listed", [False, True], ids=["settled", "talked into every study"])
def test_no_record_of_a_person_changes_what_a_site_says(
    listed: bool, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG"):
        found, logs = {}, set()
        for name, record in RECORDS.items():
            caplog.clear()
            found[name] = ask_site(record, folder / name, listed=listed)
            logs.add(caplog.text.replace(str(folder / name), ""))
    assert all(seen == found["a woman"] for seen in found.values())
    assert len(logs) == 1
    assert NOT_LISTED not in logs.pop()
    answered = [seen for seen in found["a woman"] if re.fullmatch(r"[0-9a-f]{64} \d+", seen)]
    assert len(answered) == (6 if listed else 2)


def test_the_harness_sees_a_site_that_stops_at_a_missing_record(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuses_a_missing_record(monkeypatch)
    seen = [ask_site(RECORDS[name], folder / name, listed=False) for name in ("a woman", "nobody's group")]
    assert seen[0] != seen[1]


@pytest.mark.parametrize("record", RECORDS)
def test_what_a_site_draws_follows_the_law_of_its_noise_whoever_is_in_it(record: str, folder: Path) -> None:
    """Falsely alarmed once in a million runs; its twin is the law of a site that has the woman where this has not."""
    asked = NoisyCounts(Attribute("sex", ("female", "male")), "confusion", 4)
    studies = [Study(f"Law {number}", counted(asked)) for number in range(60)]
    (folder / "patients.csv").write_text(f"sex,truth,prediction,load\n{RECORDS[record]}\nmale,0,0,20\n")
    may = {"limit": "1000", "attributes": {"sex": ["female", "male"]}, "confusion": True}
    (folder / "site.json").write_text(json.dumps({"records": "patients.csv", **may}))
    SiteSettings.load(folder / "site.json").prepare()
    answers = [answer_asked(folder / "site.json", study) for study in studies]
    noisy = [0 if isinstance(said, Refusal) else said.payload[2] for said in answers]  # women with truth 1, not found

    def odd(count: int) -> float:
        seen, decay = Counter(found - count for found in noisy), math.exp(-2)  # a person moves two cells
        law = {noise: (1 - decay) / (1 + decay) * decay ** abs(noise) for noise in (-1, 0, 1)}
        parts, laws = [seen[noise] for noise in law], [*law.values()]
        return p_value([*parts, 60 - sum(parts)], [(60, np.array([*laws, 1 - sum(laws)]))])

    there = int(record == "a woman")
    assert odd(there) > FALSE_POSITIVE_RATE > odd(1 - there)


# The browser's client, in Node; tests/browser ask the same in browsers.

SCRIPT = """
import { readFileSync } from "node:fs";
const { people, studies, own } = JSON.parse(readFileSync("asked.json", "utf8"));
const found = [];
for (const [i, who] of people.entries()) {
  const ledger = new client.Ledger(`person ${i}`);
  const seen = [];
  for (const text of studies) {
    let state = 1;
    let drawn = 0;
    crypto.getRandomValues = (array) => {
      drawn += array.length;
      return array.map(() => ((state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 16));
    };
    const said = await (async () => {
      const study = await client.parseStudy(new TextEncoder().encode(text));
      const sent = await ledger.answer(study, who, { limits: { study: null, lifetime: null } });
      return JSON.stringify({ ...sent, symbol: "N" });
    })().catch((error) => `${error.name}: ${error.message}`);
    seen.push([said, drawn]);
  }
  found.push(seen);
}
console.log(JSON.stringify(found));
"""


@needs_node
@pytest.mark.parametrize(
    ("change", "apart"),
    [
        (None, False),
        (("nearest(metric, own(values, metric.name))", "position(metric, own(values, metric.name))"), True),
        (("listed ? cell : null", "listed ? cell : factorsOf(null)"), True),
    ],
    ids=["honest", "a value refused", "a group refused"],
)
def test_nothing_but_what_was_drawn_tells_people_apart_in_a_browser(
    change: tuple[str, str] | None, apart: bool, tmp_path: Path
) -> None:
    people = [json.loads(json.dumps(who).replace("NaN", "null").replace("Infinity", "null")) for who in PEOPLE.values()]
    people += LACKING
    asked = [document.decode() for document in documents()]
    (tmp_path / "asked.json").write_text(json.dumps({"people": people, "studies": asked}))
    found = run_client(tmp_path, SCRIPT, change)
    assert all(seen == found[0] for seen in found) != apart
    assert NOT_LISTED not in str(found)


LAW = """
import { readFileSync } from "node:fs";
const { people, studies } = JSON.parse(readFileSync("asked.json", "utf8"));
const ledgers = people.map((_, i) => new client.Ledger(`person ${i}`));
const found = people.map(() => []);
for (const text of studies) {
  const study = await client.parseStudy(new TextEncoder().encode(text));
  for (const [i, who] of people.entries()) {
    const sent = await ledgers[i].answer(study, who, { limits: { study: null, lifetime: null } });
    found[i].push(JSON.stringify(sent));
  }
}
console.log(JSON.stringify(found));
"""


ONE_ROW = ("Number((drawn[0] * BigInt(rows)) / ROW_SUM)", "0")


@needs_node
@pytest.mark.parametrize("change", [None, ONE_ROW], ids=["honest", "one row for all"])
def test_what_is_drawn_in_a_browser_follows_the_fixed_mixture(change: tuple[str, str] | None, tmp_path: Path) -> None:
    people = [PEOPLE[name] for name in LAW_PEOPLE]
    studies = [study.to_bytes().decode() for study in law_studies()]
    (tmp_path / "asked.json").write_text(json.dumps({"people": people, "studies": studies}))
    said = dict(zip(LAW_PEOPLE, run_client(tmp_path, LAW, change), strict=True))
    odd = [name for name in LAW_PEOPLE if outsiders_law(said[name]) < FALSE_POSITIVE_RATE]
    assert odd == (["female"] if change is None else LAW_PEOPLE)
