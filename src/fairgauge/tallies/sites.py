"""Add up what sites counted: the sums of their noisy counts, and how much sites differ."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import combinations_with_replacement
from os import PathLike

from fairgauge.canonical import decode, encode, members, read_file, write_file
from fairgauge.client.site import SiteAnswer
from fairgauge.errors import BadTally, InvalidInput
from fairgauge.study import Study

MOST_SUM = 2**53 - 1  # what every JSON reader takes for an exact integer


@dataclass(frozen=True, slots=True)
class SiteTally:
    """The sums of what sites sent, cell by cell, and the sites that are in them.

    Of single sites it holds nothing but a digest of their answers' ids, which may be tickets.  How much sites differ is
    in sums over them, too: of the products of every two cells, those of cell 0 with cells 0, 1, 2, ... first, then
    those of cell 1 with cells 1, 2, ...

    Args:
        study: The study's digest.
        counts: For each cell the sum over sites; it may be negative.
        sites: What stands for each answer that is counted (:func:`site_name`), in order.
        products: For every two cells the sum over sites of the product of both counts; empty where it is not told.
    """

    study: str
    counts: tuple[int, ...]
    sites: tuple[str, ...]
    products: tuple[int, ...]

    def __post_init__(self) -> None:
        for field, numbers in (("counts", self.counts), ("products", self.products)):
            for index, number in enumerate(numbers):
                if type(number) is not int or abs(number) > MOST_SUM:
                    raise BadTally(f"{field}[{index}]", number, "must be an integer from -(2^53 - 1) to 2^53 - 1")
        if list(self.sites) != sorted(set(self.sites)):
            raise BadTally("sites", f"{len(self.sites)} sites", "must be in order, each once")
        cells = len(self.counts)
        if len(self.products) not in (0, cells * (cells + 1) // 2):
            raise BadTally("products", f"{len(self.products)} products", f"must be {cells * (cells + 1) // 2}, or none")

    @classmethod
    def of(cls, study: Study, answers: Iterable[SiteAnswer]) -> "SiteTally":
        """Add up the answers to a study; an answer that comes twice counts once.

        Raises:
            InvalidInput: If an answer is to another study, has not one count for each cell, or two have one id.
        """
        counts: list[int] = [0] * study.symbols
        found: dict[str, SiteAnswer] = {}
        products = [0] * (study.symbols * (study.symbols + 1) // 2)
        for answer in answers:
            check_answer(study, answer)
            if answer.id in found:
                if found[answer.id] != answer:
                    raise InvalidInput("id", answer.id, "must have the same counts whenever it comes")
                continue
            found[answer.id] = answer
            for cell, count in enumerate(answer.counts):
                counts[cell] += count
            for index, (first, second) in enumerate(combinations_with_replacement(answer.counts, 2)):
                products[index] += first * second
        return cls(study.digest, tuple(counts), tuple(sorted(map(site_name, found))), tuple(products))

    @property
    def shown(self) -> "SiteTally":
        """The same without products, which is what others than those who have all answers get to see.

        Counts are integers.  From their sums and the sums of their products one can work out what each of a few sites
        counted: of two sites by a quadratic equation for each cell.
        """
        return replace(self, products=())

    @property
    def total(self) -> int:
        """How many sites are in it."""
        return len(self.sites)

    @classmethod
    def from_bytes(cls, data: bytes) -> "SiteTally":
        """Read a tally of sites.

        Raises:
            BadTally: If it breaks the format.
        """
        document = decode(data, error=BadTally)
        study, *lists = members(document, "study", "counts", "sites", "products", error=BadTally)
        if not isinstance(study, str):
            raise BadTally("study", study, "must be the digest of a study")
        for field, value in zip(("counts", "sites", "products"), lists, strict=True):
            if not isinstance(value, list):
                raise BadTally(field, value, "must be an array")
        counts, sites, products = map(tuple, lists)
        for index, site in enumerate(sites):
            if not isinstance(site, str):
                raise BadTally(f"sites[{index}]", site, "must be the digest of an answer's id")
        return cls(study, counts, sites, products)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "SiteTally":
        """Read a tally of sites from a file."""
        return cls.from_bytes(read_file(path, field="tally"))

    def to_bytes(self) -> bytes:
        """Return the canonical bytes (RFC 8785)."""
        return encode(
            {"study": self.study, "counts": self.counts, "sites": self.sites, "products": self.products},
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the canonical bytes to a file, whole or not at all."""
        write_file(path, self.to_bytes(), field="tally")

    def check(self, study: Study) -> None:
        """Refuse to be taken for the tally of another study.

        Raises:
            BadTally: If it is one.
        """
        if self.study != study.digest:
            raise BadTally("study", self.study, f"must be {study.digest}, the digest of this study")
        if len(self.counts) != study.symbols:
            raise BadTally("counts", f"{len(self.counts)} counts", f"must be {study.symbols}, one a cell")


def site_name(id_: str) -> str:
    """Return what stands for a site in a tally: half of the SHA-256 of its answer's id.

    The id may be a ticket.  A site finds itself in the list; whoever reads the list cannot ask a collector about it.

    >>> site_name("0" * 32)
    '374708fff7719dd5979ec875d56cd228'
    """
    return sha256(bytes.fromhex(id_)).hexdigest()[:32]


def check_answer(study: Study, answer: SiteAnswer) -> None:
    """Refuse what is no answer to this study.

    Raises:
        InvalidInput: If it is to another study, or has not one count for each cell.
    """
    if answer.study != study.digest:
        raise InvalidInput("study", answer.study, f"must be {study.digest}")
    if len(answer.counts) != study.symbols:
        raise InvalidInput("counts", f"{len(answer.counts)} counts", f"must be {study.symbols}, one a cell")
