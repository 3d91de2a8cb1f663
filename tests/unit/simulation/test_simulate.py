"""Simulating: populations from files and frames, rescaling, totals, true values, and what is refused."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairgauge.errors import InvalidInput
from fairgauge.simulation import Cell, Population, Truth, simulate, true_values
from fairgauge.study import Attribute, Metric
from fairgauge.tallies import Tally
from tests.samples import THREE_LEVELS, sample_question, sample_study

ABSTAIN = sample_study(sample_question(levels=THREE_LEVELS, abstain=True))
CELLS = (
    Cell("female", Decimal("0.25"), 30),
    Cell("male", Decimal("0.8"), 50),
    Cell("female", None, 15),
    Cell(None, None, 5),
)
CSV = "group,value,count\nfemale,0.25,30\nmale,0.8,50\nfemale,,15\n,,5\n"


def from_csv(tmp_path: Path, text: str | bytes) -> Population:
    path = tmp_path / "population.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Population.from_csv(path)


class TestReading:
    def test_csv(self, tmp_path: Path) -> None:
        assert from_csv(tmp_path, CSV) == Population(CELLS)

    def test_csv_as_spreadsheets_write_it(self, tmp_path: Path) -> None:
        untidy = "\ufeffcount,group,value\r\n30, female ,0.25\r\n50,male,0.8\r\n15,female,\r\n5,,\r\n"
        assert from_csv(tmp_path, untidy) == Population(CELLS)

    def test_csv_with_metrics(self, tmp_path: Path) -> None:
        population = from_csv(tmp_path, "metric,group,value,count\nf1,male,1,7\nrecall,male,0,7\n")
        assert population.cells_of("f1") == (Cell("male", Decimal(1), 7, "f1"),)
        assert population.clients == 7

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("group,value\nfemale,1\n", "row 2: column=count: must be group, value and count"),
            ("group,value,count,age\nfemale,1,5,8\n", "row 2: column=age: must be group, value and count"),
            ("group,value,count\nfemale,1,5,8\n", "row 2: column=None: must be group, value and count"),
            ("count,group,value\n5,female\n", "row 2: value=(missing): must be a number, or empty"),
            ("group,value,count\nfemale,1,5\nmale,x,5\n", "row 3: value=x: must be a number, or empty"),
            ("group,value,count\nfemale,nan,5\n", "row 2: value=NaN: must be a finite number, or empty"),
            ("group,value,count\nfemale,1,-5\n", "row 2: count=-5: must be an integer from 0 up"),
            ("group,value,count\nfemale,1,5.5\n", "row 2: count=5.5: must be an integer from 0 up"),
            ("group,value,count\nfemale,1,\n", "row 2: count=None: must be an integer from 0 up"),
            ("group,value,count\nfemale,1,0\n", "count=0: must be above 0 for some cell"),
            ("group,value,count\n", "count=0: must be above 0 for some cell"),
            ("", "count=0: must be above 0 for some cell"),
            ('group,value,count\n"female,1,5\n', "population="),
            (b"group,value,count\n\xff,1,5\n", "population="),
            (
                "group,value,count,metric\na,1,5,f1\nb,1,5,\n",
                "metric=nothing: must be given in every row, or in none",
            ),
            (
                "group,value,count,metric\na,1,5,f1\na,1,6,f2\n",
                "count of f2=6: must total 5 clients like the first",
            ),
        ],
    )
    def test_bad_csv_is_refused_with_the_row_at_fault(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            from_csv(tmp_path, text)
        assert str(caught.value).startswith(message)

    @pytest.mark.parametrize("library", ["polars", "lazy polars", "pandas", "nullable pandas"])
    def test_frames(self, library: str) -> None:
        data: dict[str, Any] = {
            "group": ["female", "male", "female", None],
            "value": [0.25, 0.8, None, None],
            "count": [30, 50, 15, 5],
        }
        frame: Any = {
            "polars": pl.DataFrame(data),
            "lazy polars": pl.LazyFrame(data),
            "pandas": pd.DataFrame(data),
            "nullable pandas": pd.DataFrame(data).convert_dtypes(),
        }[library]
        # A float is the fraction that it is.
        expected = (CELLS[0], Cell("male", Decimal.from_float(0.8), 50), *CELLS[2:])
        assert Population.from_frame(frame) == Population(expected)

    def test_whole_numbers_in_frames(self) -> None:
        frame = pd.DataFrame({"group": ["a", "b"], "value": [0, 1], "count": [2.0, 3.0]})
        assert Population.from_frame(frame).cells == (Cell("a", Decimal(0), 2), Cell("b", Decimal(1), 3))

    def test_bad_frames_are_refused_with_the_row_at_fault(self) -> None:
        frame = pl.DataFrame({"group": ["a", "b"], "value": [0.5, 0.5], "count": [1.0, 1.5]})
        with pytest.raises(InvalidInput, match=r"row 1: count=1\.5: must be an integer from 0 up"):
            Population.from_frame(frame)


class TestRescaling:
    @pytest.mark.parametrize("clients", [1, 2, 3, 99, 100, 101, 10**9, 10**15 + 1])
    def test_the_total_is_exact_and_no_cell_is_off_by_one(self, clients: int) -> None:
        rescaled = Population(CELLS).rescaled(clients)
        assert rescaled.clients == clients
        for before, after in zip(CELLS, rescaled.cells, strict=True):
            assert (before.group, before.value) == (after.group, after.value)
            assert abs(after.count - Fraction(before.count * clients, 100)) < 1

    def test_largest_remainders_go_up(self) -> None:
        cells = tuple(Cell("female", Decimal(i), count) for i, count in enumerate([1, 4, 5]))
        assert [cell.count for cell in Population(cells).rescaled(4).cells] == [0, 2, 2]

    def test_every_metric_is_rescaled_by_itself(self) -> None:
        cells = tuple(Cell(group, Decimal(1), n, m) for m, n in (("a", 1), ("b", 1)) for group in ("f", "m", "x"))
        rescaled = Population(cells).rescaled(100)
        for metric in ("a", "b"):
            assert sum(cell.count for cell in rescaled.cells_of(metric)) == 100

    @pytest.mark.parametrize("clients", [0, -1, 1.5, True])
    def test_a_population_is_not_empty(self, clients: Any) -> None:
        with pytest.raises(InvalidInput, match="clients="):
            Population(CELLS).rescaled(clients)


class TestSimulate:
    def test_everyone_answers_once(self) -> None:
        tally = simulate(ABSTAIN, Population(CELLS).rescaled(10**9), np.random.default_rng(1))
        tally.check(ABSTAIN)
        assert tally.total == 10**9

    def test_the_generator_decides(self) -> None:
        def run(seed: int) -> Tally:
            return simulate(ABSTAIN, Population(CELLS), np.random.default_rng(seed))

        assert run(1) == run(1)
        assert run(1) != run(2)

    def test_questions_share_the_clients(self) -> None:
        study = sample_study(
            sample_question(),
            sample_question(Metric("f1", "0", "1")),
            sample_question(Metric("auc", "0", "1")),
        )
        cells = (Cell("female", Decimal("0.3"), 6 * 10**8), Cell("male", Decimal("0.7"), 3 * 10**8))
        tally = simulate(study, Population(cells), np.random.default_rng(3))
        assert tally.total == 9 * 10**8
        for index in range(3):
            # Binomial(9e8, 1/3) has standard deviation 14,142; six of them are 85,000.
            assert abs(sum(tally.for_question(study, index)) - 3 * 10**8) < 85_000

    def test_each_metric_has_its_own_histogram(self) -> None:
        """Everyone is female with recall 0, but male with f1 1: the symbols tell which histogram was used."""
        study = sample_study(sample_question(), sample_question(Metric("f1", "0", "1")))
        cells = (
            Cell("female", Decimal(0), 900, "recall"),
            Cell("male", Decimal(1), 600, "f1"),
            Cell("male", Decimal(1), 300, "f1"),
        )
        tally = simulate(study, Population(cells).rescaled(10**6), np.random.default_rng(3))
        assert np.argmax(tally.for_question(study, 0)) == 0
        assert np.argmax(tally.for_question(study, 1)) == 3

    @pytest.mark.parametrize(
        ("cell", "text"),
        [
            (Cell("other", Decimal(1), 5), "group=other: must be one of female, male"),
            (Cell("male", Decimal("1.5"), 5), "value=1.5: recall must be a number from 0 to 1"),
            (Cell(None, Decimal(1), 5), "group=nothing: must be given: the study does not allow abstaining"),
            (Cell("male", None, 5), "value=nothing: must be given: the study does not allow abstaining"),
            (Cell("male", Decimal(1), 5, "f1"), "metric=f1: must include recall"),
        ],
    )
    def test_a_population_must_fit_the_study(self, cell: Cell, text: str) -> None:
        for use in (
            lambda p: simulate(sample_study(), p, np.random.default_rng(1)),
            lambda p: true_values(sample_study(), p),
        ):
            with pytest.raises(InvalidInput) as caught:
                use(Population((cell,)))
            assert str(caught.value) == text


class TestTrueValues:
    def test_are_about_those_who_gave_both(self) -> None:
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

    def test_every_pair_has_a_gap_and_every_question_its_own_values(self) -> None:
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

    def test_groups_without_clients_are_absent(self) -> None:
        truth = true_values(ABSTAIN, Population((Cell("male", Decimal(1), 5), Cell("female", Decimal(1), 0))))[0]
        assert (truth.means, truth.gaps, truth.overall) == ({"male": 1.0}, {}, 1.0)
        truth = true_values(ABSTAIN, Population((Cell(None, None, 5),)))[0]
        assert (truth.means, truth.gaps, truth.overall) == ({}, {}, None)
