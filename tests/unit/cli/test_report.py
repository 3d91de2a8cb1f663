"""``fairgauge report``."""

from pathlib import Path

from fairgauge.tallies import Tally
from tests.samples import RECALL
from tests.surveys import study, tells_all
from tests.unit.cli.conftest import Run, refused


def test_a_report_is_written_and_its_verdict_is_printed(fairgauge: Run, files: tuple[Path, Path], elsewhere: Path):
    done = fairgauge("report", *files, "-o", "r.html", "--confidence", 0.9, "--interval", "normal", "--tolerance", 0.1)
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0] == "r.html: Survey, 100,000 answers"
    assert lines[1].startswith("The model's recall is between 1")
    assert lines[1].endswith("points higher for female than for male (90 % confidence).")
    page = (elsewhere / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert lines[1].replace("'", "&#39;").replace(" %", "\N{NO-BREAK SPACE}%") in page
    assert "tolerance of ±10 points" in page


def test_a_report_can_be_about_no_answers(fairgauge: Run, elsewhere: Path):
    asked = study(tells_all(metric=RECALL))
    (elsewhere / "s.json").write_bytes(asked.to_bytes())
    (elsewhere / "t.json").write_bytes(Tally.empty(asked).to_bytes())
    done = fairgauge("report", "s.json", "t.json", "-o", "r.html")
    assert (done.status, done.out.splitlines()[1]) == (0, "There were no answers.")


def test_bad_input_writes_nothing(fairgauge: Run, files: tuple[Path, Path], elsewhere: Path):
    assert refused(fairgauge("report", *files, "-o", "r.html", "--tolerance", -1), "tolerance=-1.0: must be 0 or above")
    assert refused(fairgauge("report", *files, "-o", "no/r.html"), "output=no/r.html: cannot be written")
    assert not (elsewhere / "r.html").exists()
