"""Send through a relay (RFC 9458), so that the collector does not see the device's address; needs ``[relay]``.

The relay sees the address and an envelope, all of one size.  The collector opens the envelope and sees the relay.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPMessage
from urllib.parse import urlsplit

from fairgauge.client.http_client import NO_HEADERS, Response, check_apart, check_url, place, request
from fairgauge.errors import CannotSend, InvalidInput
from fairgauge.study import Study
from fairgauge.unlinkable.binary_http import Message, read_response, write_request
from fairgauge.unlinkable.oblivious_http import (
    KEYS_TYPE,
    REQUEST_TYPE,
    SEALED_RESPONSE,
    SIZE,
    KeyConfig,
    open_response,
    seal_request,
)

_SLACK = 4096  # a foreign gateway may pad differently
# In an envelope the collector has the same name for everyone: it could have given each person an address of their own,
# and would know them by it.
_AUTHORITY = b"collector.invalid"
_STUDIES = "/studies/"


@dataclass(frozen=True, slots=True)
class Relay:
    """A relay, and the key of the gateway that opens what goes through it.

    Args:
        url: The relay's address.
        gateway: The gateway's key, which the study names.
    """

    url: str
    gateway: KeyConfig

    @classmethod
    def of(cls, study: Study, url: str) -> "Relay":
        """Return the relay to a study's gateway.

        Raises:
            InvalidInput: If the address is none, or the study names no gateway.
        """
        check_url("relay", url)
        if study.gateway is None:
            raise InvalidInput(
                "relay", place(url), "is of no use: the study names no gateway that could open envelopes"
            )
        return cls(url, KeyConfig.read(study.gateway))

    @classmethod
    def unread(cls, url: str, *, timeout: float) -> "Relay":
        """Return a relay with the key that it hands to everyone, for a study that is still to be read.

        A relay that hands out a key of its own sees which study is read, and no more: the answer is sealed with the key
        in the study, whose digest is known.

        Raises:
            InvalidInput: If the address is none.
            CannotSend: If the relay has no key.
        """
        check_url("relay", url)
        response = request(url, headers={"Accept": KEYS_TYPE}, timeout=timeout, most=_SLACK)
        try:
            return cls(url, KeyConfig.read_list(response.body if response.status == 200 else b""))
        except InvalidInput:
            hint = "give the study as a file, from somebody else than the collector"
            raise CannotSend(f"{place(url)} does not hand out the gateway's key: {hint}") from None

    def request(
        self, url: str, *, body: bytes | None = None, headers: Mapping[str, str] = NO_HEADERS, timeout: float, most: int
    ) -> Response:
        """Ask once, as ``fairgauge.client.http_client.request`` does, in an envelope.

        Raises:
            CannotSend: If no reply of the gateway came back.
            InvalidInput: If the relay is at the address that is asked: it would see address and answer.
        """
        check_apart("relay", self.url, url)
        sealed = seal_request(self.gateway, write_request(_message(url, body, headers), size=SIZE))
        response = request(
            self.url,
            body=sealed.data,
            headers={"Content-Type": REQUEST_TYPE, "Accept": "*/*"},
            timeout=timeout,
            most=SEALED_RESPONSE + _SLACK + 2 * most,  # padded to at most twice its length
        )
        # Whatever a relay says is not what the collector says: it can delay an answer, and never refuse it.
        if response.status != 200:
            raise CannotSend(f"{place(self.url)} does not pass the answer on (HTTP status {response.status})")
        try:
            found = read_response(open_response(sealed, response.body))
        except InvalidInput:
            found = None
        if found is None:
            raise CannotSend(f"{place(self.url)} does not give the gateway's reply")
        told = HTTPMessage()
        for name, value in found.headers:
            told[name.decode("latin-1")] = value.decode("latin-1")
        return Response(found.status, told, found.content[:most])


def _message(url: str, body: bytes | None, headers: Mapping[str, str]) -> Message:
    path = _STUDIES + urlsplit(url).path.rpartition(_STUDIES)[2]  # what stands before it may be a person's own, too
    given = {"accept": "application/json", **({} if body is None else {"content-type": "application/json"})}
    given |= {name.lower(): value for name, value in headers.items()}
    start = (b"GET" if body is None else b"POST", b"https", _AUTHORITY, path.encode())
    # Sorted, so that a request looks the same whichever client made it.
    pairs = tuple((name.encode(), value.encode()) for name, value in sorted(given.items()))
    return Message(start, pairs, body or b"")
