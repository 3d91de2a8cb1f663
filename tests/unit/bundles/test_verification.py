"""Every forgery of a bundle is caught, and named in plain words.

Covers: fairgauge.bundles.verification.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from fairgauge import __version__
from fairgauge.bundles import gather, verify
from fairgauge.bundles.verification import Signatures, Verification
from fairgauge.collector.seal import PURPOSE, read_sealed
from fairgauge.collector.signatures import Signer
from fairgauge.errors import InvalidInput
from fairgauge.estimation import estimate
from fairgauge.reports.html_report import render_report
from fairgauge.reports.provenance import Provenance, read_stated
from fairgauge.study import Study
from fairgauge.tallies import Tally
from tests.unit.bundles.conftest import STUDY, Served


def checked(path: Path, key: str | None = None) -> dict[str, list[str]]:
    """Return the sentences by outcome."""
    bundle = gather([path])
    study = Study.from_bytes(bundle.pieces["study"].read())
    found: dict[str, list[str]] = {"holds": [], "broken": [], "open": []}
    for check in verify(study, bundle, Signatures(() if key is None else (key,))).checks:
        found[check.outcome].append(check.sentence)
    return found


def verified(bundle: Served) -> Verification:
    found = gather([bundle.folder])
    return verify(Study.from_bytes(found.pieces["study"].read()), found, Signatures((bundle.key,)))


def test_a_served_bundle_holds_and_what_is_open_is_said(bundle: Served):
    found = checked(bundle.zip, bundle.key)
    closed = read_sealed((bundle.folder / "sealed.json").read_bytes()).seal.closed
    assert found["broken"] == []
    assert found["holds"] == [
        "tally.json counts 3,000 answers to this study.",
        "The holder of that key published this study.",
        f"tally.json is the tally that was sealed on {closed}.",
        "The estimate in sealed.json is the one that the sealed tally gives.",
        "sealed.json is signed with that key.",
        "answers.ndjson was counted again: 3,000 answers, which are the sealed ones.",
        "report.html is what this study and this tally give, byte for byte: every number, word and picture.",
        "report.html tells of this seal.",
    ]
    (when,) = found["open"]
    assert when.startswith("report.html says that it was made on 20")
    assert checked(bundle.folder, bundle.key)["holds"] == found["holds"]


def test_without_a_key_the_files_own_word_is_called_that(bundle: Served):
    found = checked(bundle.folder)
    assert found["broken"] == []
    study, seal = found["open"][:2]
    assert study.startswith(f"The study is signed with the key {bundle.key}, which the files name themselves.")
    assert "compare it with the one that the operator publishes elsewhere" in study
    assert seal == "sealed.json is signed with the same key."
    (bundle.folder / "signature.json").unlink()
    assert (
        f"sealed.json is signed with the key {bundle.key}, which it names itself." in checked(bundle.folder)["open"][0]
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("3,000 answers ·", "9,000 answers ·", "it says “9,000 answers"),
        ("Fit check", "Fit cheque", "“Fit cheque"),
        ('<rect class="interval', '<rect class="moved', "pictures, style or hidden parts were changed"),
        ('<data value="-', '<data value="-1', "it tells programs -1"),
    ],
)
def test_an_edited_report_is_caught(bundle: Served, old: str, new: str, said: str):
    page = bundle.folder / "report.html"
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new, 1), encoding="utf-8")
    (found,) = checked(bundle.folder, bundle.key)["broken"]
    assert found.startswith("report.html is not what this study and this tally give: ")
    assert said in found


def test_a_report_of_another_version_has_its_numbers_compared_and_that_is_said(bundle: Served):
    page = bundle.folder / "report.html"
    text = page.read_text(encoding="utf-8").replace(__version__, "0.9.9")
    page.write_text(text, encoding="utf-8")
    found = checked(bundle.folder, bundle.key)
    assert found["broken"] == []
    assert "The numbers for programs in report.html are those that these files give." in found["holds"]
    (words,) = [one for one in found["open"] if one.startswith("The words and pictures of report.html: ")]
    assert "the file says that fairgauge 0.9.9 made it, and this is another version" in words
    assert "Unlike this version's report, it says “" in words
    number = text.split('<data value="')[1].split('"')[0]
    page.write_text(text.replace(f'"{number}"', f'"{float(number) + 0.01}"'), encoding="utf-8")
    (said,) = checked(bundle.folder, bundle.key)["broken"]
    assert "its numbers are not those that these files give" in said


def test_a_swapped_tally_is_caught_by_seal_and_report(bundle: Served):
    other = Tally(STUDY.digest, (650, 850, 750, 750))
    (bundle.folder / "tally.json").write_bytes(other.to_bytes())
    said = checked(bundle.folder, bundle.key)["broken"]
    assert said[0] == (
        "tally.json is not the tally that was sealed: it has 650 at place 0 of its counts, and the seal 750."
    )
    assert "report.html is not what this study and this tally give: it was made from another tally" in said[1]


def test_a_tally_of_another_study_is_caught(bundle: Served):
    (bundle.folder / "tally.json").write_bytes(Tally("0" * 64, (1, 2, 3, 4)).to_bytes())
    said = checked(bundle.folder, bundle.key)["broken"]
    assert said[0].startswith("tally.json is of another study: ")


def test_a_swapped_tally_without_a_seal_is_caught_by_the_export(bundle: Served):
    (bundle.folder / "sealed.json").unlink()
    (bundle.folder / "tally.json").write_bytes(Tally(STUDY.digest, (650, 850, 750, 750)).to_bytes())
    said = checked(bundle.folder, bundle.key)["broken"]
    assert said[0] == (
        "answers.ndjson does not give the tally: it has 750 at place 0 of its counts, and the tally 650."
    )


def test_a_forged_seal_is_caught_however_it_is_signed(bundle: Served):
    path = bundle.folder / "sealed.json"
    document = json.loads(path.read_bytes())
    document["seal"]["closed"] = "2020-01-01T00:00:00Z"
    path.write_text(json.dumps(document))
    said = checked(bundle.folder)["broken"]
    forged = "is not by the holder of the key that it names: the seal is forged, or was changed."
    assert said[0] == f"The signature of sealed.json {forged}"
    assert said[1] == "report.html tells of another seal than sealed.json."
    # Whoever signs it anew with a key of their own is caught by the key that the auditor knows.
    forger = Signer(b"f" * 32)
    sealed = read_sealed(path.read_bytes())
    document |= {"key": forger.public, "signature": forger.sign(PURPOSE, sealed.seal.to_bytes())}
    path.write_text(json.dumps(document))
    assert checked(bundle.folder)["broken"] == ["report.html tells of another seal than sealed.json."]
    said = checked(bundle.folder, bundle.key)["broken"]
    assert said[0].startswith("The signature of sealed.json is not by the holder of this key")


def test_a_collector_that_changed_its_key_has_two(bundle: Served):
    gathered, study = gather([bundle.folder]), Study.load(bundle.folder / "study.json")
    other = Signer(b"o" * 32).public
    assert verify(study, gathered, Signatures((other, bundle.key))).broken == ()
    # With a wrong key alone: the study's signature, the seal's, and three files that no good seal covers.
    wrong = verify(study, gathered, Signatures((other,)))
    assert sorted(check.about for check in wrong.broken) == ["export", "report", "seal", "signature", "tally"]
    assert wrong.sealed is False


@pytest.mark.parametrize("seal", ["left out", "spoiled", "not JSON"])
@pytest.mark.parametrize("terms", ["nothing", "key", "strict"])
def test_numbers_that_somebody_made_up_are_not_called_sealed(bundle: Served, seal: str, terms: str):
    """A genuine study and signature, an invented tally, a report made from it, and no seal that would cover them."""
    study = Study.load(bundle.folder / "study.json")
    invented = Tally(study.digest, tuple(1000 + 10 * place for place in range(study.symbols)))
    (bundle.folder / "tally.json").write_bytes(invented.to_bytes())
    page = render_report(study, invented, estimate(study, invented), Provenance())
    (bundle.folder / "report.html").write_text(page, encoding="utf-8")
    (bundle.folder / "answers.ndjson").unlink()
    sealed = bundle.folder / "sealed.json"
    data = sealed.read_bytes()
    if seal == "left out":
        sealed.unlink()
    else:
        sealed.write_bytes(data[1:] if seal == "not JSON" else data.replace(b'"seal"', b'"Seal"'))
    gathered = gather([bundle.folder])
    found = verify(study, gathered, Signatures((bundle.key,) * (terms == "key"), strict=terms == "strict"))
    assert found.sealed is False
    if terms != "nothing":
        assert {"tally", "report"} <= {check.about for check in found.broken}
    sentences = " ".join(check.sentence for check in found.checks)
    if seal == "left out":
        assert "What a collector's bundle has, and is not here: a seal." in sentences
    else:
        assert "sealed.json is named like a seal, and cannot be read as one." in sentences
        assert found.broken


def test_an_export_that_another_program_rewrote_is_broken(bundle: Served):
    answers = bundle.folder / "answers.ndjson"
    lines = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    answers.write_text(json.dumps(lines), encoding="utf-8")
    said = checked(bundle.folder, bundle.key)["broken"]
    assert "answers.ndjson is named like an export of answers, and cannot be read as one." in said


def test_another_table_beside_a_bundle_is_not_called_a_broken_export(bundle: Served):
    (bundle.folder / "people.jsonl").write_text('{"sex": "female"}\n', encoding="utf-8")
    assert checked(bundle.folder, bundle.key)["broken"] == []
    assert "people.jsonl" in gather([bundle.folder]).others


def test_what_is_sealed_says_so(bundle: Served):
    assert verified(bundle).sealed is True
    assert verified(bundle).by == "by the holder of that key"


def test_a_report_that_is_older_than_its_study_is_caught(bundle: Served):
    page = bundle.folder / "report.html"
    text = page.read_text(encoding="utf-8")
    study, tally = Study.load(bundle.folder / "study.json"), Tally.load(bundle.folder / "tally.json")
    stated = read_stated(text)
    early = replace(stated.particulars, date="2020-02-02")
    found = estimate(study, tally, confidence=stated.confidence, interval=stated.interval)
    page.write_text(render_report(study, tally, found, early), encoding="utf-8")
    (said,) = checked(bundle.folder, bundle.key)["broken"]
    assert said.startswith("report.html says that it was made on 2020-02-02; nothing signs that date. That is before")


@pytest.mark.parametrize(("tag", "word", "forged"), [("de", "Sicherheit", "Unsicherheit"), ("ar", "بثقة", "بلا ثقة")])
def test_a_report_in_another_language_holds_and_a_forged_word_is_caught(
    bundle: Served, tag: str, word: str, forged: str
):
    page = bundle.folder / "report.html"
    study, tally = Study.load(bundle.folder / "study.json"), Tally.load(bundle.folder / "tally.json")
    stated = read_stated(page.read_text(encoding="utf-8"))
    found = estimate(study, tally, confidence=stated.confidence, interval=stated.interval)
    text = render_report(study, tally, found, replace(stated.particulars, language=tag))
    assert f'<html lang="{tag}"' in text
    page.write_text(text, encoding="utf-8")
    assert checked(bundle.folder, bundle.key)["broken"] == []
    assert word in text
    page.write_text(text.replace(word, forged, 1), encoding="utf-8")
    (said,) = checked(bundle.folder, bundle.key)["broken"]
    assert forged in said


def test_a_bundle_without_answers_says_that_nobody_counted(bundle: Served):
    (bundle.folder / "answers.ndjson").unlink()
    assert any("there is no export, so nobody counted again" in one for one in checked(bundle.folder)["open"])
    (bundle.folder / "sealed.json").unlink()
    said = checked(bundle.folder)["open"]
    assert any("there is neither an export to count again nor a seal" in one for one in said)
    assert any("report.html tells of a seal that is not here" in one for one in said)


def test_a_study_that_is_written_in_another_way_is_still_that_study(bundle: Served):
    path = bundle.folder / "study.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()), indent=1))
    found = checked(bundle.folder, bundle.key)
    assert found["broken"] == []
    assert any("sha256sum of the file gives another number" in one for one in found["holds"])


def test_what_is_no_text_is_refused(bundle: Served):
    (bundle.folder / "report.html").write_bytes(b"<!doctype html>\xff")
    with pytest.raises(InvalidInput, match="must be text in UTF-8"):
        checked(bundle.folder)
    (bundle.folder / "report.html").write_bytes(b"<!doctype html><p>Another page")
    with pytest.raises(InvalidInput, match="must be a report of fairgauge"):
        checked(bundle.folder)


def test_words_that_were_not_compared_are_no_verification(bundle: Served):
    assert verified(bundle).unread == ()
    page = bundle.folder / "report.html"
    page.write_text(page.read_text(encoding="utf-8").replace(__version__, "0.9.9"), encoding="utf-8")
    (found,) = verified(bundle).unread
    assert found.about == "words"


def test_a_parquet_file_that_is_cut_or_no_export_is_one_line(bundle: Served):
    (bundle.folder / "answers.ndjson").unlink()
    export = bundle.folder / "answers.parquet"
    export.write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(InvalidInput, match="a Parquet file: must be whole: Parquet magic bytes not found"):
        verified(bundle)
    parquet.write_table(pa.table({"name": ["a"]}), export)
    with pytest.raises(InvalidInput, match="must have the columns id and symbol"):
        verified(bundle)
    parquet.write_table(pa.table({"id": ["a"], "symbol": [0]}), export)
    with pytest.raises(InvalidInput, match="ids of 16 bytes, and integers in the column symbol"):
        verified(bundle)


def test_a_seal_without_a_signature_says_what_it_lacks(bundle: Served):
    path = bundle.folder / "sealed.json"
    document = json.loads(path.read_bytes())
    del document["signature"]
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InvalidInput, match="must be a sealed study: it has no signature"):
        verified(bundle)


@pytest.mark.parametrize("kind", ["parquet", "ndjson"])
def test_an_export_of_another_study_is_broken_and_not_called_this_ones(bundle: Served, kind: str):
    for name in ("tally.json", "sealed.json", "report.html", "answers.ndjson"):
        (bundle.folder / name).unlink()
    other = replace(STUDY, title="Another").digest
    if kind == "parquet":
        table = pa.table({"id": pa.array([bytes(16)], pa.binary(16)), "symbol": [0]})
        parquet.write_table(
            table.replace_schema_metadata({"fairgauge.study": other}), bundle.folder / "answers.parquet"
        )
    else:
        line = json.dumps({"id": "0" * 32, "study": other, "symbol": 0}, separators=(",", ":"))
        (bundle.folder / "answers.ndjson").write_text(line + "\n", encoding="utf-8")
    (said,) = checked(bundle.folder)["broken"]
    assert said.startswith(f"answers.{kind} has answers to another study: ")


def test_an_export_with_symbols_of_no_answer_is_broken_without_a_tally(bundle: Served):
    for name in ("tally.json", "sealed.json", "report.html", "answers.ndjson"):
        (bundle.folder / name).unlink()
    table = pa.table({"id": pa.array([bytes(16), bytes(15) + b"1"], pa.binary(16)), "symbol": [0, STUDY.symbols]})
    parquet.write_table(table, bundle.folder / "answers.parquet")
    (said,) = checked(bundle.folder)["broken"]
    assert said.startswith("answers.parquet has what is no answer to this study: answer 0000")
    assert said.endswith("31: symbol=4: must be from 0 to 3.")


def test_names_and_words_of_the_files_cannot_rewrite_what_is_said(bundle: Served):
    steer = "\x1b[2K\x1b[1A\nEverything that was checked holds."
    page = bundle.folder / "report.html"
    page.write_text(page.read_text(encoding="utf-8").replace("points", f"points{steer}"), encoding="utf-8")
    page.rename(bundle.folder / "re\x1b[2Kport.html")
    (bundle.folder / "more\x1b[2J\n.txt").write_text("x", encoding="utf-8")
    found = gather([bundle.folder])
    sentences = [one.sentence for one in verify(STUDY, found, Signatures((bundle.key,))).checks]
    assert any(r"re\x1b[2Kport.html is not what" in one for one in sentences)
    assert all(text.isprintable() for text in (*sentences, *found.others))


def sealed_otherwise(folder: Path, **changes: object) -> None:
    """Change what stands beside the seal, which nothing signs."""
    path = folder / "sealed.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes), encoding="utf-8")


def reported_otherwise(folder: Path, particulars: Provenance | None = None, **terms: Any) -> None:
    """Make the report anew from the same files, on other terms."""
    page = folder / "report.html"
    study, tally = Study.load(folder / "study.json"), Tally.load(folder / "tally.json")
    said = read_stated(page.read_text(encoding="utf-8"))
    wanted: dict[str, Any] = {"confidence": said.confidence, "interval": said.interval} | terms
    found = estimate(study, tally, **wanted)
    page.write_text(render_report(study, tally, found, particulars or said.particulars), encoding="utf-8")


FORGER = Signer(b"f" * 32)


def test_a_genuine_signature_does_not_vouch_for_another_key(bundle: Served):
    """Whoever reads that everything holds would take the key that the report names for the collector's."""
    path, page = bundle.folder / "sealed.json", bundle.folder / "report.html"
    sealed_otherwise(bundle.folder, key=FORGER.public)
    said = read_stated(page.read_text(encoding="utf-8")).particulars
    reported_otherwise(bundle.folder, replace(said, seal=read_sealed(path.read_bytes()).note))
    assert FORGER.public in page.read_text(encoding="utf-8")
    found = verified(bundle)
    assert found.sealed is False
    assert found.broken[0].sentence == f"sealed.json names {FORGER.public}, which is not the key that signed it."


def test_nor_does_that_of_a_study(bundle: Served):
    path = bundle.folder / "signature.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"key": FORGER.public}), encoding="utf-8")
    (said,) = checked(bundle.folder, bundle.key)["broken"]
    assert said == f"signature.json names {FORGER.public}, which is not the key that signed it."


@pytest.mark.parametrize("terms", [{"confidence": 0.5}, {"interval": "normal"}])
def test_what_is_sealed_has_one_interval(bundle: Served, terms: dict[str, Any]):
    reported_otherwise(bundle.folder, **terms)
    (said,) = checked(bundle.folder, bundle.key)["broken"]
    ((what, value),) = terms.items()
    assert said.startswith(f"report.html has {what} {value}, and sealed.json has ")
    study, tally = Study.load(bundle.folder / "study.json"), Tally.load(bundle.folder / "tally.json")
    sealed_otherwise(bundle.folder, estimate=estimate(study, tally, **terms).to_dict())
    (said,) = checked(bundle.folder, bundle.key)["broken"]
    assert said == "The estimate in sealed.json is not the one that the sealed tally gives."


def test_sentences_of_a_seal_that_were_not_compared_are_no_verification(bundle: Served):
    found = json.loads((bundle.folder / "sealed.json").read_bytes())["estimate"]
    sealed_otherwise(bundle.folder, version="0.0.1", estimate=found | {"conclusion": "Nobody is worse off."})
    (bundle.folder / "report.html").unlink()
    assert verified(bundle).broken == ()
    (said,) = verified(bundle).unread
    assert said.sentence.startswith("The sentences in sealed.json were not compared: version 0.0.1 sealed it")


def test_a_seal_says_each_thing_once_and_nothing_else(bundle: Served):
    path = bundle.folder / "sealed.json"
    genuine = path.read_text(encoding="utf-8")
    other = json.dumps(json.loads(genuine)["seal"] | {"tally": [3000, 0, 0, 0]})
    path.write_text(f'{{"seal": {other}, {genuine[1:]}', encoding="utf-8")
    with pytest.raises(InvalidInput, match="must be given once"):
        verified(bundle)
    path.write_text(genuine, encoding="utf-8")
    sealed_otherwise(bundle.folder, conclusion="Nobody is worse off.")
    with pytest.raises(InvalidInput, match="is not a field of this format"):
        verified(bundle)


@pytest.mark.parametrize("export", [True, False])
def test_sums_of_products_that_no_seal_has_are_made_again_or_broken(bundle: Served, export: bool):
    path = bundle.folder / "tally.json"
    path.write_bytes(replace(Tally.load(path), products=tuple(range(10))).to_bytes())
    (bundle.folder / "report.html").unlink()
    if not export:
        (bundle.folder / "answers.ndjson").unlink()
    (said,) = checked(bundle.folder, bundle.key)["broken"]
    assert "sums of products are " + ("not those of answers.ndjson" if export else "in no seal") in said


def test_a_seal_of_another_study_is_called_that(bundle: Served):
    document = json.loads((bundle.folder / "sealed.json").read_bytes())
    document["seal"]["study"] = "0" * 64
    (bundle.folder / "sealed.json").write_text(json.dumps(document), encoding="utf-8")
    assert (
        f"sealed.json is of another study: {'0' * 64}, and this is {STUDY.digest}."
        in checked(bundle.folder, bundle.key)["broken"]
    )
