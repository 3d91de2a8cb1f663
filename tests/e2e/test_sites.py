"""Six hospitals, from the study to the estimate, by the commands that people type.

Covers: fairgauge.reports.site_sentences
"""

import csv
import json
import random
from pathlib import Path

import pytest

from fairgauge.client.command import main
from tests.programs import programs


def fairgauge(*words: object, status: int = 0) -> str:
    """Run a command in a process of its own."""
    done = programs().fairgauge(*words, folder=Path.cwd())
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hospitals")


@pytest.fixture(scope="module")
def study(folder: Path) -> Path:
    path = folder / "study.json"
    said = fairgauge(
        "design", "--title", "Alarms", "--outcome", "confusion", "--group", "female", "--group", "male",
        "--attribute", "sex", "--epsilon", "1", "-o", path,
    )  # fmt: skip
    assert "Each site sends 8 noisy counts." in said
    assert "odds about any one person there, with one record each, by at most a factor 2.72 (epsilon 1)" in said
    return path


def patients(path: Path, seed: int) -> Path:
    chance = random.Random(seed)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["who", "gender", "sick", "alarm"])
        for number in range(800):
            group, sick = chance.choice(("female", "male")), chance.random() < 0.3
            alarm = chance.random() < ((0.85 if group == "male" else 0.6) if sick else 0.1)
            writer.writerow([number, group, int(sick), int(alarm)])
    return path


def set_up(folder: Path, number: int, seed: int) -> Path:
    """Set a site up, as its page says: its own file, and its table read once."""
    site = folder / f"site{number}.json"
    columns = {"groups": {"sex": "gender"}, "truth": "sick", "prediction": "alarm", "person": "who"}
    records = patients(folder / f"patients{number}.csv", seed).name
    allowed = {"attributes": {"sex": ["female", "male"]}, "confusion": True, "columns": columns}
    site.write_text(json.dumps({"records": records, "ledger": f"ledger{number}.sqlite3", **allowed}))
    assert "800 records" in fairgauge("agent", "--prepare", site)
    return site


def answer(study: Path, site: Path, *more: str) -> int:
    return main([str(study), "--site", str(site), *more])


def test_from_records_to_an_estimate(study: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(6):
        assert answer(study, set_up(folder, number, number), "--output", str(folder / f"answer{number}.json")) == 0
    said = capsys.readouterr().out
    assert "Alarms: what leaves this site, with noise in every count" in said
    assert said.count("answered, delivered\n") == 6

    first = (folder / "answer0.json").read_bytes()
    assert answer(study, set_up(folder, 0, 1), "--output", str(folder / "answer0.json")) == 0
    assert (folder / "answer0.json").read_bytes() == first, "the same bytes, whatever the records are now"
    assert set(json.loads(first)) == {"study", "id", "counts"}

    told = fairgauge("tally", study, folder / "answer*.json", "-o", folder / "tally.json")
    assert "6 sites answered Alarms" in told
    found = json.loads(fairgauge("estimate", study, folder / "tally.json", "--json"))
    assert found["about"] == "the people that these sites see"
    (gap,) = next(q for q in found["questions"] if q["metric"] == "true positive rate")["gaps"]
    assert gap["low"] <= -0.25 <= gap["high"]
    words = fairgauge("estimate", study, folder / "tally.json", "--interval", "records")
    assert "The model's true positive rate is between" in words
    assert "holds for the records that these sites counted" in words


def test_a_plan(study: Path) -> None:
    words = ["plan", "--outcome", "confusion", "--sites", "20", "--people", "500", "--positives", "0.3"]
    found = json.loads(fairgauge(*words, "--epsilon", "1", "--json"))
    assert len(found["questions"]) == 5
    assert all(question["designs"][0]["people"] == 500 for question in found["questions"])
    assert "give exactly two" in fairgauge(*words, status=2)
    lacking = ["plan", "--outcome", "confusion", "--sites", "5", "--epsilon", "1"]
    assert "must be given in a plan for sites" in fairgauge(*lacking, status=2)


def test_what_makes_no_sense(study: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = str(set_up(folder, 7, 7))
    (folder / "ledger7.records").unlink()
    for typed, said in (
        ([str(study)], "give the site's own file with --site, once fairgauge agent --prepare has read its records"),
        ([str(study), "--group", "female", "--site", site], "must not be given for a site"),
        (
            [str(study), "--site", site],
            "cannot be read: No such file or directory. Prepare the records: fairgauge agent --prepare",
        ),
    ):
        assert main(typed) != 0
        assert said in capsys.readouterr().err
    wrong = ["design", "--title", "x", "--epsilon", "1", "--group", "a", "--group", "b", "-o", str(folder / "x.json")]
    assert "outcome" in fairgauge(*wrong, "--outcome", "other", status=2)
    assert "metric" in fairgauge(*wrong, "--outcome", "levels", status=2)


def test_a_simulation(study: Path, folder: Path) -> None:
    people = folder / "people.csv"
    people.write_text("site,sex,truth,prediction,count\na,female,1,1,600\na,male,1,0,300\nb,female,0,0,200\n")
    told = fairgauge("simulate", study, people, "--seed", 1, "-o", folder / "simulated.json")
    assert told.endswith("simulated.json: 2 sites answered Alarms\n")
    drawn = ("simulate", study, people, "--sites", 20, "-o", folder / "simulated.json", "--json")
    assert json.loads(fairgauge(*drawn))["answers"] == 20
    wrong = fairgauge("simulate", study, people, "--clients", 9, "-o", folder / "x.json", status=2)
    assert "clients=9: must not be given in a study of sites; --sites says how many answer" in wrong
