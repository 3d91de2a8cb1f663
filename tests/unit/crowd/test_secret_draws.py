"""Secret draws: their law is the blanket's, exactly; how many there are; and whether counts less answers are draws."""

import secrets
from collections import Counter
from fractions import Fraction

import pytest

from fairgauge.channel import ROW_SUM
from fairgauge.crowd import blanket_weights, draw_symbols, misfit, usual_draws
from fairgauge.study import Study
from tests.samples import sample_channel, two_questions


def test_every_number_below_the_weight_gives_its_symbol(monkeypatch: pytest.MonkeyPatch) -> None:
    """All numbers in turn: each symbol comes as often as its weight says, and never one without weight."""
    weights = (3, 0, 1, 0, 0, 6, 2, 0)
    numbers = iter(range(sum(weights)))
    asked = set()

    def next_number(below: int) -> int:
        asked.add(below)
        return next(numbers)

    monkeypatch.setattr(secrets, "randbelow", next_number)
    assert draw_symbols(weights, sum(weights)) == Counter({0: 3, 2: 1, 5: 6, 6: 2})
    assert asked == {sum(weights)}


def test_the_blanket_is_the_least_of_each_column_tables_side_by_side() -> None:
    study = two_questions()
    weights = blanket_weights(study.channels)
    assert len(weights) == study.symbols
    for symbol, weight in enumerate(weights):
        index, own = study.question_of(symbol)
        assert weight == min(row[own] for row in study.questions[index].channel.table)


def test_unless_said_half_of_the_batch_s_blanket(first_study: Study) -> None:
    assert usual_draws(first_study.channels, 10_000) == 2_690
    channel = sample_channel()
    part = Fraction(sum(blanket_weights([channel])), ROW_SUM)
    assert usual_draws([channel], 1000) == -(-part * 500 // 1)
    assert usual_draws([channel], 1) == 1
    assert usual_draws([channel], 10**12) == 10**6, "as many as a collector draws at most"


@pytest.fixture
def first_study() -> Study:
    from pathlib import Path

    return Study.load(Path(__file__).parents[2] / "vectors" / "study-centred.json")


WEIGHTS = (5, 0, 20, 75)


def test_draws_fit_their_law() -> None:
    for _ in range(20):
        found = draw_symbols(WEIGHTS, 3000)
        assert misfit(WEIGHTS, 1000, [found[symbol] for symbol in range(4)]) is None
    assert misfit(WEIGHTS, 1000, (0, 0, 0, 0)) is None
    assert misfit(WEIGHTS, 20, (0, 0, 5, 15)) is None  # one in twenty need not be drawn in twenty
    assert misfit((1, 0), 10, (10, 0)) is None


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ((50, 0, -1, 951), "less often than it was sent"),
        ((50, 0, 200, 751), "no number of batches"),
        ((50, 1, 200, 749), "symbol 1 is never drawn"),
        ((150, 0, 200, 650), "symbol 0 is drawn 150 times of 1,000, and 50 are expected"),
    ],
)
def test_other_counts_do_not(found: tuple[int, ...], why: str) -> None:
    assert why in str(misfit(WEIGHTS, 1000, found))


def test_one_symbol_alone_is_drawn_always() -> None:
    assert misfit((1, 0), 10, (9, 1)) == "symbol 1 is never drawn"


def test_the_worst_that_passes_is_rarer_than_one_in_ten_to_the_nine_and_not_much_rarer() -> None:
    """Chernoff's bound of both sides of two symbols is 1e-9 where D kl(a, 1/2) = ln(4e9): 3324.8 off, of a million."""
    assert misfit((1, 1), 10**6, (500_000 + 3324, 500_000 - 3324)) is None
    assert "is drawn 503,325 times" in str(misfit((1, 1), 10**6, (500_000 + 3325, 500_000 - 3325)))
