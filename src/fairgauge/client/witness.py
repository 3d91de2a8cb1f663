"""Is this the study that everybody has?  One that is made for a person alone would tell whose the answer is.

The collector cannot be asked: it could make a study for each person, list all of them, and write itself into each as
its issuer; whatever a device could compare within them, the collector wrote.  So somebody else must be the **witness**
of a study that hides who answers: an issuer that the person names, which says for which study it signs, or whoever gave
the person the digest that others have, too.

Studies that hide the moment alone, or only add secret draws, need no witness: there the collector sees an address
beside each answer, and who reads counts is promised the same of a study that one person answered.
"""

import json
from typing import TYPE_CHECKING

from fairgauge.client.http_client import check_url, place, request
from fairgauge.errors import CannotSend, InvalidInput, NotSigned
from fairgauge.study import Study

if TYPE_CHECKING:
    from fairgauge.client.relay_client import Relay

# The same words as in fairgauge-client.js.
_UNCONFIRMED = (
    "must be confirmed: this study has {}. Compare it with what others were given and give it as the digest, or name "
    "the issuer that signs for everybody, both from somebody else than the collector; a study that is made for you "
    "alone would tell whose answer it is. Nothing was drawn"
)

_LONGEST_DIRECTORY = 2**22
_ISSUERS = "/.well-known/private-token-issuer-directory"


def check_witness(study: Study, *, digest: str | None, issuer: str | None) -> None:
    """Refuse a study that hides who answers, and for which only its collector speaks.

    Args:
        study: The study.
        digest: The digest that the person compared with what others have.
        issuer: The address of an issuer that the person names: one of a study without blind tickets says nothing.

    Raises:
        InvalidInput: If there is neither, or the digest is another.
    """
    if not study.unlinkable or digest == study.digest or (digest is None and issuer and study.issuer is not None):
        return
    raise InvalidInput("digest", "nothing", _UNCONFIRMED.format(study.digest))


def check_signed_for(study: Study, issuer: str, *, timeout: float) -> None:
    """Refuse a study that an issuer does not name as the one it signs for.

    Raises:
        NotSigned: If it names another.
        CannotSend: If it does not say.
    """
    check_url("issuer", issuer)
    response = request(f"{issuer.rstrip('/')}{_ISSUERS}", timeout=timeout, most=2**16)
    if response.status != 200:
        raise CannotSend(
            f"{place(issuer)} is not ready to say which study it signs for (HTTP status {response.status})"
        )
    # An issuer's key is for one study: who names several may name everyone's own.
    if _listed(response.body) != [study.digest]:
        rule = "somebody may have made this one for you alone; nothing was drawn"
        raise NotSigned(f"{place(issuer)} does not sign for the study {study.digest}, and for no other: {rule}")


def check_listed(study: str, url: str, *, relay: "Relay", timeout: float) -> None:
    """Ask the collector through a relay which studies it has, and refuse one that it does not name to everybody.

    It is no witness: a collector may list as many near-copies as it likes.

    Args:
        study: The study's digest.
        url: The collector's address.
        relay: What to ask through; the collector cannot know who asks.
        timeout: How many seconds the relay may be silent; it is asked once.

    Raises:
        NotSigned: If the collector does not name the study.
        CannotSend: If it does not say.
    """
    check_url("send", url)
    response = relay.request(f"{url.rstrip('/')}/studies/directory", timeout=timeout, most=_LONGEST_DIRECTORY)
    listed = _listed(response.body) if response.status == 200 else None
    if listed is None:
        raise CannotSend(f"{place(url)} does not say which studies it has (HTTP status {response.status})")
    if study not in listed:
        rule = "somebody may have made it for you alone; nothing was drawn"
        raise NotSigned(f"{place(url)} does not name the study {study} to everybody: {rule}")


def _listed(body: bytes) -> list[object] | None:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return None
    studies = told.get("studies") if isinstance(told, dict) else None
    return studies if isinstance(studies, list) else None
