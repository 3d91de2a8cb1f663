"""Files are known by what they hold."""

import json
import zipfile
from pathlib import Path

import pytest

from fairgauge.bundles.bundle_files import KINDS, gather
from fairgauge.errors import OF_BEFORE, BadTally, InvalidInput
from fairgauge.tallies import Tally
from tests.unit.bundles.conftest import Served


def test_names_do_not_matter(bundle: Served, tmp_path: Path):
    paths = []
    for number, one in enumerate(sorted(bundle.folder.iterdir())):
        if one.name != "README.txt":
            paths.append(one.rename(tmp_path / f"file{number}"))
    assert set(gather(paths).pieces) == set(KINDS)


def test_other_files_in_a_folder_are_named_and_those_by_name_refused(bundle: Served, tmp_path: Path):
    (bundle.folder / "more").mkdir()
    found = gather([bundle.folder])
    assert sorted(found.others) == ["README.txt", "more (a folder)"]
    with pytest.raises(InvalidInput, match="is none of these: a study, a tally"):
        gather([bundle.folder / "study.json", bundle.folder / "README.txt"])


def test_a_tally_of_before_is_called_a_tally_and_says_so(bundle: Served):
    path = bundle.folder / "tally.json"
    path.write_text(json.dumps({"counts": [1, 2], "study": "a"}), encoding="utf-8")
    for paths in ([bundle.folder / "study.json", path], [bundle.folder]):
        with pytest.raises(BadTally, match=OF_BEFORE):
            Tally.from_bytes(gather(paths).pieces["tally"].read())


def test_two_of_a_kind_are_refused(bundle: Served, tmp_path: Path):
    (tmp_path / "other.json").write_bytes((bundle.folder / "tally.json").read_bytes())
    with pytest.raises(InvalidInput, match="both are a tally"):
        gather([bundle.folder, tmp_path / "other.json"])


def test_without_a_study_there_is_nothing_to_check(bundle: Served):
    (bundle.folder / "study.json").unlink()
    with pytest.raises(InvalidInput, match="has no study in it"):
        gather([bundle.folder])


def test_a_damaged_zip_is_one_line(collected: Served, tmp_path: Path):
    data = bytearray(collected.zip.read_bytes())
    at = data.index(b"study.json") + 200
    data[at : at + 40] = b"\0" * 40
    (tmp_path / "bad.zip").write_bytes(data)
    with pytest.raises(InvalidInput, match="cannot be unpacked"):
        gather([tmp_path / "bad.zip"])


def test_a_zip_that_unpacks_to_too_much_is_refused(collected: Served, tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "big.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(collected.folder / "study.json", "study.json")
        archive.writestr("report.html", b"<!doctype html>" + b" " * (2**26 + 1))
    found = gather([tmp_path / "big.zip"])
    with pytest.raises(InvalidInput, match="must be at most 67108864 bytes"):
        found.pieces["report"].read()


def test_an_empty_export_is_one(tmp_path: Path, collected: Served):
    (tmp_path / "answers.ndjson").write_bytes(b"")
    found = gather([collected.folder / "study.json", tmp_path / "answers.ndjson"])
    assert set(found.pieces) == {"study", "export"}


def test_a_zip_that_is_cut_short_is_called_that(tmp_path: Path):
    (tmp_path / "cut.zip").write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(InvalidInput, match="cannot be unpacked: it begins like a zip, and is cut short or damaged"):
        gather([tmp_path / "cut.zip"])
