"""The randomiser of a device: what it draws for given bits, and that everyone takes the same steps."""

import gc
import sys
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import accumulate
from types import FrameType
from typing import Any

import pytest

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.client.randomiser import draw_symbol
from tests.samples import ENDS, THREE_LEVELS, sample_channel, sample_joint_channel

QUARTER, HALF = ROW_SUM // 4, ROW_SUM // 2
THREE_TO_ONE = ((3 * QUARTER, QUARTER), (QUARTER, 3 * QUARTER))


def scripted(*values: int) -> Callable[[int], int]:
    remaining = list(values)

    def bits(count: int) -> int:
        assert count == 53
        return remaining.pop(0)

    return bits


def coin(table: tuple[tuple[int, ...], ...] = THREE_TO_ONE) -> Channel:
    return Channel(table, ENDS, groups=1)


EVERYONE = [(None, None), (0, None), (None, Fraction(1, 7))] + [
    (group, position) for group in (0, 1) for position in (Fraction(-LEVEL_UNIT), Fraction(1, 7), Fraction(LEVEL_UNIT))
]


def steps(draw: Callable[..., int], group: int | None, position: Fraction | None) -> int:
    """Return how many instructions a draw takes, in whatever function."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    bits = scripted(HALF, HALF)
    before = sys.gettrace()
    gc.disable()  # what earlier tests left would be cleared away here, and counted
    sys.settrace(trace)
    try:
        draw(group, position, bits=bits)
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def test_running_sums_decide_the_symbol() -> None:
    channel = coin()
    low = Fraction(-LEVEL_UNIT)
    assert draw_symbol(channel, 0, low, bits=scripted(0, 0)) == 0
    assert draw_symbol(channel, 0, low, bits=scripted(0, 3 * QUARTER - 1)) == 0
    assert draw_symbol(channel, 0, low, bits=scripted(0, 3 * QUARTER)) == 1
    assert draw_symbol(channel, 0, low, bits=scripted(0, ROW_SUM - 1)) == 1


def test_a_symbol_of_weight_zero_is_never_drawn() -> None:
    channel = coin(((HALF, 0, HALF), (QUARTER, HALF, QUARTER)))
    assert draw_symbol(channel, 0, Fraction(-LEVEL_UNIT), bits=scripted(0, HALF - 1)) == 0
    assert draw_symbol(channel, 0, Fraction(-LEVEL_UNIT), bits=scripted(0, HALF)) == 2


def test_the_first_draw_rounds_to_a_neighbouring_level() -> None:
    channel = coin()
    position = Fraction(-LEVEL_UNIT, 2)  # a quarter of the way up
    # The second draw, HALF, tells the rows apart: 0 from the row below, 1 from the row above.
    assert draw_symbol(channel, 0, position, bits=scripted(QUARTER - 1, HALF)) == 1
    assert draw_symbol(channel, 0, position, bits=scripted(QUARTER, HALF)) == 0


@pytest.mark.parametrize("level", [0, 1, 2])
def test_on_a_level_no_bits_move_it(level: int) -> None:
    channel = sample_channel(groups=1, levels=THREE_LEVELS)
    own = Fraction(THREE_LEVELS[level])
    within_own_symbol = sum(channel.table[level][:level])
    for first in (0, ROW_SUM - 1):
        assert draw_symbol(channel, 0, own, bits=scripted(first, within_own_symbol)) == level


def test_the_threshold_is_rounded_down() -> None:
    # A third of the way up: floor(2^53 / 3) draws go up.
    position = Fraction(-LEVEL_UNIT) + Fraction(2 * LEVEL_UNIT, 3)
    assert draw_symbol(coin(), 0, position, bits=scripted(ROW_SUM // 3 - 1, HALF)) == 1
    assert draw_symbol(coin(), 0, position, bits=scripted(ROW_SUM // 3, HALF)) == 0


@pytest.mark.parametrize(
    ("group", "position"),
    [(0, Fraction(-LEVEL_UNIT)), (1, Fraction(1, 7)), (0, Fraction(LEVEL_UNIT)), (None, None)],
)
def test_everyone_uses_the_same_randomness(group: int | None, position: Fraction | None) -> None:
    asked = []

    def bits(count: int) -> int:
        asked.append(count)
        return 0

    draw_symbol(sample_channel(abstain=True), group, position, bits=bits)
    assert asked == [53, 53]


def test_everyone_takes_the_same_steps() -> None:
    channel = sample_channel(levels=THREE_LEVELS, abstain=True)
    taken = {repr(given): steps(partial(draw_symbol, channel), *given) for given in EVERYONE}
    assert len(set(taken.values())) == 1, taken
    assert min(taken.values()) > 50, "or nothing was counted"


def test_a_draw_that_spares_those_who_abstain_is_caught() -> None:
    """As it was: who abstains takes a short cut."""
    channel = sample_channel(levels=THREE_LEVELS, abstain=True)

    def hasty(group: int | None, position: Fraction | None, *, bits: Callable[[int], int]) -> int:
        if group is None or position is None:
            bits(53)
            return bisect_right(list(accumulate(channel.table[-1])), bits(53))
        return draw_symbol(channel, group, position, bits=bits)

    assert len({steps(hasty, *given) for given in EVERYONE}) > 1


@pytest.mark.parametrize(("group", "position"), [(None, None), (0, None), (None, Fraction(0))])
def test_without_group_or_value_the_abstain_row_is_drawn(group: int | None, position: Fraction | None) -> None:
    channel = sample_channel(abstain=True)
    assert draw_symbol(channel, group, position, bits=scripted(0, sum(channel.table[-1][:4]))) == 4
    assert channel.mixture(group, position)[4] == Fraction(channel.table[-1][4], ROW_SUM)


@pytest.mark.parametrize(("group", "position"), [(None, None), (0, None), (None, Fraction(0))])
def test_without_a_row_to_abstain_any_row_is_drawn(group: int | None, position: Fraction | None) -> None:
    channel = sample_channel(groups=3)
    for index in range(6):  # 2^53 / 6 is no integer: the first draw of each row is the next one up
        first = -(-ROW_SUM * index // 6)
        within = sum(channel.table[index][:index])
        for drawn, row in ((first, index), ((first - 1) % ROW_SUM, (index - 1) % 6)):
            found = draw_symbol(channel, group, position, bits=scripted(drawn, within))
            assert found == bisect_right(list(accumulate(channel.table[row])), within)


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_position_outside_is_the_nearest_end(sign: int) -> None:
    channel = sample_channel(levels=THREE_LEVELS)
    end = Fraction(sign * LEVEL_UNIT)
    for outside in (end * Fraction(1000001, 1000000), 1000 * end):
        assert channel.mixture(1, outside) == channel.mixture(1, end)
        for drawn in (0, HALF, ROW_SUM - 1):
            bits = (drawn, sum(channel.table[5][:5]))
            assert draw_symbol(channel, 1, outside, bits=scripted(*bits)) == draw_symbol(
                channel, 1, end, bits=scripted(*bits)
            )


def test_by_default_symbols_vary() -> None:
    channel = sample_channel()
    assert {draw_symbol(channel, 0, Fraction(0)) for _ in range(400)} == set(range(4))


class TestJoint:
    """A channel that takes two values: rows by group, then the first value's level, then the second's."""

    channel = sample_joint_channel(groups=2, levels=(THREE_LEVELS, ENDS))

    def test_every_value_is_rounded_by_a_draw_of_its_own(self) -> None:
        halves = Fraction(THREE_LEVELS[1] - LEVEL_UNIT, 2), Fraction(0)
        for first, second, row in [(0, 0, (1, 1)), (0, HALF, (1, 0)), (HALF, 0, (0, 1)), (HALF, HALF, (0, 0))]:
            index = 6 + 2 * row[0] + row[1]  # of group 1
            start = sum(self.channel.table[index][:index])
            assert draw_symbol(self.channel, 1, *halves, bits=scripted(first, second, start)) == index

    def test_any_value_that_is_missing_is_drawn_as_none(self) -> None:
        table = ((HALF, HALF),) * 8 + ((3 * QUARTER, QUARTER),)
        channel = Channel(table, ENDS, 2, abstain=True, further=(ENDS,))
        for values in ((0, None, Fraction(0)), (0, Fraction(0), None), (None, Fraction(0), Fraction(0))):
            assert draw_symbol(channel, *values, bits=scripted(0, 0, 3 * QUARTER - 1)) == 0
        assert draw_symbol(self.channel, 0, Fraction(0), None, bits=scripted(ROW_SUM - 1, 0, ROW_SUM - 1)) == 11
