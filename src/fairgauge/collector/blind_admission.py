"""Blind tickets at the collector: a token is checked with the issuer's public key alone, and becomes the answer's id.

The collector knows no secret of the issuer's, and keeps no token: the id is a digest of it.
"""

import hashlib
import re
from base64 import urlsafe_b64decode

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA384
from starlette.types import Scope

from fairgauge.errors import NotSigned
from fairgauge.server.server_errors import BadTicket
from fairgauge.study import Study
from fairgauge.unlinkable.blind_rsa import SALT_BYTES
from fairgauge.unlinkable.pass_token import SIGNATURE, answer_id, challenge_of, message_of, read_key

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
        raise NO_TOKEN.with_traceback(None)


def token_in(scope: Scope) -> bytes:
    """Return the token that a request shows.

    Raises:
        BadTicket: If it shows none.
    """
    for name, value in scope["headers"]:
        if name == b"authorization" and (found := _TOKEN.fullmatch(value)):
            return urlsafe_b64decode(found[2])
    raise NO_TOKEN.with_traceback(None)


# One of each is enough for all requests.
NO_TOKEN = BadTicket("The study takes answers with a blind ticket only, and this is none for it.")
ONE_AT_A_TIME = BadTicket("The study takes answers with blind tickets: send them one by one, each with its token.")
OTHER_ID = BadTicket("The id is not the one that this token gives.")
