"""On which terms a study is run: what of it is released, who may answer, which model and which people it is about."""

import re
from dataclasses import dataclass
from fractions import Fraction

from fairgauge.errors import BadStudy
from fairgauge.study.field_checks import check_integer, check_name, check_text
from fairgauge.study.numbers import Number, decimal_text

ADMISSIONS = ("open", "tickets", "blind")
_LONGEST_KEY = 2000

_KEY = re.compile("[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Model:
    """The model that the study is about."""

    name: str
    version: str | None = None

    def __post_init__(self) -> None:
        check_text("name", self.name)
        if self.version is not None:
            check_text("version", self.version)


@dataclass(frozen=True, slots=True)
class Issuer:
    """Who gives out blind tickets: its host name and its public key (RFC 9578), in base64url."""

    name: str
    key: str

    def __post_init__(self) -> None:
        check_text("name", self.name)
        check_key("key", self.key)


@dataclass(frozen=True, slots=True, init=False)
class Release:
    """What of the tally others get to see: sums over closed batches, each with secret draws in it.

    Args:
        batch: How many answers a batch has; the last one may have fewer, or up to twice as many.
        delta: The delta of the crowd's guarantee.
        draws: How many secret draws the collector adds to each batch.
    """

    batch: int
    delta: str
    draws: int

    def __init__(self, batch: int, delta: Number, draws: int) -> None:
        check_integer("batch", batch, least=1)
        check_integer("draws", draws, least=1)
        object.__setattr__(self, "batch", batch)
        object.__setattr__(self, "delta", decimal_text("delta", delta))
        object.__setattr__(self, "draws", draws)
        if not 0 < Fraction(self.delta) < 1:
            raise BadStudy("delta", self.delta, "must be above 0 and below 1")

    def batches(self, answers: int) -> int:
        """Return how many batches so many answers left in, each with its draws.

        >>> [Release(10, "0.00000001", 3).batches(answers) for answers in (0, 4, 10, 19, 20)]
        [0, 1, 1, 1, 2]
        """
        return max(1, answers // self.batch) if answers else 0

    def answers(self, total: int) -> int:
        """Return how many answers are among counts that sum up to so many, as they leave a collector.

        >>> [Release(10, "0.00000001", 3).answers(total) for total in (0, 7, 13, 22, 26)]
        [0, 4, 10, 19, 20]
        """
        return total - self.draws * max(1, total // (self.batch + self.draws)) if total else 0


@dataclass(frozen=True, slots=True, init=False)
class Stratum:
    """The part of the people whom the study asks, by a label that everyone may know.

    Args:
        of: What divides people, such as ``region``.
        name: Which part this is, such as ``north``.
        share: Its share of all people.
    """

    of: str
    name: str
    share: str

    def __init__(self, of: str, name: str, share: Number) -> None:
        check_name("of", of)
        check_name("name", name)
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "share", decimal_text("share", share))
        if not 0 < Fraction(self.share) < 1:
            raise BadStudy("share", self.share, "must be above 0 and below 1")


def check_key(field: str, value: object) -> None:
    """Refuse what is no key in base64url without padding."""
    if not isinstance(value, str) or len(value) > _LONGEST_KEY or not _KEY.fullmatch(value):
        raise BadStudy(field, value, f"must be a key in base64url, of 1 to {_LONGEST_KEY} characters")
