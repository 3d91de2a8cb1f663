"""Bounds of the crowd against exact enumeration in fractions: random tables, few people, whatever the others hold."""

from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import comb

from hypothesis import given, settings
from hypothesis import strategies as st

from fairgauge.blanket.bounds import tight_delta
from fairgauge.channel import ROW_SUM
from fairgauge.crowd.certificate import DOWN, certify
from fairgauge.crowd.laws import Blanket

Law = dict[tuple[int, ...], Fraction]


def make_table(rough: list[list[int]]) -> tuple[tuple[int, ...], ...]:
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


def with_one_more(law: Law, row: tuple[int, ...]) -> Law:
    found: Law = defaultdict(Fraction)
    for counts, chance in law.items():
        for symbol, weight in enumerate(row):
            found[(*counts[:symbol], counts[symbol] + 1, *counts[symbol + 1 :])] += chance * Fraction(weight, ROW_SUM)
    return found


def true_delta(table: tuple[tuple[int, ...], ...], others: tuple[int, ...], factor: Fraction) -> Fraction:
    """The exact delta of a tally: the worst pair of the person, among others who hold these rows."""
    law: Law = {(0,) * len(table[0]): Fraction(1)}
    for other in others:
        law = with_one_more(law, table[other])
    tallies = [with_one_more(law, row) for row in table]
    zero = Fraction(0)
    return max(
        sum((max(x[counts] - factor * y.get(counts, zero), zero) for counts in x), zero)
        for x, y in product(tallies, repeat=2)
    )


def blanket_delta(blanket: Blanket, pair: tuple[int, int], people: int, factor: Fraction) -> Fraction:
    """The bound before Chernoff, by enumeration: the mean of the positive part of a sum, divided by n."""
    x, y = (blanket.rows[index] for index in pair)
    atoms = [
        ((own - factor * other) / least, Fraction(least, ROW_SUM))
        for own, other, least in zip(x, y, blanket.least, strict=True)
    ]
    atoms.append((Fraction(0), 1 - sum((chance for _, chance in atoms), Fraction(0))))
    sums: dict[Fraction, Fraction] = {Fraction(0): Fraction(1)}
    for _ in range(people):
        after: dict[Fraction, Fraction] = defaultdict(Fraction)
        for (total, before), (value, chance) in product(sums.items(), atoms):
            after[total + value] += before * chance
        sums = after
    return sum((chance * total for total, chance in sums.items() if total > 0), Fraction(0)) / people


@settings(max_examples=40, deadline=None)
@given(tables, st.integers(1, 4), st.decimals("0.01", "1.5", places=2), st.sampled_from(["0.1", "0.5", "2"]))
def test_what_is_true_is_below_what_is_promised(
    table: tuple[tuple[int, ...], ...], people: int, epsilon: Decimal, t: str
) -> None:
    factor = Fraction(DOWN.next_minus(DOWN.exp(epsilon)))
    blanket = Blanket.of(table)
    true = max(true_delta(table, others, factor) for others in product(range(len(table)), repeat=people - 1))
    count = range(len(blanket.rows))
    pairs = [(x, y) for x in count for y in count]
    bound = max(blanket_delta(blanket, pair, people, factor) for pair in pairs)
    certified, _ = certify([blanket], people, epsilon, Decimal(t))
    assert true <= bound <= Fraction(certified)
    laws = [
        [
            (least / ROW_SUM, own / least, other / least)
            for own, other, least in zip(blanket.rows[x], blanket.rows[y], blanket.least, strict=True)
        ]
        for x, y in pairs
    ]
    tight = max(tight_delta([law], (people, 1), float(epsilon)) for law in laws)
    assert float(bound) * (1 - 1e-9) <= tight <= float(bound) * 1.05 + 1e-9


def test_a_smaller_promise_would_be_broken() -> None:
    """Two people, one symbol that tells: a bound for one more person than there are is below the truth."""
    table = make_table([[9, 1], [1, 9]])
    factor = Fraction(DOWN.next_minus(DOWN.exp(Decimal("0.1"))))
    true = max(true_delta(table, (other,), factor) for other in (0, 1))
    blanket = Blanket.of(table)
    two, three = (max(blanket_delta(blanket, pair, n, factor) for pair in ((0, 1), (1, 0))) for n in (2, 3))
    assert three < true <= two


def test_others_who_all_hold_the_same_reach_the_bound_of_their_row() -> None:
    table = make_table([[5, 3, 1], [1, 2, 5], [3, 3, 3]])
    factor = Fraction(6, 5)
    for company in range(3):
        own = Blanket(table, table[company])
        best = max(blanket_delta(own, pair, 3, factor) for pair in product(range(3), range(3)))
        assert true_delta(table, (company,) * 2, factor) == best


def test_the_enumeration_counts_right() -> None:
    law: Law = {(0, 0): Fraction(1)}
    for _ in range(4):
        law = with_one_more(law, (ROW_SUM // 4, 3 * ROW_SUM // 4))
    assert law[(1, 3)] == comb(4, 1) * Fraction(1, 4) * Fraction(27, 64)
