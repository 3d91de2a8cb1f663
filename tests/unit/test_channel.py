"""The channel: its shape, its exact privacy loss, what it draws for given bits, and what it refuses."""

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.errors import BadTable, CannotAnswer
from tests.samples import ENDS, NEARLY_LN_3, THREE_LEVELS, sample_channel, sample_joint_channel

QUARTER, HALF = ROW_SUM // 4, ROW_SUM // 2
THREE_TO_ONE = ((3 * QUARTER, QUARTER), (QUARTER, 3 * QUARTER))


def coin(table: tuple[tuple[int, ...], ...] = THREE_TO_ONE) -> Channel:
    return Channel(table, ENDS, groups=1)


def rows(channel: Channel) -> list[tuple[Fraction, ...]]:
    return [tuple(Fraction(weight, ROW_SUM) for weight in row) for row in channel.table]


class TestShape:
    def test_rows_are_ordered_by_group_then_level_then_abstain(self) -> None:
        channel = sample_channel(groups=3, levels=THREE_LEVELS, abstain=True)
        order = [channel.row(group, level) for group in range(3) for level in range(3)] + [channel.table[-1]]
        assert tuple(order) == channel.table
        assert (channel.rows, channel.symbols) == (10, 10)

    def test_the_units_are_those_of_every_published_study(self) -> None:
        assert (ROW_SUM, LEVEL_UNIT) == (9_007_199_254_740_992, 1_073_741_824)

    @pytest.mark.parametrize(("group", "level"), [(-1, 0), (2, 0), (0, -1), (0, 2)])
    def test_a_row_that_does_not_exist_is_not_some_other_row(self, group: int, level: int) -> None:
        # One past the last group would be the row of those who abstain.
        with pytest.raises(IndexError, match="no row for this group and level"):
            sample_channel(abstain=True).row(group, level)

    def test_it_is_shown_without_its_table(self) -> None:
        assert repr(coin()) == "Channel(levels=(-1073741824, 1073741824), groups=1, abstain=False, further=())"

    def test_is_a_value(self) -> None:
        channel = sample_channel()
        copy = pickle.loads(pickle.dumps(channel))
        assert copy == channel
        assert hash(copy) == hash(channel)
        assert copy.loss == channel.loss
        with pytest.raises(AttributeError):
            channel.groups = 3  # type: ignore[misc]


class TestPrivacy:
    def test_loss_is_the_largest_column_ratio(self) -> None:
        assert coin().loss == 3
        assert coin(((3 * QUARTER, QUARTER), (HALF, HALF))).loss == 2
        assert coin(((3 * QUARTER + 1, QUARTER - 1), (HALF, HALF))).loss == Fraction(HALF, QUARTER - 1)

    def test_epsilon_is_its_logarithm(self) -> None:
        assert coin().epsilon == pytest.approx(math.log(3), rel=1e-15)

    def test_a_table_that_tells_nothing_costs_nothing(self) -> None:
        assert coin(((HALF, HALF), (HALF, HALF))).epsilon == 0.0
        assert coin(((HALF, HALF), (HALF, HALF))).within(Decimal(0))

    def test_a_symbol_that_excludes_an_input_costs_everything(self) -> None:
        channel = coin(((ROW_SUM, 0), (HALF, HALF)))
        assert channel.loss is None
        assert channel.epsilon == math.inf
        assert not channel.within(Decimal(1000))
        assert not channel.within(Decimal("Infinity"))

    def test_epsilon_is_rounded_up_never_to_nearest(self) -> None:
        # ln 2 = 0.693147180559945309417...; the nearest double lies below it.
        channel = coin(((3 * QUARTER, QUARTER), (HALF, HALF)))
        assert Decimal(math.log(2)) < Decimal("0.693147180559945309417")
        assert channel.epsilon == math.nextafter(math.log(2), math.inf)

    def test_within_decides_beyond_double_precision(self) -> None:
        # ln 3 = 1.0986122886681096913952452369225257046474905578227494...
        ln_3 = "1.09861228866810969139524523692252570464749"
        assert coin().within(Decimal(ln_3 + "1"))
        assert not coin().within(Decimal(ln_3))
        assert not coin().within(Decimal(NEARLY_LN_3))

    def test_the_smallest_difference_counts(self) -> None:
        channel = coin(((HALF + 1, HALF - 1), (HALF, HALF)))
        assert channel.epsilon > 0
        assert not channel.within(Decimal(0))


class TestMixture:
    @pytest.mark.parametrize("abstain", [False, True])
    def test_the_law_of_those_who_lack_something_is_a_mixture_of_rows(self, abstain: bool) -> None:
        """So whatever the rows promise holds for them: the exact epsilon, and what a crowd adds to it."""
        channel = sample_channel(groups=3, levels=THREE_LEVELS, abstain=abstain)
        sizes = dict(channel.rows_without())
        assert sum(sizes.values()) == ROW_SUM
        assert set(sizes) <= set(channel.table)
        assert max(sizes.values()) - min(sizes.values()) <= 1
        mixed = [
            Fraction(sum(size * row[j] for row, size in sizes.items()), ROW_SUM**2) for j in range(channel.symbols)
        ]
        assert channel.mixture(None, None) == tuple(mixed)
        assert sum(mixed) == 1
        counted = dict.fromkeys(channel.table, 0)
        for drawn in (*range(0, ROW_SUM, ROW_SUM // 10_007), ROW_SUM - 1):
            counted[channel.row_without(drawn)] += 1
        for row, count in counted.items():
            assert count == pytest.approx(10_008 * sizes.get(row, 0) / ROW_SUM, abs=2)

    @pytest.mark.parametrize(
        "channel", [sample_channel(), sample_channel(abstain=True), sample_channel(groups=5, loss=50)]
    )
    def test_nobody_is_told_apart_by_more_than_the_exact_epsilon(self, channel: Channel) -> None:
        """From integers alone, over everyone: on a level, between, outside, and without group or value."""
        places = [Fraction(LEVEL_UNIT * x, 3) for x in (-9, -3, -1, 2, 3, 9)]
        laws = {channel.mixture(group, place) for group in range(channel.groups) for place in places}
        laws |= {channel.mixture(None, places[0]), channel.mixture(0, None), *(rows(channel))}
        assert channel.loss is not None
        for column in zip(*laws, strict=True):
            assert max(column) <= channel.loss * min(column)

    @pytest.mark.parametrize(("group", "position"), [(None, None), (0, None), (None, Fraction(0))])
    def test_whoever_abstains_is_in_the_last_row(self, group: int | None, position: Fraction | None) -> None:
        channel = sample_channel(abstain=True)
        assert channel.places(group, position)[0]
        assert channel.mixture(group, position) == tuple(Fraction(weight, ROW_SUM) for weight in channel.table[-1])

    def test_on_a_level_it_is_the_row(self) -> None:
        channel = sample_channel(groups=2, levels=THREE_LEVELS)
        for group in range(2):
            for index, level in enumerate(THREE_LEVELS):
                row = channel.row(group, index)
                assert channel.mixture(group, Fraction(level)) == tuple(Fraction(w, ROW_SUM) for w in row)

    def test_between_levels_it_is_their_weighted_mean(self) -> None:
        assert coin().mixture(0, Fraction(-LEVEL_UNIT, 2)) == (Fraction(5, 8), Fraction(3, 8))


U = LEVEL_UNIT
GOOD: dict[str, Any] = {"table": THREE_TO_ONE, "levels": ENDS, "groups": 1, "abstain": False}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"groups": 0}, "groups=0: must be an integer from 1 up"),
        ({"groups": True}, "groups=True: must be an integer from 1 up"),
        ({"abstain": 1}, "abstain=1: must be true or false"),
        ({"levels": (-U,)}, f"levels=({-U},): must be at least 2"),
        ({"levels": ()}, "levels=(): must be at least 2"),
        ({"levels": (-U, U - 1)}, f"levels=({-U}, {U - 1}): must go from -2^30 to 2^30"),
        ({"levels": (-U + 1, U)}, f"levels=({-U + 1}, {U}): must go from -2^30 to 2^30"),
        ({"levels": (-U, 0, 0, U)}, "levels[2]=0: must be above the level before it"),
        ({"levels": (-U, 5, -5, U)}, "levels[2]=-5: must be above the level before it"),
        ({"levels": (-U, 0.0, U)}, "levels[1]=0.0: must be an integer"),
        ({"groups": 2}, "table=2 rows: must have 4: groups x levels, and one to abstain"),
        ({"abstain": True}, "table=2 rows: must have 3: groups x levels, and one to abstain"),
        ({"table": ((ROW_SUM,), (ROW_SUM,))}, "table[0]=1 symbols: must have at least 2"),
        ({"table": ((), ())}, "table[0]=0 symbols: must have at least 2"),
        ({"table": ((HALF, HALF), (ROW_SUM,))}, "table[1]=1 symbols: must have 2 like the first row"),
        ({"table": ((HALF, HALF), (-1, ROW_SUM + 1))}, "table[1][0]=-1: must be an integer from 0 up"),
        (
            {"table": ((HALF, float(HALF)), (HALF, HALF))},
            "table[0][1]=4503599627370496.0: must be an integer",
        ),
        ({"table": ((ROW_SUM - 1, True), (HALF, HALF))}, "table[0][1]=True: must be an integer"),
        ({"table": ((HALF, HALF), (HALF, HALF - 1))}, f"table[1]={ROW_SUM - 1}: must sum to exactly 2^53"),
        ({"table": ((HALF, HALF), (HALF, HALF + 1))}, f"table[1]={ROW_SUM + 1}: must sum to exactly 2^53"),
        (
            {"table": ((HALF, 0, HALF), (HALF, 0, HALF))},
            "table[0..1][1]=0: must not be 0 in every row: leave the symbol out",
        ),
    ],
)
def test_bad_tables_are_refused_with_the_place_at_fault(change: dict[str, Any], text: str) -> None:
    Channel(**GOOD)
    with pytest.raises(BadTable) as caught:
        Channel(**(GOOD | change))
    assert str(caught.value).startswith(text)


class TestJoint:
    """A channel that takes two values: rows by group, then the first value's level, then the second's."""

    channel = sample_joint_channel(groups=2, levels=(THREE_LEVELS, ENDS))

    def test_rows_are_ordered_with_the_last_value_fastest(self) -> None:
        order = [self.channel.row(g, a, b) for g in range(2) for a in range(3) for b in range(2)]
        assert tuple(order) == self.channel.table

    @pytest.mark.parametrize("place", [(0, 0), (0, 3, 0), (0, 0, 2), (2, 0, 0), (0, 0, 0, 0)])
    def test_a_row_that_does_not_exist_is_not_some_other_row(self, place: tuple[int, ...]) -> None:
        with pytest.raises(IndexError):
            self.channel.row(*place)

    def test_the_law_is_a_product_of_roundings(self) -> None:
        rows = self.channel.table
        law = self.channel.mixture(0, Fraction(-LEVEL_UNIT), Fraction(LEVEL_UNIT, 2))
        assert law == tuple(Fraction(down + 3 * up, 4 * ROW_SUM) for down, up in zip(rows[0], rows[1], strict=True))

    def test_it_takes_as_many_values_as_it_has_levels_of(self) -> None:
        with pytest.raises(CannotAnswer, match="the channel takes 2 values at once, and got 1"):
            self.channel.places(0, Fraction(0))

    def test_any_value_that_is_missing_abstains(self) -> None:
        table = ((HALF, HALF),) * 8 + ((3 * QUARTER, QUARTER),)
        channel = Channel(table, ENDS, 2, abstain=True, further=(ENDS,))
        for values in ((0, None, Fraction(0)), (0, Fraction(0), None), (None, Fraction(0), Fraction(0))):
            assert channel.mixture(*values) == (Fraction(3, 4), Fraction(1, 4))
        assert self.channel.mixture(0, None, Fraction(0)) == self.channel.mixture(None, None, None)

    def test_its_rows_are_counted(self) -> None:
        with pytest.raises(BadTable, match="table=12 rows: must have 8"):
            Channel(self.channel.table, ENDS, 2, further=(ENDS,))
        with pytest.raises(BadTable, match=r"levels=.*: must be at least 2"):
            Channel(self.channel.table, ENDS, 2, further=((),))
