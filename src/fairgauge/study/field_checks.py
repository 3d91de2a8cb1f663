"""What texts, lists and integers must look like, and errors that say where in a document they do not."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from fairgauge.errors import BadStudy, InvalidInput

LONGEST_TEXT = 200
LONGEST_PROSE = 2000
_LARGEST_INTEGER = 2**53 - 1  # what every JSON reader takes for an exact integer

# Control characters, unpaired surrogates, line separators, and what reverses the direction of other text.
_NOT_TEXT = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# What Unicode calls default-ignorable: it is there and cannot be seen.
_HIDDEN = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Capitals and small letters of Cyrillic and Greek that look like Latin ones.
_LOOKS = str.maketrans(
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd\u03b9",
    "ABEKMHOPCTYXIJSaeopcyxijsABEZHIKMNOPTYXovi",
)
_VOWELS = "AEIOU"


@contextmanager
def at(path: str) -> Iterator[None]:
    """Put the path to a part of the document before the field that an error in this part names."""
    try:
        yield
    except InvalidInput as error:
        field = f"{path}.{error.field}" if error.field else path
        raise type(error)(field, error.value, error.rule) from None


def check_text(field: str, value: object, *, longest: int = LONGEST_TEXT) -> None:
    """Refuse what is no text of one line."""
    if not isinstance(value, str) or not 1 <= len(value) <= longest:
        raise BadStudy(field, value, f"must be text of 1 to {longest} characters")
    if value != value.strip() or _NOT_TEXT.search(value):
        raise BadStudy(field, value, "must be on one line, without space around it or control characters")


def check_name(field: str, value: object) -> None:
    """Refuse what is no name that people can tell from others by looking at it."""
    check_text(field, value)
    if isinstance(value, str) and (not unicodedata.is_normalized("NFC", value) or _HIDDEN.search(value)):
        raise BadStudy(field, value, "must be in Unicode's normal form C, without characters that cannot be seen")


def looks_of(name: str) -> str:
    """Return what names have in common that look alike: width, case, and letters of other scripts do not count.

    >>> looks_of("Fem\N{CYRILLIC SMALL LETTER A}le") == looks_of("female")
    True
    """
    return unicodedata.normalize("NFKC", name).translate(_LOOKS).lower()


def check_prose(field: str, value: object) -> None:
    """Refuse what is no text of one line, which may be longer than a name."""
    check_text(field, value, longest=LONGEST_PROSE)


def check_integer(field: str, value: object, *, least: int, most: int = _LARGEST_INTEGER) -> None:
    """Refuse what is no integer of this range."""
    if type(value) is not int or not least <= value <= most:
        raise BadStudy(field, value, f"must be an integer from {least} to {most}")


def check_is(field: str, value: object, wanted: type) -> None:
    """Refuse a value of another class, such as an attribute where a metric belongs."""
    if not isinstance(value, wanted):
        raise BadStudy(field, named(value), f"must be {_a(wanted)}")


def listed(field: str, values: object, of: str) -> tuple[Any, ...]:
    """Return the items of whatever is a list of something, in order; text is one thing, and a set has no order."""
    if isinstance(values, str | bytes | set | frozenset | dict) or not isinstance(values, Iterable):
        raise BadStudy(field, named(values), f"must be a list of {of}")
    return tuple(values)


def named(value: object) -> object:
    """Return what to show of a value: itself if it is text, a number or nothing, else its kind."""
    return value if value is None or isinstance(value, str | bytes | int | float) else _a(type(value))


def check_arguments(**given: tuple[object, type]) -> None:
    """Refuse an argument of another type, by its kind alone: it may be a person's own; and say it if two were swapped.

    >>> check_arguments(study=({"group": "female"}, Exception))
    Traceback (most recent call last):
    ...
    fairgauge.errors.InvalidInput: study=a dict: must be an Exception
    """
    for name, (value, wanted) in given.items():
        if not isinstance(value, wanted):
            swapped = any(isinstance(value, other) for _, other in given.values())
            order = f": the {' comes first, then the '.join(given)}" if swapped else ""
            raise InvalidInput(name, None if value is None else _a(type(value)), f"must be {_a(wanted)}{order}")


def _a(kind: type) -> str:
    return f"{'an' if kind.__name__[0].upper() in _VOWELS else 'a'} {kind.__name__}"
