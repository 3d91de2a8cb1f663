"""The published document: what its parts must be together, its digest, and how its symbols are numbered."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from os import PathLike
from typing import TYPE_CHECKING, Any

from fairgauge.canonical_json import decode, encode, read_file, write_file
from fairgauge.channel import Channel
from fairgauge.errors import BadStudy, BadTally, InvalidInput
from fairgauge.lazy import body, late
from fairgauge.study import document_format
from fairgauge.study.attribute import Attribute
from fairgauge.study.field_checks import (
    check_integer,
    check_is,
    check_prose,
    check_text,
    listed,
)
from fairgauge.study.mechanism import Mechanism, check_payload
from fairgauge.study.metric import Metric
from fairgauge.study.noisy_counts import NoisyCounts
from fairgauge.study.numbers import MOST_CLIENTS, Number, decimal_text
from fairgauge.study.question import Question, answered_together, counted
from fairgauge.study.terms import ADMISSIONS, Issuer, Model, Release, Stratum, check_key
from fairgauge.study.wording import Texts, check_language, check_translations, spoken

# What stands in the order of the groups.
_OF_GROUPS = {"attributes", "tables"}

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    class Fields(TypedDict, total=False):
        """What a study may say beside its title and its questions."""

        opens: str | None
        closes: str | None
        contact: str | None
        language: str | None
        purpose: str | None
        operator: str | None
        retention: int | None
        model: Model | None
        stratum: Stratum | None
        planned: int | None
        aim: Number | None
        admission: str | None
        issuer: Issuer | None
        gateway: str | None
        epoch: int | None
        hourly: int | None
        order: str | None
        release: Release | None
        translations: Mapping[str, Texts] | None


_MOST_QUESTIONS = 64
_WAVES = "waves"
_INTEGERS = {
    "retention": (0, 36525),  # days: a hundred years
    "planned": (1, MOST_CLIENTS),
    "epoch": (60, 31 * 86400),  # seconds: a minute to a month
    "hourly": (1, 10**9),
}

Table = tuple[Question, ...]


@dataclass(frozen=True)
class Study:
    """The published document: a device answers one of its tables, picked by its own secure coin.

    A table answers one question, or several at once; those stand next to each other and have the same channel.  Symbols
    are numbered through the study: those of table 0 first, then those of table 1, and so on.

    Args:
        title: What the study is about, for people.
        questions: One or more designed questions.
        opens: From when answers are taken, such as ``2026-11-15T00:00:00Z``.
        closes: Until when.
        contact: Whom to ask.
        language: The language of the texts, such as ``en``.
        purpose: Why it is asked, and what happens with the answers.
        operator: Who asks.
        retention: For how many days after closing single answers are kept.
        model: The model that the study is about.
        stratum: The part of the people that is asked, where others are asked in studies of their own.
        planned: How many answers are planned.
        aim: The error that the study aims at, as a part of the metric's range.
        admission: Who may answer: ``open`` to everyone, with ``tickets``, or with ``blind`` tickets.
        issuer: Who gives out blind tickets.
        gateway: The key configuration of the collector's gateway (RFC 9458), in base64url.
        epoch: For how many seconds answers are held back, so that their moment tells nothing.
        hourly: How many answers the collector takes in an hour.
        order: ``waves`` if clients do not answer in random order, say one country after another.
        release: What of the tally others get to see.
        translations: For each further language every text of the study, by its place.
    """

    title: str
    questions: tuple[Question, ...]
    _: KW_ONLY
    opens: str | None = None
    closes: str | None = None
    contact: str | None = None
    language: str | None = None
    purpose: str | None = None
    operator: str | None = None
    retention: int | None = None
    model: Model | None = None
    stratum: Stratum | None = None
    planned: int | None = None
    aim: str | None = None
    admission: str | None = None
    issuer: Issuer | None = None
    gateway: str | None = None
    epoch: int | None = None
    hourly: int | None = None
    order: str | None = None
    release: Release | None = None
    translations: Mapping[str, Texts] | None = field(default=None, hash=False)

    if TYPE_CHECKING:  # any list of questions will do; the field is a tuple

        def __init__(self, title: str, questions: Iterable[Question], **fields: Unpack["Fields"]) -> None: ...

    def __post_init__(self) -> None:
        check_text("title", self.title)
        object.__setattr__(self, "questions", listed("questions", self.questions, "questions"))
        if self.aim is not None:
            object.__setattr__(self, "aim", decimal_text("aim", self.aim))
        _check_questions(self)
        # Where a table answers several questions, a question's place in it says which value is its own.
        placed = (question for table in self.tables for question in answered_together(table))
        if any(len(table) > 1 for table in self.tables):
            object.__setattr__(self, "questions", tuple(placed))
            del self.__dict__["tables"]
        _check_moments(self)
        _check_terms(self)
        _check_names(self)
        check_translations(self)

    _repr_html_ = late("_repr_html_")
    plot = late("plot")
    to_frame = late("to_frame")

    @staticmethod
    def draft(given: "str | PathLike[str] | None" = None, /, **stated: Any) -> Any:
        """Read the draft of a study from its own TOML file, or take the same fields as keywords.

        The draft plans (``.plans(clients=…)``) and designs (``.study()``); see :mod:`fairgauge.planning.study_draft`.
        """
        return body(Study, "draft")(given, **stated)

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
        return encode(document_format.write(self))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the canonical bytes to a file, whole or not at all."""
        write_file(path, self.to_bytes(), field="study")

    @cached_property
    def digest(self) -> str:
        """The study's name: SHA-256 of its canonical bytes, in hexadecimal."""
        return sha256(self.to_bytes()).hexdigest()

    @cached_property
    def seed(self) -> str:
        """What throws follow from: a digest of all but groups and tables, so the same for groups in another order."""
        document = document_format.write(self)
        return sha256(encode({name: document[name] for name in document.keys() - _OF_GROUPS})).hexdigest()

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that the document names, each name once; an outcome of truth and prediction implies its own."""
        asked = [question.metric for question in self.questions if question.named]
        return tuple({metric.name: metric for metric in reversed(asked)}[name] for name in _names(asked))

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes that people are asked for, each name once."""
        asked = [question.attribute for question in self.questions]
        return tuple({attribute.name: attribute for attribute in reversed(asked)}[name] for name in _names(asked))

    @property
    def mechanism(self) -> Mechanism:
        """What answers: the first table's mechanism, which is of the same kind as those of all others."""
        return self.questions[0].mechanism

    @property
    def channels(self) -> tuple[Channel, ...]:
        """What a device draws from, one for each table.

        Raises:
            InvalidInput: If sites answer.
        """
        return tuple(table[0].channel for table in self.tables)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The questions, those together that one table answers at once."""
        ends = (*self._starts[1:], len(self.questions))
        return tuple(self.questions[start:end] for start, end in zip(self._starts, ends, strict=False))

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """The index of the first question of each table."""
        starts, index = [], 0
        while index < len(self.questions):
            starts.append(index)
            index += self.questions[index].mechanism.questions
        return tuple(starts)

    @property
    def epsilon(self) -> float:
        """The exact privacy loss of an answer: the largest over the tables, since only one is answered."""
        return max(question.mechanism.epsilon for question in self.questions)

    @property
    def unlinkable(self) -> bool:
        """Whether nobody is to know whose an answer is: a gateway hides addresses, and blind tickets hide accounts."""
        return self.gateway is not None or self.admission == "blind"

    @property
    def drawn_for_each(self) -> float:
        """How many secret draws there are for each answer."""
        return 0.0 if self.release is None else self.release.draws / self.release.batch

    @property
    def symbols(self) -> int:
        """How many numbers answers add to: one for each symbol, or for each count of a site."""
        return self.offsets[-1]

    def offset(self, question_index: int) -> int:
        """Return the number that the first symbol of a question's table has in the study."""
        table = bisect_right(self._starts, range(len(self.questions))[question_index]) - 1
        return self.offsets[table]

    def question_of(self, symbol: int) -> tuple[int, int]:
        """Return the index of the first question that a symbol answers, and the symbol's number within its table."""
        if not 0 <= symbol < self.symbols:
            raise InvalidInput("symbol", symbol, f"must be from 0 to {self.symbols - 1}")
        table = bisect_right(self.offsets, symbol) - 1
        return self._starts[table], symbol - self.offsets[table]

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """The numbers that the first symbols of the tables have in the study, and how many symbols there are."""
        return tuple(accumulate((table[0].mechanism.size for table in self.tables), initial=0))

    def check_payload(self, payload: tuple[int, ...]) -> None:
        """Refuse what no answer to this study can hold.

        Raises:
            InvalidInput: If it is that.
        """
        check_payload(payload, self.mechanism.numbers, self.symbols)

    def check_sums(self, sums: tuple[int, ...], contributors: int) -> None:
        """Refuse what cannot be the sum of so many answers, and of the draws of some batches.

        Raises:
            BadTally: If it is that.
        """
        drawn, each = sum(sums) - contributors, 0 if self.release is None else self.release.draws
        if each and (drawn % each or not 0 <= drawn <= contributors * each):
            rule = f"must be the sum of the counts, {sum(sums)}, less {each} for each batch"
            raise BadTally("contributors", contributors, rule)
        self.questions[0].mechanism.check_sums(sums, contributors + drawn if each else contributors)

    def products(self, payloads: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
        """Return the sums of products of every two numbers of answers, where the mechanism has them."""
        return self.questions[0].mechanism.products(payloads, self.symbols)

    def spoken(self, languages: Iterable[str]) -> tuple[str | None, Texts]:
        """Return the first of these languages that the study speaks, or its own, and its texts by their place."""
        return spoken(self, languages)

    def check_privacy(self) -> None:
        """Recompute every table's exact epsilon and compare it with the declared one.

        Raises:
            NotPrivate: If a table spends more than declared.
        """
        for index, question in enumerate(self.questions):
            question.check_declared(f"questions[{index}]")


def parse(data: bytes) -> Study:
    """Read a study whose form is sound, whether or not its tables keep what it declares."""
    document = decode(data, error=BadStudy)
    study = Study(**document_format.read(document))
    document_format.check(study, document)
    return study


def _names(things: Iterable[Metric | Attribute]) -> list[str]:
    return list(dict.fromkeys(thing.name for thing in things))


def _check_questions(study: Study) -> None:
    """Refuse no questions, too many, the same twice, and those whose table answers others that are not there."""
    for index, question in enumerate(study.questions):
        check_is(f"questions[{index}]", question, Question)
        if not question.designed:
            name = f"{question.metric.name} by {question.attribute.name}"
            raise BadStudy(f"questions[{index}]", name, "must be designed: fairgauge.design gives it a mechanism")
    if not 1 <= len(study.questions) <= _MOST_QUESTIONS:
        raise BadStudy("questions", f"{len(study.questions)} questions", f"must be from 1 to {_MOST_QUESTIONS}")
    if len(study.tables) > 1 and any(question.mechanism.counts_people for question in study.questions):
        raise BadStudy("questions", f"{len(study.tables)} tables", "must be one, where it has noisy counts")
    asked = [(question.metric.name, question.attribute.name) for question in study.questions]
    for index, pair in enumerate(asked):
        if pair in asked[:index]:
            raise BadStudy(f"questions[{index}]", " by ".join(pair), "must be asked once")
    index = 0
    for table in study.tables:
        together = table[0].mechanism.questions
        for question in table:
            if len(table) != together or _shared(question) != _shared(table[0]):
                rule = f"must stand beside the others of the {together} that its mechanism answers at once"
                raise BadStudy(f"questions[{index}]", " by ".join(asked[index]), rule)
            index += 1
    for table in study.tables:
        mechanism = table[0].mechanism
        if isinstance(mechanism, NoisyCounts) and answered_together(table) != answered_together(counted(mechanism)):
            raise BadStudy("questions", table[0].metric.name, "must be those that the noisy counts answer")


def _shared(question: Question) -> tuple[object, ...]:
    """Return what questions that one table answers have in common."""
    return question.attribute, question.design, question.epsilon, question.mechanism


def _check_moment(field: str, value: object) -> None:
    """Refuse what is no moment in UTC."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z" != value:
        raise BadStudy(field, value, "must be a moment in UTC such as 2026-11-15T00:00:00Z")


def _check_moments(study: Study) -> None:
    """Refuse moments that are none, and a study that closes before it opens."""
    for name, moment in (("opens", study.opens), ("closes", study.closes)):
        if moment is not None:
            _check_moment(name, moment)
    if study.opens is not None and study.closes is not None and study.opens >= study.closes:
        raise BadStudy("closes", study.closes, f"must be after opens, which is {study.opens}")


def _check_terms(study: Study) -> None:
    """Refuse terms that are no terms."""
    for name in ("contact", "operator"):
        if getattr(study, name) is not None:
            check_text(name, getattr(study, name))
    if study.language is not None:
        check_language("language", study.language)
    if study.purpose is not None:
        check_prose("purpose", study.purpose)
    for name, (least, most) in _INTEGERS.items():
        if getattr(study, name) is not None:
            check_integer(name, getattr(study, name), least=least, most=most)
    if study.aim is not None and not 0 < Fraction(study.aim) < 1:
        raise BadStudy("aim", study.aim, "must be above 0 and below 1")
    for name, kind in (("model", Model), ("stratum", Stratum), ("issuer", Issuer), ("release", Release)):
        if getattr(study, name) is not None:
            check_is(name, getattr(study, name), kind)
    if study.order is not None and study.order != _WAVES:
        raise BadStudy("order", study.order, f"must be {_WAVES}, or left out")
    _check_admission(study)
    if study.mechanism.contributors_known:
        _check_known(study)


def _check_known(study: Study) -> None:
    """Refuse terms that would be kept by nobody where it is no secret who contributes."""
    if study.admission not in (None, "tickets"):
        rule = "must be tickets where sites answer, or left out: one table that is made up outweighs all others"
        raise BadStudy("admission", study.admission, rule)
    for name in ("gateway", "epoch", "release"):
        if getattr(study, name) is not None:
            rule = "must not be given where sites answer: that a site takes part is not hidden"
            raise BadStudy(name, "something", rule)


def _check_admission(study: Study) -> None:
    if study.admission is not None and study.admission not in ADMISSIONS:
        raise BadStudy("admission", study.admission, "must be open, tickets or blind")
    if study.admission == "blind" and study.issuer is None:
        raise BadStudy("issuer", "nothing", "must be given where admission is blind")
    if study.admission != "blind" and study.issuer is not None:
        raise BadStudy("issuer", study.issuer.name, "must not be given unless admission is blind")
    if study.admission == "tickets" and study.release is not None:
        rule = "must not be tickets where counts leave in batches: who gives out a ticket could read the answer"
        raise BadStudy("admission", study.admission, rule)
    if study.gateway is not None:
        check_key("gateway", study.gateway)


def _check_names(study: Study) -> None:
    """Refuse two metrics or two attributes of one name: a document lists each once, by its name."""
    for index, question in enumerate(study.questions):
        if question.named and question.metric not in study.metrics:
            rule = "must be the same metric wherever it has this name"
            raise BadStudy(f"questions[{index}].metric", question.metric.name, rule)
        if question.attribute not in study.attributes:
            rule = "must be the same attribute wherever it has this name"
            raise BadStudy(f"questions[{index}].attribute", question.attribute.name, rule)
