"""Whose store is it?  A store remembers the fingerprints of the keys that it was used with.

A collector that is started with another folder of secrets would sign as somebody else and turn valid tickets away, and
devices take that for a final no.  So it does not start, and says what to do.
"""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from fairgauge.collector import signing
from fairgauge.collector.stores.base import Store
from fairgauge.errors import StoreError
from fairgauge.server import tickets
from fairgauge.server.secrets_folder import read_secret

SIGNING, TICKETS = "signing", "tickets"


def fingerprint(purpose: str, key: bytes) -> str:
    """Return what names a key and tells nothing about it: a key has 256 random bits.

    >>> fingerprint("tickets", bytes(32))[:8]
    '7a3bcceb'
    """
    return sha256(f"fairgauge {purpose} fingerprint 1\n".encode() + key).hexdigest()


def keys_in(folder: Path) -> dict[str, list[str]]:
    """Return the fingerprints of a folder's keys by purpose: the one of now first, then those of before."""
    found: dict[str, list[str]] = {SIGNING: [], TICKETS: []}
    now = signing.public_of(folder)
    for public in [*([] if now is None else [now]), *reversed(signing.former_keys(folder))]:
        found[SIGNING].append(fingerprint(SIGNING, public.encode()))
    key = read_secret(folder, tickets.FILE)
    if key is not None:
        found[TICKETS].append(fingerprint(TICKETS, key))
    return found


async def refuse_other_keys(store: Store, folder: Path) -> None:
    """Do nothing if the store belongs to the keys of this folder, or to none yet; before any key is made.

    Raises:
        StoreError: If it belongs to other keys.
    """
    known, here = await store.keys(), keys_in(folder)
    for purpose in _foreign(known, here):
        raise StoreError(
            f"this store was used with another {purpose} key than {folder} holds: point --secrets to the folder of "
            "before. If the key was replaced on purpose: fairgauge key adopt --store ADDRESS --secrets FOLDER"
        )


async def remember_keys(store: Store, folder: Path, bucket: int) -> None:
    """Let the store belong to the keys of this folder."""
    known = set(await store.keys())
    for purpose, fingerprints in keys_in(folder).items():
        if fingerprints and (purpose, fingerprints[0]) not in known:
            await store.remember_key(purpose, fingerprints[0], bucket)


def _foreign(known: list[tuple[str, str]], here: dict[str, list[str]]) -> Iterator[str]:
    for purpose, fingerprints in here.items():
        of_store = [fingerprint for kind, fingerprint in known if kind == purpose]
        # A key that was rotated in this folder is no stranger: the folder says which key came before.
        if of_store and not set(of_store) & set(fingerprints):
            yield purpose
