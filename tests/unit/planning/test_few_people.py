"""Few people: what an expectation, 95 %, the crowd or sites would give, and the least crowd epsilon for an error."""

from decimal import Decimal
from typing import Any

import pytest

import fairgauge as fg
from fairgauge.errors import Impossible, InvalidInput
from fairgauge.planning.few_people import FewPeople
from fairgauge.planning.input import ask

RECALL, SEX = fg.Metric("recall", 0, 1), fg.Attribute("sex", {"female": 0.5, "male": 0.5})
QUICK = "normal"


def few(clients: int = 8000, **more: Any) -> FewPeople:
    (question,) = ask(RECALL, SEX, **more)
    return FewPeople(question, clients, Decimal(1), interval=QUICK)


def test_each_way_gives_what_a_plan_for_it_gives():
    found = {way.what.partition(":")[0]: way for way in few().ways()}
    assert [name.split(",")[0] for name in found] == [
        "an expected mean of 0.9", "95 % confidence", "counts in the crowd", "the crowd",
        "20 sites that hold 400 people each",
    ]  # fmt: skip
    terms: Any = {"clients": 8000, "interval": QUICK}
    expected = fg.plan(RECALL, SEX, epsilon=1, expect=0.9, **terms)[0]
    assert found["an expected mean of 0.9"].error == pytest.approx(expected.row(str(expected.best)).error)
    crowd = fg.plan(RECALL, SEX, crowd_epsilon=1, **terms)[0]
    assert found["counts in the crowd"].error == pytest.approx(crowd.row(str(crowd.best)).error)
    sites = fg.plan(RECALL, SEX, outcome="levels", clients=20, people=400, epsilon=1)[0]
    assert list(found.values())[-1].error == pytest.approx(sites.rows[0].error)
    assert found["an expected mean of 0.9"].options == {"error": None, "epsilon": "1", "expect": "0.9"}
    assert found["counts in the crowd"].reaches(0.1)
    assert not found["counts in the crowd"].reaches(0.001)


def test_alone_a_question_gets_what_its_own_plan_gives():
    way = few(expect=0.8).alone()
    own = fg.plan(RECALL, SEX, epsilon=1, expect=0.8, clients=8000, interval=QUICK)[0]
    assert way.error == pytest.approx(own.row(str(own.best)).error)
    assert way.options["metric"] == "recall:0:1"
    assert way.options["expect"] == "0.8"


def test_what_is_there_already_is_not_proposed():
    names = [way.what for way in FewPeople(few(expect=0.8).question, 100, Decimal(4), 0.9, QUICK).ways()]
    assert names == []  # an expectation, less confidence, the most local epsilon, and too few for sites


def test_the_least_crowd_epsilon_reaches_an_error_and_a_smaller_one_does_not():
    asked: Any = {"clients": 8000, "interval": QUICK}
    found = fg.plan(RECALL, SEX, crowd_epsilon="auto", error=0.025, **asked)[0]
    assert found.crowd is not None
    assert (found.row(str(found.best)).error or 1) <= 0.025
    smaller = fg.plan(RECALL, SEX, crowd_epsilon=0.9 * found.crowd["epsilon"], **asked)[0]
    assert (smaller.row(str(smaller.best)).error or 0) > 0.025


def test_an_error_that_no_crowd_reaches_says_what_would():
    with pytest.raises(Impossible, match=r"no crowd epsilon reaches ±0.001 with 8,000 clients.*--confidence 0.95"):
        fg.plan(RECALL, SEX, crowd_epsilon="auto", error=0.001, clients=8000, interval=QUICK)


@pytest.mark.parametrize("given", [{}, {"epsilon": 1, "error": 0.1}])
def test_auto_takes_an_error_alone(given: dict[str, Any]):
    with pytest.raises(InvalidInput, match="needs clients and an error"):
        fg.plan(RECALL, SEX, crowd_epsilon="auto", clients=8000, **given)


def test_what_drawing_people_alone_leaves_open_no_epsilon_reaches():
    laplace: Any = {"clients": 300, "interval": QUICK, "designs": ["laplace"]}
    assert fg.plan(RECALL, SEX, error=0.02, **laplace)[0].best is None
    assert fg.plan(RECALL, SEX, error=0.2, **laplace)[0].best is not None
