"""Count answers, merge counts, keep them as JSON."""

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike

from fairgauge.canonical import decode, encode, members, read_file, write_file
from fairgauge.client import Answer
from fairgauge.errors import BadTally, InvalidInput
from fairgauge.lazy import above
from fairgauge.study import Study

MOST_ANSWERS = 2**53 - 1  # what every JSON reader takes for an exact integer


@dataclass(frozen=True, slots=True)
class Tally:
    """How often each symbol of a study was sent, in the study's numbering.

    Raises:
        BadTally: If a count is no integer from 0 up.
    """

    study: str
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        for symbol, count in enumerate(self.counts):
            if type(count) is not int or not 0 <= count <= MOST_ANSWERS:
                raise BadTally(f"counts[{symbol}]", count, "must be an integer from 0 to 2^53 - 1")

    _repr_html_ = above("fairgauge.reports.notebook", "tally_html")
    plot = above("fairgauge.reports.plots", "plot_tally")
    to_frame = above("fairgauge.reports.frames", "tally_frame")

    @classmethod
    def empty(cls, study: Study) -> "Tally":
        """Return the tally of no answers."""
        return cls(study.digest, (0,) * study.symbols)

    @classmethod
    def of(cls, study: Study, answers: Iterable[Answer]) -> "Tally":
        """Count the answers to a study.

        Raises:
            InvalidInput: If an answer is to another study, or its symbol is not in this one.
        """
        counts = [0] * study.symbols
        for answer in answers:
            if answer.study != study.digest:
                raise InvalidInput("study", answer.study, f"must be {study.digest}")
            if answer.symbol >= len(counts):
                raise InvalidInput("symbol", answer.symbol, f"must be from 0 to {len(counts) - 1}")
            counts[answer.symbol] += 1
        return cls(study.digest, tuple(counts))

    @classmethod
    def from_bytes(cls, data: bytes) -> "Tally":
        """Read a tally.

        Raises:
            BadTally: If it breaks the format.
        """
        document = decode(data, error=BadTally)
        if "sites" in document:
            raise BadTally("tally", "counts of sites", "must be of answers; fairgauge.tallies.sites.SiteTally reads it")
        study, counts = members(document, "study", "counts", error=BadTally)
        if not isinstance(study, str):
            raise BadTally("study", study, "must be the digest of a study")
        if not isinstance(counts, list):
            raise BadTally("counts", counts, "must be an array")
        return cls(study, tuple(counts))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Tally":
        """Read a tally from a file."""
        return cls.from_bytes(read_file(path, field="tally"))

    def to_bytes(self) -> bytes:
        """Return the canonical bytes (RFC 8785)."""
        return encode({"study": self.study, "counts": self.counts})

    def save(self, path: str | PathLike[str]) -> None:
        """Write the canonical bytes to a file, whole or not at all."""
        write_file(path, self.to_bytes(), field="tally")

    def __add__(self, other: "Tally") -> "Tally":
        if self.study != other.study:
            raise BadTally("study", other.study, f"must be {self.study}")
        if len(self.counts) != len(other.counts):
            raise BadTally("counts", f"{len(other.counts)} counts", f"must be {len(self.counts)}")
        return Tally(self.study, tuple(map(sum, zip(self.counts, other.counts, strict=True))))

    @property
    def total(self) -> int:
        """How many answers were counted."""
        return sum(self.counts)

    def check(self, study: Study) -> None:
        """Refuse to be taken for the tally of another study.

        Raises:
            BadTally: If it is one.
        """
        if self.study != study.digest:
            raise BadTally("study", self.study, f"must be {study.digest}, the digest of this study")
        if len(self.counts) != study.symbols:
            raise BadTally("counts", f"{len(self.counts)} counts", f"must be {study.symbols}, one a symbol")

    def for_question(self, study: Study, question_index: int) -> tuple[int, ...]:
        """Return the counts of one question's symbols."""
        self.check(study)
        start = study.offset(question_index)
        return self.counts[start : start + study.questions[question_index].mechanism.symbols]
