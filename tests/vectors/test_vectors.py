"""The committed vectors are what the Python client says today: a vector that moves would split the clients."""

import json

from tests.vectors import limits
from tests.vectors.make import FILE, written


def test_the_vectors_are_current() -> None:
    assert FILE.read_text(encoding="utf-8") == written()


def test_the_limits_are_current() -> None:
    assert limits.FILE.read_text(encoding="utf-8") == limits.written()
    vectors = json.loads(limits.written())
    assert {vector["said"] is None for kind in ("studies", "lifetimes") for vector in vectors[kind]} == {True, False}


def test_the_vectors_cover_every_kind_of_refusal() -> None:
    vectors = json.loads(FILE.read_text(encoding="utf-8"))
    assert {bad["error"] for bad in vectors["bad"]} == {"BadStudy", "BadTable", "NotPrivate"}
    assert {verdict for *_, verdict in vectors["within"]} == {True, False}
    assert {position is None for *_, position in vectors["positions"]} == {True, False}
    for index, study in enumerate(vectors["studies"]):
        asked = {draw["question"] for draw in vectors["draws"] if draw["study"] == index}
        assert asked == set(range(len(study["epsilon"])))
