"""What a study would find without noise."""

from decimal import Decimal
from fractions import Fraction

from fairgauge.simulation import Cell, Population, Truth, true_values
from fairgauge.study import Attribute, Metric
from tests.samples import THREE_LEVELS, sample_question, sample_study

ABSTAIN = sample_study(sample_question(levels=THREE_LEVELS, abstain=True))
CELLS = (
    Cell("female", Decimal("0.25"), 30),
    Cell("male", Decimal("0.8"), 50),
    Cell("female", None, 15),
    Cell(None, None, 5),
)


def test_are_about_those_who_gave_both() -> None:
    cells = (*CELLS, Cell("female", Decimal("0.75"), 90), Cell(None, Decimal(1), 5))
    assert true_values(ABSTAIN, Population(cells)) == (
        Truth(
            metric="recall",
            attribute="sex",
            shares={"female": 120 / 170, "male": 50 / 170},
            means={"female": 0.625, "male": 0.8},
            gaps={("female", "male"): -0.175},
            overall=float((120 * Fraction("0.625") + 50 * Fraction("0.8")) / 170),
        ),
    )


def test_every_pair_has_a_gap_and_every_question_its_own_values() -> None:
    age = Attribute("age", ("young", "middle", "old"))
    study = sample_study(
        sample_question(Metric("error", "0", "10"), age), sample_question(Metric("delay", "0", "10"), age)
    )
    cells = tuple(
        Cell(group, Decimal(value), 10, metric)
        for metric, values in (("delay", (1, 2, 4)), ("error", (9, 5, 7)))
        for group, value in zip(age.groups, values, strict=True)
    )
    error, delay = true_values(study, Population(cells))
    assert error.gaps == {("young", "middle"): 4, ("young", "old"): 2, ("middle", "old"): -2}
    assert delay.means == {"young": 1, "middle": 2, "old": 4}


def test_groups_without_clients_are_absent() -> None:
    truth = true_values(ABSTAIN, Population((Cell("male", Decimal(1), 5), Cell("female", Decimal(1), 0))))[0]
    assert (truth.means, truth.gaps, truth.overall) == ({"male": 1.0}, {}, 1.0)
    truth = true_values(ABSTAIN, Population((Cell(None, None, 5),)))[0]
    assert (truth.means, truth.gaps, truth.overall) == ({}, {}, None)
