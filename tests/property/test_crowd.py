"""What secret draws promise against exact enumeration in fractions: random tables, few draws, every pair of inputs."""

from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from math import comb

from hypothesis import given, settings
from hypothesis import strategies as st

from fairgauge.channel import ROW_SUM
from fairgauge.crowd.crowd_epsilon import _DOWN, Blanket, certify

Table = tuple[tuple[int, ...], ...]
Law = dict[tuple[int, ...], Fraction]


def make_table(rough: list[list[int]]) -> Table:
    table = []
    for parts in rough:
        row = [ROW_SUM * part // sum(parts) for part in parts]
        row[-1] += ROW_SUM - sum(row)
        table.append(tuple(row))
    return tuple(table)


tables = st.integers(2, 3).flatmap(
    lambda symbols: st.lists(
        st.lists(st.integers(1, 12), min_size=symbols, max_size=symbols), min_size=2, max_size=3
    ).map(make_table)
)


def with_one_more(law: Law, weights: tuple[int, ...]) -> Law:
    found: Law = defaultdict(Fraction)
    for counts, chance in law.items():
        for symbol, weight in enumerate(weights):
            place = (*counts[:symbol], counts[symbol] + 1, *counts[symbol + 1 :])
            found[place] += chance * Fraction(weight, sum(weights))
    return found


def true_delta(study: tuple[Table, ...], draws: int, factor: Fraction, *, others: tuple[int, ...] = ()) -> Fraction:
    """The exact delta of counts: a person's symbol among draws of the blanket, and of others who hold known rows.

    Of several tables a fair coin picks one; two inputs are a row of each table.
    """
    blanket = tuple(min(column) for table in study for column in zip(*table, strict=True))
    law: Law = {(0,) * len(blanket): Fraction(1)}
    for _ in range(draws):
        law = with_one_more(law, blanket)
    rows = [tuple(weight for row in some for weight in row) for some in product(*study)]
    for other in others:
        law = with_one_more(law, rows[other])
    counts = [with_one_more(law, row) for row in rows]
    zero = Fraction(0)
    return max(
        sum((max(x[place] - factor * y.get(place, zero), zero) for place in x), zero)
        for x, y in product(counts, repeat=2)
    )


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(1, 6), st.decimals("0.01", "1.5", places=2), st.sampled_from(["0.1", "0.5", "2"]))
def test_what_is_true_is_below_what_is_promised(table: Table, draws: int, epsilon: Decimal, t: str) -> None:
    factor = Fraction(_DOWN.next_minus(_DOWN.exp(epsilon)))
    certified, _ = certify([Blanket.of(table)], draws, epsilon, Decimal(t))
    assert true_delta((table,), draws, factor) <= Fraction(certified)


@settings(max_examples=15, deadline=None)
@given(
    st.tuples(tables, tables), st.integers(1, 4), st.decimals("0.01", "1", places=2), st.sampled_from(["0.2", "0.6"])
)
def test_of_two_questions_as_well(pair: tuple[Table, Table], draws: int, epsilon: Decimal, t: str) -> None:
    factor = Fraction(_DOWN.next_minus(_DOWN.exp(epsilon)))
    first, second = (table[:2] for table in pair)
    certified, _ = certify([Blanket.of(first), Blanket.of(second)], draws, epsilon, Decimal(t))
    assert true_delta((first, second), draws, factor) <= Fraction(certified)


def test_the_number_of_draws_is_the_one_that_counts() -> None:
    """Every draw more hides better, so a bound for one more than there are would be too small."""
    table = make_table([[9, 1], [1, 9]])
    factor = Fraction(_DOWN.next_minus(_DOWN.exp(Decimal("0.1"))))
    deltas = [true_delta((table,), draws, factor) for draws in range(5)]
    assert all(more < fewer for fewer, more in pairwise(deltas))


def test_others_who_answer_only_help() -> None:
    table = make_table([[5, 3, 1], [1, 2, 5], [3, 3, 3]])
    factor = Fraction(6, 5)
    alone = true_delta((table,), 3, factor)
    assert all(true_delta((table,), 3, factor, others=others) <= alone for others in product(range(3), repeat=2))


def test_the_enumeration_counts_right() -> None:
    law: Law = {(0, 0): Fraction(1)}
    for _ in range(4):
        law = with_one_more(law, (ROW_SUM // 4, 3 * ROW_SUM // 4))
    assert law[(1, 3)] == comb(4, 1) * Fraction(1, 4) * Fraction(27, 64)
