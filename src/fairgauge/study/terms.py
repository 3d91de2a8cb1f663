"""On which terms a study is run: what of it is released, who may answer, and which model it is about."""

import re
from dataclasses import dataclass
from fractions import Fraction

from fairgauge.errors import BadStudy
from fairgauge.study.checks import check_integer, check_text
from fairgauge.study.numbers import Number, decimal_text

ADMISSIONS = ("open", "tickets", "blind")
LONGEST_KEY = 2000

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
    """What of the tally others get to see: sums over closed batches.

    Args:
        batch: How many answers a batch has at least.
        delta: The delta of the crowd's guarantee.
        observed: The part of the answers whose symbols an observer may know or have made up.
    """

    batch: int
    delta: str
    observed: str

    def __init__(self, batch: int, delta: Number, observed: Number) -> None:
        check_integer("batch", batch, least=1)
        object.__setattr__(self, "batch", batch)
        object.__setattr__(self, "delta", decimal_text("delta", delta))
        object.__setattr__(self, "observed", decimal_text("observed", observed))
        if not 0 < Fraction(self.delta) < 1:
            raise BadStudy("delta", self.delta, "must be above 0 and below 1")
        if not 0 <= Fraction(self.observed) < 1:
            raise BadStudy("observed", self.observed, "must be from 0 to below 1")


def check_key(field: str, value: object) -> None:
    """Refuse what is no key in base64url without padding."""
    if not isinstance(value, str) or len(value) > LONGEST_KEY or not _KEY.fullmatch(value):
        raise BadStudy(field, value, f"must be a key in base64url, of 1 to {LONGEST_KEY} characters")
