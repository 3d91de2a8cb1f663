"""Who answered, in words: each sentence no stronger than what is known, and the one that all rest on said once."""

import re
from dataclasses import replace
from typing import Any

import pytest

from fairgauge.estimation import Estimate, Interval, estimate
from fairgauge.languages import Voice
from fairgauge.reports.html_report import render_report
from fairgauge.reports.non_response import any_sentence, response_sentences, tipping_sentences
from fairgauge.reports.provenance import Provenance
from fairgauge.reports.verdicts import Meaning
from fairgauge.study import Attribute, Comparison, Question, Study
from tests.samples import RECALL
from tests.surveys import NAMES, expected_tally, people, study, tells_all

ONCE = "however often each group answered, as long as those who answered are served like the rest of their group"


def question(*shares: str, **more: Any) -> Question:
    asked = tells_all(metric=RECALL, groups=len(shares))
    return replace(asked, attribute=Attribute("sex", NAMES[: len(shares)], shares, **more))


def found_of(asked: Study, *cells: tuple[str, str, int]) -> Estimate:
    return estimate(asked, expected_tally(asked, people(*cells)), interval="normal")


ASKED = study(question("0.5", "0.5"))
FOUND = found_of(ASKED, ("female", "0.8", 550_000), ("male", "0.7", 500_000))


def test_the_response_ratio_is_rounded_outward_and_says_on_what_it_leans():
    told = replace(FOUND.questions[0], response={("female", "male"): Interval(1.07, 0.9512, 1.1981)})
    assert response_sentences(ASKED.questions[0], told) == [
        "Female answered between 0.95 and 1.20 times as often as male, if half of the people are female."
    ]
    rare = question("0.123", "0.877")
    assert response_sentences(rare, told)[0].endswith("if 12.3 % of the people are female.")
    about = question("0.123", "0.877", answering="alike", share_error="0.01")
    assert response_sentences(about, told)[0].endswith("if 12.3 % (give or take 1 %) of the people are female.")


def test_of_more_groups_both_shares_are_named():
    asked = study(question("0.5", "0.3", "0.2"))
    found = found_of(asked, *zip(NAMES, ("0.9", "0.5", "0.7"), (500_000, 300_000, 200_000), strict=True))
    (said,) = response_sentences(asked.questions[0], found.questions[0])
    assert said.endswith("times as often as male, if half of the people are female and 30 % are male.")


def test_groups_that_are_taken_together_have_their_shares_together():
    asked = question("0.5", "0.3", "0.2")
    asked = replace(asked, attribute=replace(asked.attribute, comparisons=(Comparison(("female", "male"), "other"),)))
    found = found_of(study(asked), *zip(NAMES, ("0.9", "0.9", "0.5"), (500_000, 300_000, 200_000), strict=True))
    (said,) = response_sentences(asked, found.questions[0])
    assert "if 80 % of the people are" in said
    assert any_sentence([(asked, found.questions[0])]) is None  # its sides count as they answered


@pytest.mark.parametrize(("low", "factor"), [(0.024, "1.04"), (0.05, "1.10"), (0.0011, "1.002"), (-0.01, None)])
def test_the_tipping_factor_is_rounded_down(low: float, factor: str | None):
    gap = Interval(0.06, low, 0.1, (-1, 1))
    told = replace(FOUND.questions[0], gaps={("female", "male"): gap}, means={})
    said = tipping_sentences(ASKED.questions[0], told)
    if factor is None:
        assert said == []
        return
    (one,) = said
    assert one.startswith("The sign could turn only if, within a group, the odds of answering differed between people")
    assert one.endswith(f"by a factor of {factor} or more.")


def test_values_that_vary_little_take_a_larger_factor():
    told = replace(FOUND.questions[0], gaps={("female", "male"): Interval(0.06, 0.05, 0.1, (-1, 1))}, means={})
    narrow = replace(ASKED.questions[0], spread="0.15")
    assert tipping_sentences(narrow, told)[1].endswith("as the study expects, it takes a factor of 1.39 or more.")
    assert "0.15" in tipping_sentences(narrow, told)[1]
    assert len(tipping_sentences(replace(narrow, spread="max"), told)) == 1


def test_means_that_are_told_take_a_larger_factor_if_they_are_within_their_intervals():
    means = {"female": Interval(0.9, 0.89, 0.91, (0, 1)), "male": Interval(0.83, 0.82, 0.84, (0, 1))}
    told = replace(FOUND.questions[0], gaps={("female", "male"): Interval(0.07, 0.05, 0.09, (-1, 1))}, means=means)
    first, second = tipping_sentences(ASKED.questions[0], told)
    assert first.endswith("by a factor of 1.10 or more.")
    assert second == "If both means are within their intervals too, it takes a factor of 1.24 or more."
    assert told.tipping_of_means == pytest.approx(1.2414, abs=1e-4)
    alone = {"female": means["female"]}
    assert replace(told, means=alone).tipping_of_means is None
    assert len(tipping_sentences(ASKED.questions[0], replace(told, means=alone))) == 1


def test_where_all_are_taken_to_answer_alike_the_sign_rests_on_that_and_the_ratio_does_not():
    alike = study(question("0.5", "0.5", answering="alike"))
    found = found_of(alike, ("female", "0.8", 500_000), ("male", "0.7", 500_000))
    first, *turns = Meaning(alike.questions[0], found.questions[0], 0.99).answering()
    assert first.startswith("Female answered between")
    assert turns[0].startswith("IF both answered equally often: The sign could turn")
    assert all(said.startswith("IF both answered equally often: ") for said in turns)
    assert any_sentence(zip(alike.questions, found.questions, strict=True)) is None


@pytest.mark.parametrize("count", [1, 2])
def test_a_report_says_once_on_what_it_rests(count: int):
    other = replace(question("0.5", "0.5"), metric=replace(RECALL, name="precision"))
    asked = study(*(question("0.5", "0.5"), other)[:count])
    tally = expected_tally(asked, people(("female", "0.9", 550_000), ("male", "0.5", 500_000)))
    found = estimate(asked, tally, interval="normal")
    page = render_report(asked, tally, found, Provenance(asked=2_000_000))
    assert page.count(ONCE) == 1
    assert "1,050,000 answers of 2,000,000 who were asked" in page
    assert page.count("If some answered more readily than others.") == count
    assert not any(
        ONCE in said
        for q, f in zip(asked.questions, found.questions, strict=True)
        for said in Meaning(q, f, found.confidence).sentences()
    )


def test_nothing_is_said_of_nothing():
    early = found_of(ASKED, ("female", "0.8", 3), ("male", "0.7", 3)).questions[0]
    assert response_sentences(ASKED.questions[0], early) == []
    assert tipping_sentences(ASKED.questions[0], early) == []
    assert any_sentence([(ASKED.questions[0], early)]) is None


@pytest.mark.parametrize("tag", ["de", "ar"])
def test_other_languages_say_it_too(tag: str):
    said = Meaning(ASKED.questions[0], FOUND.questions[0], 0.99).answering()
    assert len(said) == 3
    for one in said:
        assert Voice(tag).tell(one) != str(one)


@pytest.mark.parametrize(("reckoned", "end"), [(None, ""), ("0.01", " It was made for 1 %.")])
def test_how_many_abstained_is_rounded_outward(reckoned: str | None, end: str):
    asked = replace(tells_all("0.5", "0.5", abstain=True), abstaining=reckoned)
    who = people(("female", "0.9", 49_000), ("male", "0.5", 48_000), (None, None, 3000))
    (found,) = estimate(study(asked), expected_tally(study(asked), who), interval="normal").questions
    (said,) = (said for said in response_sentences(asked, found) if "say nothing" in said)
    low, high = map(float, re.findall(r"[\d.]+", said)[:2])
    assert found.answered is not None
    assert low <= 100 * (1 - found.answered.high) < 3 < 100 * (1 - found.answered.low) <= high
    assert said.endswith(f" say nothing: people who abstain, or of whom the study does not ask.{end}")
