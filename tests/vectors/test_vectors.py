"""The committed vectors are what the Python client says today: a vector that moves would split the clients."""

import json
import re
from pathlib import Path

import pytest

from tests.vectors import full, limits, simple
from tests.vectors.make import files

FILES = files()


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-2:]))
def test_a_file_is_what_the_script_makes(path: Path) -> None:
    assert path.read_bytes() == FILES[path](), "run make vectors"


def test_the_limits_refuse_and_allow() -> None:
    vectors = json.loads(limits.written())
    assert {vector["said"] is None for kind in ("studies", "lifetimes") for vector in vectors[kind]} == {True, False}


def test_the_vectors_cover_every_kind_of_refusal() -> None:
    vectors = json.loads(simple.FILE.read_text(encoding="utf-8"))
    assert {bad["error"] for bad in vectors["bad"]} == {"BadStudy", "BadTable", "NotPrivate"}
    assert {verdict for *_, verdict in vectors["within"]} == {True, False}
    assert {position is None for *_, position in vectors["positions"]} == {True, False}
    for index, study in enumerate(vectors["studies"]):
        asked = {draw["question"] for draw in vectors["draws"] if draw["study"] == index}
        assert asked == set(range(len(study["epsilon"])))


def test_the_vectors_refuse_every_field() -> None:
    """Every field of every object is wrong in some vector, and named."""
    vectors = json.loads(full.FILE.read_text(encoding="utf-8"))
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
    assert fields - named == {"low"}  # the simple ones have it
    assert {bad["error"] for bad in vectors["bad"]} == {"BadStudy", "BadTable", "NotPrivate"}
