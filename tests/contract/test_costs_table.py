"""What pages say about people needed: README has the numbers of docs/which-epsilon.md, and these are planned today."""

import re
from decimal import Decimal

import pytest

import fairgauge as fg
from docs import which_epsilon
from docs.refresh import ROOT
from fairgauge.targets import Scores, Target

PAGE = which_epsilon.PAGE.read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def rows(text: str) -> dict[str, list[str]]:
    """Return the cells of a table whose first column is an epsilon, by that epsilon."""
    lines = re.findall(r"^\| ([\d.]+) \| (.+) \|$", text, re.MULTILINE)
    return {epsilon: rest.split(" | ") for epsilon, rest in lines}


def number(cell: str) -> float:
    return float(cell.replace(",", "").removesuffix(" %"))


SHOWN = rows(PAGE.partition(which_epsilon.BEGIN)[2].partition(which_epsilon.END)[0])


def test_the_table_has_a_row_for_each_epsilon_and_a_cell_for_each_column():
    assert {epsilon: len(cells) for epsilon, cells in SHOWN.items()} == dict.fromkeys(which_epsilon.LIMITS, 10)
    assert re.findall(r"^\| epsilon \| alike \| any \| ", PAGE, re.MULTILINE)


def test_readme_has_two_digits_of_the_same_numbers_and_what_a_guess_is_right():
    found = rows(README)
    assert list(found) == ["1", "2", "4"]
    for epsilon, (guess, default, alike) in found.items():
        assert default == f"{float(f'{number(SHOWN[epsilon][1]):.2g}'):,.0f}"
        assert alike == f"{float(f'{number(SHOWN[epsilon][0]):.2g}'):,.0f}"
        right = 100 / (1 + float((-Decimal(epsilon)).exp()))
        assert right <= number(guess) < right + 0.1


@pytest.mark.parametrize(("column", "given"), [(0, {"ratio": 1.0}), (1, {"ratio": None, "shares_known": False})])
def test_a_cell_is_what_is_planned_today(column: int, given: dict[str, object]):
    planned = which_epsilon.people(Scores(Target((0.5, 0.5), **given)), "1")  # type: ignore[arg-type]
    assert number(SHOWN["1"][column]) == pytest.approx(planned, rel=0.02)


def test_readme_says_what_the_best_table_saves():
    assert "our best table needs less than half the people that\n  randomized response needs" in README
    recall, halves = fg.Metric("recall", 0, 1), {"female": 0.5, "male": 0.5}
    for answering, times in (("alike", 0.5), ("any", 1.0)):
        plan = fg.plan(recall, fg.Attribute("sex", halves, answering=answering), epsilon=1, error=0.02)["recall"]
        assert plan.best is not None
        best, response = (plan.row(name).clients for name in (plan.best, "randomized-response"))
        assert best is not None
        assert response is not None
        assert best < times * response or (times == 1.0 and best == response)
