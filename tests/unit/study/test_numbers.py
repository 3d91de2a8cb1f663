"""Numbers as people give them: what a document then says."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fairgauge.errors import BadStudy, InvalidInput
from fairgauge.study.numbers import MOST_CLIENTS, as_count, as_epsilon, as_number, decimal_text, read_decimal


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


@pytest.mark.parametrize("typed", ["", "one", "nan", "inf", "1e999999999"])
def test_what_is_no_number_is_refused(typed: str):
    with pytest.raises(InvalidInput):
        read_decimal("error", typed)
    assert read_decimal("error", "0e99") == 0


def test_numbers_are_taken_exactly_as_typed():
    assert (as_epsilon("0.10"), as_epsilon(0.1)) == (Decimal("0.1"), Decimal("0.1"))
    assert as_number("error", "0.01") == 0.01
    with pytest.raises(InvalidInput, match="epsilon=0: must be above 0"):
        as_epsilon(0)


@pytest.mark.parametrize("given", ["0", "1.5", -1, MOST_CLIENTS + 1, "many"])
def test_clients_are_a_whole_number_that_a_planet_can_hold(given: str | int):
    with pytest.raises(InvalidInput):
        as_count("clients", given)
    assert (as_count("clients", "1e15"), as_count("clients", 1)) == (MOST_CLIENTS, 1)
