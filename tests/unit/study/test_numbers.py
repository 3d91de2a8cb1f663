"""Numbers as people give them: what a document then says."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fairgauge.errors import BadStudy
from fairgauge.study.numbers import decimal_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-3, "-3"),
        (0.1, "0.1"),
        (1.0, "1"),
        (-0.0, "0"),
        (1e-9, "0.000000001"),
        (1e20, "100000000000000000000"),
        (10, "10"),
        ("0.50", "0.50"),
        (Decimal("0.250"), "0.25"),
        (Decimal("1e2"), "100"),
        (Decimal("0.12345678901234567890123456789"), "0.12345678901234567890123456789"),
        (Fraction(1, 8), "0.125"),
        (Fraction(-7, 2), "-3.5"),
        (Fraction(300), "300"),
        (np.float64(0.1), "0.1"),
        (np.float32(0.1), "0.1"),
        (np.int64(7), "7"),
    ],
)
def test_a_number_becomes_its_shortest_decimal(value: Any, text: str) -> None:
    assert decimal_text("low", value) == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (math.nan, "nan"),
        (math.inf, "inf"),
        (Decimal("NaN"), "a Decimal"),
        (True, "True"),
        (None, "None"),
        ([1], "a list"),
        (Fraction(1, 3), "a Fraction"),
        (1e300, "1e+300"),
        (1e-300, "1e-300"),
        (Decimal("1e-999999999"), "a Decimal"),
        (10**32, "100000000000000000000000000000000"),
        (1j, "a complex"),
    ],
)
def test_anything_else_is_refused_with_what_it_was(value: Any, shown: str) -> None:
    with pytest.raises(BadStudy) as caught:
        decimal_text("low", value)
    assert str(caught.value) == f"low={shown}: must be a number that a decimal of 32 characters can say"


@pytest.mark.parametrize("typed", ["1e0", "a", "", "1.", "0." + "0" * 31])
def test_text_must_be_a_plain_decimal_already(typed: str) -> None:
    with pytest.raises(BadStudy, match="must be a plain decimal in quotes"):
        decimal_text("low", typed)
