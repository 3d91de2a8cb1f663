"""Tallies of clients who are drawn, and of everyone in a population: totals, seeds, and what is refused."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from fairgauge.errors import InvalidInput
from fairgauge.simulation import Cell, Population, simulate, simulate_exactly, true_values
from fairgauge.study import Metric, Release
from fairgauge.tallies import Tally
from tests.samples import THREE_LEVELS, sample_question, sample_study

ABSTAIN = sample_study(sample_question(levels=THREE_LEVELS, abstain=True))
CELLS = (
    Cell("female", Decimal("0.25"), 30),
    Cell("male", Decimal("0.8"), 50),
    Cell("female", None, 15),
    Cell(None, None, 5),
)
BOTH = pytest.mark.parametrize("run", [simulate, simulate_exactly])
Run = Callable[..., Tally]


@BOTH
@pytest.mark.parametrize("clients", [1, 100, 10**9, 10**15])
def test_everyone_answers_once(run: Run, clients: int):
    tally = run(ABSTAIN, Population(CELLS), clients=clients, seed=1)
    tally.check(ABSTAIN)
    assert tally.contributors == clients


@BOTH
def test_as_many_answer_as_there_are_unless_told(run: Run):
    assert run(ABSTAIN, Population(CELLS)).contributors == 100


@BOTH
def test_the_seed_decides(run: Run):
    def once(seed: Any) -> Tally:
        return run(ABSTAIN, Population(CELLS), seed=seed)

    assert once(1) == once(1) == once(np.int64(1)) == once(np.random.default_rng(1))
    assert once(1) != once(2)
    assert len({once(None).counts for _ in range(9)}) > 1
    rng = np.random.default_rng(1)
    assert once(rng) != once(rng)


@BOTH
@pytest.mark.parametrize("seed", [-1, 1.5, True, "7"])
def test_what_is_no_seed_is_refused(run: Run, seed: Any):
    with pytest.raises(InvalidInput, match=r"seed=.*must be an integer from 0 up, a numpy\.random\.Generator, or None"):
        run(ABSTAIN, Population(CELLS), seed=seed)


@BOTH
@pytest.mark.parametrize("clients", [0, -1, 1.5, True, 10**15 + 1])
def test_what_is_no_number_of_clients_is_refused(run: Run, clients: Any):
    with pytest.raises(InvalidInput, match=r"clients=.*must be an integer from 1 to 10"):
        run(ABSTAIN, Population(CELLS), clients=clients)


@BOTH
def test_questions_share_the_clients(run: Run):
    study = sample_study(
        sample_question(),
        sample_question(Metric("f1", "0", "1")),
        sample_question(Metric("auc", "0", "1")),
    )
    cells = (Cell("female", Decimal("0.3"), 6 * 10**8), Cell("male", Decimal("0.7"), 3 * 10**8))
    tally = run(study, Population(cells), seed=3)
    assert tally.contributors == 9 * 10**8
    for index in range(3):
        # Binomial(9e8, 1/3) has standard deviation 14,142; six of them are 85,000.
        assert abs(sum(tally.for_question(study, index)) - 3 * 10**8) < 85_000


@BOTH
def test_each_metric_has_its_own_histogram(run: Run):
    """Everyone is female with recall 0, but male with f1 1: the symbols tell which histogram was used."""
    study = sample_study(sample_question(), sample_question(Metric("f1", "0", "1")))
    cells = (
        Cell("female", Decimal(0), 900, "recall"),
        Cell("male", Decimal(1), 600, "f1"),
        Cell("male", Decimal(1), 300, "f1"),
    )
    tally = run(study, Population(cells), clients=10**6, seed=3)
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
@pytest.mark.parametrize("use", [simulate, simulate_exactly, true_values])
def test_a_population_must_fit_the_study(use: Callable[..., Any], cell: Cell, text: str):
    with pytest.raises(InvalidInput) as caught:
        use(sample_study(), Population((cell,)))
    assert str(caught.value) == text


@BOTH
def test_a_simulated_study_has_its_draws(run: Run):
    study = replace(ABSTAIN, release=Release(100, "0.001", 40))
    tally = run(study, Population(CELLS), clients=250, seed=1)
    assert (tally.contributors, tally.draws(study)) == (250, 80)
    tally.check(study)
