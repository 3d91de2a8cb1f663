"""A few shapes in SVG.

Colours, fonts and line widths come from the style sheet by class, so that one picture fits a light page, a dark one
and paper, and needs no inline style, which a strict content-security policy would refuse.
"""

import math
import re
from collections.abc import Sequence
from unicodedata import category, east_asian_width

from markupsafe import Markup, escape

WIDE, NARROW = 680, 340
SIZE = 13  # of text, in user units; the style sheet repeats it
_BEGIN, _END = (
    "\N{LEFT-TO-RIGHT ISOLATE}\N{RIGHT-TO-LEFT ISOLATE}\N{FIRST STRONG ISOLATE}",
    "\N{POP DIRECTIONAL ISOLATE}",
)
_WORDS = re.compile(r"\S+\s*|\s+")


class Drawing:
    """Shapes that become one picture with a description for those who do not see it."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._parts: list[Markup] = []

    def line(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
        """Add a line."""
        (x1, y1), (x2, y2) = start, end
        self._add(
            '<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>', kind, _short(x1), _short(y1), _short(x2), _short(y2)
        )

    def box(self, corner: tuple[float, float], size: tuple[float, float], kind: str) -> None:
        """Add a rectangle."""
        self._add(
            '<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="{}"/>',
            kind, *map(_short, (*corner, max(size[0], 0.0), max(size[1], 0.0))), 2 if size[1] <= 16 else 0,
        )  # fmt: skip

    def dot(self, x: float, y: float, kind: str, radius: float = 5) -> None:
        """Add a dot."""
        self._add('<circle class="{}" cx="{}" cy="{}" r="{}"/>', kind, _short(x), _short(y), _short(radius))

    def path(self, points: Sequence[tuple[float, float]], kind: str, *, end: str = "") -> None:
        """Add lines through points; ``end="Z"`` closes them to an area."""
        drawn = "L".join(f"{_short(x)} {_short(y)}" for x, y in points)
        self._add('<path class="{}" d="M{}{}"/>', kind, drawn, end)

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        """Add words."""
        self._add(
            '<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>', kind, _short(x), _short(y), anchor, words
        )

    def to_svg(self, description: str, kind: str) -> Markup:
        """Return the picture."""
        return Markup('<svg class="{}" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
            kind, _short(self.width), _short(self.height), description, Markup("").join(self._parts)
        )

    def _add(self, template: str, *values: object) -> None:
        # The templates are those above; what is put into them is escaped.
        self._parts.append(Markup(template).format(*(escape(value) for value in values)))  # noqa: S704


class Axis:
    """Numbers along one side of a picture, with ticks at round ones."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        if not high > low:
            low, high = low - 1.0, high + 1.0
        self.low, self.high, self.start, self.end = low, high, start, end

    def at(self, value: float) -> float:
        """Return where a number is, or the nearer end if it is outside."""
        part = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        """Return round numbers within the axis, at most so many.

        >>> Axis(-5.2, 1.1, 0, 1).ticks(5)
        [-4.0, -2.0, 0.0]
        """
        for exponent in range(math.floor(math.log10(self.high - self.low)) - 2, 400):
            for step in (10.0**exponent, 2 * 10.0**exponent, 5 * 10.0**exponent):
                first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
                if last - first + 1 <= most:
                    return [round(n * step, max(0, 2 - exponent)) + 0.0 for n in range(first, last + 1)]
        return []


def width_of(words: str) -> float:
    """Return how wide words are at most in the fonts that pages name, in user units."""
    return SIZE * sum(map(_em, words))


def wrapped(words: str, width: float) -> list[str]:
    """Return words in lines that are no wider than this; nothing is left out.

    Lines break at blanks, and within a word only if it is wider than a line.  A part that is kept apart, so that texts
    of the other direction do not turn it around, is so on each of its lines.

    >>> wrapped("female and 65 or older", 90)
    ['female and', '65 or older']
    """
    lines: list[str] = []
    held = line = ""  # which parts that are kept apart are open where the line begins, and the line so far
    for word in _WORDS.findall(words):
        piece = word
        while width_of((line + piece).rstrip()) > width and (line.strip(_BEGIN) or len(piece) > 1):
            if not line.strip(_BEGIN):  # one word wider than a line
                fits = next((n for n in range(len(piece) - 1, 1, -1) if width_of(line + piece[:n]) <= width), 1)
                line, piece = line + piece[:fits], piece[fits:]
            held = _open(line)
            lines.append(line.rstrip() + _END * len(held))
            line = held
        line += piece
    return [*lines, line.rstrip()]


def _open(line: str) -> str:
    """Return the marks of a line that are not closed in it."""
    found: list[str] = []
    for letter in line:
        if letter in _BEGIN:
            found.append(letter)
        elif letter == _END and found:
            found.pop()
    return "".join(found)


def _em(letter: str) -> float:
    kind = category(letter)
    if kind in ("Cf", "Mn", "Me"):  # marks of direction and accents take no room
        return 0.0
    if east_asian_width(letter) in "WF":
        return 1.05
    if letter in "MWmw@%—":
        return 1.0
    if kind == "Lu":
        return 0.78
    return 0.42 if letter in "fijlrtI.,;:'|!()[] " else 0.66


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
