"""``fairgauge new``, and what it writes read by the other commands; a simulation beside the table's own truth.

Covers: fairgauge.cli._drafts.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from fairgauge.planning.study_draft import Draft
from fairgauge.simulation.truth import Truth
from fairgauge.study import Study
from tests.unit.cli.conftest import Run, refused

TABLE = "id,gender,recall\n" + "".join(
    f"{n},{('F', 'M', 'n/a')[n % 7 % 3]},{('80%', '0.9', '', '0.7')[n % 4]}\n" for n in range(2100)
)
QUICK = 'design = "randomized-response"\n'


@pytest.fixture
def table(elsewhere: Path) -> str:
    (elsewhere / "people.csv").write_text(TABLE)
    return "people.csv"


def test_a_table_becomes_a_file_and_the_other_commands_need_no_option_about_it(
    fairgauge: Run, elsewhere: Path, table: str
):
    done = fairgauge("new", table, "-o", "mine.toml")
    assert (done.status, done.out) == (0, "mine.toml: Recall by gender\n")
    assert "fairgauge plan mine.toml" in done.err
    path = elsewhere / "mine.toml"
    path.write_text(QUICK + path.read_text())
    done = fairgauge("plan", "mine.toml")
    assert done.status == 0
    assert done.out.startswith("Reckoned for an error of ±0.02; --clients or --error says otherwise")
    assert fairgauge("design", "mine.toml", "-o", "mine.json").status == 0
    done = fairgauge("simulate", "mine.json", table, "--clients", 200_000, "--seed", 3, "-o", "tally.json")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[:2] == ["Columns and labels as in mine.toml.", "tally.json: 200,000 answers to Recall by gender"]
    assert lines[2].startswith("people.csv: 1,")
    assert "lack a group or a value and are left out. Columns that the study does not ask for: id." in lines[2]
    assert lines[4].split() == ["in", "the", "table", "estimate", "low", "high", "holds", "it"]
    assert lines[6] == "The interval holds the table's own gap."
    (elsewhere / "mine.json").rename(elsewhere / "other.json")
    done = fairgauge("simulate", "other.json", table, "-o", "tally.json")
    assert done.err.startswith("No study's own file was read: it would be other.toml, or --file names it.\nfairgauge: ")


def test_what_is_typed_counts_instead_of_the_file(fairgauge: Run, elsewhere: Path, table: str):
    fairgauge("new", table, "-o", "mine.toml", "--clients", "5e4", "--title", "Mine", "--epsilon", 2)
    draft = Draft.load(elsewhere / "mine.toml")
    assert (draft.title, str(draft.epsilon), draft.clients) == ("Mine", "2", 50_000)
    (elsewhere / "mine.toml").write_text(QUICK + (elsewhere / "mine.toml").read_text())
    quick = ("mine.toml", "--interval", "normal", "--json")
    stated = fairgauge("plan", *quick).json["questions"][0]["designs"][0]
    assert (stated["clients"], stated["epsilon"]) == (50_000, 2)
    typed = fairgauge("plan", *quick, "--epsilon", 1, "--error", 0.1).json["questions"][0]["designs"][0]
    assert (typed["epsilon"], typed["error"]) == (1, 0.1)
    assert fairgauge("plan", *quick, "--error", 0.1).json["questions"][0]["designs"][0]["epsilon"] == 2
    fairgauge(
        "design", "mine.toml", "--title", "Ours", "--metric", "fpr:0:2", "--group", "a", "--group", "b", "-o", "s.json"
    )
    study = Study.load(elsewhere / "s.json")
    assert (study.title, study.metrics[0].high) == ("Ours", "2")
    assert (study.attributes[0].name, study.attributes[0].groups) == ("gender", ("a", "b"))
    assert study.questions[0].expect is None


def test_a_file_of_somebodys_own_is_not_written_over(fairgauge: Run, elsewhere: Path, table: str):
    (elsewhere / "mine.toml").write_text("mine")
    assert refused(fairgauge("new", table, "-o", "mine.toml"), "output=mine.toml: must not be there yet")
    assert (elsewhere / "mine.toml").read_text() == "mine"
    done = fairgauge("new", table)
    assert (done.status, done.out.splitlines()[1]) == (0, 'title = "Recall by gender"')


def test_at_a_terminal_it_asks_what_nobody_typed(fairgauge: Run, table: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    asked: list[str] = []

    slips = {"groups": "gendr", "measured": "recall, fp", "epsilon": "much", "people": "many"}

    def prompt(question: str, value_proc: Callable[[str], str] = str, **_: object) -> str:
        asked.append(question)
        for slip in (slips[word] for word in slips if word in question):
            with pytest.raises(typer.BadParameter, match=r"must be"):  # said, and asked again
                value_proc(slip)
        return value_proc(["gender", "recall", "Ours", "2", "3e4"][len(asked) - 1])

    monkeypatch.setattr("typer.prompt", prompt)
    done = fairgauge("new", table)
    assert len(asked) == 5
    assert 'title = "Ours"\nepsilon = 2' in done.out
    assert "planned = 30000" in done.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "table=empty.csv: must have a line with the names of its columns"),
        ("sex,recall\n", "empty.csv: table=no rows: must have a row for each person"),
        (
            "Exported, today\n\nsex,recall,age\nf,1,30\n",
            "empty.csv: table=line 1: must have the names of the columns, as many as",
        ),
        ("sex,recall\nf,1\n", "empty.csv: group-column=nothing: must be given"),
    ],
)
def test_a_table_that_makes_no_study_is_a_sentence(fairgauge: Run, elsewhere: Path, text: str, said: str):
    (elsewhere / "empty.csv").write_text(text)
    assert refused(fairgauge("new", "empty.csv"), said)


def test_errors_of_a_file_name_it_and_its_field(fairgauge: Run, elsewhere: Path):
    (elsewhere / "s.toml").write_text("epsilon = -1\n")
    assert refused(fairgauge("plan", "s.toml"), "s.toml: epsilon=-1: must be above 0")
    (elsewhere / "s.toml").write_text("[attribute]\ngroups = 7\n")
    assert refused(fairgauge("design", "s.toml", "-o", "s.json"), "s.toml: attribute.groups=7: must be a list")
    assert refused(fairgauge("design", "s.json", "-o", "t.json"), "study=s.json: must be a study's own file (TOML)")


def test_a_file_of_another_study_is_refused(fairgauge: Run, elsewhere: Path, files: tuple[Path, Path], table: str):
    text = '[attribute]\nname = "kind"\ngroups = ["a", "b"]\n[table.columns]\nkind = "gender"\n'
    (elsewhere / "study.toml").write_text(text)
    done = fairgauge("simulate", files[0], table, "-o", "t.json")
    assert refused(done, ": is about kind as this study does not have it")


def test_columns_that_are_typed_are_one_for_each(fairgauge: Run, files: tuple[Path, Path], table: str):
    twice = ("--group-column", "gender", "--group-column", "id")
    done = fairgauge("simulate", files[0], table, *twice, "-o", "t.json")
    assert refused(done, "group-column=gender, id: must be given once for each of sex, in this order")
    done = fairgauge("simulate", files[0], table, "--group-column", "gender", "--missing", "leave out", "-o", "t.json")
    assert done.status == 2
    lines = done.err.splitlines()[1:]
    assert [line.partition(" must")[0] for line in lines] == [
        "fairgauge: people.csv: row 2: gender=F:", "fairgauge: people.csv: row 3: gender=M:",
    ]  # fmt: skip


def test_shares_that_are_not_the_tables_are_said_and_what_rests_on_them(fairgauge: Run, elsewhere: Path):
    (elsewhere / "p.csv").write_text("sex,recall,count\nfemale,1,600\nmale,1,400\n")
    base = (
        "--attribute",
        "sex",
        "--metric",
        "recall",
        "--epsilon",
        1,
        "--title",
        "T",
        "--design",
        "randomized-response",
    )
    for answering, said in (
        ("any", "No gap rests on that"),
        ("alike", "Its gaps rest on that, and may be wrong: say shares = [0.600, 0.400]"),
        ("1.1", "Its gaps rest on that within its ratio"),
    ):
        groups = ("--group", "female=0.5", "--group", "male=0.5", "--answering", answering)
        assert fairgauge("design", *base, *groups, "-o", "s.json").status == 0
        done = fairgauge("simulate", "s.json", "p.csv", "--clients", 9000, "--seed", 1, "-o", "t.json")
        assert "The study says that 50.0% are female; of those who answer in the table 60.0% are." in done.out
        assert said in done.out
    right = ("--group", "female=0.6", "--group", "male=0.4")
    fairgauge("design", *base, *right, "-o", "s.json")
    assert "The study says" not in fairgauge("simulate", "s.json", "p.csv", "--seed", 1, "-o", "t.json").out


def test_a_miss_is_said(fairgauge: Run, files: tuple[Path, Path], elsewhere: Path, monkeypatch: pytest.MonkeyPatch):
    (elsewhere / "p.csv").write_text("sex,recall,count\nfemale,1,300\nmale,1,700\n")
    wrong = Truth("recall", "sex", {"female": 0.3, "male": 0.7}, {}, {("female", "male"): 0.9}, None)
    monkeypatch.setattr("fairgauge.cli.simulate.true_values", lambda *_: (wrong,))
    done = fairgauge("simulate", files[0], "p.csv", "--clients", 100_000, "--seed", 1, "-o", "t.json")
    assert (
        "The interval misses the table's own gap. By chance that happens to at most one study in a hundred" in done.out
    )
    few = fairgauge("simulate", files[0], "p.csv", "--clients", 1, "--seed", 1, "-o", "t.json")
    assert few.status == 0


def test_gaps_that_cannot_be_told_are_counted(fairgauge: Run, elsewhere: Path):
    (elsewhere / "p.csv").write_text("sex,recall,count\nfemale,1,5000\nmale,1,4999\nother,1,1\n")
    groups = ("--group", "female", "--group", "male", "--group", "other")
    options = (
        "--attribute",
        "sex",
        "--metric",
        "recall",
        "--epsilon",
        2,
        "--title",
        "T",
        "--design",
        "randomized-response",
    )
    assert fairgauge("design", *groups, *options, "-o", "s.json").status == 0
    done = fairgauge("simulate", "s.json", "p.csv", "--clients", 20_000, "--seed", 1, "-o", "t.json")
    assert "2 of the table's 3 gaps are not in this list: too few answers" in " ".join(done.out.split())
