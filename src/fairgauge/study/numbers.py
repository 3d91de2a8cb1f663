"""Numbers as people give them: exact fractions of what a device measured, and decimals for a document."""

import operator
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any, SupportsIndex

from fairgauge.errors import BadStudy
from fairgauge.study.checks import LONGEST_DECIMAL, check_decimal, named

# Beyond these nothing is a number that somebody measured, and as a fraction it could fill the memory.
LARGEST_EXPONENT = 400
LONGEST_NUMBER = 400

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,18})?", re.ASCII)
_LARGEST = Fraction(10**LARGEST_EXPONENT)
_LEAST = 1 / _LARGEST

Number = float | str | Decimal | Fraction | SupportsIndex


def exact(value: object) -> Fraction | None:
    """Return the number as the fraction that it is, or None; whatever NumPy calls a number is one too.

    No number is what is infinite, above 10^400 or, but for 0, below 10^-400 in size, and what has more than 400
    characters as text, or more digits as a decimal.

    >>> exact("-.5e-3"), exact("1e401"), exact("1_0"), exact(True)
    (Fraction(-1, 2000), None, None, None)
    """
    try:
        number = _fraction(value)
    except BaseException:  # noqa: BLE001 - whatever it is and however it fails, it is no number, and nobody is told more
        return None
    return number if number is not None and (not number or _LEAST <= abs(number) <= _LARGEST) else None


def _fraction(value: Any) -> Fraction | None:
    kind = type(value)  # and not its word: a class of somebody's own may say of itself what it likes
    if issubclass(kind, bool):
        return None
    if issubclass(kind, str):
        text = str.strip(value)
        if len(text) > LONGEST_NUMBER or not _NUMBER.fullmatch(text):
            return None
        value, kind = Decimal(text), Decimal
    if issubclass(kind, Decimal):
        if not value.is_finite() or not value:
            return Fraction(0) if value == 0 else None
        if abs(value.adjusted()) > LARGEST_EXPONENT or len(value.as_tuple().digits) > LONGEST_NUMBER:
            return None
    if hasattr(value, "as_integer_ratio"):
        above, below = value.as_integer_ratio()
        return Fraction(operator.index(above), operator.index(below))
    return Fraction(operator.index(value))


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
