"""Deliver an answer to a collector: the same bytes again and again, with patience, until it is counted."""

import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from secrets import SystemRandom
from typing import TYPE_CHECKING, Literal

from fairgauge.client.answer import Answer
from fairgauge.client.http_client import Response, check_url, place, request
from fairgauge.client.ledger import Ledger
from fairgauge.client.sending_epoch import shown
from fairgauge.errors import AnswerRefused, CannotSend, InvalidInput

if TYPE_CHECKING:  # what sends through a relay needs an extra
    from fairgauge.client.relay_client import Relay

Receipt = Literal["accepted", "duplicate"]

_LONGEST_REPLY = 2**16

_TRY_AGAIN = frozenset({408, 425, 429})
_NO = {
    401: "wants a permission that this device does not have",
    403: "does not accept the ticket",
    404: "does not know the study",
    409: "already has another answer with this id",
    410: "has closed the study",
}


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try: the wait before try n is random, up to ``first * 2**(n - 1)`` seconds, at most ``longest``.

    Args:
        tries: How often to try in all.
        first: The longest first wait, in seconds.
        longest: The longest wait of all, also if the collector asks for more.
        timeout: How many seconds the collector may be silent; a try ends after three times as long.
    """

    tries: int = 8
    first: float = 1.0
    longest: float = 300.0
    timeout: float = 20.0

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise InvalidInput("tries", self.tries, "must be at least 1")
        if not (0 <= self.first <= self.longest < float("inf") and 0 < self.timeout < float("inf")):
            raise InvalidInput("first", self.first, "must be from 0 to longest, and the timeout above 0")

    def waits(self) -> Iterator[float]:
        """Give the seconds to wait before each further try.

        Full jitter: devices that failed together must not come back together.
        """
        for doublings in range(self.tries - 1):
            yield SystemRandom().uniform(0, min(self.longest, self.first * 2 ** min(doublings, 60)))


def send(
    answer: "Answer",
    url: str,
    *,
    patience: Patience | None = None,
    token: bytes | None = None,
    relay: "Relay | None" = None,
) -> Receipt:
    """Post an answer to ``{url}/studies/{digest}/answers`` until the collector has it.

    Args:
        answer: What to send; every try sends the same bytes.
        url: The collector's address.
        patience: How long to try.
        token: The blind ticket, where the study wants one.
        relay: What to send through, so that the collector does not see this device's address.

    Raises:
        AnswerRefused: If the collector refuses it for good.
        CannotSend: If the collector cannot be reached, or is not ready, in time.
    """
    check_url("send", url)
    patience = patience or Patience()
    target, body = f"{url.rstrip('/')}/studies/{answer.study}/answers", answer.to_bytes()
    shows = {} if token is None else {"Authorization": f'PrivateToken token="{urlsafe_b64encode(token).decode()}"'}
    ask = request if relay is None else relay.request
    waits = patience.waits()
    while True:
        asked = 0.0
        try:
            response = ask(target, body=body, headers=shows, timeout=patience.timeout, most=_LONGEST_REPLY)
            receipt = _receipt(response)
            if receipt is not None:
                return receipt
            if 400 <= response.status < 500 and response.status not in _TRY_AGAIN:
                said = _NO.get(response.status, "does not take the answer")
                raise AnswerRefused(f"{place(url)} {said} (HTTP status {response.status})")
            problem = CannotSend(f"{place(url)} is not ready to take the answer (HTTP status {response.status})")
            asked = _retry_after(response.headers.get("Retry-After"), now=datetime.now(UTC))
        except AnswerRefused:
            raise
        except CannotSend as caught:
            problem = caught
        wait = next(waits, None)
        if wait is None:
            raise problem
        # Everyone was asked to wait equally long, so the random wait comes on top.
        time.sleep(min(patience.longest, asked) + wait)


def check_open(study: str, url: str, *, patience: Patience | None = None, relay: "Relay | None" = None) -> None:
    """Ask the collector, before anything is drawn, whether it takes answers to a study.

    An answer to a study that its operator closed early would cost privacy for nothing.  A collector that does not
    answer or does not tell is no reason to stay silent: the answer then waits in the ledger.

    Args:
        study: The study's digest.
        url: The collector's address.
        patience: How long the collector may be silent; it is asked once.
        relay: What to ask through.

    Raises:
        AnswerRefused: If the collector says that the study is over.
        CannotSend: If the collector says that the study has not begun.
    """
    check_url("send", url)
    target, timeout = f"{url.rstrip('/')}/studies/{study}/status", (patience or Patience()).timeout
    try:
        response = (request if relay is None else relay.request)(target, timeout=timeout, most=_LONGEST_REPLY)
    except CannotSend:
        return
    status = _said(response, study)
    if status in ("closed", "sealed"):
        raise AnswerRefused(f"{place(url)} has closed the study; nothing was drawn, and no privacy was spent")
    if status == "not open yet":
        raise CannotSend(f"{place(url)} does not take answers to the study yet; nothing was drawn: come again later")


def deliver(
    ledger: Ledger, answer: Answer, url: str, *, patience: Patience | None = None, relay: "Relay | None" = None
) -> Receipt:
    """Send an answer of a ledger, and remember there what became of it.

    Raises:
        AnswerRefused: If the collector refuses it for good; the ledger remembers that, too.
        CannotSend: If the collector cannot be reached in time, or the answer waits for its moment, or for a relay to go
            through; it stays pending.
    """
    moment = ledger.moment(answer.study)
    if moment is not None and time.time() < moment:
        raise CannotSend(f"the answer waits until {shown(moment)}, so that its moment tells nothing")
    if relay is None and ledger.wants_relay(answer.study):
        raise CannotSend("the study has its answers sent through a relay, and none is given")
    try:
        receipt = send(answer, url, patience=patience, token=ledger.token(answer.study), relay=relay)
    except AnswerRefused:
        ledger.mark_refused(answer)
        raise
    ledger.mark_sent(answer)
    return receipt


def _retry_after(header: str | None, *, now: datetime) -> float:
    """Return the seconds that a ``Retry-After`` header asks for, as a number or as a date; 0 if it makes no sense.

    >>> _retry_after("120", now=datetime(2026, 11, 15, tzinfo=UTC))
    120.0
    >>> _retry_after("Sun, 15 Nov 2026 00:01:00 GMT", now=datetime(2026, 11, 15, tzinfo=UTC))
    60.0
    """
    text = (header or "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:12])
    try:
        moment = parsedate_to_datetime(text)
        return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0


def _receipt(response: Response) -> Receipt | None:
    """Return what the collector says it did; a page of a hotel's network is no receipt, whatever its status."""
    status = _document(response).get("status") if response.status in (200, 201, 202) else None
    return status if status in ("accepted", "duplicate") else None


def _said(response: Response, study: str) -> str | None:
    """Return the state that the collector gives to this study, and to no other."""
    document = _document(response) if response.status == 200 else {}
    return str(document.get("status")) if document.get("study") == study else None


def _document(response: Response) -> dict[str, object]:
    try:
        document = json.loads(response.body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
