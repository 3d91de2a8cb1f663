"""Plans for sites: widths are those that the estimate gives, and noise costs what it was said to."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import fairgauge as fg
from fairgauge.channel import LEVEL_UNIT
from fairgauge.errors import InvalidInput
from fairgauge.estimation.interval_kinds import SITE_KINDS
from fairgauge.estimation.site_inference import estimate_sites
from fairgauge.planning.counted_questions import CountedQuestions, SitePeople
from fairgauge.planning.plans import plan_questions
from fairgauge.study import Attribute, Metric
from fairgauge.targets.assumed_values import Reckoning
from tests.sites import SEX

SCORE = Metric("score", 0, 10)
SOME = SitePeople(500, 0.3)
ONE = {"epsilon": Decimal(1), "clients": 20}


def confusion(attribute: Attribute = SEX, people: SitePeople | None = SOME) -> CountedQuestions:
    return CountedQuestions(attribute, "confusion", people=people)


def levels(people: SitePeople) -> CountedQuestions:
    return CountedQuestions(SEX, "levels", metric=SCORE, people=people)


def error(asked: CountedQuestions, metric: str, **more: Any) -> float:
    found = plan_questions(asked, **{**ONE, **more})[metric].rows[0].error
    assert found is not None
    return found


@pytest.mark.parametrize(("epsilon", "more"), [("1", 1.21), ("2", 1.05)])
def test_what_noise_adds_for_twenty_hospitals(epsilon: str, more: float) -> None:
    plans = plan_questions(confusion(), epsilon=Decimal(epsilon), clients=20, confidence=0.95)
    assert plans.metrics == ("selection rate", "accuracy", "true positive rate", "false positive rate", "precision")
    row = plans["true positive rate"].rows[0]
    assert (row.design, row.clients, row.people, row.epsilon) == ("noisy-counts", 20, 500, float(epsilon))
    assert row.error is not None
    assert row.error_without_privacy is not None
    assert row.error / row.error_without_privacy == pytest.approx(more, abs=0.005)


def test_too_few_to_tell() -> None:
    """The interval is everything, from -1 to 1."""
    assert error(confusion(people=SitePeople(20)), "true positive rate", epsilon=Decimal("0.1"), clients=3) == 1


def test_several_groups_hold_together() -> None:
    """With as many people in each group, three gaps that hold together are wider than one that holds alone."""
    asked = ((("young", "middle", "old"), 750), (("young", "old"), 500))
    three, two = (confusion(Attribute("age", groups), SitePeople(each, 0.3)) for groups, each in asked)
    assert error(three, "true positive rate") > 1.05 * error(two, "true positive rate")


@pytest.mark.parametrize(
    ("expected", "field"), [({"each": 0}, "people"), ({"positives": 0.0}, "positives"), ({"right": 1.0}, "expect")]
)
def test_out_of_range(expected: dict[str, float], field: str) -> None:
    with pytest.raises(InvalidInput, match=field):
        SitePeople(**{"each": 5, **expected})  # type: ignore[arg-type]


def test_levels_are_planned_in_the_metrics_units() -> None:
    """Without noise the error is what values and their rounding to levels let it be, by the normal law."""
    people = SitePeople(500, values=Reckoning(0.4, 0.3))
    site = levels(people).mechanism(Decimal(1))
    assert site.levels is not None
    each = people.counts(site).reshape(2, -1)[0] / 250
    places = np.array(site.levels) / LEVEL_UNIT
    mean, variance = each @ places, each @ places**2 - (each @ places) ** 2
    assert mean == pytest.approx(0.4, abs=1e-3)
    assert 0.3**2 < variance < 0.3**2 + (places[1] - places[0]) ** 2 / 4
    row = plan_questions(levels(people), **ONE, confidence=0.95)["score"].rows[0]
    assert row.error is not None
    assert row.error_without_privacy is not None
    # A little wider: how much values vary is not known exactly.
    assert 1 < row.error_without_privacy / (1.96 * (2 * variance / 5000) ** 0.5 * SCORE.scale) < 1.2
    assert row.error > row.error_without_privacy
    widest = error(levels(replace(people, values=Reckoning(0.4, None))), "score", confidence=0.95)
    assert widest > row.error


def test_stated_shares_are_reckoned_with() -> None:
    even, uneven = (
        error(confusion(Attribute("sex", ["female", "male"], shares)), "accuracy") for shares in (None, ("0.1", "0.9"))
    )
    assert uneven > 1.3 * even


def test_any_two_of_sites_epsilon_and_error_give_the_third() -> None:
    asked = levels(SitePeople(500))
    sites = plan_questions(asked, epsilon=Decimal(1), error=0.2)["score"].rows[0].clients
    assert sites is not None
    assert error(asked, "score", clients=sites) <= 0.2 < error(asked, "score", clients=sites - 1)
    found = plan_questions(asked, clients=20, error=0.2)["score"].rows[0].epsilon
    assert found is not None
    assert error(asked, "score", epsilon=Decimal(str(found))) <= 0.2
    assert error(asked, "score", epsilon=Decimal(str(0.98 * found))) > 0.2
    assert plan_questions(asked, epsilon=Decimal(1), error=1e-5)["score"].best is None


def test_a_plan_is_what_the_estimate_of_such_counts_gives() -> None:
    people = SitePeople(500, 0.3)
    (*_, question) = study = fg.design(None, SEX, epsilon=1, outcome="confusion")
    document = fg.Study("Alarms", study)
    sums = tuple(round(20 * count) for count in people.counts(question.counts).tolist())
    tally = fg.Tally(document.digest, sums, 20)
    found = estimate_sites(document, tally, 0.01, SITE_KINDS["population"])
    gap = next(one for one in found.questions if one.metric == "accuracy").gaps["female", "male"]
    planned = fg.plan(None, SEX, outcome="confusion", clients=20, people=500, positives=0.3, epsilon=1)
    assert planned["accuracy"].rows[0].error == pytest.approx((gap.high - gap.low) / 2, rel=1e-3)


def test_the_table_is_the_one_that_design_makes() -> None:
    planned = fg.plan(SCORE, SEX, outcome="levels", records=2, clients=20, people=500, epsilon="0.5")
    made = fg.design(SCORE, SEX, outcome="levels", records=2, epsilon="0.5")
    assert planned["score"].rows[0].mechanism == made[0].mechanism


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"target": "means"}, "target"),
        ({"abstain": True}, "abstain"),
        ({"detect": 0.1}, "detect"),
        ({"crowd_epsilon": 1}, "crowd_epsilon"),
        ({"designs": ["centred"]}, "designs"),
        ({"weights": {"score": 2}}, "weights"),
        ({"interval": "normal"}, "interval"),
        ({"people": None}, "people"),
        ({"people": None, "spread": 1}, "spread"),
        ({"positives": 0.3}, "positives"),
        ({"outcome": "confusion"}, "metric"),
        ({"outcome": None}, "people"),
        ({"outcome": None, "people": None, "records": 2}, "records"),
        ({"error": 0.1}, "given"),
    ],
)
def test_what_would_change_nothing_is_refused_by_its_name(given: dict[str, Any], field: str) -> None:
    asked: dict[str, Any] = {"outcome": "levels", "clients": 20, "people": 500, "epsilon": 1}
    with pytest.raises(InvalidInput) as refused:
        fg.plan(SCORE, SEX, **(asked | given))
    assert refused.value.field == field


@pytest.mark.parametrize("given", [{"expect": 5}, {"clients": 20}, {"design": "centred"}, {"target": "gap"}])
def test_what_no_noise_heeds_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        fg.design(SCORE, SEX, epsilon=1, outcome="levels", **given)
    assert refused.value.field in given
