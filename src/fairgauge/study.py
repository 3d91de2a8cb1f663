"""The study: an immutable document that says what is asked of whom, and with which channels.

Its name is the SHA-256 digest of its canonical bytes, so a device, a collector and a reader who hold the same
digest hold the same study.  The meaning of a field never changes: a new meaning is a new format number, and
unknown fields are refused.  Numbers are integers, or decimals written as strings ("0.25"), never floats.
"""

import math
import operator
import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from typing import Any, Literal, SupportsIndex

from fairgauge.canonical import decode, encode, members
from fairgauge.channel import LEVEL_UNIT, Channel
from fairgauge.errors import BadStudy, CannotAnswer, InvalidInput, NotPrivate

FORMAT = 1
LONGEST_TEXT = 200
LONGEST_DECIMAL = 32
LARGEST_EXPONENT = 400
MOST_GROUPS = 64
MOST_QUESTIONS = 64
MOST_SYMBOLS = 4096

Target = Literal["gap", "means"]
Number = float | str | Decimal | Fraction | SupportsIndex

_DECIMAL = re.compile(r"(?!-0(?:\.0+)?\Z)-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
# Control characters, unpaired surrogates, line separators, and what reverses the direction of other text.
_NOT_TEXT = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Metric:
    """What is measured on a device: a number from low to high, both decimals such as "0" or "-0.5".

    Inside a channel a value x becomes v = 2 (x - low) / (high - low) - 1, from -1 to 1.
    """

    name: str
    low: str
    high: str

    def __post_init__(self) -> None:
        _check_text("name", self.name)
        _check_decimal("low", self.low)
        _check_decimal("high", self.high)
        if Fraction(self.low) >= Fraction(self.high):
            raise BadStudy("high", self.high, f"must be above low, which is {self.low}")

    @property
    def scale(self) -> float:
        """How many units of the metric one unit of v is."""
        return float((Fraction(self.high) - Fraction(self.low)) / 2)

    def to_metric(self, v: float) -> float:
        """Return the metric's value for a v from -1 to 1."""
        return float(Fraction(self.low)) + (v + 1) * self.scale

    def position(self, value: Number) -> Fraction:
        """Return v times ``LEVEL_UNIT``, exactly: a float counts as the fraction that it is.

        Raises:
            CannotAnswer: If the value is no number from low to high; the text does not hold the value.
        """
        exact, low, high = _exact(value), Fraction(self.low), Fraction(self.high)
        # Not raised where the value failed to convert: that exception holds it, and would be chained.
        if exact is None or not low <= exact <= high:
            raise CannotAnswer(f"{self.name} must be a number from {self.low} to {self.high}")
        return LEVEL_UNIT * (2 * exact - low - high) / (high - low)


@dataclass(frozen=True, slots=True)
class Attribute:
    """How people are grouped, and each group's known share of the clients ("0.25"), if known."""

    name: str
    groups: tuple[str, ...]
    shares: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _check_text("name", self.name)
        if not 2 <= len(self.groups) <= MOST_GROUPS:
            raise BadStudy("groups", f"{len(self.groups)} groups", f"must be from 2 to {MOST_GROUPS}")
        for index, group in enumerate(self.groups):
            _check_text(f"groups[{index}]", group)
            if group in self.groups[:index]:
                raise BadStudy(f"groups[{index}]", group, "must be listed once")
        if self.shares is not None:
            self._check_shares(self.shares)

    def _check_shares(self, shares: tuple[str, ...]) -> None:
        if len(shares) != len(self.groups):
            raise BadStudy("shares", f"{len(shares)} shares", f"must be one for each of {len(self.groups)} groups")
        for index, share in enumerate(shares):
            _check_decimal(f"shares[{index}]", share)
            if Fraction(share) <= 0:
                raise BadStudy(f"shares[{index}]", share, "must be above 0")
        if sum(map(Fraction, shares)) != 1:
            raise BadStudy("shares", ", ".join(shares), "must sum to exactly 1")

    @property
    def share_values(self) -> tuple[float, ...] | None:
        """The known shares as numbers."""
        return None if self.shares is None else tuple(map(float, self.shares))


@dataclass(frozen=True, slots=True)
class Question:
    """One metric of one attribute, asked through a channel that spends at most the declared epsilon."""

    metric: Metric
    attribute: Attribute
    target: Target
    design: str
    epsilon: str
    channel: Channel

    def __post_init__(self) -> None:
        if self.target not in ("gap", "means"):
            raise BadStudy("target", self.target, 'must be "gap" or "means"')
        _check_text("design", self.design)
        _check_decimal("epsilon", self.epsilon)
        if Fraction(self.epsilon) <= 0:
            raise BadStudy("epsilon", self.epsilon, "must be above 0")
        if self.channel.groups != len(self.attribute.groups):
            raise BadStudy("channel.groups", self.channel.groups, f"must be {len(self.attribute.groups)}")
        if self.channel.symbols > MOST_SYMBOLS:
            raise BadStudy("table", f"{self.channel.symbols} symbols", f"must be at most {MOST_SYMBOLS}")

    @property
    def private(self) -> bool:
        """Whether the table spends at most the declared epsilon; decided exactly."""
        return self.channel.within(Decimal(self.epsilon))


@dataclass(frozen=True)
class Study:
    """The published document: a device answers one of its questions, picked by its own secure coin.

    Symbols are numbered through the study: those of question 0 first, then those of question 1, and so on.
    """

    title: str
    questions: tuple[Question, ...]
    opens: str | None = None
    closes: str | None = None
    contact: str | None = None

    def __post_init__(self) -> None:
        _check_text("title", self.title)
        if not 1 <= len(self.questions) <= MOST_QUESTIONS:
            raise BadStudy("questions", f"{len(self.questions)} questions", f"must be from 1 to {MOST_QUESTIONS}")
        asked = [(question.metric.name, question.attribute.name) for question in self.questions]
        for index, pair in enumerate(asked):
            if pair in asked[:index]:
                raise BadStudy(f"questions[{index}]", " by ".join(pair), "must be asked once")
        for field, moment in (("opens", self.opens), ("closes", self.closes)):
            if moment is not None:
                _check_moment(field, moment)
        if self.opens is not None and self.closes is not None and self.opens >= self.closes:
            raise BadStudy("closes", self.closes, f"must be after opens, which is {self.opens}")
        if self.contact is not None:
            _check_text("contact", self.contact)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Study":
        """Read a study and check that every table spends at most the epsilon it declares.

        Raises:
            BadStudy: If the document breaks the format.
            BadTable: If a table does.
            NotPrivate: If a table spends more than declared.
        """
        study = parse(data)
        study.check_privacy()
        return study

    def to_bytes(self) -> bytes:
        """Return the canonical bytes (RFC 8785)."""
        return encode(
            {
                "format": FORMAT,
                "title": self.title,
                "questions": [_question_document(question) for question in self.questions],
                "opens": self.opens,
                "closes": self.closes,
                "contact": self.contact,
            }
        )

    @cached_property
    def digest(self) -> str:
        """The study's name: SHA-256 of its canonical bytes, in hexadecimal."""
        return sha256(self.to_bytes()).hexdigest()

    @property
    def epsilon(self) -> float:
        """The exact privacy loss of an answer: the largest over the questions, since only one is answered."""
        return max(question.channel.epsilon for question in self.questions)

    @property
    def symbols(self) -> int:
        """How many different symbols an answer can hold."""
        return self._offsets[-1]

    def offset(self, question_index: int) -> int:
        """Return the number that a question's first symbol has in the study."""
        return self._offsets[range(len(self.questions))[question_index]]

    def question_of(self, symbol: int) -> tuple[int, int]:
        """Return the index of the question that a symbol answers, and the symbol's number within it."""
        if not 0 <= symbol < self.symbols:
            raise InvalidInput("symbol", symbol, f"must be from 0 to {self.symbols - 1}")
        index = bisect_right(self._offsets, symbol) - 1
        return index, symbol - self._offsets[index]

    @cached_property
    def _offsets(self) -> tuple[int, ...]:
        return tuple(accumulate((question.channel.symbols for question in self.questions), initial=0))

    def check_privacy(self) -> None:
        """Recompute every table's exact epsilon and compare it with the declared one.

        Raises:
            NotPrivate: If a table spends more than declared.
        """
        for index, question in enumerate(self.questions):
            if not question.private:
                exact = question.channel.epsilon
                spent = f"epsilon {exact!r}" if math.isfinite(exact) else "no finite epsilon"
                raise NotPrivate(
                    f"questions[{index}] ({question.metric.name} by {question.attribute.name}) "
                    f"declares epsilon {question.epsilon} but its table has {spent}"
                )


def parse(data: bytes) -> Study:
    """Read a study whose form is sound, whether or not its tables keep what it declares."""
    document = decode(data, error=BadStudy)
    number = document.get("format", "nothing")
    if type(number) is not int or number != FORMAT:
        raise BadStudy("format", number, f"must be {FORMAT}")
    names = ("format", "title", "questions", "opens", "closes", "contact")
    _, title, questions, opens, closes, contact = members(document, *names, error=BadStudy)
    parsed = []
    for index, question in enumerate(_array("questions", questions)):
        with _at(f"questions[{index}]"):
            parsed.append(_parse_question(question))
    return Study(title, tuple(parsed), opens, closes, contact)


def _parse_question(document: object) -> Question:
    names = ("metric", "attribute", "target", "design", "epsilon", "levels", "abstain", "table")
    metric, attribute, target, design, epsilon, levels, abstain, table = _object(document, *names)
    with _at("metric"):
        parsed_metric = Metric(*_object(metric, "name", "low", "high"))
    with _at("attribute"):
        name, groups, shares = _object(attribute, "name", "groups", "shares")
        known = None if shares is None else _array("shares", shares)
        parsed_attribute = Attribute(name, _array("groups", groups), known)
    rows = tuple(_array(f"table[{i}]", row) for i, row in enumerate(_array("table", table)))
    channel = Channel(rows, _array("levels", levels), len(parsed_attribute.groups), abstain)
    return Question(parsed_metric, parsed_attribute, target, design, epsilon, channel)


def _question_document(question: Question) -> dict[str, object]:
    metric, attribute, channel = question.metric, question.attribute, question.channel
    return {
        "metric": {"name": metric.name, "low": metric.low, "high": metric.high},
        "attribute": {"name": attribute.name, "groups": attribute.groups, "shares": attribute.shares},
        "target": question.target,
        "design": question.design,
        "epsilon": question.epsilon,
        "levels": channel.levels,
        "abstain": channel.abstain,
        "table": channel.table,
    }


@contextmanager
def _at(path: str) -> Iterator[None]:
    """Put the path to a part of the document before the field that an error in this part names."""
    try:
        yield
    except InvalidInput as error:
        field = f"{path}.{error.field}" if error.field else path
        raise type(error)(field, error.value, error.rule) from None


def _object(document: object, *names: str) -> list[Any]:
    if not isinstance(document, dict):
        raise BadStudy("", document, "must be an object")
    return members(document, *names, error=BadStudy)


def _array(field: str, value: object) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise BadStudy(field, value, "must be an array")
    return tuple(value)


def _check_text(field: str, value: object) -> None:
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_TEXT:
        raise BadStudy(field, value, f"must be text of 1 to {LONGEST_TEXT} characters")
    if value != value.strip() or _NOT_TEXT.search(value):
        raise BadStudy(field, value, "must be on one line, without space around it or control characters")


def _check_decimal(field: str, value: object) -> None:
    if not isinstance(value, str) or len(value) > LONGEST_DECIMAL or not _DECIMAL.fullmatch(value):
        raise BadStudy(field, value, 'must be a plain decimal in quotes, such as "0.25"')


def _check_moment(field: str, value: object) -> None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z" != value:
        raise BadStudy(field, value, "must be a moment in UTC such as 2026-11-15T00:00:00Z")


def _exact(value: Number) -> Fraction | None:
    """Return the number as the fraction that it is; whatever NumPy calls a number is one too."""
    if isinstance(value, bool):
        return None
    try:
        if isinstance(value, str):
            value = Decimal(value)
        if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > LARGEST_EXPONENT:
            return None  # as a fraction it would fill the memory
        if hasattr(value, "as_integer_ratio"):
            return Fraction(*value.as_integer_ratio())
        return Fraction(operator.index(value))
    except (ArithmeticError, TypeError, ValueError):
        return None
