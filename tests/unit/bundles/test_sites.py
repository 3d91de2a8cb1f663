"""Everything of a study for sites that belongs together, and every way in which it may not.

Covers: fairgauge.bundles.verification
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fairgauge.bundles import Signatures, Verification, gather, verify
from fairgauge.bundles.seal_check import digest_of
from fairgauge.bundles.verification import difference
from fairgauge.client import Answer
from fairgauge.collector.seal import PURPOSE, Seal, read_sealed, sealed_document
from fairgauge.collector.signatures import Signer
from fairgauge.collector.stores.released_sums import payload_text
from fairgauge.estimation import estimate
from fairgauge.reports.html_report import render_report
from fairgauge.reports.provenance import Provenance
from fairgauge.tallies import Tally
from tests.sites import levels_study

STUDY = levels_study()
ANSWERS = [Answer(STUDY.digest, f"{n:032x}", (300 + n, 100, -2, 120, 90 - n, 290)) for n in range(4)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A study's files as a collector makes them."""
    signer = Signer.in_folder(tmp_path_factory.mktemp("secrets"))
    found = digest_of(STUDY, [(bytes.fromhex(one.id), payload_text(one.payload)) for one in ANSWERS])
    seal = Seal.of(STUDY, found, "2026-11-15T23:00:00Z")
    document = sealed_document(seal, STUDY, key=signer.public, signature=signer.sign(PURPOSE, seal.to_bytes()))
    said = Provenance("2026-11-16", seal=read_sealed(document).note)
    return {
        "study.json": STUDY.to_bytes(),
        "tally.json": seal.counted.to_bytes(),
        "sealed.json": document,
        "report.html": render_report(STUDY, seal.counted, estimate(STUDY, seal.counted), said).encode(),
        "answers.ndjson": lines(ANSWERS),
    }


def lines(answers: list[Answer]) -> bytes:
    return b"".join(one.to_bytes() + b"\n" for one in answers)


def checked(folder: Path, files: dict[str, bytes]) -> Verification:
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return verify(STUDY, gather([folder]), Signatures())


def test_all_of_it_holds(made: dict[str, bytes], tmp_path: Path):
    found = checked(tmp_path, made)
    assert found.broken == ()
    told = " ".join(check.sentence for check in found.checks if check.outcome == "holds")
    for sentence in (
        "tally.json counts 4 sites that answered this study.",
        "tally.json is the tally that was sealed on 2026-11-15T23:00:00Z.",
        "answers.ndjson was counted again: 4 sites, which are the sealed ones.",
        "report.html is what this study and this tally give, byte for byte",
    ):
        assert sentence in told


def _tally(change: Callable[[Tally], Tally]) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    return lambda files: {"tally.json": change(Tally.from_bytes(files["tally.json"])).to_bytes()}


def _sealed(change: Callable[[dict[str, object]], dict[str, object]]) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    def spoil(files: dict[str, bytes]) -> dict[str, bytes]:
        document = json.loads(files["sealed.json"])
        return {"sealed.json": json.dumps(document | {"seal": document["seal"] | change(document["seal"])}).encode()}

    return spoil


SPOILED: dict[str, Callable[[dict[str, bytes]], dict[str, bytes]]] = {
    "a count": _tally(lambda tally: replace(tally, counts=(tally.counts[0] + 1, *tally.counts[1:]))),
    "a site": _tally(lambda tally: replace(tally, contributors=tally.contributors + 1)),
    "another study": _tally(lambda tally: replace(tally, study="a" * 64)),
    "sealed count": _sealed(lambda seal: {"tally": [1, *seal["tally"][1:]]}),  # type: ignore[index]
    "sealed sites": _sealed(lambda seal: {"sites": seal["sites"][1:]}),  # type: ignore[index]
    "one answer less": lambda _: {"answers.ndjson": lines(ANSWERS[1:])},
    "an answer twice": lambda files: {"answers.ndjson": files["answers.ndjson"] * 2},
    "another answer": lambda _: {"answers.ndjson": lines([replace(ANSWERS[0], payload=(0,) * 6), *ANSWERS[1:]])},
    "a word": lambda files: {"report.html": files["report.html"].replace(b"These numbers are", b"These numbers were")},
    "a number": lambda files: {"report.html": files["report.html"].replace(b"4 sites", b"5 sites")},
}


@pytest.mark.parametrize("what", SPOILED)
def test_whatever_was_changed_is_found(made: dict[str, bytes], tmp_path: Path, what: str):
    changed = SPOILED[what](made)
    assert all(made[name] != data for name, data in changed.items())
    alone = {"study.json", "tally.json", *changed} if "report.html" in changed else set(made) - {"report.html"}
    assert checked(tmp_path, {name: data for name, data in (made | changed).items() if name in alone}).broken


def test_an_operators_tally_has_sums_of_products_that_the_answers_give(made: dict[str, bytes], tmp_path: Path):
    files = {name: data for name, data in made.items() if name != "report.html"}
    assert checked(tmp_path, files | {"tally.json": Tally.of(STUDY, ANSWERS).to_bytes()}).broken == ()


def test_without_a_seal_the_answers_are_added_up(made: dict[str, bytes], tmp_path: Path):
    files = {name: made[name] for name in ("study.json", "answers.ndjson")}
    whole = Tally.of(STUDY, ANSWERS)
    for tally in (whole, whole.shown):
        found = checked(tmp_path, files | {"tally.json": tally.to_bytes()})
        assert found.broken == ()
        assert any("was added up again: its 4 sites give the tally" in check.sentence for check in found.checks)
    less = Tally.of(STUDY, ANSWERS[1:])
    (broken,) = checked(tmp_path, files | {"tally.json": less.to_bytes()}).broken
    assert "does not give the tally: it has 1,206 at place 0 of its counts, and the tally 906" in broken.sentence
    (tmp_path / "tally.json").unlink()
    assert checked(tmp_path, files).broken == ()
    (tmp_path / "answers.ndjson").write_bytes(made["answers.ndjson"].replace(b"300,", b""))
    (broken,) = verify(STUDY, gather([tmp_path]), Signatures()).broken
    assert "5 counts: must be 6, one a cell" in broken.sentence


def test_in_what_tallies_differ():
    whole = Tally.of(STUDY, ANSWERS)
    assert difference(whole, whole.shown) == "its sums of products are others"
    assert difference(whole, replace(whole, contributors=5)) == "it has 4 answers, and the seal 5"
