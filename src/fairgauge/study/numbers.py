"""Numbers as people give them: exact fractions of what a device measured, and decimals for a document."""

import operator
from decimal import Decimal
from fractions import Fraction
from typing import SupportsIndex

from fairgauge.errors import BadStudy
from fairgauge.study.checks import LONGEST_DECIMAL, check_decimal, named

LARGEST_EXPONENT = 400
# No end of a range has as many digits: a larger number counts as that end, as this one does.
BEYOND = 10**LONGEST_DECIMAL

Number = float | str | Decimal | Fraction | SupportsIndex


def exact(value: object) -> Fraction | None:
    """Return the number as the fraction that it is, or None; whatever NumPy calls a number is one too."""
    if isinstance(value, bool):
        return None
    try:
        if isinstance(value, str):
            value = Decimal(value)
        if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > LARGEST_EXPONENT:
            return None  # as a fraction it would fill the memory
        if hasattr(value, "as_integer_ratio"):
            return Fraction(*value.as_integer_ratio())
        return Fraction(operator.index(value))  # type: ignore[arg-type]  # what has no index is no number
    except Exception:  # noqa: BLE001 - whatever it is and however it fails, it is no number, and nobody is told more
        return None


def bounded(number: Fraction) -> Fraction:
    """Return a number, or the nearest that is as good for every range and that a float or a short text can hold."""
    return max(Fraction(-BEYOND), min(number, Fraction(BEYOND)))


def decimal_text(field: str, value: Number) -> str:
    """Return a number as the plain decimal that a document holds; text stays as it is typed.

    A float is the shortest decimal that it prints as: 0.1 is "0.1", although it is not exactly that.

    >>> decimal_text("low", 0.1), decimal_text("low", -1.0), decimal_text("low", "0.50")
    ('0.1', '-1', '0.50')

    Raises:
        BadStudy: If it is no number, or no decimal of at most 32 characters is exactly this number.
    """
    if isinstance(value, str):
        check_decimal(field, value)
        return value
    found = None if exact(value) is None else _decimal(value)
    text = "" if found is None else format(found, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if not text or len(text) > LONGEST_DECIMAL:
        raise BadStudy(field, named(value), f"must be a number that a decimal of {LONGEST_DECIMAL} characters can say")
    return "0" if text == "-0" else text


def _decimal(value: Number) -> Decimal | None:
    if isinstance(value, Decimal):
        found = value
    elif isinstance(value, Fraction):
        scaled = value * 10**LONGEST_DECIMAL
        if scaled.denominator != 1:
            return None  # it has more places than fit
        found = Decimal(f"{scaled.numerator}e-{LONGEST_DECIMAL}")
    else:
        found = Decimal(operator.index(value) if isinstance(value, SupportsIndex) else str(value))
    # Larger or smaller it would not fit, and writing it out could fill the memory.
    return found if not found or abs(found.adjusted()) <= LONGEST_DECIMAL else None
