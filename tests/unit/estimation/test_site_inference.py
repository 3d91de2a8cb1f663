"""A metric frame of sites beside Fairlearn's own, on the records of all sites together.

Covers: fairgauge.estimation.metric_frame
"""

import random
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics as fairlearn
from sklearn.metrics import accuracy_score, precision_score

import fairgauge as fg
from fairgauge import PrivateMetricFrame
from fairgauge.client import Answer
from fairgauge.client.discrete_laplace import draw_noise
from fairgauge.client.site_counts import count_records
from fairgauge.errors import InvalidInput
from fairgauge.estimation.site_inference import _FAIRLEARN
from fairgauge.tallies import Tally
from tests.sites import confusion_study, levels_study, read, records, site_of, tally

RATES = {"male": (0.8, 0.2), "female": (0.6, 0.1)}
THEIRS: dict[str, Any] = {
    "selection_rate": fairlearn.selection_rate,
    "accuracy_score": accuracy_score,
    "true_positive_rate": fairlearn.true_positive_rate,
    "false_positive_rate": fairlearn.false_positive_rate,
    "precision_score": precision_score,
}
NUMBERS = [
    "overall", "by_group", "group_min", "group_max",
    *(f"{name} {method}" for name in ("difference", "ratio") for method in ("between_groups", "to_overall")),
]  # fmt: skip
FUNCTIONS = [
    f"{name}_{kind}"
    for name in ("demographic_parity", "equalized_odds", "equal_opportunity")
    for kind in ("difference", "ratio")
]


@cache
def pooled() -> list[list[Any]]:
    chance = random.Random(3)
    return [records(chance, 700, RATES) for _ in range(6)]


@cache
def columns() -> tuple[Any, Any, Any]:
    every = [record for site in pooled() for record in site]
    outcomes = np.array([outcome for _, _, outcome in every])
    return outcomes[:, 0], outcomes[:, 1], pd.Series([group for _, (group,), _ in every], name="sex")


@cache
def fairlearns() -> fairlearn.MetricFrame:
    truth, said, sex = columns()
    return fairlearn.MetricFrame(metrics=THEIRS, y_true=truth, y_pred=said, sensitive_features=sex)


@cache
def ours(*, noise: bool) -> PrivateMetricFrame:
    study, chance = confusion_study(), random.Random(4)
    answers = [
        Answer(
            study.digest,
            f"{number:032x}",
            tuple(
                count + (draw_noise(1, 2, below=chance.randrange) if noise else 0)
                for count in count_records(site_of(study), read(site_of(study), each))
            ),
        )
        for number, each in enumerate(pooled())
    ]
    # Without noise only the estimates are looked at, which are the same for all kinds of intervals.
    kind = "records" if noise else "sites"
    return PrivateMetricFrame(study, Tally.of(study, answers), confidence=0.999, interval=kind)


def number(frame: Any, name: str, *, ci: bool = False) -> Any:
    what, _, method = name.partition(" ")
    found = getattr(frame, f"{what}_ci" if ci else what)
    if not callable(found):
        return found
    return found(method=method) if method else found()


@pytest.mark.parametrize("name", NUMBERS)
def test_exact_counts_give_fairlearns_numbers_in_fairlearns_shapes(name: str) -> None:
    mine, theirs = number(ours(noise=False), name), number(fairlearns(), name)
    assert type(mine) is type(theirs)
    for axis, their_axis in zip(mine.axes, theirs.axes, strict=True):
        assert list(axis) == list(their_axis)
        assert axis.name == their_axis.name
    assert np.allclose(mine, theirs.astype(float), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", NUMBERS)
def test_noisy_counts_hold_fairlearns_numbers(name: str) -> None:
    theirs, (low, high) = number(fairlearns(), name), number(ours(noise=True), name, ci=True)
    assert ((low <= theirs) & (theirs <= high)).all(axis=None)
    assert ((high - low) < 0.5).all(axis=None)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_fairness_by_the_names_of_fairlearns_functions(name: str) -> None:
    truth, said, sex = columns()
    theirs = getattr(fairlearn, name)(truth, said, sensitive_features=sex)
    assert getattr(ours(noise=False), name)() == pytest.approx(theirs, abs=1e-12)
    low, high = getattr(ours(noise=True), f"{name}_ci")()
    assert low <= theirs <= high
    assert high - low < 0.5


def test_groups_that_are_swapped_are_noticed() -> None:
    """The mutant twin: the cells of the two groups in the other order."""
    study, kept = confusion_study(), ours(noise=False)._tally
    assert isinstance(kept, Tally)
    counts = (*kept.counts[4:], *kept.counts[:4])
    swapped = Tally(study.digest, counts, kept.contributors, kept.products)
    frame = PrivateMetricFrame(study, swapped, interval="records", metrics=["true_positive_rate"])
    (low, high), theirs = frame.by_group_ci, fairlearns().by_group[["true_positive_rate"]]
    assert not ((low <= theirs) & (theirs <= high)).all(axis=None)


def test_it_agrees_with_the_estimate() -> None:
    kind = "sites"
    study, counted = confusion_study(), tally(confusion_study(), sites=6, people=300, rates=RATES)
    frame = PrivateMetricFrame(study, counted, confidence=0.95, interval=kind)
    found = fg.estimate(study, counted, confidence=0.95, interval=kind)
    for ours, theirs in _FAIRLEARN.items():
        told = found[ours]
        assert [end[theirs]["male"] for end in frame.by_group_ci] == [told.means["male"].low, told.means["male"].high]
        assert told.overall is not None
        assert frame.overall[theirs] == told.overall.estimate
        assert [end[theirs] for end in frame.difference_ci()] == [
            told.gap("female", "male").size.low,
            told.gap("female", "male").size.high,
        ]
        assert told.impact_ratio is not None
        assert [end[theirs] for end in frame.ratio_ci()] == [told.impact_ratio.low, told.impact_ratio.high]
    assert frame.group_share["precision_score"]["female"] == found.questions[0].shares["female"].estimate
    assert frame.n_answers.tolist() == [6] * 5
    assert frame.epsilon == 1
    assert repr(frame).endswith("by sex, 6 answers)")
    assert frame.to_frame()["metric"][0] == "selection_rate"
    assert "<td" in frame._repr_html_()


def test_metrics_that_are_told_though_another_may_be_anything() -> None:
    study = confusion_study()
    counts = (300, 3, 40, 90, 300, 4, 50, 80)  # hardly a false positive
    counted = Tally(study.digest, counts, 8, (0,) * 36)
    few = Tally(study.digest, (300, 3, 2, 1, 300, 4, 50, 80), 8, (0,) * 36)  # hardly a positive woman
    low, high = PrivateMetricFrame(study, few, interval="records").by_group_ci
    assert (low["true_positive_rate"]["female"], high["true_positive_rate"]["female"]) == (0, 1)
    frame = PrivateMetricFrame(study, counted, interval="records", metrics=["true_positive_rate"])
    assert list(frame.by_group) == ["true_positive_rate"]
    assert frame.by_group["true_positive_rate"]["female"] == pytest.approx(90 / 130)
    with pytest.raises(InvalidInput, match="metric=selection_rate: must be one of true_positive_rate"):
        frame.demographic_parity_difference_ci()
    with pytest.raises(InvalidInput, match="metrics=recall: must be of selection_rate, accuracy_score"):
        PrivateMetricFrame(study, counted, metrics=["recall"])


def test_a_metric_on_levels_keeps_its_name() -> None:
    study = levels_study()
    counted = Tally(study.digest, (100, 500, 400, 200, 300, 500), 1, (0,) * 21)
    frame = PrivateMetricFrame(study, counted, interval="records")
    assert frame.by_group["score"].to_dict() == pytest.approx({"female": 6.5, "male": 6.5})
    with pytest.raises(InvalidInput, match="must be one of score"):
        frame.equalized_odds_difference()
    with pytest.raises(InvalidInput, match="the digest of this study"):
        PrivateMetricFrame(study, fg.Tally("0" * 64, (0,)))
