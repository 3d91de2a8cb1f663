"""Add up answers, merge sums, keep them as JSON."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from os import PathLike

from fairgauge.canonical_json import decode, encode, members, read_file, write_file
from fairgauge.client import Answer
from fairgauge.errors import OF_BEFORE, BadTally, InvalidInput
from fairgauge.lazy import late
from fairgauge.study import Study
from fairgauge.study.mechanism import added

_MOST_ANSWERS = 2**53 - 1  # what every JSON reader takes for an exact integer
_COUNTED = -1


@dataclass(frozen=True, slots=True)
class Tally:
    """The sum of all answers to a study, and how many they are.

    Of devices it holds how often each symbol was sent, in the study's numbering; of sites, cell by cell, the sum of
    what they counted.  How much sites differ is in sums over them, too: of the products of every two cells, those of
    cell 0 with cells 0, 1, 2, ... first, then those of cell 1 with cells 1, 2, ...

    Args:
        study: The study's digest.
        counts: The sums; of sites they may be negative.
        contributors: How many answers are in them; unless given, as many as the counts sum up to.
        products: For every two cells the sum over sites of the product of both counts; empty where it is not told.

    Raises:
        BadTally: If a number is none of its kind.
    """

    study: str
    counts: tuple[int, ...]
    contributors: int = _COUNTED
    products: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for field, numbers in (("counts", self.counts), ("products", self.products)):
            for index, number in enumerate(numbers):
                if type(number) is not int or abs(number) > _MOST_ANSWERS:
                    raise BadTally(f"{field}[{index}]", number, "must be an integer from -(2^53 - 1) to 2^53 - 1")
        if self.contributors == _COUNTED:
            object.__setattr__(self, "contributors", sum(self.counts))
        if type(self.contributors) is not int or not 0 <= self.contributors <= _MOST_ANSWERS:
            raise BadTally("contributors", self.contributors, "must be an integer from 0 to 2^53 - 1")
        cells = len(self.counts)
        if len(self.products) not in (0, cells * (cells + 1) // 2):
            raise BadTally("products", f"{len(self.products)} products", f"must be {cells * (cells + 1) // 2}, or none")

    _repr_html_ = late("_repr_html_")
    plot = late("plot")
    to_frame = late("to_frame")

    @classmethod
    def empty(cls, study: Study) -> "Tally":
        """Return the tally of no answers."""
        return cls(study.digest, (0,) * study.symbols)

    @classmethod
    def of(cls, study: Study, answers: Iterable[Answer]) -> "Tally":
        """Add up the answers to a study; one that comes twice counts once.

        Raises:
            InvalidInput: If an answer is to another study or does not fit this one, or two of one id differ.
        """
        counts = [0] * study.symbols
        met: dict[str, tuple[int, ...]] = {}
        for answer in answers:
            if answer.study != study.digest:
                raise InvalidInput("study", answer.study, f"must be {study.digest}")
            study.check_payload(answer.payload)
            if answer.id in met:
                if met[answer.id] != answer.payload:
                    raise InvalidInput("id", answer.id, "must have the same payload whenever it comes")
                continue
            met[answer.id] = answer.payload
            for place, amount in added(answer.payload):
                counts[place] += amount
        return cls(study.digest, tuple(counts), len(met), study.products(met.values()))

    @property
    def shown(self) -> "Tally":
        """The same without products, which is what others than those who have all answers get to see.

        Counts are integers.  From their sums and the sums of their products one can work out what each of a few sites
        counted: of two sites by a quadratic equation for each cell.
        """
        return replace(self, products=())

    @classmethod
    def from_bytes(cls, data: bytes) -> "Tally":
        """Read a tally.

        Raises:
            BadTally: If it breaks the format.
        """
        document = decode(data, error=BadTally)
        if "counts" in document and "contributors" not in document:
            raise BadTally("contributors", "nothing", f"must be given: a tally without it {OF_BEFORE}")
        names = ("study", "counts", "contributors", *(["products"] if "products" in document else []))
        study, counts, contributors, *products = members(document, *names, error=BadTally)
        if not isinstance(study, str):
            raise BadTally("study", study, "must be the digest of a study")
        for field, value in (("counts", counts), *(("products", value) for value in products)):
            if not isinstance(value, list) or (field == "products" and not value):
                raise BadTally(field, value, "must be an array")
        if contributors == _COUNTED:
            raise BadTally("contributors", contributors, "must be an integer from 0 to 2^53 - 1")
        return cls(study, tuple(counts), contributors, *map(tuple, products))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Tally":
        """Read a tally from a file."""
        return cls.from_bytes(read_file(path, field="tally"))

    def to_bytes(self) -> bytes:
        """Return the canonical bytes (RFC 8785)."""
        told = {"study": self.study, "counts": self.counts, "contributors": self.contributors}
        return encode(told | ({"products": self.products} if self.products else {}))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the canonical bytes to a file, whole or not at all."""
        write_file(path, self.to_bytes(), field="tally")

    def __add__(self, other: "Tally") -> "Tally":
        if self.study != other.study:
            raise BadTally("study", other.study, f"must be {self.study}")
        if len(self.counts) != len(other.counts):
            raise BadTally("counts", f"{len(other.counts)} counts", f"must be {len(self.counts)}")
        counts = tuple(map(sum, zip(self.counts, other.counts, strict=True)))
        both = zip(self.products, other.products, strict=True) if self.products and other.products else ()
        return Tally(self.study, counts, self.contributors + other.contributors, tuple(map(sum, both)))

    def check(self, study: Study) -> None:
        """Refuse to be taken for the tally of another study.

        Raises:
            BadTally: If it is one.
        """
        if self.study != study.digest:
            raise BadTally("study", self.study, f"must be {study.digest}, the digest of this study")
        if len(self.counts) != study.symbols:
            raise BadTally("counts", f"{len(self.counts)} counts", f"must be {study.symbols}, as the study has")
        study.check_sums(self.counts, self.contributors)

    def draws(self, study: Study) -> int:
        """Return how many secret draws are among the counts; none where they are an operator's own, as they came."""
        return 0 if study.release is None else sum(self.counts) - self.contributors

    def for_question(self, study: Study, question_index: int) -> tuple[int, ...]:
        """Return the counts of one question's symbols."""
        self.check(study)
        start = study.offset(question_index)
        return self.counts[start : start + study.questions[question_index].mechanism.size]
