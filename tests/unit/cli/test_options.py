"""Every option, in every way to call a command, changes what comes out or is refused by its name.

Covers: fairgauge.cli._option_rules.
"""

import importlib
import json
import tomllib
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import typer

from fairgauge import Answer, Metric, Population, Study, Tally, design, simulate
from fairgauge.channel import Channel
from fairgauge.cli import make_app
from fairgauge.designs import known_designs, registry
from fairgauge.designs.classical_designs import randomized_response
from fairgauge.estimation import Estimate
from fairgauge.planning import choose_design, choose_epsilon, counted_questions, crowd_plan, plan_figure, plans
from fairgauge.planning.draft_fields import FIELDS, Field
from fairgauge.planning.few_people import FewPeople
from fairgauge.simulation import Cell
from fairgauge.targets.scores import Scores
from tests.samples import SEX, site_study
from tests.unit.cli.conftest import Done, Run

# Something that none of the modes below says; a new option needs a line here.
OTHER: dict[str, str] = {
    "group": "c", "answering": "alike", "cross": "size=small,large", "shares": "shares.csv", "compare": "b:a",
    "against": "a", "weigh": "a:b=3", "symbols": "128", "share_error": "0.01", "share_source": "a census",
    "metric": "other:0:2", "metric_weight": "recall=2", "epsilon": "0.7", "clients": "3e4", "error": "0.07",
    "confidence": "0.9", "interval": "normal", "target": "means", "abstain": "", "abstaining": "0.3",
    "expect": "0.7", "spread": "0.05", "detect": "0.1", "plot": "plan.svg", "crowd_epsilon": "0.4", "delta": "1e-9",
    "local_limit": "1", "outcome": "confusion", "sites": "30", "people": "700", "positives": "0.3",
    "output": "other.json", "title": "Another", "json": "", "csv": "", "markdown": "", "records": "2",
    "person": "a patient", "attribute": "kind", "design": "laplace", "opens": "2027-01-01T00:00:00Z",
    "closes": "2028-01-01T00:00:00Z", "contact": "somebody", "aim": "0.01", "operator": "Example Ltd",
    "purpose": "To know.", "model": "falls@2", "planned": "3e4", "retention": "30", "admission": "open",
    "budgets": "1:1", "tolerance": "0.3", "file": "own.toml", "missing": "abstain", "seed": "2", "exactly": "",
    "answers": "drawn.parquet", "group_column": "other", "value_column": "other_value", "count_column": "many",
    "site_column": "place", "truth_column": "said", "prediction_column": "truth", "engine": "none",
    "deduplicate": "", "symbol_column": "other", "id_column": "key", "model_card": "card.md", "seal": "seal.json",
    "asked": "300000", "date": "2027-02-02", "issuer": "issuer.example=MIIB", "gateway": "AQAg", "epoch": "3600",
    "order": "waves", "signature": "abc", "key": "abc", "strict": "", "batch": "1000", "draws": "500",
    "record": "record.jsonl", "language": "de", "explain": "recall=What was found", "translation": "fr=french.json",
    "metric_column": "score", "data": "people.csv",
}  # fmt: skip
# Where a mode says just that.
ELSE = {"confusion": "levels", "alike": "any"}
GROUPS = "--group a --group b --group d"
CROSS = "--cross sex=f,m --cross age=young,old"
NORMAL = "--interval normal"
MODES = {
    "plan": {
        "clients and epsilon": f"{GROUPS} {NORMAL} --metric recall --clients 1e4 --epsilon 1",
        "epsilon and error": f"{GROUPS} {NORMAL} --metric recall --epsilon 1 --error 0.1",
        "stated shares": f"--group a=0.4 --group b=0.6 --answering alike {NORMAL} --clients 1e4 --epsilon 1",
        "crossed": f"{CROSS} {NORMAL} --metric recall --clients 1e4 --epsilon 1",
        "clients alone": f"{GROUPS} {NORMAL} --metric recall --clients 1e4",
        "several": f"{GROUPS} {NORMAL} --metric recall --metric fpr --clients 1e4 --epsilon 1",
        "several, clients alone": f"{GROUPS} {NORMAL} --metric recall --metric fpr --clients 1e4",
        "crowd": f"{GROUPS} {NORMAL} --metric recall --clients 1e3 --crowd-epsilon 0.5 -o made.json --title Recall",
        "sites that count confusion": "--outcome confusion --sites 20 --people 500 --epsilon 1",
        "sites that count levels": f"{GROUPS} --outcome levels --metric recall --sites 20 --people 500 --epsilon 1",
        "sites for an error": "--outcome confusion --epsilon 1 --error 0.05 --people 500",
        "sites, crossed": f"{CROSS} --outcome confusion --sites 20 --people 500 --epsilon 1",
    },
    "design": {
        "one metric": f"{GROUPS} --metric recall",
        "several": f"{GROUPS} --metric recall --metric fpr",
        "stated shares": "--group a=0.4 --group b=0.6 --answering alike --metric recall",
        "crossed": f"{CROSS} --metric recall",
        "sites that count confusion": f"{GROUPS} --outcome confusion",
        "sites that count levels": f"{GROUPS} --outcome levels --metric recall",
        "sites, crossed": f"{CROSS} --outcome confusion",
    },
}
COLUMNS = "--group-column sex --value-column recall --count-column count"
OUTCOMES = ("confusion", "levels")
WITH_TALLY = {"devices": "study.json tally.json"} | {n: f"{n}.json {n}-tally.json" for n in OUTCOMES}
MODES |= {
    "report": {name: typed for name, typed in WITH_TALLY.items() if name != "confusion"},  # which takes long
    "verify": WITH_TALLY,
    "estimate": WITH_TALLY,
    "simulate": {"devices": f"study.json people.csv {COLUMNS}"} | {n: f"{n}.json people.csv" for n in OUTCOMES},
    "tally": {"devices": "study.json answers.csv"} | {n: f"{n}.json {n}.ndjson" for n in OUTCOMES},
    "terms": {"devices": "study.json"} | {n: f"{n}.json" for n in OUTCOMES},
    "texts": {"devices": "study.json"} | {n: f"{n}.json" for n in OUTCOMES},
    "new": {"printed": "people.csv"},
    "paper": {"an estimate": "estimate papers.json papers-tally.json"},
}
ALWAYS = {
    "plan": "", "design": "--title Recall --epsilon 1 -o made.json", "estimate": "",
    "simulate": "--seed 1 -o out.json", "tally": "-o out.json", "terms": "-o out.json", "verify": "",
    "report": "-o out.html --date 2027-01-01", "texts": "--language en -o out.json", "new": "", "paper": "",
}  # fmt: skip
PEOPLE = (
    "sex,other,recall,score,other_value,truth,prediction,said,site,place,count,many\n"
    "female,male,0.5,2,0.25,1,0,1,a,x,100,10\nmale,female,1,8,0.75,1,1,0,b,x,100,20\n"
    "female,male,0,5,1,0,0,1,a,y,100,30\nmale,male,0.25,9,0,0,1,1,c,z,100,40\n"
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, elsewhere: Path) -> None:
    """Designs that are made at once, widths as if all were normal, and a file with shares."""
    designs = {name: known_designs()[name] for name in ("randomized-response", "laplace")}
    monkeypatch.setattr(registry, "_FOUND", designs | {"heeding": registry.Design("heeding", heeding)})
    monkeypatch.setattr(plan_figure, "_EPSILONS", [Decimal(1)])
    for table in (choose_epsilon.choices, choose_epsilon.choose_epsilon):
        monkeypatch.setitem(table.__kwdefaults__ or {}, "epsilons", [Decimal(1), Decimal(4)])
    for module in (plans, crowd_plan):
        monkeypatch.setattr(module, "designs_for", lambda _: ["heeding"])
    for chooses in (choose_design, registry):
        monkeypatch.setattr(chooses, "tried_by_auto", lambda _: ["heeding"])
    monkeypatch.setattr(choose_design, "planned_width", lambda *_: 1.0)
    monkeypatch.setattr(counted_questions, "inverted", lambda gap: (-gap.limit(0.0), gap.limit(0.0)))
    # What else could be done is planned as options are, and has tests of its own.
    monkeypatch.setattr(FewPeople, "ways", lambda *_, **__: iter(()))
    registry._made.cache_clear()
    # The same estimate is shown in many ways, and of sites it takes long.
    shown, kept = importlib.import_module("fairgauge.cli.estimate"), dict[str, Estimate]()
    estimated = shown.run

    def once(study: Study, tally: Tally, **how: Any) -> Estimate:
        asked = repr((study.digest, tally.to_bytes(), how))
        if asked not in kept:
            kept[asked] = estimated(study, tally, **how)
        return kept[asked]

    monkeypatch.setattr(shown, "run", once)
    write_files(elsewhere)
    (elsewhere / "shares.csv").write_text("sex,age,share\nf,young,0.1\nf,old,0.2\nm,young,0.3\nm,old,0.4\n")


def write_files(folder: Path) -> None:
    """A study of devices and two of sites, with answers, tallies and people."""
    devices = Study("Recall", design(Metric("recall", 0, 1), SEX, epsilon=1, design="randomized-response"))
    studies = {"study": devices, "confusion": site_study(), "levels": site_study("levels")}
    for name, study in studies.items():
        (folder / f"{name}.json").write_bytes(study.to_bytes())
    people = Population((Cell("female", Decimal(1), 500), Cell("male", Decimal(0), 500)))
    (folder / "tally.json").write_bytes(simulate(devices, people, clients=10**5, seed=1).to_bytes())
    papers = Study("Recall", design(Metric("recall", 0, 1), SEX, epsilon=2, design="laplace(1:1)"))
    (folder / "papers.json").write_bytes(papers.to_bytes())
    (folder / "papers-tally.json").write_bytes(simulate(papers, people, clients=10**5, seed=1).to_bytes())
    rows = [f"{n % 4:032x},{n % 4},{n % 2},{n:032x}" for n in range(12)]
    (folder / "answers.csv").write_text("\n".join(["id,symbol,other,key", *rows]), encoding="utf-8")
    for name in ("confusion", "levels"):
        counts = tuple(range(90, 90 + 10 * studies[name].symbols, 10))
        answers = [Answer(studies[name].digest, f"{site:032x}", counts) for site in range(4)]
        (folder / f"{name}.ndjson").write_bytes(b"\n".join(one.to_bytes() for one in answers))
        (folder / f"{name}-tally.json").write_bytes(Tally.of(studies[name], answers).to_bytes())
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (folder / "own.toml").write_text('[table]\nmissing = "leave out"\n', encoding="utf-8")


def heeding(scores: Scores, epsilon: Decimal) -> Channel:
    """Randomized response which heeds, as slower designs do, how much comparisons matter and values spread."""
    matters = max((contrast.weight for contrast in scores.target.contrasts), default=1.0) + (
        scores.values.spread or 1.0
    )
    return randomized_response(scores, epsilon * (1 - Decimal(matters) / 100))


def options_of(command: str) -> dict[str, str]:
    """Each option by its name, with what is typed for it."""
    group = typer.main.get_command(make_app([command]))
    found = group.commands[command].params  # type: ignore[attr-defined]
    named = [one for one in found if one.name != "help" and one.param_type_name == "option"]
    return {one.name: max(one.opts, key=len) for one in named}


@pytest.mark.parametrize("command", list(MODES))
def test_every_option_is_walked(command: str):
    assert set(options_of(command)) <= set(OTHER)
    assert "--help" not in options_of(command).values()


def test_no_option_is_walked_that_is_gone():
    assert {name for command in MODES for name in options_of(command)} == set(OTHER)


@pytest.mark.parametrize(("command", "mode"), [(command, mode) for command, modes in MODES.items() for mode in modes])
def test_an_option_changes_something_or_is_refused_by_its_name(
    fairgauge: Run, elsewhere: Path, command: str, mode: str
):
    said = MODES[command][mode].split()
    given = {path.name for path in elsewhere.iterdir()}

    def run(*more: str) -> tuple[Done, dict[str, bytes]]:
        done = fairgauge(command, *ALWAYS[command].split(), *said, *more)
        written = {path.name: path.read_bytes() for path in elsewhere.iterdir() if path.name not in given}
        for name in written:
            (elsewhere / name).unlink()
        return done, written

    json_too = ("--json",) if "json" in options_of(command) else ()
    people, programs = run(), run(*json_too)
    assert people[0].status == programs[0].status == 0, people[0].err
    silent = []
    for name, typed in options_of(command).items():
        other = ELSE.get(OTHER[name], "") if OTHER[name] in said else OTHER[name]
        arguments = (typed, other) if other else (typed,)
        done, written = run(*arguments)
        refused = done.status == 2 and name.replace("_", "-") in done.err.replace("_", "-")
        # What people see is rounded, and does not name what is compared where there is one gap.
        changed = (done, written) != people or run(*arguments, *json_too) != programs
        found_broken = command == "verify" and done.status == 1
        if not refused and ((done.status != 0 and not found_broken) or not changed):
            silent.append((name, done.err))
    assert silent == []


# ------------------------------------------------------------------------------------- a study's own file
NORMALLY = {"interval": "normal"}
DEVICES = {
    "title": "Recall", "epsilon": 2, "metrics": [{"name": "recall"}],
    "attribute": {"name": "kind", "groups": ["a", "b", "d"]}, "plan": NORMALLY | {"clients": 20_000},
}  # fmt: skip
IN_FILES: dict[str, dict[str, Any]] = {
    "devices": DEVICES,
    "an error": DEVICES | {"plan": NORMALLY | {"error": 0.1}},
    "crowd": DEVICES | {"plan": NORMALLY | {"clients": 1000, "crowd_epsilon": 0.5}},
    "levels": DEVICES | {"outcome": "levels", "plan": {"sites": 20, "people": 500}},
    "confusion": {name: value for name, value in DEVICES.items() if name != "metrics"}
    | {"outcome": "confusion", "plan": {"sites": 20, "people": 500}},
}
# Where the page's example is what a mode says, or nothing that three groups can have.
IN_FILE = {
    "title": "Another", "epsilon": 0.7, "target": "means", "design": "laplace", "records": 2, "admission": "open",
    "attribute.name": "other", "attribute.groups": ["a", "c", "e"], "attribute.shares": [0.2, 0.3, 0.5],
    "attribute.answering": "1.2", "attribute.comparisons": [{"of": "b", "against": "a", "weight": 3}],
    "metrics.name": "other", "metrics.low": -1, "metrics.high": 2, "metrics.spread": 0.05, "plan.clients": 3000,
    "plan.crowd_epsilon": 0.4, "plan.confidence": 0.9, "plan.error": 0.07, "plan.interval": "anytime",
    "plan.local_limit": 1,
}  # fmt: skip


def with_field(mode: dict[str, Any], one: Field) -> dict[str, Any]:
    """A file that says one field otherwise, or more."""
    found = deepcopy(mode)
    place = f"{one.place}.{one.name}" if one.place else one.name
    value = IN_FILE.get(place, tomllib.loads(f"it = {one.example}")["it"])
    if place == "outcome" and mode.get("outcome") == value:
        value = "levels"
    if one.place == "metrics":
        found["metrics"][0][one.name] = value
    elif one.place:
        found[one.place][one.name] = value
    else:
        found[one.name] = value
    return found


def as_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {as_toml(one)}" for name, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return json.dumps(value, default=str) if isinstance(value, str | bool) else str(value)


@pytest.mark.parametrize("mode", list(IN_FILES))
def test_a_field_of_the_file_changes_something_or_is_refused_by_its_name(fairgauge: Run, elsewhere: Path, mode: str):
    file, made = elsewhere / "mine.toml", elsewhere / "made.json"

    def run(document: dict[str, Any]) -> tuple[list[Done], bytes]:
        file.write_text("\n".join(f"{name} = {as_toml(value)}" for name, value in document.items()), encoding="utf-8")
        made.unlink(missing_ok=True)
        done = [fairgauge("plan", file, "--json"), fairgauge("design", file, "-o", made)]
        return done, made.read_bytes() if made.exists() else b""

    usual = run(IN_FILES[mode])
    assert [done.status for done in usual[0]] == [0, 0], usual[0]
    silent = []
    for one in FIELDS:
        # What is in a table of people is for simulate; what sites count of truth and prediction is no metric.
        if one.place in ("table", "attribute.cross") or one.name == "cross" or one.place not in ("", *IN_FILES[mode]):
            continue
        if mode in ("an error", "crowd") and one.place != "plan":  # the other fields are read as with "devices"
            continue
        found = run(with_field(IN_FILES[mode], one))
        refusals = [done.err for done in found[0] if done.status]
        if found == usual or not all(one.name in said.replace("-", "_") for said in refusals):
            silent.append((one.place, one.name, refusals))
    if mode in ("devices", "an error", "crowd"):  # then the rest of the file is about devices, which is said first
        silent = [told for told in silent if told[1] != "outcome"]
    assert silent == []


@pytest.mark.parametrize("mode", list(IN_FILES))
def test_python_plans_a_file_as_the_command_does(fairgauge: Run, elsewhere: Path, mode: str):
    file = elsewhere / "mine.toml"
    document = IN_FILES[mode] | ({} if "outcome" in IN_FILES[mode] else {"design": "laplace", "abstaining": 0.2})
    if mode == "crowd":
        document = {name: value for name, value in document.items() if name not in ("epsilon", "design")}
    file.write_text("\n".join(f"{name} = {as_toml(value)}" for name, value in document.items()), encoding="utf-8")
    typed = fairgauge("plan", file, "--json").json
    planned = Study.draft(file).plans().to_dict()
    for told in (typed, planned):
        for question in told["questions"]:
            question.pop("answering")
    assert json.loads(json.dumps(planned)) == typed


@pytest.mark.parametrize("typed", ["estimate --output made", "errata --seed 1", "table1 --data people.csv"])
def test_a_part_of_the_paper_refuses_what_is_for_another(fairgauge: Run, typed: str):
    done = fairgauge("paper", *typed.split())
    assert done.status == 2
    assert f"{typed.split()[1][2:]}={typed.split()[2]}: is of no use" in done.err
