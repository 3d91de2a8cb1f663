"""How often groups answered beside each other: found where it is known, and silent where the table does not tell."""

import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from fairgauge.designs import make_channel
from fairgauge.estimation import Interval, estimate
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.inference import response_ratios
from fairgauge.estimation.interval_kinds import kind_of
from fairgauge.estimation.interval_readers import counts_of, reader_of
from fairgauge.study import Attribute, Comparison, Question, Study
from fairgauge.tallies import Tally
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.samples import RECALL
from tests.surveys import NAMES, coin_question, expected_tally, people, study, tells_all


def stating(question: Question, *shares: str, answering: str = "any", **more: Any) -> Question:
    """The same question with the population's shares."""
    names = question.attribute.groups
    return replace(question, attribute=Attribute("sex", names, shares, answering=answering, **more))


def told(asked: Study, *cells: tuple[str, str, int], interval: str = "normal") -> dict[tuple[str, str], Interval]:
    return estimate(asked, expected_tally(asked, people(*cells)), interval=interval).questions[0].response


@pytest.mark.parametrize("interval", ["population", "anytime", "normal"])
def test_groups_answer_as_often_as_they_did(interval: str):
    """One in five is a woman, and women answered 1.5 times as often: 15 of 55 answers are theirs."""
    asked = study(stating(tells_all(), "0.2", "0.8"))
    found = told(asked, ("female", "0.5", 300_000), ("male", "0.5", 800_000), interval=interval)["female", "male"]
    assert found.low < 1.5 < found.high < 1.1 * 1.5
    assert found.estimate == pytest.approx(1.5, rel=1e-4)


def test_every_comparison_of_three_has_its_own():
    """The groups answered 1 : 2 : 4 times as often as the shares .5, .3 and .2 say."""
    asked = study(stating(tells_all(groups=3), "0.5", "0.3", "0.2"))
    cells = [(name, "0", count) for name, count in zip(NAMES, (500_000, 600_000, 800_000), strict=True)]
    found = told(asked, *cells)
    assert {pair: round(ratio.estimate, 3) for pair, ratio in found.items()} == {
        ("female", "male"): 0.5, ("female", "other"): 0.25, ("male", "other"): 0.5,
    }  # fmt: skip
    assert all(ratio.low < ratio.estimate < ratio.high for ratio in found.values())


def test_groups_that_are_taken_together_have_one_too():
    question = stating(tells_all(groups=3), "0.5", "0.3", "0.2")
    both = replace(question.attribute, comparisons=(Comparison(("female", "male"), "other"),))
    found = told(
        study(replace(question, attribute=both)), *zip(NAMES, "000", (10**6, 6 * 10**5, 2 * 10**5), strict=True)
    )
    assert [round(ratio.estimate, 3) for ratio in found.values()] == [2.0]


def test_all_comparisons_hold_together():
    cells = list(zip(NAMES, "000", (10**6, 6 * 10**5, 2 * 10**5), strict=True))
    question = stating(tells_all(groups=3), "0.5", "0.3", "0.2")
    one = replace(question, attribute=replace(question.attribute, comparisons=(Comparison("female", "male"),)))
    alone, among = (told(study(each), *cells)["female", "male"] for each in (one, question))
    assert alone.low > among.low
    assert alone.high < among.high


@pytest.mark.parametrize("epsilon", ["1", "2"])
def test_the_width_is_that_of_the_score_of_shares(epsilon: str):
    r"""Half the width of ln R is z sqrt(H / K), with H = 4 ((E + 3) / (E - 1))^2 for randomized response."""
    scores = Scores(Target((0.5, 0.5), shares_known=False))
    name, channel = make_channel(scores, Decimal(epsilon), design="randomized-response")
    asked = study(Question(RECALL, Attribute("sex", NAMES[:2], ("0.5", "0.5")), "gap", name, epsilon, channel))
    found = told(asked, ("female", "0.5", 50_000), ("male", "0.5", 50_000))["female", "male"]
    factor = math.exp(float(epsilon))
    half = 2.5758 * math.sqrt(4 * ((factor + 3) / (factor - 1)) ** 2 / 10**5)
    assert math.log(found.high / found.low) / 2 == pytest.approx(half, rel=0.01)


def test_shares_that_may_be_off_widen_it():
    """It leans on what is stated: one in five, give or take one in a hundred."""
    cells = ("female", "0.5", 300_000), ("male", "0.5", 800_000)
    exactly, about = (
        told(study(stating(tells_all(), "0.2", "0.8", answering="alike", **error)), *cells)["female", "male"]
        for error in ({}, {"share_error": "0.01"})
    )
    assert about.low == pytest.approx(exactly.low * (0.2 / 0.8) / (0.21 / 0.79))
    assert about.high == pytest.approx(exactly.high * (0.2 / 0.8) / (0.19 / 0.81))


def test_with_three_groups_both_shares_may_be_off():
    cells = list(zip(NAMES, "000", (5 * 10**5, 3 * 10**5, 2 * 10**5), strict=True))
    exactly, about = (
        told(study(stating(tells_all(groups=3), "0.5", "0.3", "0.2", answering="alike", **error)), *cells)[
            "male", "other"
        ]
        for error in ({}, {"share_error": "0.01"})
    )
    assert about.low == pytest.approx(exactly.low * (0.3 / 0.2) / (0.31 / 0.19))
    assert about.high == pytest.approx(exactly.high * (0.3 / 0.2) / (0.29 / 0.21))


def test_it_is_silent_where_nothing_tells():
    cells = ("female", "0.5", 300_000), ("male", "0.5", 800_000)
    assert told(study(tells_all()), *cells) == {}  # no shares are stated
    assert told(study(coin_question()), *cells) == {}  # the table does not tell shares
    few = study(stating(tells_all(), "0.2", "0.8"))
    assert told(few, ("female", "0.5", 3), ("male", "0.5", 8)) == {}  # anything may be


@pytest.mark.parametrize(("women", "said"), [(500_000, False), (550_000, True)])
def test_where_all_are_taken_to_answer_alike_it_is_a_check_of_that(women: int, said: bool):
    asked = study(stating(tells_all(), "0.5", "0.5", answering="alike"))
    tally = expected_tally(asked, people(("female", "0.5", women), ("male", "0.5", 500_000)))
    found = estimate(asked, tally).questions[0]
    ratio = found.response["female", "male"]
    assert ratio.low < women / 500_000 < ratio.high
    assert (
        any(str(warning).startswith("The groups did not answer as the study says") for warning in found.warnings)
        == said
    )


def test_it_goes_into_json_and_tables_with_its_condition():
    asked = study(stating(tells_all(), "0.2", "0.8"))
    tally = expected_tally(asked, people(("female", "0.9", 300_000), ("male", "0.5", 800_000)))
    found = estimate(asked, tally, interval="normal")
    (document,) = found.to_dict()["questions"]
    (one,) = document["response_ratios"]
    assert one["groups"] == ["female", "male"]
    assert one["low"] < 1.5 < one["high"]
    assert document["tipping_factor"] == pytest.approx(1.4 / 0.6 / 2 + 0.05, abs=0.3)
    rows = {row["quantity"]: row for row in found.table()}
    assert rows["response of female / male"]["condition"] == "IF the stated shares are those of the people"
    assert rows["female - male"]["condition"] == ""


@pytest.mark.parametrize(("mistaken", "kept"), [(1.0, True), (1.1, False)])
def test_it_covers_as_often_as_it_says(mistaken: float, kept: bool):
    """Of 400 studies at 90 % confidence, for one in five women who answer twice as often; with a mutant twin."""
    question = stating(tells_all(), "0.2", "0.8")
    reader, draws = reader_of(kind_of("population")), np.random.default_rng(11)
    law = np.array(expected_tally(study(question), people(("female", "0.5", 10**6), ("male", "0.9", 2 * 10**6))).counts)
    missed = 0
    for counts in draws.multinomial(20_000, law / law.sum(), size=400):
        drawn = reader(estimands_of(question), counts_of(tuple(map(int, counts))), None)
        found = response_ratios(drawn, question.attribute, 0.1)[0, 1]
        missed += not found.low <= 2 * mistaken <= found.high
    assert (binom.sf(missed - 1, 400, 0.1) > 1e-6) == kept


@pytest.mark.parametrize("interval", ["population", "anytime", "normal"])
def test_groups_in_the_other_order_have_the_same_numbers_mirrored(interval: str):
    """The same study with its groups turned round, and the same counts: the same people are in the same parts."""
    question = stating(tells_all(), "0.2", "0.8")
    half = len(question.channel.table) // 2
    rows = replace(question.channel, table=question.channel.table[half:] + question.channel.table[:half])
    other = Attribute("sex", NAMES[1::-1], ("0.8", "0.2"))
    asked, turned = study(question), study(replace(question, attribute=other, mechanism=rows))
    assert asked.digest != turned.digest
    counts = np.random.default_rng(5).multinomial(20_000, law_of_everyone(asked)).tolist()
    found, back = (
        estimate(each, Tally(each.digest, tuple(counts)), interval=interval).questions[0] for each in (asked, turned)
    )
    gap, mirrored = found.gap("female", "male"), back.gaps["male", "female"]
    close = 2e-3 * (gap.high - gap.low) / 2
    assert (gap.low, gap.high) == pytest.approx((-mirrored.high, -mirrored.low), abs=close)
    assert found.fit == pytest.approx(back.fit, rel=1e-3)
    ratio, inverse = found.response["female", "male"], back.response["male", "female"]
    assert (ratio.low, ratio.high) == pytest.approx((1 / inverse.high, 1 / inverse.low), rel=1e-3)


def law_of_everyone(asked: Study) -> np.ndarray[Any, np.dtype[np.float64]]:
    tally = expected_tally(asked, people(("female", "0.6", 300_000), ("male", "0.5", 700_000)))
    law: np.ndarray[Any, np.dtype[np.float64]] = np.array(tally.counts) / sum(tally.counts)
    return law
