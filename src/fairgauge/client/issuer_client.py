"""Fetch a blind ticket: show an ordinary one to the issuer, and get a signature that it cannot recognise later.

Everything is in the ledger before it is sent, and the request is the same bytes each time: whoever crashes, or does not
hear the reply, asks again and gets the same.  So one ordinary ticket gives one token, and none is lost.
"""

from fairgauge.client.answer import check_ticket
from fairgauge.client.delivery import Patience
from fairgauge.client.http_client import place, request
from fairgauge.client.ledger import Ledger
from fairgauge.client.witness import check_signed_for
from fairgauge.errors import AnswerRefused, CannotAnswer, CannotSend, InvalidInput, NotSigned
from fairgauge.study import Study
from fairgauge.unlinkable.pass_token import SIGNATURE, Pass, begin_pass, challenge_of, read_key

_TYPES = {"Content-Type": "application/private-token-request", "Accept": "application/private-token-response"}


def issuer_in(study: Study) -> str:
    """Return the address of the issuer that a study names."""
    return "" if study.issuer is None else f"https://{study.issuer.name}"


def fetch_token(
    ledger: Ledger, study: Study, ticket: str | None, *, issuer: str, patience: Patience | None = None
) -> bytes:
    """Return the token for a study, from the ledger if it is there, else from the study's issuer.

    Args:
        ledger: Where the token is kept, and what it takes to ask for it again.
        study: A study with blind tickets.
        ticket: The ordinary ticket to exchange; not needed if the token is there.
        issuer: The address of an issuer that the person names.  The name in the study (:func:`issuer_in`) is good where
            somebody compared the study's digest: else its collector may have written itself there.
        patience: How long the issuer may be silent; it is asked once, and the same command asks again.

    Raises:
        CannotAnswer: If there is no token, and no ticket to get one for.
        AnswerRefused: If the issuer does not take the ticket.
        CannotSend: If the issuer cannot be reached, or is not ready.
        NotSigned: If the issuer signed with another key than the study names, or gives tickets for another study: each
            might tell people apart.
    """
    if study.issuer is None:
        raise InvalidInput("study", study.digest, "takes no blind tickets")
    found = ledger.token(study.digest)
    if found is not None:
        return found
    if ticket is None:
        raise CannotAnswer("the study takes answers with a ticket only")
    check_ticket(ticket)
    key = read_key(study.issuer.key, field="issuer.key")
    challenge = challenge_of(study.issuer.name, study.digest)
    check_signed_for(study, issuer, timeout=(patience or Patience()).timeout)
    begun = Pass.from_bytes(ledger.begin_pass(study.digest, ticket, lambda: begin_pass(key).to_bytes()))
    response = request(
        f"{issuer.rstrip('/')}/token-request",
        body=begun.request(key, challenge),
        headers={**_TYPES, "Authorization": f"Bearer {ticket}"},
        timeout=(patience or Patience()).timeout,
        most=SIGNATURE + 1,
    )
    if response.status in (400, 401, 403, 404, 409):
        raise AnswerRefused(f"{place(issuer)} does not take the ticket (HTTP status {response.status})")
    if response.status != 200:
        raise CannotSend(f"{place(issuer)} is not ready to exchange the ticket (HTTP status {response.status})")
    try:
        token = begun.token(key, challenge, response.body)
    except NotSigned:
        raise NotSigned(f"{place(issuer)} did not sign with the key that the study names; nothing was drawn") from None
    ledger.keep_token(study.digest, token)
    return token
