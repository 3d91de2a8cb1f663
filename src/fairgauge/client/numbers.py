"""Numbers as people write them."""

import re

from fairgauge.study.numbers import bounded, exact

# Decimal knows more, such as one with a billion digits.
_NUMBER = re.compile(r"[+-]?(\d{1,50}(\.\d{0,50})?|\.\d{1,50})([eE][+-]?\d{1,2})?", re.ASCII)


def is_number(typed: str) -> bool:
    """Tell whether someone typed a number of sensible length.

    >>> is_number("-.5e-3"), is_number("1e999999999"), is_number("")
    (True, False, False)
    """
    return _NUMBER.fullmatch(typed) is not None


def told(value: object) -> str | None:
    """Return what was measured as an agent reads it, or None if it is no number.

    A number that has more digits than :func:`is_number` takes is told as the nearest that has not.

    >>> told(0.83), told("1e3"), told(1e-300)[:5], told(10**5000)[:5], told(float("nan"))
    ('0.83', '1e3', '0.000', '10000', None)
    """
    found = exact(value)
    if found is None:
        return None
    number = bounded(found)
    text = str(value) if number == found else ""  # longer ones cannot even be written
    return text if is_number(text) else f"{float(number):.40f}"
