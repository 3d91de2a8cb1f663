"""The picture of error against epsilon."""

from decimal import Decimal
from pathlib import Path

import pytest

from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.planning import plan_figure
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.samples import RECALL

SCORES = Scores(Target((0.5, 0.5)))
TERMS = plan_figure.Terms(confidence=0.99, interval="normal", metric=RECALL)
MAGIC = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two epsilons and two designs are as good as thirty channels here."""
    monkeypatch.setattr(plan_figure, "_EPSILONS", [Decimal("0.5"), Decimal(1)])
    monkeypatch.setattr(plan_figure, "designs_for", lambda _: ["randomized-response", "laplace"])


@pytest.mark.parametrize("kind", MAGIC)
def test_pictures_are_of_the_kind_that_the_name_says(tmp_path: Path, kind: str):
    path = tmp_path / f"plan.{kind}"
    plan_figure.draw_plan(path, SCORES, 10_000, **TERMS)
    assert path.read_bytes().startswith(MAGIC[kind])


def test_the_picture_names_designs_and_terms(monkeypatch: pytest.MonkeyPatch):
    from matplotlib import rcParams

    monkeypatch.setitem(rcParams, "svg.fonttype", "none")
    text = plan_figure.picture("svg", SCORES, 10_000, **TERMS).decode()
    for words in ("randomized-response", "laplace", "10,000 clients, 0.99 confidence, normal interval", "epsilon"):
        assert words in text


def test_other_kinds_are_refused(tmp_path: Path):
    with pytest.raises(InvalidInput, match=r"plot=.*: must end in .svg, .png, .pdf"):
        plan_figure.draw_plan(tmp_path / "plan.jpeg", SCORES, 10_000, **TERMS)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_it_names_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match="drawing plots needs matplotlib: pip install"):
        plan_figure.picture("svg", SCORES, 10_000, **TERMS)
