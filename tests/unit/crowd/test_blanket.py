"""The blanket of a table: equal ratios are one symbol, equal rows one row, and a certain symbol is refused.

Covers: fairgauge.crowd.certificate
"""

import pytest

from fairgauge.channel import ROW_SUM
from fairgauge.crowd.certificate import Blanket
from fairgauge.errors import NotPrivate

HALF, QUARTER, EIGHTH = ROW_SUM // 2, ROW_SUM // 4, ROW_SUM // 8


def test_symbols_with_the_same_ratios_are_merged() -> None:
    table = ((HALF, QUARTER, QUARTER), (QUARTER, EIGHTH, ROW_SUM - QUARTER - EIGHTH))
    blanket = Blanket.of(table)
    assert blanket.rows == ((HALF + QUARTER, QUARTER), (QUARTER + EIGHTH, ROW_SUM - QUARTER - EIGHTH))
    assert blanket.least == (QUARTER + EIGHTH, QUARTER)


@pytest.mark.parametrize("one", [1, -1])
def test_nearly_the_same_is_not_the_same(one: int) -> None:
    table = ((HALF, QUARTER, QUARTER), (QUARTER, EIGHTH + one, ROW_SUM - QUARTER - EIGHTH - one))
    assert len(Blanket.of(table).least) == 3


def test_equal_rows_are_one() -> None:
    assert len(Blanket.of(((HALF, HALF), (QUARTER, 3 * QUARTER), (HALF, HALF))).rows) == 2


def test_a_symbol_that_nobody_sends_is_left_out() -> None:
    assert Blanket.of(((HALF, 0, HALF), (QUARTER, 0, 3 * QUARTER))).least == (QUARTER, HALF)


def test_a_symbol_that_excludes_an_input_is_refused() -> None:
    with pytest.raises(NotPrivate, match="no crowd hides that"):
        Blanket.of(((ROW_SUM, 0), (HALF, HALF)))
