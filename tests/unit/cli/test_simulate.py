"""``fairgauge simulate``."""

from pathlib import Path

import pytest

from fairgauge.simulation import Population, simulate, simulate_exactly
from fairgauge.study import Study
from fairgauge.tallies import Tally
from tests.unit.cli.conftest import Run, refused

Files = tuple[Path, Path]
ROWS = "group,value,count\nfemale,0.8,300\nmale,0.6,700\n"


@pytest.fixture
def population(elsewhere: Path) -> str:
    (elsewhere / "people.csv").write_text(ROWS)
    return "people.csv"


def test_it_writes_a_tally_of_the_study(fairgauge: Run, files: Files, population: str, elsewhere: Path):
    done = fairgauge("simulate", files[0], population, "-o", "new.json")
    assert (done.status, done.out.splitlines()[0]) == (0, "new.json: 1,000 answers to Survey")
    tally = Tally.from_bytes((elsewhere / "new.json").read_bytes())
    tally.check(Study.from_bytes(files[0].read_bytes()))
    assert tally.contributors == 1000


def test_json_and_a_billion_clients(fairgauge: Run, files: Files, population: str):
    done = fairgauge("simulate", files[0], population, "--clients", "1e9", "-o", "new.json", "--json")
    told = done.json
    assert (told["study"], told["answers"]) == (Study.from_bytes(files[0].read_bytes()).digest, 10**9)
    assert (told["people"], told["left_out"], told["abstaining"]) == (1000, 0, 0)
    (gap,) = told["gaps"]
    assert gap["truth"] == pytest.approx(0.2)
    assert gap["holds"] == (gap["low"] <= gap["truth"] <= gap["high"])


def test_a_seed_makes_it_repeatable(fairgauge: Run, files: Files, population: str, elsewhere: Path):
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        fairgauge("simulate", files[0], population, "--seed", seed, "-o", name)
    a, b, c = ((elsewhere / name).read_bytes() for name in "abc")
    assert a == b != c


def test_clients_are_drawn_unless_they_split_exactly(fairgauge: Run, files: Files, population: str, elsewhere: Path):
    for name, options in (("a", ()), ("b", ("--exactly",))):
        fairgauge("simulate", files[0], population, "--seed", 7, *options, "-o", name)
    study, people = Study.from_bytes(files[0].read_bytes()), Population.from_csv(elsewhere / population)
    found = [Tally.from_bytes((elsewhere / name).read_bytes()) for name in "ab"]
    assert found == [simulate(study, people, seed=7), simulate_exactly(study, people, seed=7)]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--clients", "0"], "clients=0: must be a whole number from 1 to 10^15"),
        (["--clients", "1e19"], "clients=1e19: must be a whole number from 1 to 10^15"),
        (["--clients", "1e999999999"], "clients=1e999999999: must be 0, or from 1e-30 to 1e30 in size"),
        (["--seed", "-1"], "seed=-1: must be 0 or above"),
    ],
)
def test_bad_options_are_refused(fairgauge: Run, files: Files, population: str, options: list[str], text: str):
    done = fairgauge("simulate", files[0], population, *options, "-o", "new.json")
    assert refused(done, text)
    assert not Path("new.json").exists()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("name,value,count\nAda,1,5\n", "people.csv: column=sex: must be there; the table has name, value, count"),
        ("group,value,count\nfemale,1.2,5\n", "row 2: value=1.2: recall must be a number from 0 to 1"),
        ("group,value,count\nnobody,1,5\n", "row 2: group=nobody: must be one of female, male"),
        ("group,value,count\nfemale,,5\n", "row 2: value=nothing: must be given: the study lets nobody abstain"),
        ("group,value,count\nfemale,1,five\n", "people.csv: row 2: count=five: must be an integer"),
        ("group,value,count\n", "people.csv: table=no row: must have somebody"),
        ("", "table=people.csv: must have a line with the names"),
        ("group,value,count\nfemale,1,10000000000000000000\n", "people.csv: count=1"),
    ],
)
def test_a_bad_population_is_refused(fairgauge: Run, files: Files, elsewhere: Path, content: str, text: str):
    (elsewhere / "people.csv").write_text(content)
    done = fairgauge("simulate", files[0], "people.csv", "-o", "new.json")
    assert refused(done, text)
    assert not (elsewhere / "new.json").exists()


def test_missing_files_are_named(fairgauge: Run, files: Files, population: str):
    done = fairgauge("simulate", files[0], "nowhere.csv", "-o", "new.json")
    assert refused(done, "table=nowhere.csv: cannot be read: No such file or directory")
    done = fairgauge("simulate", "nowhere.json", population, "-o", "new.json")
    assert refused(done, "study=nowhere.json: cannot be read: No such file or directory")
    done = fairgauge("simulate", files[0], population, "-o", "missing/new.json")
    assert refused(done, "output=missing/new.json: cannot be written: No such file or directory")


def test_answers_are_written_and_counted(fairgauge: Run, files: Files, population: str, elsewhere: Path):
    options = (population, "--answers", "answers.parquet", "-o", "new.json")
    done = fairgauge("simulate", files[0], *options)
    assert (done.status, done.out.splitlines()[0]) == (0, "new.json: 1,000 answers to Survey")
    assert fairgauge("tally", files[0], "answers.parquet", "-o", "counted.json").status == 0
    assert (elsewhere / "counted.json").read_bytes() == (elsewhere / "new.json").read_bytes()
    assert refused(fairgauge("simulate", files[0], *options, "--seed", 1), "seed=1: must not be given")
    assert refused(
        fairgauge("simulate", files[0], *options, "--clients", "1e11"), "clients=100000000000: must be at most"
    )


def test_what_is_wrong_in_a_row_names_the_file_and_the_row(fairgauge: Run, files: tuple[Path, Path], elsewhere: Path):
    (elsewhere / "p.csv").write_text("sex,recall\nfemale,0.5\nfemale,0.5\nmlae,0.6\n")
    named = ["-o", "t.json"]
    done = fairgauge("simulate", files[0], "p.csv", *named)
    assert refused(done, "p.csv: row 4: sex=mlae: must be one of female, male")
    (elsewhere / "p.csv").write_text("sex,recall\nfemale,0.5\nmale,1.6\n")
    done = fairgauge("simulate", files[0], "p.csv", *named)
    assert refused(done, "p.csv: row 3: recall=1.6: recall must be a number from 0 to 1")
