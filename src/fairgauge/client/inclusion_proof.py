r"""Is my answer in?  A proof that a sealed study counted an answer, which tells nobody which answer was meant.

The answers of a sealed study lie in buckets by the first bits of their ids, 256 or more to a bucket on average.  With
SHA-256 as H, a bucket is :math:`H(1 \,\|\, \text{its leaves, sorted})`, a leaf :math:`H(0 \,\|\, \text{the answer's
bytes})`, and above the buckets stands a binary tree, :math:`H(2 \,\|\, \text{left} \,\|\, \text{right})`.  The seal
names the root.  A device asks for its whole bucket and looks for its own leaf there, so it says the first bits of its
id and no more; how many bits, it does not let the collector decide (:func:`buckets_to_ask`).  The id is what salts a
leaf: 128 random bits, or a digest of a blind ticket, known to the device and the collector and to nobody else.  So a
device answers no such study with a ticket that somebody gave it and that would be its id, and a collector takes none.
A salt beside the id would add nothing: to whoever knows an id and tries all symbols the collector itself would tell the
right one, since it answers "duplicate" to the same bytes and "conflict" to others.  Studies outside the crowd have no
proofs, and no leaves.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from fairgauge.canonical_json import encode
from fairgauge.client.answer import Answer
from fairgauge.errors import InvalidInput, SealBroken

_BUCKET = 256
PURPOSE = "inclusion"
_MOST_BUCKETS = 64


def depth_of(answers: int) -> int:
    """Return how many first bits of an id name its bucket.

    >>> [depth_of(answers) for answers in (0, 511, 512, 10_000, 1_000_000)]
    [0, 0, 1, 5, 11]
    """
    return max(0, (answers // _BUCKET).bit_length() - 1)


def bucket_of(id_: bytes, depth: int) -> int:
    """Return the number of the bucket that an id is in.

    >>> bucket_of(bytes([0b10100000] + [0] * 15), 3)
    5
    """
    return int.from_bytes(id_) >> (8 * len(id_) - depth)


def buckets_to_ask(id_: bytes, answers: int, known: int) -> range:
    """Return the buckets to ask a collector for that says how many answers were sealed.

    Guarantee: exact; which buckets they are depends on as many first bits of the id as ``known`` answers have, whatever
    the collector says.  It could say a number so large that a bucket is one answer, and see whose.

    >>> buckets_to_ask(bytes([0b10100000] + [0] * 15), answers=4096, known=1024)
    range(8, 12)

    Args:
        id_: The answer's id.
        answers: How many answers the collector says there are.
        known: How many there are at least, from somebody else: the study's batch, or a number that was published.

    Raises:
        InvalidInput: If these would be too many buckets.
    """
    depth = depth_of(answers)
    told = min(depth, depth_of(known))
    if 2 ** (depth - told) > _MOST_BUCKETS:
        raise InvalidInput(
            "answers",
            answers,
            f"is more than can be asked about when {known:,} are known of: take the number from elsewhere (--answers)",
        )
    first = bucket_of(id_, told) << (depth - told)
    return range(first, first + 2 ** (depth - told))


def leaf_of(line: bytes) -> bytes:
    """Return the leaf of an answer, given its canonical bytes."""
    return sha256(b"\0" + line).digest()


def hash_bucket(leaves: Sequence[bytes]) -> bytes:
    """Return the hash of a bucket, given its leaves in any order."""
    return sha256(b"\1" + b"".join(sorted(leaves))).digest()


def hash_pair(left: bytes, right: bytes) -> bytes:
    """Return the hash of two nodes that stand side by side."""
    return sha256(b"\2" + left + right).digest()


def signed_bytes(study: str, answers: int, root: str) -> bytes:
    """Return what the collector signs: that a study was sealed with so many answers under this root."""
    return encode({"study": study, "answers": answers, "root": root})


def check_included(answer: Answer, proof: Mapping[str, Any], *, root: str | None = None) -> None:
    """Check that an answer is among those that were sealed.

    Guarantee: exact as far as nobody finds two texts with one SHA-256; the answer is under the proof's root.  That the
    tally counts what is under the root is the collector's word, which its signature holds it to.

    Args:
        answer: The answer, from the device's own ledger.
        proof: What the collector sent: ``study``, ``answers``, ``root``, ``bucket``, ``leaves`` and ``path``.
        root: The root that the study's seal names, where it is known from elsewhere.

    Raises:
        SealBroken: If the answer is not in, or the proof does not lead to the root.
        InvalidInput: If it is no proof.
    """
    try:
        study, answers, found = str(proof["study"]), int(proof["answers"]), str(proof["root"])
        bucket = int(proof["bucket"])
        leaves = [bytes.fromhex(leaf) for leaf in proof["leaves"]]
        path = [bytes.fromhex(node) for node in proof["path"]]
    except (KeyError, TypeError, ValueError):
        raise InvalidInput("proof", "this document", "must be a proof of inclusion") from None
    depth = depth_of(answers)
    if study != answer.study or len(path) != depth or bucket != bucket_of(bytes.fromhex(answer.id), depth):
        raise SealBroken("the proof is about another answer than the one in the ledger")
    if root is not None and found != root:
        raise SealBroken(f"the proof leads to the root {found[:16]}..., and the seal has {root[:16]}...")
    if leaf_of(answer.to_bytes()) not in leaves:
        raise SealBroken("the answer is not among those that were sealed")
    node = hash_bucket(leaves)
    for sibling in path:
        node = hash_pair(sibling, node) if bucket & 1 else hash_pair(node, sibling)
        bucket >>= 1
    if node.hex() != found:
        raise SealBroken("the proof does not lead to its root")
