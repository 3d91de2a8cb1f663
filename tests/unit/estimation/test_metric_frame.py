from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame

from fairgauge import Attribute, Metric, Population, PrivateMetricFrame, Question, Tally
from fairgauge.designs import make_channel
from fairgauge.errors import BadTally, CannotEstimate, InvalidInput
from fairgauge.estimation import estimate
from fairgauge.simulation import Cell, simulate_exactly
from fairgauge.study import Comparison
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.samples import RECALL, sample_question, sample_study
from tests.surveys import coin_question, expected_tally, people, study, tells_all

LOSS = Metric("loss", "0", "4")
METHODS = ("between_groups", "to_overall")
NUMBERS = (
    "overall",
    "by_group",
    "group_min",
    "group_max",
    *(f"{n} {m}" for n in ("difference", "ratio") for m in METHODS),
)
# A thousand people: sex, how often each pair of recall and loss occurs.
PEOPLE = pd.DataFrame(
    [
        ("male", 0.9, 1.0, 250),
        ("male", 0.5, 2.0, 150),
        ("female", 0.75, 3.0, 300),
        ("female", 0.25, 0.5, 150),
        ("other", 1.0, 4.0, 50),
        ("other", 0.0, 1.5, 100),
    ],
    columns=["sex", "recall", "loss", "count"],
)


def number(frame: MetricFrame | PrivateMetricFrame, name: str, *, ci: bool = False) -> Any:
    what, _, method = name.partition(" ")
    found = getattr(frame, f"{what}_ci" if ci else what)
    if not callable(found):
        return found
    return found(method=method) if method else found()


def fairlearns() -> MetricFrame:
    """What Fairlearn says about the same people, without any privacy."""
    everyone = PEOPLE.loc[PEOPLE.index.repeat(PEOPLE["count"])]
    return MetricFrame(
        metrics={"recall": lambda recall, _: recall.mean(), "loss": lambda _, loss: loss.mean()},
        y_true=everyone["recall"],
        y_pred=everyone["loss"],
        sensitive_features=everyone[["sex"]],
    )


@lru_cache
def ours(*, known: bool = True, swapped: bool = False) -> PrivateMetricFrame:
    """The same people, many of each, asked privately."""
    shares = (0.45, 0.4, 0.15)
    scores = Scores(Target(shares, shares_known=known, kind="means"))
    name, channel = make_channel(scores, Decimal(4), design="randomized-response")
    sex = Attribute("sex", ("female", "male", "other"), shares, answering="alike" if known else "any")
    asked = study(*(Question(metric, sex, "means", name, "4", channel) for metric in (RECALL, LOSS)))
    names = {"female": "male", "male": "female"} if swapped else {}
    cells = [
        Cell(names.get(sex, sex), Decimal(str(value)), count * 10**6, metric)
        for metric in ("recall", "loss")
        for sex, value, count in zip(PEOPLE["sex"], PEOPLE[metric], PEOPLE["count"].tolist(), strict=True)
    ]
    tally = simulate_exactly(asked, Population(tuple(cells)), seed=11)
    return PrivateMetricFrame(asked, tally)


@pytest.mark.parametrize("known", [True, False], ids=["shares known", "shares estimated"])
@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_has_fairlearns_shape_and_holds_fairlearns_number(name: str, known: bool) -> None:
    frame, theirs = ours(known=known), number(fairlearns(), name)
    here, (low, high) = number(frame, name), number(frame, name, ci=True)
    for mine in (here, low, high):
        assert type(mine) is type(theirs)
        for axis, fairlearns_axis in zip(mine.axes, theirs.axes, strict=True):
            assert list(axis) == list(fairlearns_axis)
            assert axis.name == fairlearns_axis.name
        assert (mine.dtypes == theirs.dtypes).all() if mine.ndim == 2 else mine.dtype == theirs.dtype
    assert ((low < here) & (here < high)).all(axis=None)
    assert ((low < theirs) & (theirs < high)).all(axis=None)
    assert ((high - low) < 0.01).all(axis=None)


@pytest.mark.parametrize("name", ["by_group", "difference to_overall"])
def test_swapped_groups_would_be_noticed(name: str) -> None:
    """The mutant twin, with the shares as they were."""
    theirs, (low, high) = number(fairlearns(), name), number(ours(swapped=True), name, ci=True)
    assert not ((low < theirs) & (theirs < high)).all(axis=None)


def test_what_fairlearn_calls_the_levels() -> None:
    assert ours().sensitive_levels == fairlearns().sensitive_levels == ["sex"]
    assert ours().control_levels is fairlearns().control_levels is None
    assert ours().ci_quantiles == pytest.approx([0.005, 0.995])


def test_what_fairlearn_does_not_have() -> None:
    known, estimated = ours(), ours(known=False)
    assert 3.9 < known.epsilon <= 4
    assert known.n_answers.sum() == 10**9
    assert known.n_answers["recall"] == pytest.approx(5 * 10**8, rel=1e-3)
    assert known.group_share["loss"].to_dict() == {"female": 0.45, "male": 0.4, "other": 0.15}
    assert known.group_share_ci[0].equals(known.group_share)
    assert estimated.group_share["recall"]["male"] == pytest.approx(0.4, abs=1e-3)
    low, high = (ends["recall"]["male"] for ends in estimated.group_share_ci)
    assert low < 0.4 < high
    assert repr(known) == "PrivateMetricFrame(recall, loss by sex, 1,000,000,000 answers)"


def test_means_are_those_of_the_estimate() -> None:
    asked = study(tells_all("0.5", "0.5", metric=RECALL))
    tally = expected_tally(asked, people(("female", "0.75", 5000), ("male", "0.5", 5000)))
    frame = PrivateMetricFrame(asked, tally, confidence=0.9, interval="normal")
    found = estimate(asked, tally, confidence=0.9, interval="normal")["recall"]
    assert frame.by_group["recall"].to_dict() == {group: mean.estimate for group, mean in found.means.items()}
    male = found.means["male"]
    assert [ends["recall"]["male"] for ends in frame.by_group_ci] == [male.low, male.high]
    assert found.overall is not None
    assert frame.overall["recall"] == found.overall.estimate
    assert frame.difference()["recall"] == abs(found.gap("female", "male").estimate)


def test_what_is_about_all_groups_holds_for_all_of_them() -> None:
    """Intervals of the smallest and largest come from wider ones than a single group's."""
    asked = study(tells_all("0.5", "0.5", metric=RECALL))
    tally = expected_tally(asked, people(("female", "0.75", 50_000), ("male", "0.25", 50_000)))
    frame = PrivateMetricFrame(asked, tally)
    together = estimate(asked, tally, confidence=1 - 0.01 / 2)["recall"].means
    male, female = together["male"], together["female"]
    assert [ends["recall"] for ends in frame.group_min_ci()] == [male.low, male.high]
    assert [ends["recall"] for ends in frame.group_max_ci()] == [female.low, female.high]
    low, high = (ends["recall"] for ends in frame.ratio_ci())
    assert low == male.low / female.high
    assert high == male.high / female.low


def test_a_study_of_the_gap_tells_differences_and_no_mean() -> None:
    asked = study(coin_question(RECALL))
    frame = PrivateMetricFrame(
        asked, expected_tally(asked, people(("female", "0.75", 50_000), ("male", "0.5", 50_000)))
    )
    assert frame.difference()["recall"] == pytest.approx(0.25)
    assert frame.difference(method="to_overall")["recall"] == pytest.approx(0.125)
    low, high = (ends["recall"] for ends in frame.difference_ci())
    assert 0 < low < 0.25 < high
    for name in ("overall", "by_group", "group_min", "group_max", "ratio between_groups", "ratio to_overall"):
        for ci in (False, True):
            with pytest.raises(
                CannotEstimate, match=r"^recall: these answers do not tell .* can estimate the gap, not"
            ):
                number(frame, name, ci=ci)


def test_the_largest_gap_of_groups_that_were_not_all_compared_is_refused_with_the_reason() -> None:
    asked = tells_all("0.5", "0.25", "0.25")
    *others, last = asked.attribute.groups
    compared = replace(asked.attribute, comparisons=tuple(Comparison(other, last) for other in others))
    some = study(replace(asked, attribute=compared))
    frame = PrivateMetricFrame(some, Tally(some.digest, (10_000,) * some.symbols))
    with pytest.raises(CannotEstimate, match="did not plan to compare every two groups"):
        frame.difference_ci()


def test_a_gap_that_may_be_zero_has_an_interval_from_zero() -> None:
    asked = study(coin_question(RECALL))
    frame = PrivateMetricFrame(asked, expected_tally(asked, people(("female", "0.51", 500), ("male", "0.5", 500))))
    assert frame.difference_ci()[0]["recall"] == 0


def test_no_answers_give_no_number() -> None:
    asked = study(tells_all("0.5", "0.5", metric=RECALL))
    frame = PrivateMetricFrame(asked, Tally.empty(asked))
    assert frame.n_answers.to_dict() == {"recall": 0}
    for name in NUMBERS:
        with pytest.raises(CannotEstimate, match="There are no answers yet"):
            number(frame, name)


def test_ratios_need_means_above_zero() -> None:
    asked = study(tells_all("0.5", "0.5"))  # a metric from -1 to 1
    frame = PrivateMetricFrame(asked, expected_tally(asked, people(("female", "0.5", 5000), ("male", "0.5", 5000))))
    with pytest.raises(CannotEstimate, match="a mean is not clearly above zero"):
        frame.ratio()
    asked = study(tells_all("0.5", "0.5", metric=RECALL))
    frame = PrivateMetricFrame(asked, expected_tally(asked, people(("female", "0", 50_000), ("male", "0.5", 50_000))))
    low, high = (ends["recall"] for ends in frame.difference_ci())
    assert low < 0.5 < high


def test_equal_groups_may_have_ratio_one() -> None:
    asked = study(tells_all("0.5", "0.5", metric=RECALL))
    frame = PrivateMetricFrame(asked, expected_tally(asked, people(("female", "0.5", 10**6), ("male", "0.5", 10**6))))
    for method in METHODS:
        assert frame.ratio(method)["recall"] == pytest.approx(1, abs=1e-4)  # type: ignore[arg-type]
        low, high = (ends["recall"] for ends in frame.ratio_ci(method))  # type: ignore[arg-type]
        assert low < 1
        assert high == 1


def test_arguments() -> None:
    age = Attribute("age", ("young", "old"), ("0.5", "0.5"), answering="alike")
    asked = sample_study(sample_question(), sample_question(attribute=age))
    with pytest.raises(InvalidInput, match=r"attribute=None: must be one of age, sex"):
        PrivateMetricFrame(asked, Tally.empty(asked))
    assert PrivateMetricFrame(asked, Tally.empty(asked), attribute="age").sensitive_levels == ["age"]
    with pytest.raises(BadTally):
        PrivateMetricFrame(asked, Tally.empty(study(coin_question())), attribute="age")
    with pytest.raises(InvalidInput, match="method=both"):
        ours().difference("both")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="confidence"):
        PrivateMetricFrame(asked, Tally.empty(asked), attribute="age", confidence=1.0)


@lru_cache
def off_by_a_twentieth() -> PrivateMetricFrame:
    """Stated 0.5 and 0.5, known to 0.05: really 0.45 and 0.55."""
    sex = Attribute("sex", {"female": "0.5", "male": "0.5"}, share_error="0.05", answering="alike")
    name, channel = make_channel(Scores(Target((0.5, 0.5))), Decimal(2), design="randomized-response")
    asked = study(Question(RECALL, sex, "gap", name, "2", channel))
    tally = expected_tally(asked, people(("female", "0.9", 45 * 10**10), ("male", "0.5", 55 * 10**10)))
    return PrivateMetricFrame(asked, tally)


def test_a_stated_share_is_as_wide_as_its_error():
    low, high = off_by_a_twentieth().group_share_ci
    assert low["recall"].tolist() == pytest.approx([0.45, 0.45])
    assert high["recall"].tolist() == pytest.approx([0.55, 0.55])


def test_the_difference_to_everyone_holds_for_the_shares_that_are_right():
    low, high = off_by_a_twentieth().difference_ci("to_overall")
    # Everyone is at 0.45 * 0.9 + 0.55 * 0.5 = 0.68.
    assert low["recall"] <= 0.9 - 0.68 <= high["recall"]
