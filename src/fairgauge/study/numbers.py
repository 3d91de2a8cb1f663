"""Numbers as people give them: exact fractions of what a device measured, and decimals for a document."""

import operator
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, SupportsIndex

from fairgauge.errors import BadStudy, InvalidInput
from fairgauge.study.field_checks import named

# Beyond these nothing is a number that somebody measured, and as a fraction it could fill the memory.
_LARGEST_EXPONENT = 400
_LONGEST_NUMBER = 400
# Numbers that people type as decimals have at most so many places before or behind the point.
MOST_DIGITS = 30
MOST_CLIENTS = 10**15

_LONGEST_DECIMAL = 32
_DECIMAL = re.compile(r"(?!-0(?:\.0+)?\Z)-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,18})?", re.ASCII)
_LARGEST = Fraction(10**_LARGEST_EXPONENT)
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
        if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
            return None
        value, kind = Decimal(text), Decimal
    if issubclass(kind, Decimal):
        if not value.is_finite() or not value:
            return Fraction(0) if value == 0 else None
        if abs(value.adjusted()) > _LARGEST_EXPONENT or len(value.as_tuple().digits) > _LONGEST_NUMBER:
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
    if not text or len(text) > _LONGEST_DECIMAL:
        raise BadStudy(field, named(value), f"must be a number that a decimal of {_LONGEST_DECIMAL} characters can say")
    return "0" if text == "-0" else text


def _decimal(value: Number) -> Decimal | None:
    if isinstance(value, Decimal):
        found = value
    elif isinstance(value, Fraction):
        scaled = value * 10**_LONGEST_DECIMAL
        if scaled.denominator != 1:
            return None  # it has more places than fit
        found = Decimal(f"{scaled.numerator}e-{_LONGEST_DECIMAL}")
    else:
        found = Decimal(operator.index(value) if isinstance(value, SupportsIndex) else str(value))
    # Larger or smaller it would not fit, and writing it out could fill the memory.
    return found if not found or abs(found.adjusted()) <= _LONGEST_DECIMAL else None


def check_decimal(field: str, value: object) -> None:
    """Refuse what is no plain decimal in a string."""
    if not isinstance(value, str) or len(value) > _LONGEST_DECIMAL or not _DECIMAL.fullmatch(value):
        raise BadStudy(field, value, 'must be a plain decimal in quotes, such as "0.25"')


def read_decimal(field: str, typed: str) -> Decimal:
    """Read a number exactly as typed."""
    try:
        number = Decimal(typed)
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise InvalidInput(field, typed, "must be a number")
    if number and abs(number.adjusted()) > MOST_DIGITS:
        # Written out it would fill the memory.
        raise InvalidInput(field, typed, f"must be 0, or from 1e-{MOST_DIGITS} to 1e{MOST_DIGITS} in size")
    return number


def as_epsilon(given: Number) -> Decimal:
    """Return an epsilon exactly as it was given.

    >>> as_epsilon(0.1), as_epsilon("1"), as_epsilon(2)
    (Decimal('0.1'), Decimal('1'), Decimal('2'))
    """
    epsilon = _as_decimal("epsilon", given)
    if epsilon <= 0:
        raise InvalidInput("epsilon", given, "must be above 0")
    return Decimal(plain(epsilon))


def as_count(field: str, given: Number) -> int:
    """Return a whole number, which may be given as 1e6 or 1_000_000.

    >>> as_count("clients", "1e6"), as_count("clients", 2e5)
    (1000000, 200000)
    """
    number = _as_decimal(field, given)
    if number != number.to_integral_value() or not 1 <= number <= MOST_CLIENTS:
        raise InvalidInput(field, given, "must be a whole number from 1 to 10^15")
    return int(number)


def as_number(field: str, given: Number) -> float:
    """Return a size, such as an error in the metric's units."""
    return float(_as_decimal(field, given))


def _as_decimal(field: str, given: Number) -> Decimal:
    if isinstance(given, str):
        return read_decimal(field, given)
    try:
        return Decimal(decimal_text(field, given))
    except InvalidInput:
        raise InvalidInput(field, given, "must be a number") from None


def plain(number: Decimal) -> str:
    """Return the shortest decimal without an exponent, as study documents want it."""
    text = format(number.normalize(), "f")
    return "0" if text == "-0" else text


def positive(field: str, given: Number) -> str:
    """Return a number above 0 as a plain decimal."""
    text = decimal_text(field, given)
    if Fraction(text) <= 0:
        raise BadStudy(field, text, "must be above 0")
    return text
