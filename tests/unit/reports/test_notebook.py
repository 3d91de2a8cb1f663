"""What notebooks show, draw and tabulate of the values that people hold."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.axes import Axes

import fairgauge as fg
from fairgauge.errors import InvalidInput
from fairgauge.planning.choose_epsilon import choose_epsilon
from fairgauge.reports.notebook import scoped_style

BUNDLE = Path(__file__).parents[3] / "examples" / "sealed-study" / "bundle"
NOTEBOOK = Path(__file__).parents[3] / "examples" / "first-study" / "tutorial.ipynb"


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)


@pytest.fixture(scope="module", autouse=True)
def _without_a_window() -> Iterator[None]:
    before = mpl.get_backend()
    mpl.use("agg")
    yield
    plt.close("all")
    mpl.use(before)


@pytest.fixture(scope="module")
def held() -> dict[str, Any]:
    study, tally = fg.Study.load(BUNDLE / "study.json"), fg.Tally.load(BUNDLE / "tally.json")
    sex = fg.Attribute("sex", {"female": 0.5, "male": 0.5}, answering="alike")
    return {
        "study": study,
        "plan": fg.plan(fg.Metric("recall", 0, 1), sex, clients=1000, epsilon=1, designs=["randomized-response"]),
        "tally": tally,
        "estimate": fg.estimate(study, tally),
        "frame": fg.PrivateMetricFrame(study, tally),
    }


@pytest.mark.parametrize(
    ("name", "said", "pictures"),
    [
        ("study", "Does the model&#39;s recall differ between female and male?", 2),
        ("plan", "randomized-response (best)", 2),
        ("tally", "20,000 answers", 2),
        ("estimate", "points lower for female than for male", 4),
        ("frame", "points lower for female than for male", 4),
    ],
)
def test_a_notebook_shows_the_reports_own_pictures(held: dict[str, Any], name: str, said: str, pictures: int):
    text = held[name]._repr_html_()
    tags = Tags(text).found
    assert said in text
    assert tags.count("svg") == pictures  # each for a wide column and for a narrow one
    assert not {"script", "link", "img", "iframe"} & set(tags)


def test_parts_of_results_and_what_is_asked_show_themselves(held: dict[str, Any]):
    found, (question,) = held["estimate"]["recall"], held["study"].questions
    shown = found._repr_html_()
    assert "points lower for female than for male" in shown
    assert "0.99 confidence" in shown  # next to the numbers, as in the whole
    assert "<td" in found.gap()._repr_html_()
    assert "female" in question.attribute._repr_html_()
    assert question.metric.name in question.metric._repr_html_()
    assert "exact epsilon" in question._repr_html_()
    draft = fg.new({"sex": ["F", "M"] * 50, "recall": ["76.5%", "80%"] * 50})
    assert "Recall by sex" in draft._repr_html_()
    choices = choose_epsilon(draft.questions(), 10**6, interval="normal")
    assert "We would take epsilon" in choices._repr_html_()
    assert [len(one.to_frame()) for one in (found, found.gap(), choices)] == [8, 1, 6]
    alone = replace(found)  # of no estimate
    assert "20,000 answers" in alone._repr_html_()
    assert len(alone.to_frame()) == 8
    with pytest.raises(InvalidInput, match="must be two of the groups"):
        found.gap("female")


def test_a_report_in_python_is_the_commands(held: dict[str, Any], tmp_path: Path):
    made = fg.report(held["study"], held["tally"], date="2026-11-15", asked=30_000)
    made.save(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text == made.html
    assert "2026-11-15" in text
    frame = made._repr_html_()
    assert Tags(frame).found == ["iframe"]
    assert 'sandbox=""' in frame


def test_styles_touch_nothing_else_on_the_page():
    for rule in re.findall(r"^([^{}@]+)\{", scoped_style(), re.MULTILINE):
        assert all(one.strip().startswith(".fairgauge") for one in rule.split(",")), rule
    assert ".fairgauge .verdict" in scoped_style()


@pytest.mark.parametrize(("name", "rows"), [("study", 1), ("plan", 1), ("tally", 4), ("estimate", 8), ("frame", 8)])
def test_everything_draws_and_tabulates(held: dict[str, Any], name: str, rows: int):
    axes = held[name].plot()
    assert isinstance(axes, Axes)
    assert held[name].plot(ax=axes) is axes
    frame = held[name].to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == rows


def test_what_is_drawn_is_what_was_found(held: dict[str, Any]):
    gap = held["estimate"]["recall"].gap("female", "male")
    (band, dot, _zero) = held["estimate"].plot().lines
    assert list(band.get_xdata()) == pytest.approx([100 * gap.low, 100 * gap.high])
    assert dot.get_xdata()[0] == pytest.approx(100 * gap.estimate)


def test_printing_stays_nice(held: dict[str, Any]):
    assert "recall by sex, 20,000 answers" in str(held["estimate"])
    assert "randomized-response" in str(held["plan"])
    assert repr(held["frame"]) == "PrivateMetricFrame(recall by sex, 20,000 answers)"


def test_the_tutorial_runs_and_every_step_shows_something(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FAIRGAUGE_EXAMPLE", str(NOTEBOOK.parent))
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {}
    shown = []
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == []  # what it shows is what it shows today
        *lines, last = "".join(cell["source"]).splitlines()
        exec("\n".join(lines), names)
        try:
            shown.append(eval(last, names))
        except SyntaxError:
            exec(last, names)
    looks = [value for value in shown if hasattr(value, "_repr_html_")]
    assert [type(value).__name__ for value in looks] == [
        "Plans", "DataFrame", "Study", "Tally", "Tally", "Estimate", "PrivateMetricFrame", "DataFrame",
    ]  # fmt: skip
    assert all(value._repr_html_() for value in looks)
    assert names["population"].clients == 1_000_000
