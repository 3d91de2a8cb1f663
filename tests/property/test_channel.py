"""What holds for every channel: exact laws, exact privacy, outward rounding."""

import math
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.client.randomiser import draw_symbol

FINE = Context(prec=80)
FIRST_50_DIGITS = Context(prec=50, rounding=ROUND_FLOOR)

positions = st.fractions(min_value=-LEVEL_UNIT, max_value=LEVEL_UNIT)


level_lists = st.sets(st.integers(1 - LEVEL_UNIT, LEVEL_UNIT - 1), max_size=3).map(
    lambda inner: (-LEVEL_UNIT, *sorted(inner), LEVEL_UNIT)
)


@st.composite
def rows(draw: st.DrawFn, symbols: int) -> tuple[int, ...]:
    cuts = draw(st.sets(st.integers(1, ROW_SUM - 1), min_size=symbols - 1, max_size=symbols - 1))
    return tuple(high - low for low, high in pairwise([0, *sorted(cuts), ROW_SUM]))


@st.composite
def channels(draw: st.DrawFn, *, fewest_groups: int = 1) -> Channel:
    """Any channel without zeros, so of finite loss."""
    groups, abstain, levels = draw(st.integers(fewest_groups, 3)), draw(st.booleans()), draw(level_lists)
    symbols = draw(st.integers(2, 5))
    table = tuple(draw(rows(symbols)) for _ in range(groups * len(levels) + abstain))
    return Channel(table, levels, groups, abstain)


@given(channels(), st.data())
def test_no_two_inputs_differ_by_more_than_the_loss(channel: Channel, data: st.DataObject) -> None:
    inputs = [(data.draw(st.integers(0, channel.groups - 1)), data.draw(positions)) for _ in range(3)]
    laws = [channel.mixture(*x) for x in inputs] + ([channel.mixture(None, None)] if channel.abstain else [])
    assert channel.loss is not None
    for column in zip(*laws, strict=True):
        assert max(column) <= channel.loss * min(column)


@given(channels())
def test_the_loss_is_attained_by_two_rows(channel: Channel) -> None:
    ratios = [Fraction(max(column), min(column)) for column in zip(*channel.table, strict=True)]
    assert channel.loss == max(ratios)


@given(channels())
def test_epsilon_is_the_next_double_above_the_logarithm(channel: Channel) -> None:
    assert channel.loss is not None
    exact = FINE.ln(FINE.divide(Decimal(channel.loss.numerator), Decimal(channel.loss.denominator)))
    assert Decimal(channel.epsilon) >= exact
    assert Decimal(math.nextafter(channel.epsilon, -math.inf)) < exact or channel.epsilon == exact == 0
    assert channel.within(Decimal(channel.epsilon))
    assert channel.within(FINE.add(exact, Decimal("1e-40")))
    # The logarithm of a fraction other than 1 is irrational, so its first 50 digits are below it.
    assert channel.loss == 1 or not channel.within(FIRST_50_DIGITS.plus(exact))


@given(channels(), positions, st.integers(0, ROW_SUM - 1), st.integers(0, ROW_SUM - 1), st.data())
def test_a_draw_is_the_symbol_whose_weights_cover_the_bits(
    channel: Channel, position: Fraction, first: int, second: int, data: st.DataObject
) -> None:
    group = data.draw(st.integers(0, channel.groups - 1))
    bits = iter([first, second])
    symbol = draw_symbol(channel, group, position, bits=lambda _: next(bits))

    level = max(i for i, level in enumerate(channel.levels) if level <= position)
    if level + 1 < len(channel.levels):
        low, high = channel.levels[level], channel.levels[level + 1]
        level += Fraction(first + 1, ROW_SUM) <= (position - low) / (high - low)
    weights = channel.row(group, level)
    assert sum(weights[:symbol]) <= second < sum(weights[: symbol + 1])


@given(channels(), positions, st.data())
def test_the_law_of_every_input_is_a_distribution(channel: Channel, position: Fraction, data: st.DataObject) -> None:
    law = channel.mixture(data.draw(st.integers(0, channel.groups - 1)), position)
    assert sum(law) == 1
    assert min(law) > 0


@given(level_lists, positions)
def test_rounding_to_a_level_is_unbiased_to_the_last_bit(levels: tuple[int, ...], position: Fraction) -> None:
    """A table that sends the level itself shows the rounding alone."""
    size = len(levels)
    table = tuple(tuple(ROW_SUM if i == j else 0 for j in range(size)) for i in range(size))
    law = Channel(table, levels, groups=1).mixture(0, position)
    mean = sum(p * level for p, level in zip(law, levels, strict=True))
    assert 0 <= position - mean < Fraction(2 * LEVEL_UNIT, ROW_SUM)
    assert sum(p > 0 for p in law) <= 2


@st.composite
def joint_channels(draw: st.DrawFn) -> Channel:
    axes = draw(st.lists(level_lists, min_size=2, max_size=2))
    groups, abstain = draw(st.integers(1, 2)), draw(st.booleans())
    count = groups * math.prod(map(len, axes)) + abstain
    table = tuple(draw(rows(3)) for _ in range(count))
    return Channel(table, axes[0], groups, abstain, (axes[1],))


@given(joint_channels(), positions, positions, st.data())
def test_a_joint_law_is_a_distribution_within_the_loss_of_every_row(
    channel: Channel, first: Fraction, second: Fraction, data: st.DataObject
) -> None:
    law = channel.mixture(data.draw(st.integers(0, channel.groups - 1)), first, second)
    assert sum(law) == 1
    assert channel.loss is not None
    for probability, column in zip(law, zip(*channel.table, strict=True), strict=True):
        assert min(column) <= probability * ROW_SUM <= max(column)


@given(joint_channels(), positions, positions, st.lists(st.integers(0, ROW_SUM - 1), min_size=3, max_size=3))
def test_a_joint_draw_is_the_draw_of_the_row_that_rounding_picks(
    channel: Channel, first: Fraction, second: Fraction, bits: list[int]
) -> None:
    """Rounding one value must not depend on the other: each axis alone, as a channel, picks the same level."""
    picked = []
    for levels, position, drawn in zip(channel.axes, (first, second), bits, strict=False):
        alone = Channel(tuple((j + 1, ROW_SUM - j - 1) for j in range(len(levels))), levels, 1)
        _, _, ((below, above, threshold),) = alone.places(0, position)
        picked.append(above if drawn < threshold else below)
    given_bits = iter(bits)
    symbol = draw_symbol(channel, 0, first, second, bits=lambda _: next(given_bits))
    row = channel.row(0, *picked)
    assert sum(row[:symbol]) <= bits[2] < sum(row[: symbol + 1])
