"""Clients of a study: kinds with their inputs, everyone or drawn."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import pytest

from fairgauge.channel import LEVEL_UNIT
from fairgauge.errors import InvalidInput
from fairgauge.simulation import Cell, Population
from fairgauge.simulation.clients import Clients
from fairgauge.simulation.population import read_cell
from fairgauge.study import Attribute, Study
from tests.samples import joint_questions, sample_question, sample_study, two_questions

PEOPLE = Population(
    (
        Cell("female", Decimal(0), 700, "recall"),
        Cell("male", Decimal(1), 300, "recall"),
        Cell("old", Decimal(0), 600, "error"),
        Cell(None, None, 400, "error"),
    )
)


def test_histograms_of_several_metrics_are_paired_in_order():
    kinds = Clients.of(two_questions(), PEOPLE).kinds
    assert [count for _, count in kinds] == [600, 100, 300]
    assert [inputs[0][0] for inputs, _ in kinds] == [0, 0, 1]
    assert [inputs[1][0] is None for inputs, _ in kinds] == [False, True, True]


def test_cells_that_nobody_is_in_make_no_kind():
    people = Population((Cell("female", Decimal("0.5"), 0), Cell("male", Decimal(1), 5)))
    assert Clients.of(sample_study(), people).kinds == ((((1, Fraction(LEVEL_UNIT)),), 5),)


def test_drawn_clients_are_as_many_as_asked_for_and_of_the_same_kinds():
    everyone = Clients.of(two_questions(), PEOPLE)
    drawn = everyone.drawn(10**6, seed=1)
    assert (everyone.total, drawn.total) == (1000, 10**6)
    assert [inputs for inputs, _ in drawn.kinds] == [inputs for inputs, _ in everyone.kinds]
    assert drawn != everyone.drawn(10**6, seed=2)


def test_nobody_cannot_be_drawn():
    with pytest.raises(InvalidInput, match="clients=0: must be an integer from 1"):
        Clients.of(two_questions(), PEOPLE).drawn(0)


class TestColumns:
    """Rows that have a column for each attribute and each metric."""

    CROSSED = Attribute.crossed(Attribute("sex", ["f", "m"]), Attribute("age", ["young", "old"]))

    def kinds(self, study: Study, *rows: Mapping[str, object]) -> list[tuple[object, ...]]:
        return [inputs[0] for inputs, _ in Clients.of(study, Population(tuple(map(read_cell, rows)))).kinds]

    def test_a_cell_is_found_by_the_groups_that_cross(self) -> None:
        study = sample_study(sample_question(attribute=self.CROSSED, abstain=True))
        rows = [{"sex": sex, "age": age, "recall": 1, "count": 5} for sex in "fm" for age in ("young", "old", "")]
        assert [group for group, _ in self.kinds(study, *rows)] == [0, 1, None, 2, 3, None]

    def test_a_cell_may_be_named_too(self) -> None:
        study = sample_study(sample_question(attribute=self.CROSSED))
        top = Fraction(LEVEL_UNIT)
        assert self.kinds(study, {"group": "m, old", "value": 1, "count": 5}) == [(3, top)]
        assert self.kinds(study, {"sex by age": "m, old", "recall": 1, "count": 5}) == [(3, top)]

    def test_a_table_of_several_questions_takes_a_value_of_each(self) -> None:
        study = Study("Joint", joint_questions())
        row = {"sex": "male", "recall": "1", "false alarms": 0, "count": 5}
        assert self.kinds(study, row) == [(1, Fraction(LEVEL_UNIT), Fraction(-LEVEL_UNIT))]

    def test_values_of_one_person_must_stand_in_one_row(self) -> None:
        cells = (Cell("male", Decimal(1), 5, "recall"), Cell("male", Decimal(0), 5, "false alarms"))
        with pytest.raises(InvalidInput, match="column=value: must be a column for each of recall and false alarms"):
            Clients.of(Study("Joint", joint_questions()), Population(cells))

    @pytest.mark.parametrize(
        ("changed", "line"),
        [
            ({"agee": "old"}, "column=agee: must be count, metric, or one of age, group, recall"),
            ({"age": "gone"}, "group=gone: must be one of young, old"),
            ({"recall": "2"}, "value=2: recall must be a number from 0 to 1"),
            ({"recall": "much"}, "recall=much: must be a number, or empty"),
            ({"recall": ""}, "value=nothing: must be given"),
        ],
    )
    def test_a_row_that_does_not_fit_is_refused(self, changed: dict[str, object], line: str) -> None:
        study = sample_study(sample_question(attribute=self.CROSSED))
        with pytest.raises(InvalidInput) as refused:
            self.kinds(study, {"sex": "f", "age": "old", "recall": 1, "count": 5} | changed)
        assert line in str(refused.value)

    def test_a_column_that_is_missing_is_named(self) -> None:
        with pytest.raises(InvalidInput, match="column=age: must be there; the rows have sex, recall and count"):
            self.kinds(sample_study(sample_question(attribute=self.CROSSED)), {"sex": "f", "recall": 1, "count": 5})
