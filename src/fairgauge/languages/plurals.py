"""Which form of a text goes with a count: the rules of CLDR, for whole numbers, as a language's file has them.

A rule is written as CLDR writes it, such as ``n % 10 = 2..4 and n % 100 != 12..14``.  For whole numbers CLDR's ``i`` is
the same as ``n``, and ``v``, ``f``, ``t`` and ``e`` are 0.
"""

import re
from collections.abc import Mapping

OTHER = "other"
_RELATION = re.compile(r"(?P<of>[a-z])(?: % (?P<modulus>\d+))? (?P<sign>!?=) (?P<ranges>[\d., ]+)")
_WHOLE = ("n", "i")


def category(rules: Mapping[str, str], count: int) -> str:
    """Return the category of a whole number: the first whose rule holds, else "other".

    >>> arabic = {"one": "n = 1", "few": "n % 100 = 3..10"}
    >>> [category(arabic, count) for count in (1, 3, 103, 11)]
    ['one', 'few', 'few', 'other']
    """
    return next((name for name, rule in rules.items() if holds(rule, count)), OTHER)


def holds(rule: str, count: int) -> bool:
    """Return whether a rule holds for a whole number.

    >>> holds("i = 0 or n = 1", 1), holds("v = 0 and i % 10 = 1", 21), holds("n % 10 = 2..4, 9", 15)
    (True, True, False)

    Raises:
        ValueError: If it is no rule.
    """
    return any(all(_relation(one, count) for one in part.split(" and ")) for part in rule.split(" or "))


def _relation(text: str, count: int) -> bool:
    found = _RELATION.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no relation of a plural rule")
    value = count if found["of"] in _WHOLE else 0
    if found["modulus"]:
        value %= int(found["modulus"])
    inside = any(_within(value, one.strip()) for one in found["ranges"].split(","))
    return inside == (found["sign"] == "=")


def _within(value: int, text: str) -> bool:
    low, _, high = text.partition("..")
    return int(low) <= value <= int(high or low)
