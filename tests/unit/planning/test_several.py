"""Plans of several questions: what each gets."""

from decimal import Decimal

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.planning import design, plan
from fairgauge.planning.plans import plan_for, plan_questions
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.scores import Scores

SEX = Attribute("sex", {"female": 0.5, "male": 0.5}, answering="alike")
ASKED = [Question(Metric(name, 0, 1), SEX, spread="max") for name in ("recall", "fpr")]
DESIGNS = ["randomized-response"]


def test_a_question_of_two_gets_half_of_the_answers():
    both = plan_questions(ASKED, epsilon=Decimal(2), clients=10**5, designs=DESIGNS)
    alone = plan_for(Scores.of(ASKED[0]), ASKED[0].metric, epsilon=Decimal(2), clients=10**5 // 2, designs=DESIGNS)
    assert [found.rows[0].error for found in both] == pytest.approx([alone.rows[0].error] * 2)
    assert both["recall"].rows[0].variance == pytest.approx(2 * (alone.rows[0].variance or 0))


def test_together_is_a_row_of_its_own_and_says_so():
    plans = plan_questions(ASKED, epsilon=Decimal(2), error=0.01, designs=DESIGNS)
    assert [row.design for row in plans["fpr"].rows] == ["randomized-response", "together"]
    assert plans["recall"].best == "together"
    assert plans.sentences()[0].endswith("of the answers; together is one table for two of them.")


def test_of_three_questions_the_third_gets_more_where_the_others_share_a_table():
    third = Question(Metric("accuracy", 0, 1), SEX, spread="max")
    plans = plan_questions([*ASKED, third], epsilon=Decimal(2), clients=10**5, designs=DESIGNS, interval="normal")
    own, shared = plans["accuracy"].rows
    alone = plan_questions([third, ASKED[0]], epsilon=Decimal(2), clients=10**5, designs=DESIGNS, interval="normal")
    assert own.error == pytest.approx(plans["recall"].rows[0].error)
    assert (shared.error or 0) < (own.error or 0)
    assert (shared.variance or 0) < (alone["accuracy"].rows[0].variance or 0)


def test_a_plan_takes_the_design_that_a_study_of_all_takes():
    """By their weights: what is best for one of them alone is not what a study has."""
    sex = Attribute("sex", {"female": 0.3, "male": 0.7}, answering="alike")
    metrics = [Metric("recall", 0, 1), Metric("fpr", 0, 1)]
    for weights in (None, {"recall": 9}):
        made = design(metrics, sex, epsilon=2, weights=weights)
        plans = plan(metrics, sex, epsilon=2, clients=10**5, interval="normal", weights=weights)
        shared = len(Study("Both", made).tables) == 1
        assert [found.best for found in plans] == ["together" if shared else one.design for one in made]
    with pytest.raises(InvalidInput, match="weights=ppv: must be one of recall, fpr"):
        plan(metrics, sex, epsilon=2, clients=10**5, weights={"ppv": 2})
    with pytest.raises(InvalidInput, match="weights=recall: is for several metrics that can share a table"):
        plan(metrics[0], sex, epsilon=2, clients=10**5, weights={"recall": 2})


def test_the_order_of_metrics_does_not_matter():
    """By neighbours it did: what shared a table with an unlike one needed more clients."""
    said = {"a": ("0.9", "0.05"), "b": ("0.5", "max"), "c": ("0.9", "0.05"), "d": ("0.5", "max")}

    def needed(names: str) -> dict[str, tuple[float | None, int | None]]:
        questions = [Question(Metric(name, 0, 1), SEX, expect=said[name][0], spread=said[name][1]) for name in names]
        asked = {"epsilon": Decimal(4), "error": 0.02, "interval": "normal", "designs": ["randomized-response"]}
        plans = plan_questions(questions, **asked)
        rows = {name: plans[name].row("together") for name in names}
        return {name: (row.variance, row.clients) for name, row in rows.items()}

    assert needed("abcd") == needed("acbd") == needed("dbca")


def test_what_is_enough_for_all_is_said():
    wide = Question(Metric("recall", 0, 1), SEX, spread="max", expect="0.5")
    narrow = Question(Metric("fpr", 0, 1), SEX, spread="0.05", expect="0.05")
    plans = plan_questions([wide, narrow], epsilon=Decimal(2), error=0.01, designs=["centred"], interval="normal")
    needs = {name: plans[name].row(plans[name].best or "").clients or 0 for name in plans.metrics}
    assert plans.enough == max(needs.values())
    assert plans.sentences()[-1] == f"For all of them it takes {plans.enough:,} clients: recall needs the most."
    assert plans.to_dict()["questions"][1]["metric"] == "fpr"
    assert "\n\nfpr\ndesign" in str(plans)
    assert "recall needs the most" in plans._repr_html_()
    assert list(plans.to_frame()["metric"].unique()) == ["recall", "fpr"]
    with pytest.raises(InvalidInput, match="metric=ppv: must be one of recall, fpr"):
        plans["ppv"]


def test_a_metric_is_given_once():
    with pytest.raises(InvalidInput, match="metric=recall: must be given once"):
        plan_questions([ASKED[0], ASKED[0]], epsilon=Decimal(2), clients=10**5)


def test_the_least_epsilon_is_found_for_both():
    (found, _) = plan_questions(ASKED, clients=10**5, error=0.0145, designs=DESIGNS)
    assert found.rows[-1].epsilon == pytest.approx(1.9, abs=0.15)


def test_questions_that_cannot_share_a_table_have_no_such_row():
    three = Attribute("age", ["a", "b", "c"])
    plans = plan_questions(
        [Question(one.metric, three) for one in ASKED], epsilon=Decimal(2), clients=10**5, designs=DESIGNS
    )
    assert [row.design for row in plans["recall"].rows] == DESIGNS
