"""Get a study from a file, from bytes or from the web, and make sure that it is the one that was meant."""

import re
from pathlib import Path

from fairgauge.canonical_json import LONGEST_DOCUMENT, read_file
from fairgauge.errors import BadStudy, CannotSend, InvalidInput
from fairgauge.study import Study

_TIMEOUT = 20.0

_PINNED = re.compile(r"/studies/([0-9a-f]{64})/?\Z")


def load_study(
    source: str | Path | bytes, *, digest: str | None = None, relay: str | None = None, issuer: str | None = None
) -> Study:
    """Load a study and check its form, its digest and the exact epsilon of its tables.

    One that hides who answers is loaded if somebody else than its collector says that it is everybody's, wherever it
    came from (:mod:`fairgauge.client.witness`).  ``Study.from_bytes`` only reads, and asks for no witness.

    Args:
        source: A file, the document itself, or an address that starts with ``http://`` or ``https://``.
        digest: The study that is expected, as others have it.  An address that ends in ``/studies/`` and a digest
            expects that one, too.
        relay: The address of a relay to ask through, so that the collector does not see who reads its study.
        issuer: The address of an issuer that the person names; it must sign for this study.

    Raises:
        CannotSend: If the relay does not pass it on, or the issuer does not say for which study it signs.
        InvalidInput: If nothing can be read there, or the study is malformed, or another one, or has no witness.
        NotPrivate: If a table spends more than the study declares.
        NotSigned: If the issuer signs for another study.
    """
    study = read_study(source, digest=digest, relay=relay)
    if study.unlinkable:
        from fairgauge.client.http_client import check_apart
        from fairgauge.client.witness import check_signed_for, check_witness

        check_witness(study, digest=digest, issuer=issuer)
        if issuer is not None:
            if isinstance(source, str) and source.startswith(("http://", "https://")):
                check_apart("issuer", issuer, source)
            check_signed_for(study, issuer, timeout=_TIMEOUT)
    return study


def read_study(source: str | Path | bytes, *, digest: str | None = None, relay: str | None = None) -> Study:
    """The same, whoever it was made for: what is answered wants a witness besides."""
    if digest is not None and not re.fullmatch("[0-9a-f]{64}", digest):
        raise InvalidInput("digest", digest, "must be 64 lower-case hexadecimal digits")
    expected = {digest} if digest is not None else set()
    if isinstance(source, bytes):
        data = source
    elif isinstance(source, str) and source.startswith(("http://", "https://")):
        data = _fetch(source, relay)
        expected.update(_PINNED.findall(source))
    else:
        data = read_file(source, field="study")
    study = Study.from_bytes(data)
    for name in sorted(expected):
        if study.digest != name:
            raise BadStudy("digest", study.digest, f"must be {name}: this is another study")
    return study


def named_in(address: str) -> str | None:
    """Return the digest that an address of a study ends in, if it does.

    >>> named_in("https://collector.example/studies/" + "a" * 64) == "a" * 64, named_in("https://x.example/s.json")
    (True, None)
    """
    return next(iter(_PINNED.findall(address)), None)


def _fetch(url: str, relay: str | None) -> bytes:
    from fairgauge.client.http_client import check_apart, check_url, place, request

    check_url("study", url)
    ask = request
    if relay is not None:
        from fairgauge.client.relay_client import Relay

        if named_in(url) is None:
            raise InvalidInput("study", place(url), "must end in /studies/ and a digest to be read through a relay")
        check_url("relay", relay)
        check_apart("relay", relay, url)  # before it is asked for its key: that would show it this address
        ask = Relay.unread(relay, timeout=_TIMEOUT).request
    try:
        response = ask(url, timeout=_TIMEOUT, most=LONGEST_DOCUMENT + 1)
    except CannotSend as problem:
        raise InvalidInput("study", place(url), f"cannot be read: {problem}") from None
    if response.status != 200:
        raise InvalidInput("study", place(url), f"must give a study, but has HTTP status {response.status}")
    return response.body
