"""Problem documents (RFC 9457): a stable URN for programs, a sentence for people."""

import json
from collections.abc import Mapping

from starlette.responses import Response

from fairgauge.collector.stores.base import StoreError, StoreFull
from fairgauge.errors import CannotEstimate, FairgaugeError, InvalidInput, NotPrivate

MEDIA_TYPE = "application/problem+json"
URN = "urn:fairgauge:problem:"

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
    "conflict": (409, "This id has another symbol already"),
    "other-admission": (409, "The study is published already, on other terms"),
    "closed": (410, "The study is closed"),
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


class Problem(Exception):  # noqa: N818 - RFC 9457's own word
    """A request that ends here, with a reason that its sender may read."""

    def __init__(
        self,
        kind: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(kind)
        self.kind = kind
        self.status, self.title = KINDS[kind]
        self.detail = detail
        self.headers = dict(headers or {})
        self.more = dict(more or {})

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

    def to_response(self) -> Response:
        """Return the document as a response."""
        return Response(self.to_bytes(), self.status, self.headers, MEDIA_TYPE)


def wait(kind: str, detail: str, seconds: float) -> Problem:
    """Return a problem that another try after some seconds may not have."""
    return Problem(kind, detail, headers={"Retry-After": str(max(1, round(seconds)))})


def problem_of(error: FairgaugeError, *, kind: str = "bad-request") -> Problem:
    """Return what to tell a stranger about one of our own errors."""
    if isinstance(error, InvalidInput):
        return Problem(kind, str(error), more={"field": error.field, "rule": error.rule})
    if isinstance(error, NotPrivate):
        return Problem("not-private", str(error))
    if isinstance(error, CannotEstimate):
        return Problem("cannot-estimate", str(error))
    if isinstance(error, StoreFull):
        return wait("full", "Nothing was stored. Send it again when there is room.", 60)
    if isinstance(error, StoreError):
        return wait("store-away", "Send it again: what is stored already counts once.", 2)
    return Problem("bad-request", str(error))
