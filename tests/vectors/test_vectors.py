"""The committed vectors are what the Python client says today: a vector that moves would split the clients."""

import json
import re

from tests.vectors import crowd, limits, make_vectors2
from tests.vectors.make import FILE, make, written


def test_the_vectors_are_current() -> None:
    assert FILE.read_text(encoding="utf-8") == written(make())


def test_the_crowds_are_current() -> None:
    assert crowd.FILE.read_text(encoding="utf-8") == crowd.written()


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


def test_the_vectors_of_format_2_are_current() -> None:
    assert make_vectors2.FILE.read_text(encoding="utf-8") == written(make_vectors2.make())


def test_the_vectors_of_format_2_refuse_every_field() -> None:
    """Every field of every object of format 2 is wrong in some vector, and named."""
    vectors = json.loads(make_vectors2.FILE.read_text(encoding="utf-8"))
    named = {
        re.sub(r"\[\d+\]", "", field.rpartition(".")[2]) for field in (bad.get("field", "") for bad in vectors["bad"])
    }
    fields: set[str] = set()

    def collect(part: object) -> None:
        if isinstance(part, dict):
            fields.update(part)
            for value in part.values():
                collect(value)
        elif isinstance(part, list):
            for value in part:
                collect(value)

    for study in vectors["studies"]:
        document = json.loads(study["canonical"])
        fields.update(document)
        for name, value in document.items():
            if name != "translations":
                collect(value)
    assert fields - named == {"low"}  # as in format 1, whose vectors have it
    assert {bad["error"] for bad in vectors["bad"]} == {"BadStudy", "BadTable", "NotPrivate"}
