"""A proof that an answer is in: it holds for what was sealed, and for nothing else.

Covers: fairgauge.collector.merkle.
"""

import random
from hashlib import sha256
from typing import Any

import pytest

from fairgauge.client import Answer
from fairgauge.client.inclusion_proof import (
    bucket_of,
    buckets_to_ask,
    check_included,
    depth_of,
    hash_bucket,
    hash_pair,
    leaf_of,
)
from fairgauge.collector.merkle import Growing
from fairgauge.errors import InvalidInput, SealBroken

STUDY = "a" * 64
CHANCE = random.Random(5)
ANSWERS = sorted(
    (Answer(STUDY, CHANCE.randbytes(16).hex(), (CHANCE.randrange(4),)) for _ in range(1100)), key=lambda one: one.id
)
DEPTH = depth_of(len(ANSWERS))


def tree_of(answers: list[Answer]) -> Any:
    growing = Growing(len(answers))
    for at in range(0, len(answers), 300):
        page = answers[at : at + 300]
        growing.add([bytes.fromhex(one.id) for one in page], [one.to_bytes() for one in page])
    return growing.tree()


TREE = tree_of(ANSWERS)


def proof_of(answer: Answer, tree: Any = TREE) -> dict[str, Any]:
    bucket = bucket_of(bytes.fromhex(answer.id), DEPTH)
    inside = [one for one in ANSWERS if bucket_of(bytes.fromhex(one.id), DEPTH) == bucket]
    return {
        "study": STUDY,
        "answers": len(ANSWERS),
        "root": tree.root,
        "bucket": bucket,
        "leaves": sorted(leaf_of(one.to_bytes()).hex() for one in inside),
        "path": tree.path(bucket),
    }


@pytest.mark.parametrize("index", [0, 1, 400, 777, 1099])
def test_every_answer_has_a_proof_and_shares_it_with_hundreds(index: int):
    proof = proof_of(ANSWERS[index])
    check_included(ANSWERS[index], proof, root=TREE.root)
    assert DEPTH == 2
    assert len(proof["leaves"]) > 200


def test_an_answer_that_was_changed_is_not_in():
    mine = ANSWERS[500]
    other = Answer(mine.study, mine.id, ((mine.payload[0] + 1) % 4,))
    with pytest.raises(SealBroken, match="not among those"):
        check_included(other, proof_of(mine))
    rest = [one for one in ANSWERS if one != mine]
    with pytest.raises(SealBroken, match="does not lead"):
        check_included(mine, proof_of(mine) | {"root": tree_of(rest).root})
    with pytest.raises(SealBroken, match="the seal has"):
        check_included(mine, proof_of(mine), root="b" * 64)


@pytest.mark.parametrize("part", ["leaves", "path"])
def test_a_proof_of_which_one_bit_is_turned_does_not_lead_to_the_root(part: str):
    mine, proof = ANSWERS[500], proof_of(ANSWERS[500])
    at = next(n for n, text in enumerate(proof[part]) if text != leaf_of(mine.to_bytes()).hex())
    turned = list(proof[part])
    turned[at] = f"{int(turned[at], 16) ^ 1:064x}"
    with pytest.raises(SealBroken, match="does not lead"):
        check_included(mine, proof | {part: turned})


def test_a_proof_about_another_bucket_or_study_is_refused():
    mine = ANSWERS[0]
    with pytest.raises(SealBroken, match="another answer"):
        check_included(mine, proof_of(ANSWERS[-1]))
    with pytest.raises(SealBroken, match="another answer"):
        check_included(mine, proof_of(mine) | {"study": "b" * 64})
    with pytest.raises(SealBroken, match="another answer"):
        check_included(mine, proof_of(mine) | {"answers": 10**6})
    with pytest.raises(InvalidInput, match="proof of inclusion"):
        check_included(mine, {"root": TREE.root})


def test_an_empty_study_has_a_root_and_no_two_trees_share_one():
    roots = {tree_of(ANSWERS[:count]).root for count in (0, 1, 2, 511, 512, 1100)}
    assert len(roots) == 6


@pytest.mark.parametrize("answers", [0, 600, 1100, 70_000, 2**40, 2**135])
@pytest.mark.parametrize("known", [1, 600, 10_000])
def test_a_collector_that_says_a_false_number_hears_no_more_of_an_id_than_the_batch_allows(answers: int, known: int):
    heard = set()
    for one in ANSWERS:
        try:
            heard.add(buckets_to_ask(bytes.fromhex(one.id), answers, known))
        except InvalidInput:
            heard.add(range(0))
    assert len(heard) <= 2 ** depth_of(known)
    assert max(map(len, heard)) <= 64


@pytest.mark.parametrize("known", [0, 300, 600, 1100, 5000])
def test_the_own_bucket_is_among_those_that_are_asked_for(known: int):
    for one in ANSWERS[::50]:
        id_ = bytes.fromhex(one.id)
        asked = buckets_to_ask(id_, len(ANSWERS), known)
        assert bucket_of(id_, DEPTH) in asked
        assert len(asked) == {0: 4, 300: 4, 600: 2, 1100: 1, 5000: 1}[known]


def test_leaves_buckets_and_pairs_are_hashed_apart_as_every_client_does():
    """With one beginning for all, a bucket could be passed off as an answer."""
    assert leaf_of(b"line") == sha256(b"\x00line").digest()
    assert hash_bucket([b"b" * 32, b"a" * 32]) == sha256(b"\x01" + b"a" * 32 + b"b" * 32).digest()
    assert hash_pair(b"b" * 32, b"a" * 32) == sha256(b"\x02" + b"b" * 32 + b"a" * 32).digest()
