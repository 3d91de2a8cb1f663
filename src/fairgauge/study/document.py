"""The published document, its digest, and how its symbols are numbered."""

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from os import PathLike
from typing import TYPE_CHECKING, TypedDict, Unpack

from fairgauge.canonical import decode, encode, read_file, write_file
from fairgauge.errors import BadStudy, InvalidInput, NotPrivate
from fairgauge.study import format1
from fairgauge.study.checks import check_is, check_moment, check_text, listed
from fairgauge.study.values import Question

MOST_QUESTIONS = 64


class Fields(TypedDict, total=False):
    """What a study may say beside its title and its questions."""

    opens: str | None
    closes: str | None
    contact: str | None


@dataclass(frozen=True)
class Study:
    """The published document: a device answers one of its questions, picked by its own secure coin.

    Symbols are numbered through the study: those of question 0 first, then those of question 1, and so on.

    Args:
        title: What the study is about, for people.
        questions: One or more questions.
        opens: From when answers are taken, such as ``2026-11-15T00:00:00Z``.
        closes: Until when.
        contact: Whom to ask.
    """

    title: str
    questions: tuple[Question, ...]
    _: KW_ONLY
    opens: str | None = None
    closes: str | None = None
    contact: str | None = None

    if TYPE_CHECKING:  # any list of questions will do; the field is a tuple

        def __init__(self, title: str, questions: Iterable[Question], **fields: Unpack[Fields]) -> None: ...

    def __post_init__(self) -> None:
        check_text("title", self.title)
        object.__setattr__(self, "questions", listed("questions", self.questions, "questions"))
        for index, question in enumerate(self.questions):
            check_is(f"questions[{index}]", question, Question)
        if not 1 <= len(self.questions) <= MOST_QUESTIONS:
            raise BadStudy("questions", f"{len(self.questions)} questions", f"must be from 1 to {MOST_QUESTIONS}")
        asked = [(question.metric.name, question.attribute.name) for question in self.questions]
        for index, pair in enumerate(asked):
            if pair in asked[:index]:
                raise BadStudy(f"questions[{index}]", " by ".join(pair), "must be asked once")
        for field, moment in (("opens", self.opens), ("closes", self.closes)):
            if moment is not None:
                check_moment(field, moment)
        if self.opens is not None and self.closes is not None and self.opens >= self.closes:
            raise BadStudy("closes", self.closes, f"must be after opens, which is {self.opens}")
        if self.contact is not None:
            check_text("contact", self.contact)

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

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Study":
        """Read a study from a file, and check it as :meth:`from_bytes` does."""
        return cls.from_bytes(read_file(path, field="study"))

    def to_bytes(self) -> bytes:
        """Return the canonical bytes (RFC 8785)."""
        return encode(format1.write(self))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the canonical bytes to a file, whole or not at all."""
        write_file(path, self.to_bytes(), field="study")

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
    if type(number) is not int or number != format1.FORMAT:
        raise BadStudy("format", number, f"must be {format1.FORMAT}")
    return Study(**format1.read(document))
