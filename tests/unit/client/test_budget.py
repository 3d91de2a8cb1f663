"""What an answer costs, and refusals above a device's limits, to the last digit."""

from decimal import Context, Decimal
from itertools import permutations

import pytest

from fairgauge.client import Limits
from fairgauge.client.budget import UNLIMITED, add_up, charges, read_limit
from fairgauge.errors import CannotAnswer, InvalidInput, NotPrivate
from fairgauge.study import Attribute, Metric
from tests.samples import RECALL, SEX, full_study, sample_question, sample_study


class TestCharges:
    def test_each_attribute_pays_the_most_that_a_question_about_it_spends(self) -> None:
        metrics = [Metric(name, "0", "1") for name in ("recall", "f1", "delay")]
        losses = (3, 9, 5)
        asked = [sample_question(m, SEX, epsilon="4", loss=loss) for m, loss in zip(metrics, losses, strict=True)]
        age = sample_question(RECALL, Attribute("age", ("young", "old")))
        dearest = asked[1].mechanism.epsilon_bound
        assert all(question.mechanism.epsilon_bound < dearest for question in (asked[0], asked[2]))
        for order in permutations(asked):
            assert charges(sample_study(*order, age)) == {"sex": dearest, "age": age.mechanism.epsilon_bound}

    def test_a_question_below_one_pays_no_more_than_it_spends(self) -> None:
        asked = sample_question(epsilon="1", loss=2)
        assert charges(sample_study(asked)) == {"sex": asked.mechanism.epsilon_bound}
        assert asked.mechanism.epsilon_bound < 1

    def test_they_are_not_below_the_exact_epsilon(self) -> None:
        study = sample_study()
        loss = study.questions[0].channel.loss
        assert loss is not None
        exact = Context(prec=80).divide(Decimal(loss.numerator), Decimal(loss.denominator)).ln(Context(prec=80))
        assert exact < charges(study)["sex"] < exact + Decimal("1e-48")


def test_crossed_attributes_are_charged_each() -> None:
    study = full_study()
    cost = study.questions[0].mechanism.epsilon_bound
    assert charges(study) == {"sex": cost, "age": cost, "region": study.questions[2].mechanism.epsilon_bound}


class TestStudyLimit:
    def test_decides_to_the_last_digit(self) -> None:
        study = sample_study()
        exact = study.questions[0].mechanism.epsilon_bound
        Limits(study=exact).check_study(study)
        UNLIMITED.check_study(study)
        with pytest.raises(NotPrivate, match=r"questions\[0\] \(recall by sex\) spends epsilon 1\.098"):
            Limits(study=exact.next_minus()).check_study(study)


class TestLifetime:
    def test_decides_to_the_last_digit(self) -> None:
        spent = [("sex", Decimal("1.1")), ("sex", Decimal("1.2")), ("age", Decimal(9))]
        Limits(Decimal("2.5")).check_lifetime({"sex": Decimal("0.2")}, spent)
        with pytest.raises(CannotAnswer) as caught:
            Limits(Decimal("2.5")).check_lifetime({"sex": Decimal("0.2000000000000000000000000001")}, spent)
        assert str(caught.value) == (
            "sex has cost epsilon 2.3 on this device; an answer would make it 2.500001, and the limit is 2.5"
        )

    def test_what_floats_would_let_through(self) -> None:
        tenths = [("sex", Decimal("0.1"))] * 9
        assert sum([0.1] * 10) < 1, "a float would allow a little more"
        Limits(Decimal(1)).check_lifetime({"sex": Decimal("0.1")}, tenths)
        with pytest.raises(CannotAnswer):
            Limits(Decimal(1)).check_lifetime({"sex": Decimal("0.1") + Decimal("1e-20")}, tenths)

    def test_attributes_have_a_budget_each(self) -> None:
        Limits(Decimal(2)).check_lifetime({"sex": Decimal(2)}, [("age", Decimal(2))])

    def test_one_attribute_above_is_enough_to_refuse(self) -> None:
        with pytest.raises(CannotAnswer, match="age has cost"):
            Limits(Decimal(2)).check_lifetime({"sex": Decimal(1), "age": Decimal(1)}, [("age", Decimal(2))])

    @pytest.mark.parametrize("dearest", ["first", "second"])
    def test_a_group_without_a_name_counts_each_answer_by_its_dearest_question(self, dearest: str) -> None:
        """It may have been about that attribute; the cheapest would let all answers together above the limit."""
        costs = (Decimal("0.5"), Decimal(3)) if dearest == "second" else (Decimal(3), Decimal("0.5"))
        answer = dict(zip(("sex", "age"), costs, strict=True))
        Limits(Decimal(6)).check_unnamed(answer, [answer])
        with pytest.raises(CannotAnswer) as caught:
            Limits(Decimal(6).next_minus()).check_unnamed(answer, [answer])
        assert str(caught.value).startswith(
            "all answers have cost epsilon 3 on this device; an answer would make it 6,"
        )

    def test_no_limit(self) -> None:
        UNLIMITED.check_lifetime({"sex": Decimal(10**9)}, [])


def test_every_question_of_a_study_is_within_the_limit_whichever_the_coin_picks() -> None:
    dear = sample_question(Metric("f1", "0", "1"), SEX, epsilon="5", loss=100)
    for place, questions in enumerate([(dear, sample_question()), (sample_question(), dear)]):
        with pytest.raises(NotPrivate, match=rf"^questions\[{place}\] \(f1 by sex\) spends epsilon 4\.6"):
            Limits().check_study(sample_study(*questions))


class TestUnlessItSaysOtherwise:
    def test_one_study_may_cost_4(self) -> None:
        Limits().check_study(sample_study(sample_question(loss=54, epsilon="4")))  # ln 54 = 3.989
        with pytest.raises(NotPrivate, match=r"spends epsilon 4\.007\d*, and this device allows 4 a study"):
            Limits().check_study(sample_study(sample_question(loss=55, epsilon="5")))

    def test_an_attribute_may_cost_8(self) -> None:
        four = Decimal(4)
        Limits().check_lifetime({"sex": four}, [("sex", four)])
        with pytest.raises(CannotAnswer) as caught:
            Limits().check_lifetime({"sex": Decimal("1e-9")}, [("sex", four), ("sex", four)])
        assert str(caught.value) == (
            "sex has cost epsilon 8 on this device; an answer would make it 8.000001, and the limit is 8"
        )

    def test_one_limit_that_is_given_leaves_the_other(self) -> None:
        assert Limits(Decimal(20)) == Limits(Decimal(20), Decimal(4))
        assert Limits(study=Decimal(1)) == Limits(Decimal(8), Decimal(1))


def test_sums_are_rounded_up() -> None:
    assert add_up([Decimal(1), Decimal("1e-80")]) == Decimal("1." + "0" * 48 + "1")
    assert add_up([]) == 0


@pytest.mark.parametrize("limit", [Decimal(-1), Decimal("NaN"), Decimal("Infinity"), 4, 4.0, "4"])
def test_a_limit_is_a_decimal_from_0_up(limit: Decimal) -> None:
    with pytest.raises(InvalidInput, match="must be a Decimal from 0 up"):
        Limits(limit)
    with pytest.raises(InvalidInput, match="study limit="):
        Limits(study=limit)


def test_a_limit_is_read_as_typed() -> None:
    assert read_limit("limit", "0.1") == Decimal("0.1")
    with pytest.raises(InvalidInput, match="limit=four: must be a number from 0 up"):
        read_limit("limit", "four")
