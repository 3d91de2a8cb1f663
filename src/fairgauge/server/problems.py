"""Problem documents (RFC 9457): a stable URN for programs, a sentence for people."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from fairgauge.errors import (
    BadStudy,
    BadTable,
    CannotEstimate,
    FairgaugeError,
    InvalidInput,
    NotPrivate,
    StoreError,
    StoreFull,
)
from fairgauge.server import server_errors
from fairgauge.server.server_errors import ComeAgain

MEDIA_TYPE = "application/problem+json"
URN = "urn:fairgauge:problem:"
# What RFC 9458 has a gateway say to an envelope for a key that it has not.
OTHER_KEY = "https://iana.org/assignments/http-problem-types#ohttp-key"

KINDS: dict[str, tuple[int, str]] = {
    "bad-request": (400, "The request breaks a rule"),
    "bad-answer": (400, "The answer breaks its format"),
    "bad-study": (400, "The study breaks its format"),
    "not-private": (400, "A table of the study spends more privacy than it declares"),
    "no-token": (401, "This needs a token"),
    "not-allowed": (403, "This token may not do that"),
    "bad-ticket": (403, "The study takes answers with a ticket only"),
    "not-found": (404, "There is no such thing here"),
    "no-study": (404, "There is no such study here"),
    "not-sealed": (404, "The study is not sealed yet"),
    "bad-method": (405, "This cannot be done here"),
    "too-slow": (408, "The request took too long to arrive"),
    "conflict": (409, "This id has another answer already"),
    "other-admission": (409, "The study is published already, on other terms"),
    "contradicted": (409, "The record of seals and batches says otherwise"),
    "closed": (410, "The study is closed"),
    "answers-gone": (410, "The study's answers were removed"),
    "too-large": (413, "The body is too large"),
    "bad-media-type": (415, "The body's media type is not taken here"),
    "cannot-estimate": (422, "The answers cannot tell"),
    "too-early": (425, "The study is not open yet"),
    "too-many": (429, "Too many requests"),
    "headers-too-large": (431, "The request's headers are too large"),
    "broken": (500, "The collector has a fault"),
    "busy": (503, "The collector is busy"),
    "stopping": (503, "The collector is stopping"),
    "store-away": (503, "The store does not answer"),
    "full": (507, "There is no room left to store answers"),
}
# The first that an error is an instance of is its kind, so that special cases come before general ones.
_KIND_OF: tuple[tuple[type[Exception], str], ...] = (
    (server_errors.BadAnswer, "bad-answer"),
    (server_errors.BadMediaType, "bad-media-type"),
    (server_errors.TooLarge, "too-large"),
    (server_errors.BrokenOff, "too-slow"),
    (server_errors.NoToken, "no-token"),
    (server_errors.NotAllowed, "not-allowed"),
    (server_errors.BadTicket, "bad-ticket"),
    (server_errors.NoStudy, "no-study"),
    (server_errors.NotSealed, "not-sealed"),
    (server_errors.AnswersGone, "answers-gone"),
    (server_errors.OtherTerms, "other-admission"),
    (server_errors.Conflict, "conflict"),
    (server_errors.RecordContradicted, "contradicted"),
    (server_errors.Closed, "closed"),
    (server_errors.TooEarly, "too-early"),
    (server_errors.TooMany, "too-many"),
    (server_errors.Busy, "busy"),
    (server_errors.Stopping, "stopping"),
    (BadStudy, "bad-study"),
    (BadTable, "bad-study"),
    (InvalidInput, "bad-request"),
    (NotPrivate, "not-private"),
    (CannotEstimate, "cannot-estimate"),
    (StoreFull, "full"),
    (StoreError, "store-away"),
    (FairgaugeError, "bad-request"),
)
_HEADERS = {
    "no-token": {"WWW-Authenticate": 'Bearer realm="fairgauge"', "Connection": "close"},  # a guess a connection
    "too-large": {"Connection": "close"},  # the rest of it is not read
}
# What a store says of itself is for its operator, and not for strangers.
_STORES = {
    "full": ComeAgain("Nothing was stored. Send it again when there is room.", 60),
    "store-away": ComeAgain("Send it again: what is stored already counts once.", 2),
}


@dataclass(frozen=True)
class Problem:
    """What a sender is told: one of ``KINDS``, a sentence about this case, and more for programs."""

    kind: str
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, object] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The status of the response."""
        return KINDS[self.kind][0]

    @property
    def title(self) -> str:
        """What all problems of this kind have in common."""
        return KINDS[self.kind][1]

    def to_dict(self) -> dict[str, object]:
        """Return the document."""
        return {
            "type": URN + self.kind,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            **self.more,
        }

    def to_bytes(self) -> bytes:
        """Return the document as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False).encode()


def problem_of(error: Exception) -> Problem:
    """Return what to tell a stranger about an error.

    >>> problem_of(server_errors.NoStudy("No study with this digest is published here.")).status
    404
    >>> problem_of(KeyError("secret")).detail
    'It is logged.'
    """
    kind = next((kind for known, kind in _KIND_OF if isinstance(error, known)), "broken")
    if kind == "broken":
        return Problem(kind, "It is logged.")
    told = _STORES.get(kind, error)
    headers = dict(_HEADERS.get(kind, {}))
    if isinstance(told, ComeAgain):
        headers["Retry-After"] = str(max(1, round(told.seconds)))
    more = {"field": error.field, "rule": error.rule} if isinstance(error, InvalidInput) else {}
    return Problem(kind, str(told), headers, more)
