"""What a report says that neither the study nor the tally does: when it was made, how many were asked, the seal.

All of it stands in the report for programs too, so that whoever has the study and the tally makes the same bytes again.
"""

import json
import re
from dataclasses import asdict, dataclass
from html.parser import HTMLParser
from typing import Any

from fairgauge.errors import InvalidInput
from fairgauge.estimation import Estimate
from fairgauge.languages import OWN, catalogue
from fairgauge.study import Study

NAME = "fairgauge-report"
_DATE = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])")
_FIELDS = (
    "version", "study", "tally", "confidence", "interval", "tolerance", "date", "over", "asked", "seal", "language",
)  # fmt: skip


@dataclass(frozen=True)
class SealNote:
    """What a report tells of a seal.

    Args:
        closed: When the study was closed.
        answers: How many answers were sealed.
        answers_sha256: The SHA-256 of all answers, sorted by id.
        key: The key that signed it.
        signature: The signature of the seal.
    """

    closed: str
    answers: int
    answers_sha256: str
    key: str
    signature: str

    def __post_init__(self) -> None:
        for name in ("closed", "answers_sha256", "key", "signature"):
            if not isinstance(getattr(self, name), str):
                raise InvalidInput(f"seal.{name}", getattr(self, name), "must be text")
        if type(self.answers) is not int or self.answers < 0:
            raise InvalidInput("seal.answers", self.answers, "must be an integer from 0 up")


@dataclass(frozen=True)
class Provenance:
    """What is said of a report beside what the answers say.

    Args:
        date: The day on which it was made, such as ``2026-11-15``.
        over: Whether no more answers will come.
        asked: How many people or devices were asked to answer, if the operator says.
        seal: The seal of the study.
        language: In which language it is, one of the catalogue.
    """

    date: str | None = None
    over: bool = True
    asked: int | None = None
    seal: SealNote | None = None
    language: str = OWN

    def __post_init__(self) -> None:
        if self.date is not None and not _DATE.fullmatch(str(self.date)):
            raise InvalidInput("date", self.date, "must be a day, such as 2026-11-15")
        if self.asked is not None and (type(self.asked) is not int or self.asked < 1):
            raise InvalidInput("asked", self.asked, "must be an integer from 1 up")
        if self.language not in catalogue():
            raise InvalidInput("language", self.language, f"must be one of {', '.join(catalogue())}")
        if not isinstance(self.over, bool):
            raise InvalidInput("over", self.over, "must be true or false")


def check_asked(asked: int | None, answered: int) -> int | None:
    """Return how many were asked, as somebody says.

    Raises:
        InvalidInput: If more answered.
    """
    if asked is not None and asked < answered:
        raise InvalidInput("asked", asked, f"must be {answered} or more: so many answered")
    return asked


@dataclass(frozen=True)
class Stated:
    """What a report states about itself: of what it was made, on which terms, and its particulars."""

    version: str
    study: str
    tally: str
    confidence: float
    interval: str
    tolerance: float | None
    particulars: Provenance


def stated(study: Study, tally_digest: str, estimate: Estimate, particulars: Provenance, version: str) -> str:
    """Return for programs what a report is made of."""
    document = {
        "version": version,
        "study": study.digest,
        "tally": tally_digest,
        "confidence": estimate.confidence,
        "interval": estimate.interval,
        "tolerance": estimate.tolerance,
        **asdict(particulars),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def read_stated(page: str) -> Stated:
    """Read what a report states about itself.

    Raises:
        InvalidInput: If it is no report, or one of a version that stated nothing.
    """
    finder = _Finder()
    finder.feed(page)
    if finder.content is None:
        raise InvalidInput("report", "a page", "must be a report of fairgauge, which states its terms")
    try:
        found: dict[str, Any] = json.loads(finder.content)
        if sorted(found) != sorted(_FIELDS):
            raise TypeError
        seal = None if found["seal"] is None else SealNote(**found["seal"])
        particulars = Provenance(found["date"], found["over"], found["asked"], seal, found["language"])
        kinds = {"version": str, "study": str, "tally": str, "interval": str, "confidence": float}
        if any(type(found[name]) is not kind for name, kind in kinds.items()):
            raise TypeError
        if type(found["tolerance"]) not in (float, int, type(None)):
            raise TypeError
    except (RecursionError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("report", "its terms", "must be stated as fairgauge states them") from None
    names = ("version", "study", "tally", "confidence", "interval", "tolerance")
    return Stated(**{name: found[name] for name in names}, particulars=particulars)


class _Finder(HTMLParser):
    """Finds the line for programs in the head of a report."""

    def __init__(self) -> None:
        super().__init__()
        self.content: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "meta" and self.content is None:
            found = dict(attrs)
            if found.get("name") == NAME:
                self.content = found.get("content")
