"""Which studies a collector takes, on which terms, and who may answer them.

It takes none whose terms it cannot keep.  Where a study takes blind tickets, a token is checked with the issuer's
public key alone, and becomes the answer's id: the collector knows no secret of the issuer's, and keeps no token, since
the id is a digest of it.
"""

import hashlib
import re
from base64 import urlsafe_b64decode
from collections.abc import Collection
from typing import Annotated, Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA384
from msgspec import Meta
from msgspec.structs import replace
from starlette.types import Scope

from fairgauge.collector.query_parameters import Query
from fairgauge.collector.stores.store import Published
from fairgauge.crowd.crowd_epsilon import MOST_DRAWS
from fairgauge.crowd.secret_draws import MOST_FOR_ONE_BATCH
from fairgauge.errors import BadStudy, NotSigned
from fairgauge.languages import Sentence
from fairgauge.server.server_errors import BadTicket
from fairgauge.study import Study
from fairgauge.unlinkable.blinding import SALT_BYTES
from fairgauge.unlinkable.pass_token import SIGNATURE, answer_id, challenge_of, message_of, read_key

_MOST_NUMBERS = 600  # of one answer: sums of products of every two of them may be in a tally


class PublishingTerms(Query, frozen=True):
    """On which terms a study is published."""

    admission: Annotated[Literal["open", "tickets"], Meta(description="Who may answer.")] = "open"
    results: Annotated[Literal["readers", "public"], Meta(description="Who may see results.")] = "readers"
    aim: Annotated[
        str,
        Meta(
            pattern=r"^0\.0*[1-9][0-9]*$",
            max_length=8,
            title="a decimal above 0 and below 1 of at most 8 characters",
            examples=["0.005"],
            description="The error that the study aims at, as a part of the metric's range.",
        ),
    ] = "0.01"
    hourly: Annotated[
        int,
        Meta(ge=0, le=10**9, description="How many answers the study takes in an hour; 0 for any number."),
    ] = 0


def check_takes(study: Study, *, gateway: Collection[str]) -> None:
    """Refuse a study that this collector must not publish.

    Args:
        study: The study.
        gateway: The key configurations of this collector's gateway.

    Raises:
        BadStudy: If it promises what this collector cannot keep.
    """
    if study.mechanism.numbers > _MOST_NUMBERS:
        rule = f"must have at most {_MOST_NUMBERS} to be counted here"
        raise BadStudy("site", f"{study.mechanism.numbers} cells", rule)
    if study.gateway is not None and study.gateway not in gateway:
        rule = "must be a key of this collector's gateway, which fairgauge key gateway shows"
        raise BadStudy("gateway", study.gateway, rule)
    if study.release is not None and study.release.batch > MOST_DRAWS:
        raise BadStudy(
            "release.batch", study.release.batch, f"must be at most {MOST_DRAWS}: nobody lives to see it full"
        )
    if study.release is not None and study.release.draws > MOST_FOR_ONE_BATCH:
        rule = f"must be at most {MOST_FOR_ONE_BATCH}: answers would wait while more are drawn"
        raise BadStudy("release.draws", study.release.draws, rule)
    Gate.of(study)  # refuses an issuer's key that is none


def terms_of(study: Study, given: PublishingTerms) -> PublishingTerms:
    """Return the terms on which a study is published: what it says itself, which its digest covers, comes first.

    Raises:
        BadStudy: If it is in the crowd, and whoever sends tickets out would know the ids of its answers.
    """
    # What the store keeps is whether a ticket is needed; that it is a blind one stands in the document.
    admission = "tickets" if study.admission == "blind" or study.mechanism.contributors_known else study.admission
    said = {"admission": admission, "aim": study.aim, "hourly": study.hourly}
    found = replace(given, **{name: value for name, value in said.items() if value is not None})
    if study.release is not None and found.admission == "tickets" and study.admission != "blind":
        rule = "must be open or blind in the crowd: who sends plain tickets knows every id, and could try all symbols"
        raise BadStudy("admission", found.admission, rule)
    return found


def outsiders_note(study: Study, admission: str) -> str:
    """Say what people outside of a study do to it, where everyone may answer and they cannot abstain."""
    if admission != "open" or all(question.mechanism.abstain for question in study.questions):
        return ""
    return Sentence.of("desk.outsiders", command="fairgauge design --admission open")


def kept_terms(kept: Published) -> PublishingTerms:
    """Return the terms on which a study is published already."""
    return PublishingTerms(
        admission=kept.admission,  # type: ignore[arg-type]
        results="public" if kept.public else "readers",
        aim=kept.aim or PublishingTerms().aim,
        hourly=kept.hourly or 0,
    )


_PADDING = PSS(MGF1(SHA384()), SALT_BYTES)
# What RFC 9577 has devices send; 354 bytes need no padding in base64url.
_TOKEN = re.compile(rb'PrivateToken token=("?)([A-Za-z0-9_-]{472})\1', re.IGNORECASE)


class Gate:
    """Lets those pass who have a token of a study's issuer.

    Raises:
        InvalidInput: If the study's key is no key.
    """

    def __init__(self, issuer: str, key: str, study: str) -> None:
        self.issuer = issuer
        self._key = read_key(key, field="issuer.key")
        self._challenge = hashlib.sha256(challenge_of(issuer, study)).digest()
        self._public = RSAPublicNumbers(self._key.public.e, self._key.public.n).public_key()

    @classmethod
    def of(cls, study: Study) -> "Gate | None":
        """Return the gate of a study with blind tickets, and None for any other."""
        return None if study.issuer is None else cls(study.issuer.name, study.issuer.key, study.digest)

    def id_of(self, token: bytes) -> bytes:
        """Return the id of the answer that a token lets in.

        Raises:
            BadTicket: If it is no token for this study.
        """
        try:
            message = message_of(token, self._key, self._challenge)
            self._public.verify(token[-SIGNATURE:], message, _PADDING, SHA384())
        except (NotSigned, InvalidSignature):
            pass
        else:
            return bytes.fromhex(answer_id(token))
        raise _NO_TOKEN.with_traceback(None)


def token_in(scope: Scope) -> bytes:
    """Return the token that a request shows.

    Raises:
        BadTicket: If it shows none.
    """
    for name, value in scope["headers"]:
        if name == b"authorization" and (found := _TOKEN.fullmatch(value)):
            return urlsafe_b64decode(found[2])
    raise _NO_TOKEN.with_traceback(None)


# One of each is enough for all requests.
_NO_TOKEN = BadTicket("The study takes answers with a blind ticket only, and this is none for it.")
ONE_AT_A_TIME = BadTicket("The study takes answers with blind tickets: send them one by one, each with its token.")
OTHER_ID = BadTicket("The id is not the one that this token gives.")
