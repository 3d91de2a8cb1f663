"""Margins and planned comparisons: the truth for the true law, in every kind of interval, and only what was planned.

Covers: fairgauge.targets.comparisons
"""

from dataclasses import replace

import numpy as np
import pytest

from fairgauge.errors import CannotEstimate, InvalidInput
from fairgauge.estimation import estimate
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.interval_kinds import KINDS
from fairgauge.estimation.interval_readers import READERS
from fairgauge.simulation import Population, true_values
from fairgauge.simulation.population import read_cell
from fairgauge.study import Attribute, Question, Study
from fairgauge.study.margins import usual_comparisons
from tests.samples import RECALL, sample_channel
from tests.surveys import expected_tally

SEX, AGE = Attribute("sex", ["female", "male"]), Attribute("age", ["young", "old"])
MEANS = {"female, young": "0.9", "female, old": "0.5", "male, young": "0.8", "male, old": "0.7"}
SHARES = ("0.1", "0.4", "0.2", "0.3")
# Women: (0.1 * 0.9 + 0.4 * 0.5) / 0.5 = 0.58; men: (0.2 * 0.8 + 0.3 * 0.7) / 0.5 = 0.74.
WOMEN, MEN = 0.58, 0.74


def crossed(*, known: bool = True, loss: int = 12, abstain: bool = False) -> Question:
    cells = Attribute.crossed(SEX, AGE, shares=SHARES, answering="alike") if known else Attribute.crossed(SEX, AGE)
    cells = replace(cells, comparisons=usual_comparisons(cells))
    return Question(RECALL, cells, "means", "sample", "2.6", sample_channel(groups=4, loss=loss, abstain=abstain))


def people(total: int = 10**6) -> Population:
    rows = zip(MEANS.items(), SHARES, strict=True)
    cells = [
        dict(zip(("sex", "age"), cell.split(", "), strict=True), recall=mean, count=round(total * float(share)))
        for (cell, mean), share in rows
    ]
    return Population(tuple(map(read_cell, cells)))


@pytest.mark.parametrize(
    ("interval", "known"), [*((kind, True) for kind in KINDS), ("population", False), ("normal", False)]
)
def test_margins_are_the_truth_for_expected_counts(interval: str, known: bool):
    study = Study("Crossed", [crossed(known=known)])
    found = estimate(study, expected_tally(study, people()), interval=interval)["recall"]
    assert list(found.gaps) == [
        ("female", "male"), ("young", "old"), ("female, young", "male, young"), ("female, old", "male, old"),
    ]  # fmt: skip
    assert found.gap("male", "female").estimate == pytest.approx(MEN - WOMEN, abs=1e-4)
    assert found.margins["female"].estimate == pytest.approx(WOMEN, abs=1e-4)
    assert found.means["female, old"].estimate == pytest.approx(0.5, abs=1e-4)
    for gap, (_, true) in zip(found.gaps.values(), true_values(study, people())[0].gaps.items(), strict=True):
        assert gap.low < true < gap.high
        assert gap.estimate == pytest.approx(true, abs=2e-4)


def test_a_margin_is_sharper_than_its_cells():
    study = Study("Crossed", [crossed()])
    found = estimate(study, expected_tally(study, people()), interval="normal")["recall"]
    widths = {pair: gap.high - gap.low for pair, gap in found.gaps.items()}
    assert widths["female", "male"] < min(widths["female, young", "male, young"], widths["female, old", "male, old"])


def test_fewer_planned_comparisons_are_sharper_together():
    question = crossed()
    one = replace(question.attribute, comparisons=usual_comparisons(question.attribute)[:1])
    few, all_of_them = (
        Study("Crossed", [replace(question, attribute=attribute)])
        for attribute in (one, replace(question.attribute, comparisons=None))
    )
    gap = estimate(few, expected_tally(few, people()))["recall"].gap("female", "male")
    cells = estimate(all_of_them, expected_tally(all_of_them, people()))["recall"]
    with pytest.raises(CannotEstimate, match="the study did not plan to compare female and male"):
        cells.gap("female", "male")
    assert len(cells.gaps) == 6
    told = estimands_of(few.questions[0])
    reader = READERS["population"](told, np.array(expected_tally(few, people()).counts, float))
    alone = reader.ratio(told.gaps[(0, 1), (2, 3)], 0.01) if told.gaps else None
    assert alone is not None
    assert (gap.low, gap.high) == pytest.approx((alone.low / 2, alone.high / 2))


def test_the_score_of_a_margin_is_unbiased_for_it():
    question = crossed()
    told = estimands_of(question)
    rows, gaps = np.array(question.channel.table) / 2**53, told.gaps
    assert gaps is not None
    wanted = [side * v / 0.5 for side, v in ((1, -1), (1, 1), (1, -1), (1, 1), (-1, -1), (-1, 1), (-1, -1), (-1, 1))]
    assert rows @ gaps[(0, 1), (2, 3)].over == pytest.approx(wanted, abs=1e-9)


def test_shares_that_may_be_off_widen_margins_too():
    exact = Study("Crossed", [crossed()])
    (question,) = exact.questions
    off = Study("Crossed", [replace(question, attribute=replace(question.attribute, share_error="0.01"))])
    narrow, wide = (estimate(s, expected_tally(s, people()))["recall"] for s in (exact, off))
    for pair in narrow.gaps:
        assert wide.gaps[pair].low < narrow.gaps[pair].low < narrow.gaps[pair].high < wide.gaps[pair].high
    # The share of women is off by at most 0.02: a mean of 0.16 in [-1, 1] moves by at most 0.16 * 0.02 / 0.48.
    assert wide.margins["female"].low < narrow.margins["female"].low


def test_what_is_no_side_is_named():
    study = Study("Crossed", [crossed()])
    found = estimate(study, expected_tally(study, people()), interval="normal")["recall"]
    with pytest.raises(InvalidInput, match="group=old women: must be one of female, young"):
        found.gap("old women", "male")
    assert "margins" in found.to_dict()
    assert [name for name, _ in found.rows()][4:9] == ["female", "male", "young", "old", "female, young"]


def test_people_may_abstain():
    study = Study("Crossed", [crossed(abstain=True)])
    found = estimate(study, expected_tally(study, people()))["recall"]
    assert found.gap("male", "female").estimate == pytest.approx(MEN - WOMEN, abs=1e-3)
