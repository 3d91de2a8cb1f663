"""What every mechanism keeps to, from the study to the report: the channel and noisy counts pass one suite.

Covers: fairgauge.study.mechanism
"""

import json
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import fairgauge as fg
from fairgauge.client.budget import Limits, charges
from fairgauge.client.ledger import Ledger
from fairgauge.errors import BadStudy, BadTally, CannotAnswer, InvalidInput, NotPrivate
from fairgauge.reports.html_report import render_report
from fairgauge.simulation import Cell, Population
from fairgauge.study import Mechanism
from tests.samples import full_study, sample_study, site_study
from tests.sites import read, site_of

PERSON = {"group": "female", "values": {"recall": "0.7"}}
PEOPLE = Population((Cell("female", Decimal("0.7"), 5000), Cell("male", Decimal("0.9"), 5000)))
TRUTHS = [("female", 1, 1), ("female", 1, 0), ("female", 0, 0), ("male", 1, 1), ("male", 0, 0), ("male", 0, 1)]
RECORDS = [(None, (sex,), (truth, said)) for sex, truth, said in TRUTHS]
SCORES = [(None, (sex,), (value,)) for sex, value in (("female", 3), ("male", 7), ("male", None))]


def _sites(outcomes: dict[str, list[Any]]) -> dict[str, list[Any]]:
    rows = len(next(iter(outcomes.values())))
    return {"site": ["a", "b"] * (rows // 2), **outcomes, "count": [400] * rows}


@dataclass(frozen=True)
class Case:
    """A study of one mechanism, what one contributor holds, what none can send, and whom to draw."""

    study: fg.Study
    held: Any
    impossible: tuple[int, ...]
    population: Any


SEXES = ["female", "female", "male", "male"]
CASES = {
    "channel": Case(sample_study(), PERSON, (4,), PEOPLE),
    "counts of truth and prediction": Case(
        site_study(), read(site_of(site_study()), RECORDS), (1,) * 7,
        _sites({"sex": SEXES * 2, "truth": [1, 0] * 4, "prediction": [1, 1, 1, 1, 0, 0, 0, 0]}),
    ),
    "counts of levels": Case(
        site_study("levels"), read(site_of(site_study("levels")), SCORES), (1,),
        _sites({"sex": SEXES, "score": [2, 4, 6, 9]}),
    ),
}  # fmt: skip


@pytest.fixture(params=CASES.values(), ids=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


class TestTheStudy:
    def test_has_a_mechanism_in_every_question(self, case: Case) -> None:
        assert all(isinstance(question.mechanism, Mechanism) for question in case.study.questions)
        assert sum(table[0].mechanism.size for table in case.study.tables) == case.study.symbols

    def test_is_its_bytes(self, case: Case) -> None:
        read = fg.Study.from_bytes(case.study.to_bytes())
        assert read == case.study
        assert read.digest == case.study.digest

    def test_says_nothing_twice(self, case: Case) -> None:
        document = json.loads(case.study.to_bytes())
        for name, value in document["tables"][0].items():
            changed = {**document, "tables": [{**document["tables"][0], name: None}]}
            assert value is not None
            with pytest.raises(InvalidInput):
                fg.Study.from_bytes(json.dumps(changed).encode())

    def test_asks_no_question_that_its_mechanism_does_not_answer(self, case: Case) -> None:
        with pytest.raises(BadStudy):
            replace(case.study, questions=(*case.study.questions, case.study.questions[0]))

    def test_declares_what_it_spends(self, case: Case) -> None:
        for question in case.study.questions:
            exact = question.mechanism.epsilon_bound
            assert question.private
            assert question.mechanism.within(exact)
            assert not question.mechanism.within(exact - Decimal("1e-20"))
            assert Decimal(question.mechanism.epsilon) >= exact
        assert case.study.epsilon == max(question.mechanism.epsilon for question in case.study.questions)


class TestAnswers:
    def test_are_within_the_limits(self, case: Case) -> None:
        spent = Decimal(case.study.epsilon)
        assert charges(case.study) == {"sex": case.study.questions[0].mechanism.epsilon_bound}
        fg.answer(case.study, case.held, limit=Limits(study=spent))
        with pytest.raises(NotPrivate, match="this device allows"):
            fg.answer(case.study, case.held, limit=Limits(study=spent / 2))

    def test_are_read_as_they_are_written_and_fit_the_study(self, case: Case) -> None:
        answer = fg.answer(case.study, case.held)
        assert fg.Answer.from_bytes(answer.to_bytes()) == answer
        case.study.check_payload(answer.payload)
        with pytest.raises(InvalidInput):
            case.study.check_payload(case.impossible)

    def test_are_given_once_and_charged_once(self, case: Case, tmp_path: Path) -> None:
        ledger = Ledger(tmp_path / "ledger.sqlite3")
        assert ledger.answer(case.study, case.held) == ledger.answer(case.study, case.held)
        assert dict(ledger.spent()) == dict(charges(case.study))

    def test_are_refused_to_what_holds_something_else(self, case: Case) -> None:
        other = next(one for one in CASES.values() if isinstance(one.held, dict) != isinstance(case.held, dict))
        with pytest.raises(CannotAnswer):
            fg.answer(case.study, other.held)


class TestTallies:
    def test_add_up(self, case: Case) -> None:
        answers = [fg.answer(case.study, case.held) for _ in range(6)]
        whole = fg.Tally.of(case.study, answers)
        parts = [fg.Tally.of(case.study, answers[:2]), fg.Tally.of(case.study, answers[2:])]
        assert parts[0] + parts[1] == whole == fg.Tally.of(case.study, [*answers, answers[0]])
        assert whole.contributors == 6
        assert fg.Tally.from_bytes(whole.to_bytes()) == whole
        whole.check(case.study)

    def test_are_of_one_study(self, case: Case) -> None:
        with pytest.raises(BadTally, match="digest of this study"):
            fg.Tally.empty(full_study()).check(case.study)
        short = fg.Tally(case.study.digest, (0,) * (case.study.symbols - 1), 0)
        with pytest.raises(BadTally, match=f"must be {case.study.symbols}, as the study has"):
            short.check(case.study)


class TestEstimates:
    def test_tell_every_question_up_to_the_report(self, case: Case) -> None:
        tally = fg.simulate(case.study, case.population, clients=2000, seed=7)
        tally.check(case.study)
        found = fg.estimate(case.study, tally)
        assert found.asked == case.study.questions
        assert len(found.questions) == len(case.study.questions)
        assert all(one.gap("female", "male").low < one.gap("female", "male").high for one in found.questions)
        assert "<h1" in render_report(case.study, tally, found)
        assert all("fairgauge" in thing._repr_html_() for thing in (found, case.study))

    def test_of_nobody_tell_nothing(self, case: Case) -> None:
        found = fg.estimate(case.study, fg.Tally.empty(case.study))
        assert all(not one.gaps for one in found.questions)


SEX = fg.Attribute("sex", ["female", "male"])
ASKED: dict[str, tuple[fg.Metric | None, dict[str, Any], dict[str, Any]]] = {
    "channel": (fg.Metric("recall", 0, 1), {}, {"designs": ["randomized-response"]}),
    "counts of truth and prediction": (None, {"outcome": "confusion"}, {"people": 400}),
    "counts of levels": (fg.Metric("score", 0, 10), {"outcome": "levels"}, {"people": 400}),
}


@pytest.mark.parametrize("name", list(CASES))
def test_from_the_plan_to_the_report(name: str) -> None:
    metric, asked, about = ASKED[name]
    plans = fg.plan(metric, SEX, epsilon=2, clients=2000, interval="population", **asked, **about)
    design: dict[str, Any] = {"design": "randomized-response"} if "designs" in about else {}
    study = fg.Study("Either", fg.design(metric, SEX, epsilon=2, clients=None, **asked, **design))
    assert tuple(plans.metrics) == tuple(question.metric.name for question in study.questions)
    assert {plan.rows[0].mechanism for plan in plans} == {study.mechanism}
    read = fg.Study.from_bytes(study.to_bytes())
    tally = fg.simulate(read, CASES[name].population, clients=2000, seed=3)
    found = fg.estimate(read, tally)
    assert found.interval == plans[0].interval
    assert {"about", "guarantee", "questions"} <= set(found.to_dict())
    assert "<h1" in render_report(read, tally, found)
