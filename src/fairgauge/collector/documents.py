"""The documents of the interface: what is sent is made from these, and so is their description in OpenAPI."""

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from fairgauge.collector.stores.store import State
from fairgauge.server.problems import KINDS, OTHER_KEY, URN
from fairgauge.study.noisy_counts import MOST_IN_CELL

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
_Count = Annotated[int, Meta(ge=0)]
_Moment = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
_LARGEST_SYMBOL = 2**18 - 1


class Document(msgspec.Struct, frozen=True):
    """A document that may have more than is declared."""


class Exact(Document, frozen=True, forbid_unknown_fields=True):
    """A document that has what is declared and nothing else."""

    def to_bytes(self) -> bytes:
        """Return it as JSON."""
        return msgspec.json.encode(self)


class AnswerDocument(Exact, frozen=True):
    """What a device sends."""

    study: Digest
    id: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    symbol: Annotated[int, Meta(ge=0, le=_LARGEST_SYMBOL)]


class NoisyAnswer(Exact, frozen=True):
    """What a site sends: one noisy count for each cell."""

    study: Digest
    id: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    counts: list[Annotated[int, Meta(ge=-MOST_IN_CELL, le=MOST_IN_CELL)]]


class Receipt(Exact, frozen=True):
    """What the sender of one answer is told."""

    status: Literal["accepted", "duplicate"]


class RefusedLine(Exact, frozen=True):
    """A line of a batch that is not counted, and why."""

    line: int
    type: str
    status: int
    detail: str


class BatchReceipt(Exact, frozen=True):
    """What the sender of a batch is told."""

    accepted: _Count
    duplicates: _Count
    errors: list[RefusedLine]


class Summary(Exact, frozen=True):
    """A study as it is published: its terms, and what it is doing now."""

    study: Digest
    title: str
    admission: Literal["open", "tickets"]
    results: Literal["readers", "public"]
    aim: str
    hourly: _Count
    published: _Moment
    status: Literal[get_args(State)]  # type: ignore[valid-type]
    closed: _Moment | None
    key: str
    signature: str


class Publication(Summary, frozen=True):
    """The same for whoever publishes it, with what they should know before people answer; nothing if it is fine."""

    note: str


class Standing(Exact, frozen=True):
    """Whether a study takes answers now, and who may see what they say."""

    study: Digest
    status: Literal[get_args(State)]  # type: ignore[valid-type]
    results: Literal["readers", "public"]


class Directory(Exact, frozen=True):
    """The studies that have their answers sent through a relay and are not over, sorted."""

    studies: list[Digest]


class Listing(Exact, frozen=True):
    """The studies of a collector."""

    studies: list[Summary]


class TallyDocument(Exact, frozen=True):
    """How often each symbol was sent, or what sites counted in sum; and how many answers are in it."""

    study: Digest
    counts: list[int]
    contributors: _Count


class Arrival(Exact, frozen=True):
    """How many answers came in one span of time."""

    start: _Moment
    answers: _Count


class Arrivals(Exact, frozen=True):
    """How many answers came when."""

    study: Digest
    bucket_seconds: int
    arrivals: list[Arrival]


class QuestionDocument(Document, frozen=True):
    """What the answers say about one question."""

    metric: str
    attribute: str
    answers: _Count
    headline: dict[str, Any]
    gaps: Any
    means: Any
    overall: Any
    warnings: list[str]


class EstimateDocument(Document, frozen=True):
    """What the answers say."""

    study: Digest
    confidence: float
    interval: str
    about: str
    guarantee: str
    questions: list[QuestionDocument]


class SealDocument(Exact, frozen=True):
    """What is signed when a study is over."""

    study: Digest
    answers: _Count
    answers_sha256: Digest
    tally: list[int]
    closed: _Moment
    format: int
    root: Digest | msgspec.UnsetType = msgspec.UNSET
    sites: list[str] | msgspec.UnsetType = msgspec.UNSET
    recorded: _Moment | msgspec.UnsetType = msgspec.UNSET  # since when there is a record of seals, if one was lost


class Inclusion(Exact, frozen=True):
    """The root over a sealed study's answers, and the leaves of one bucket with their way to the root."""

    study: Digest
    answers: _Count
    root: Digest
    key: str
    signature: str
    bucket: _Count | None
    leaves: list[Digest] | None
    path: list[Digest] | None


class SealedDocument(Exact, frozen=True):
    """The seal of a study, its signature, and the estimate."""

    seal: SealDocument
    key: str
    signature: str
    version: str
    estimate: EstimateDocument


class Key(Exact, frozen=True):
    """The collector's public key."""

    algorithm: Literal["Ed25519"]
    key: str


class Status(Exact, frozen=True):
    """How the collector is."""

    status: str


class ProblemDocument(Document, frozen=True):
    """Why a request was refused (RFC 9457)."""

    type: Literal[(*(URN + kind for kind in KINDS), OTHER_KEY)]  # type: ignore[valid-type]
    title: str
    status: int
    detail: str


DOCUMENTS = (
    AnswerDocument, NoisyAnswer, Receipt, BatchReceipt, Summary, Publication, Standing, Listing, TallyDocument,
    Arrivals, EstimateDocument, SealedDocument, Inclusion, Key, Status, ProblemDocument,
)  # fmt: skip
