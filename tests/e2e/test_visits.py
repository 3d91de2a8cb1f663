"""Three visits, as those people would make them: an analyst, an auditor with files in hand, a data engineer."""

import json
import re
import shlex
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.cli import main

ROOT = Path(__file__).parents[2]
BUNDLE = ROOT / "examples" / "sealed-study" / "bundle"
KEY = "9SYCm7bQbMVbqkQGMlyM3cSNVM8KiBiQgiAl/Qsjvoo="

Type = Callable[..., tuple[int, str]]


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Type:
    """Type a command in an empty folder; get its exit status and what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(line: str, *more: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", [*shlex.split(line), *map(str, more)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), capsys.readouterr().out

    return run


def people() -> pd.DataFrame:
    """A table as people have them: a row for each person, and columns of their own."""
    return pd.DataFrame({"sex": ["female", "male"] * 400, "recall": [0.7, 0.8, 0.8, 0.9] * 200, "phone": "x"})


class TestAnalyst:
    """Leads responsible AI, has 200,000 phones, knows Fairlearn."""

    def test_asks_which_epsilon_and_gets_a_recommendation(self, types: Type):
        status, said = types("fairgauge plan --clients 200000 --answering alike")
        assert status == 0
        assert "We would take epsilon 1" in said
        assert "For one person: " in said

    def test_follows_the_readme_to_a_result_of_her_own_in_four_lines(self, types: Type):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        (block,) = re.findall(r"```text\n(fairgauge new .*?)```", readme, re.DOTALL)
        (report,) = re.findall(r"^`(fairgauge report .*?)`", readme, re.MULTILINE)
        commands = block.strip().splitlines()
        assert len(commands) == 4
        people().to_csv("people.csv", index=False)
        for command in (*commands, report):
            status, said = types(command)
            assert status == 0, said
        assert "points lower for female than for male (99 % confidence)" in said
        page = Path("report.html").read_text(encoding="utf-8")
        assert "Impact ratio: the lowest group’s recall is between" in page.replace("&#39;", "’")

    def test_goes_on_in_a_notebook_and_puts_the_result_into_a_model_card(self, types: Type):
        study = fg.Study.load(ROOT / "examples" / "first-study" / "study.json")
        tally = fg.simulate(study, people(), clients=200_000, seed=7)
        frame = fg.PrivateMetricFrame(study, tally)
        assert frame.ratio_ci()[0]["recall"] > 0.8
        assert "svg" in frame._repr_html_()
        study.save("study.json")
        tally.save("tally.json")
        Path("README.md").write_text("---\nlicense: mit\n---\n# Model\n", encoding="utf-8")
        status, _ = types("fairgauge report study.json tally.json --model-card README.md")
        assert status == 0
        assert "| impact ratio |" in Path("README.md").read_text(encoding="utf-8")


class TestAuditor:
    """Has three files in hand, and a key from the operator's letterhead."""

    @pytest.fixture
    def files(self, tmp_path: Path) -> Path:
        return Path(shutil.copytree(BUNDLE, tmp_path / "files"))

    def test_three_files_belong_together_and_what_was_not_checked_is_said(self, types: Type, files: Path):
        status, said = types("fairgauge verify files/report.html files/study.json files/tally.json")
        assert status == 0
        assert "recall by sex: private. Exact epsilon 1, declared 1." in said
        assert "report.html is what this study and this tally give, byte for byte" in said
        assert "Not checked:" in said
        assert "neither an export to count again nor a seal" in said

    def test_everything_in_one_zip(self, types: Type, files: Path):
        with zipfile.ZipFile("bundle.zip", "w") as archive:
            for one in files.iterdir():
                archive.write(one, one.name)
        status, said = types(f"fairgauge verify bundle.zip --key {KEY} --json")
        assert (status, json.loads(said)["verified"]) == (0, True)

    @pytest.mark.parametrize(
        ("forgery", "named"),
        [
            ("report", "report.html is not what this study and this tally give: it says “"),
            ("tally", "tally.json is not the tally that was sealed: it has 4,390 at place 0 of its counts"),
            ("seal", "The signature of sealed.json is not by the holder of this key"),
        ],
    )
    def test_a_forgery_is_caught_and_named(self, types: Type, files: Path, forgery: str, named: str):
        path = files / {"report": "report.html", "tally": "tally.json", "seal": "sealed.json"}[forgery]
        text = path.read_text(encoding="utf-8")
        changed = {
            "report": lambda: text.replace("between 7 and 22 points lower", "between 0 and 1 points lower"),
            "tally": lambda: text.replace("4391", "4390").replace('"contributors":20000', '"contributors":19999'),
            "seal": lambda: text.replace("2026-10-31T23:00:00Z", "2026-10-01T23:00:00Z"),
        }[forgery]()
        assert changed != text
        path.write_text(changed, encoding="utf-8")
        status, said = types(f"fairgauge verify files --key {KEY}")
        assert status == 1
        assert named in said
        assert "NOT VERIFIED" in said


class TestEngineer:
    """Has answers in folders, and wants numbers for other programs."""

    def test_counts_a_folder_in_which_some_answers_came_twice(self, types: Type):
        study, parquet = BUNDLE / "study.json", BUNDLE / "answers.parquet"
        Path("lake").mkdir()
        rows = pd.read_parquet(parquet)
        rows.to_parquet("lake/day1.parquet")
        rows.head(10).to_parquet("lake/day2.parquet")
        status, said = types("fairgauge tally", study, "lake", "-o", "tally.json")
        assert (status, said.splitlines()[1][:52]) == (0, "10 of them have an id that came before, and were cou")
        status, said = types(
            "fairgauge tally --deduplicate --json", study, "file://" + str(Path("lake").resolve()), "-o", "t.json"
        )
        assert json.loads(said)["answers"] == 20_000
        assert Path("t.json").read_bytes() == (BUNDLE / "tally.json").read_bytes()
        status, said = types("fairgauge estimate --csv", study, "t.json")
        assert said.splitlines()[0] == "metric,attribute,quantity,estimate,low,high,condition"
        assert len(said.splitlines()) == 9
        status, said = types("fairgauge estimate --markdown", study, "t.json")
        assert said.startswith("| metric | attribute |")
