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
    assert lines[1].startswith("IF both answered equally often: The model's recall is between 1")
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


CARD = "---\nlicense: mit\n---\n# Detector\n\nFinds falls.\n"


def test_a_model_card_has_one_block_that_is_updated(fairgauge: Run, files: tuple[Path, Path], elsewhere: Path):
    card = elsewhere / "README.md"
    card.write_text(CARD, encoding="utf-8")
    done = fairgauge("report", *files, "--model-card", "README.md")
    assert (done.status, done.out.splitlines()[0]) == (0, "README.md: Survey, 100,000 answers")
    once = card.read_text(encoding="utf-8")
    assert once.startswith(CARD)
    assert "points higher for female than for male (99 % confidence)" in once
    card.write_text(f"{once}\n## After\n", encoding="utf-8")
    fairgauge("report", *files, "--model-card", "README.md", "--confidence", 0.9)
    again = card.read_text(encoding="utf-8")
    assert again.startswith(CARD)
    assert again.endswith("\n## After\n")
    assert again.count("## Fairness, measured privately") == 1
    assert "(90 % confidence)" in again
    assert "(99 % confidence)" not in again


def test_a_card_with_broken_marks_stays_as_it_is(fairgauge: Run, files: tuple[Path, Path], elsewhere: Path):
    broken = f"{CARD}<!-- fairgauge: begin -->\n"
    (elsewhere / "README.md").write_text(broken, encoding="utf-8")
    done = fairgauge("report", *files, "--model-card", "README.md", "-o", "r.html")
    assert refused(done, "model-card=1 and 0 marks: must have each once, in order")
    assert (elsewhere / "README.md").read_text(encoding="utf-8") == broken
    assert not (elsewhere / "r.html").exists()
    assert refused(fairgauge("report", *files), "output=nothing: must be given, or --model-card")
    assert refused(fairgauge("report", *files, "--model-card", "no.md"), "model-card=no.md: cannot be read")


def test_a_report_tells_of_its_seal_and_of_no_other(fairgauge: Run, elsewhere: Path):
    bundle = Path(__file__).parents[3] / "examples" / "sealed-study" / "bundle"
    files = [bundle / name for name in ("study.json", "tally.json")]
    typed = ["--date", "2026-11-02", "--asked", "5e4", "--tolerance", 0.05, "--seal", bundle / "sealed.json"]
    done = fairgauge("report", *files, "-o", "r.html", *typed)
    assert done.status == 0
    assert (elsewhere / "r.html").read_bytes() == (bundle / "report.html").read_bytes()
    few = fairgauge("report", *files, "-o", "x.html", "--asked", "19999")
    assert refused(few, "asked=19999: must be 20000 or more: so many answered")
    other = Tally(Tally.load(files[1]).study, tuple(reversed(Tally.load(files[1]).counts)))
    other.save("other.json")
    done = fairgauge("report", files[0], "other.json", "-o", "x.html", *typed)
    assert refused(done, "sealed.json: seal.tally=20,000 answers: must be this tally")
    # What is sealed has one interval, wherever it is shown.
    done = fairgauge("report", *files, "-o", "x.html", *typed, "--interval", "anytime")
    assert refused(done, "interval=anytime: must be population, as the seal has it")
    done = fairgauge("report", *files, "-o", "x.html", *typed, "--confidence", 0.9)
    assert refused(done, "confidence=0.9: must be 0.99, as the seal has it")
    assert not (elsewhere / "x.html").exists()
