"""Whether a report is what its study and its tally give: numbers and words, byte for byte with the same version."""

import re
from dataclasses import dataclass
from hashlib import sha256
from html.parser import HTMLParser
from itertools import zip_longest
from typing import Literal

from fairgauge import __version__
from fairgauge.errors import FairgaugeError
from fairgauge.estimation import estimate
from fairgauge.reports.html_report import render_report
from fairgauge.reports.provenance import Stated, read_stated
from fairgauge.study import Study
from fairgauge.tallies import Tally

_Outcome = Literal["same", "digits", "numbers", "other"]
# Numbers for programs have up to ten digits.  Where an interval ends is searched for, and another processor may stop a
# hundred-millionth further on; a seal's estimate is compared with the same tolerance.
_UNROUNDED = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_DIGITS = 9
_CLOSE = 1e-6
_SHOWN = 90


@dataclass(frozen=True)
class Compared:
    """How a report compares with what these files give.

    Args:
        outcome: ``same``: byte for byte.  ``digits``: but for the last digits of numbers for programs, which may
            differ between processors.  ``numbers``: another version made it, and the numbers agree.  ``other``: it is
            not what these files give.
        stated: What the report states about itself.
        why: For ``other`` and ``numbers``, what differs, in words.
    """

    outcome: _Outcome
    stated: Stated
    why: str = ""


def compare_report(page: str, study: Study, tally: Tally) -> Compared:
    """Make a report again from its own terms, and compare.

    Raises:
        InvalidInput: If the page is no report that states its terms.
    """
    stated = read_stated(page)
    digest = sha256(tally.to_bytes()).hexdigest()
    if stated.study != study.digest:
        return Compared("other", stated, f"it is about study {stated.study}, and this is {study.digest}")
    if stated.tally != digest:
        return Compared(
            "other", stated, f"it was made from another tally: {stated.tally} is its SHA-256, and this one has {digest}"
        )
    try:
        found = estimate(
            study, tally, confidence=stated.confidence, interval=stated.interval, tolerance=stated.tolerance
        )
        again = render_report(study, tally, found, stated.particulars)
    except FairgaugeError as error:
        return Compared("other", stated, f"its terms cannot be used: {error}")
    if again == page:
        return Compared("same", stated)
    if stated.version != __version__:
        same = _numbers(page) == _numbers(again)
        why = f"fairgauge {stated.version} made it, and its numbers are not those that these files give"
        return Compared("numbers", stated, _difference(page, again)) if same else Compared("other", stated, why)
    if _same_but_for_digits(page, again):
        return Compared("digits", stated)
    return Compared("other", stated, _difference(page, again))


def _difference(page: str, again: str) -> str:
    """Return the first thing that a reader of two pages would see to differ, in words."""
    for here, there in zip_longest(_lines(page), _lines(again)):
        if here != there:
            at = next((i for i, (a, b) in enumerate(zip(here or "", there or "", strict=False)) if a != b), 0)
            said, given = (_around(text, at) for text in (here, there))
            return f"it says {said} where these files give {given}"
    for mine, given in zip_longest(_raw_values(page), _raw_values(again)):
        if mine != given:
            return f"it tells programs {mine or 'nothing'} where these files give {given or 'nothing'}"
    return "it differs in what is not shown: pictures, style or hidden parts were changed"


def _around(text: str | None, at: int) -> str:
    if text is None:
        return "nothing"
    start = max(0, at - _SHOWN // 2)
    cut = text[start : start + _SHOWN]
    return f"“{'…' if start else ''}{cut}{'…' if start + _SHOWN < len(text) else ''}”"


def _same_but_for_digits(page: str, again: str) -> bool:
    if _UNROUNDED.sub(_rounded_away, page) != _UNROUNDED.sub(_rounded_away, again):
        return False
    mine, theirs = (
        [float(found) for found in _UNROUNDED.findall(text) if _is_unrounded(found)] for text in (page, again)
    )
    return all(abs(a - b) <= _CLOSE * max(1.0, abs(a)) for a, b in zip(mine, theirs, strict=True))


def _is_unrounded(number: str) -> bool:
    return "." in number and sum(letter.isdigit() for letter in number.partition("e")[0]) >= _DIGITS


def _rounded_away(found: "re.Match[str]") -> str:
    return "#" if _is_unrounded(found[0]) else found[0]


def _numbers(page: str) -> list[float]:
    """Return the numbers for programs of a report's tables, to eight digits."""
    return [float(f"{_number(text):.8g}") for text in _raw_values(page)]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")  # which is like nothing, itself included


def _raw_values(page: str) -> list[str]:
    finder = _Values()
    finder.feed(page)
    return finder.values


class _Values(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.values: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "data":
            self.values.append(dict(attrs).get("value") or "")


def _lines(page: str) -> list[str]:
    """Return what a reader reads: text, with the words of pictures, a line for each piece."""
    finder = _Text()
    finder.feed(page)
    return finder.lines


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._hidden = 0
        self._apart = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("style", "script")
        self._apart = self._apart or tag not in ("b", "code", "data")
        label = dict(attrs).get("aria-label")
        if label:
            self.lines.append(" ".join(label.split()))

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("style", "script")
        self._apart = self._apart or tag not in ("b", "code", "data")

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if not text or self._hidden:
            return
        if self._apart or not self.lines:
            self.lines.append(text)
        else:
            self.lines[-1] += f" {text}"
        self._apart = False
