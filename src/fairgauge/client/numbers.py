"""Numbers as people write them."""

import re

# Decimal knows more, such as one with a billion digits.
_NUMBER = re.compile(r"[+-]?(\d{1,50}(\.\d{0,50})?|\.\d{1,50})([eE][+-]?\d{1,2})?", re.ASCII)


def is_number(typed: str) -> bool:
    """Tell whether someone typed a number of sensible length.

    >>> is_number("-.5e-3"), is_number("1e999999999"), is_number("")
    (True, False, False)
    """
    return _NUMBER.fullmatch(typed) is not None
