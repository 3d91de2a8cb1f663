"""One language as a page speaks it: texts with their parts put in, numbers, counts, lists and moments.

Numbers come as Python writes them in English, "1,234.5", and are rewritten digit by digit: what was rounded outward
stays as it was rounded.  Which form of a text goes with a count is said by CLDR's rules for whole numbers, as a
language's file has them, such as ``n % 10 = 2..4 and n % 100 != 12..14``: CLDR's ``i`` is the same as ``n`` there, and
``v``, ``f``, ``t`` and ``e`` are 0.
"""

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from fairgauge.languages.language_choice import OWN, Texts, catalogue, lookup, region_of

_OTHER = "other"
_RELATION = re.compile(r"(?P<of>[a-z])(?: % (?P<modulus>\d+))? (?P<sign>!?=) (?P<ranges>[\d., ]+)")
_WHOLE = ("n", "i")


def _category(rules: Mapping[str, str], count: int) -> str:
    """Return the category of a whole number: the first whose rule holds, else "other".

    >>> arabic = {"one": "n = 1", "few": "n % 100 = 3..10"}
    >>> [_category(arabic, count) for count in (1, 3, 103, 11)]
    ['one', 'few', 'few', 'other']
    """
    return next((name for name, rule in rules.items() if holds(rule, count)), _OTHER)


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


MINUS = "\N{MINUS SIGN}"
_PART = re.compile(r"\{([a-z]+)\}")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9-]*|[0-9%]")  # SHA-256 is a name, and keeps its digits
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_RIGHT_FIRST, _LEFT_FIRST = "\N{RIGHT-TO-LEFT ISOLATE}", "\N{LEFT-TO-RIGHT ISOLATE}"
_SPAN = re.compile(r"(?<=\d)\N{EN DASH}(?=\d)")
_ISOLATE, _END = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"


class Spoken(str):
    """A text that every language writes in its own way."""

    __slots__ = ()

    @abstractmethod
    def by(self, voice: "Voice") -> str:
        """Return it as a voice says it."""


@dataclass(frozen=True)
class Voice:
    """A language, as it is written in a region.

    Args:
        tag: The language, one of the catalogue.
        region: One that writes numbers in the same way, such as "DZ"; empty for the language's own way.
        names: What to call what a study names, where the study says it in this language.
        marks: Whether names that run the other way are kept apart by marks that are not seen.
    """

    tag: str = OWN
    region: str = ""
    names: Mapping[str, str] = field(default_factory=dict, compare=False)
    marks: bool = True

    @classmethod
    def of(cls, wanted: Iterable[str]) -> "Voice":
        """Return the voice for somebody who reads these languages, the best first.

        >>> Voice.of(["fr", "de-CH"]).say("language.name"), Voice.of(["fr", "de-CH"]).number(1234)
        ('Deutsch', '1’234')
        """
        tags = tuple(wanted)
        tag = lookup(tags)
        region = region_of(tag, tags)
        same = (regions.split() for regions in catalogue()[tag]["language.regions"])
        # One for all that write alike, so that there are few voices, however many regions a browser can name.
        return cls(tag, next((group[0] for group in same if region in group), ""))

    @cached_property
    def texts(self) -> Texts:
        """All texts."""
        return catalogue()[self.tag]

    @property
    def direction(self) -> str:
        """Whether it is written from left to right or from right to left: "ltr" or "rtl"."""
        return str(self.texts["language.direction"])

    @cached_property
    def _numbers(self) -> dict[str, str]:
        here = [way for regions, way in self.texts["language.regions"].items() if self.region in regions.split()]
        way: dict[str, str] = dict(self.texts["language.numbers"])
        for more in here:
            way |= more
        return way

    def say(self, key: str, **parts: object) -> str:
        """Return a text with its parts put in."""
        return self._filled(key, self.texts[key], parts)

    def counted(self, key: str, count: int | str, **parts: object) -> str:
        """Return a text that depends on a count, a whole number or a number as Python writes it."""
        written = f"{count:,}" if isinstance(count, int) else count
        whole = written.replace(",", "").removeprefix("±")
        form = _category(self.texts["language.plurals"], int(whole)) if whole.isdecimal() else _OTHER
        return self._filled(key, self.texts[key][form], {**parts, "count": self.numeral(written)})

    def numeral(self, text: str) -> str:
        """Return a number as this language writes it: the same digits, nothing rounded.

        >>> Voice("de").numeral("1,234.50"), Voice("ar", "EG").numeral("0.25")
        ('1.234,50', '٠٫٢٥')
        """
        way = self._numbers
        signs = {".": way["decimal"], ",": way["group"], MINUS: way["minus"]}
        return "".join(way["digits"][int(c)] if c in "0123456789" else signs.get(c, c) for c in text)

    def number(self, count: int) -> str:
        """Return a whole number."""
        return self.numeral(f"{count:,}")

    def percent(self, number: str) -> str:
        """Return a number of hundredths, which comes as Python writes it."""
        return self.say("number.percent", number=self.numeral(number))

    def listed(self, names: Sequence[str]) -> str:
        """Return names as a list in a sentence.

        >>> Voice().listed(["young", "middle", "old"]), Voice("de").listed(["jung", "alt"])
        ('young, middle and old', 'jung und alt')
        """
        *first, last = names
        if not first:
            return last
        said = self.apart(first[0])
        for name in first[1:]:
            said = self._joined("list.more", said, name)
        return self._joined("list.last", said, last)

    def _joined(self, key: str, said: str, name: str) -> str:
        return str(self.texts[key]).replace("{first}", said).replace("{second}", self.apart(name))

    def moment(self, text: str) -> str:
        """Return a moment of a document, in UTC, or a day.

        >>> Voice().moment("2027-01-01T08:30:00Z"), Voice("de").moment("2027-03-01")
        ('1 January 2027, 08:30 UTC', '1. März 2027')
        """
        at, key = datetime.fromisoformat(text), "date.moment" if "T" in text else "date.day"
        month = self.say(f"date.month-{at.month}")
        day, year, time = (self.numeral(one) for one in (str(at.day), str(at.year), f"{at:%H:%M}"))
        return str(self.texts[key]).format(day=day, month=month, year=year, time=time)

    def tell(self, what: object) -> str:
        """Return a sentence that knows what it says, a number, a list or a study's word in this language.

        >>> Voice("de").tell(1234), Voice("de").tell(("jung", "alt"))
        ('1.234', 'jung und alt')
        """
        if isinstance(what, Spoken):
            return what.by(self)
        if isinstance(what, int):
            return self.number(what)
        if isinstance(what, tuple):
            return self.listed([self.tell(one) for one in what])
        return self.whole(self.names.get(str(what), str(what)))

    def named(self, what: object) -> str:
        """Return what stands by itself, a name kept apart: "65+" alone would be turned around in a line of Arabic.

        >>> Voice("ar").named("65+") == "\u206865+\u2069", Voice("de").named("65+")
        (True, '65+')
        """
        return self.apart(self.tell(what))

    def whole(self, name: str) -> str:
        """Return a name in which no line breaks between numbers: "18–29" stays together.

        >>> Voice("de").whole("18–29") == "18–\u206029", PLAIN.whole("18–29")
        (True, '18–29')
        """
        return _SPAN.sub("\N{EN DASH}\N{WORD JOINER}", name) if self.marks else name

    def calling(self, names: Mapping[str, str]) -> "Voice":
        """Return the same voice that calls things by these names."""
        return replace(self, names=names)

    def apart(self, text: str) -> str:
        """Keep a text from turning its neighbours around, where directions meet."""
        if not self.marks or not (self.direction == "rtl" or _RIGHT_TO_LEFT.search(text)):
            return text
        # What is put together is read as its language is: between names that are kept apart there may be commas alone,
        # and these have no direction.
        together = _END in text
        return f"{(_RIGHT_FIRST if self.direction == 'rtl' else _LEFT_FIRST) if together else _ISOLATE}{text}{_END}"

    def _sign(self, text: str) -> str:
        if text == "%":
            return self._numbers["percent"]
        return self._numbers["digits"][int(text)] if text.isdecimal() else text

    def alone(self, text: str) -> str:
        """Return a text that stands by itself where lines run from left to right, as in a picture."""
        return f"{_RIGHT_FIRST}{text}{_END}" if self.direction == "rtl" else text

    def _filled(self, key: str, text: str, parts: Mapping[str, Any]) -> str:
        pieces = _PART.split(text)
        for at, piece in enumerate(pieces):
            if at % 2:
                if piece not in parts:
                    raise KeyError(f"{key}: {{{piece}}}")
                pieces[at] = self.apart(str(parts[piece]))
            else:
                pieces[at] = _WORD.sub(lambda found: self._sign(found[0]), piece)
        said = "".join(pieces)
        if self.marks and MINUS in text:
            # A difference of names is read as the page is, or from left to right where no name runs the other way.
            # The names at its ends must not decide that, or its sign would be turned around.
            other = bool(_RIGHT_TO_LEFT.search(said))
            if self.direction == "rtl" or other:
                return f"{_RIGHT_FIRST if self.direction == 'rtl' and other else _LEFT_FIRST}{said}{_END}"
        return said


# For the report and the command line: English, with nothing between names and words that a terminal would not know.
PLAIN = Voice(marks=False)
