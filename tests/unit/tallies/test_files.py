"""Counting the answers in files."""

import sys
from pathlib import Path

import pytest

from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.tallies import Tally, engine_readers, files, from_files
from tests.answers import FORMATS, STUDY, Answers

ANSWERS = Answers.drawn(2_000, twice=100)
QUICK = "polars"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same answers in every format, in two files each."""
    path = tmp_path_factory.mktemp("answers")
    half = len(ANSWERS.ids) // 2
    for suffix in FORMATS:
        Answers(ANSWERS.ids[:half], ANSWERS.symbols[:half]).write(path / f"1.{suffix}")
        Answers(ANSWERS.ids[half:], ANSWERS.symbols[half:]).write(path / f"2.{suffix}")
    return path


def test_folders_patterns_and_names_may_overlap(folder: Path, tmp_path: Path):
    (tmp_path / "deep").mkdir()
    for name in ("deep/a.parquet", "b.ndjson", "c.csv", "_mark.csv", ".hidden.csv"):
        Answers(ANSWERS.ids[:10], ANSWERS.symbols[:10]).write(tmp_path / name)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "notes.txt").write_text("not answers")
    assert from_files(STUDY, [tmp_path], engine=QUICK).contributors == 30
    assert (
        from_files(STUDY, [tmp_path, tmp_path / "c.csv", f"{tmp_path}/**/*.parquet"], engine=QUICK).contributors == 30
    )


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_ids_are_compared_across_formats(engine: str, tmp_path: Path):
    for number, name in enumerate(("a.parquet", "b.ndjson", "c.csv")):
        part = slice(10 * number, 10 * number + 20)  # each has ten answers that the next one has, too
        Answers(ANSWERS.ids[part], ANSWERS.symbols[part]).write(tmp_path / name)
    found = files.count_files(STUDY, [tmp_path], engine=engine)
    assert (found.tally.contributors, found.again) == (60, 20), "what is told is what --deduplicate takes away"
    once = from_files(STUDY, [tmp_path], engine=engine, deduplicate=True)
    assert once == Answers(ANSWERS.ids[:40], ANSWERS.symbols[:40]).tally(once=True)
    other = (int(str(ANSWERS.symbols[0])) + 1) % STUDY.symbols
    Answers(ANSWERS.ids[:1], [other]).write(tmp_path / "d.ndjson")
    with pytest.raises(InvalidInput, match="must be the same in all answers of one id"):
        from_files(STUDY, [tmp_path], engine=engine, deduplicate=True)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("nothing.csv", "must name a file, a folder with answers, or a pattern that fits some"),
        ("none-*.csv", "must name a file, a folder with answers, or a pattern that fits some"),
        ("empty", "must name a file, a folder with answers, or a pattern that fits some"),
        ("notes.txt", "must end in .parquet, .ndjson, .jsonl or .csv"),
        ("broken.parquet", "cannot be counted by polars"),
        ("columns.csv", "column=symbol: must be there; the answers have id, sign"),
    ],
)
def test_what_is_not_there_or_no_answers_is_named(name: str, rule: str, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("not answers")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and then nothing")
    (tmp_path / "columns.csv").write_text("id,sign\n0,1\n")
    with pytest.raises(InvalidInput) as refused:
        from_files(STUDY, [tmp_path / name], engine=QUICK)
    assert rule in str(refused.value)


def test_parts_are_as_large_as_they_may_be_and_progress_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch):
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(files, "_PART", 1)
    found = from_files(STUDY, [folder], engine=QUICK, progress=lambda done, whole: told.append((done, whole)))
    assert found.contributors == 3 * len(ANSWERS.ids)
    assert len(told) == 6
    assert told[-1][0] == told[-1][1] == sum(file.stat().st_size for file in folder.iterdir())
    two = files.split([str(file) for file in sorted(folder.glob("*.csv"))], most=2**30)
    assert [len(part.files) for part in two] == [2]


def test_engines_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch, folder: Path):
    with pytest.raises(InvalidInput, match="engine=excel: must be one of auto, polars, duckdb, pyspark, dask"):
        from_files(STUDY, [folder], engine="excel")
    monkeypatch.setattr(files, "find_spec", lambda name: None if name != "dask" else object())
    assert files.choose("auto") == "dask"
    with pytest.raises(MissingExtra, match=r"the engine polars is not installed: pip install 'fairgauge\[polars\]'"):
        files.choose("polars")
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"fairgauge\[polars\]"):
        files.choose("auto")


def test_spark_without_java_says_so(monkeypatch: pytest.MonkeyPatch, folder: Path):
    if "pyspark" in sys.modules:
        monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    monkeypatch.setattr(engine_readers, "has_java", lambda: False)
    with pytest.raises(InvalidInput, match="engine=pyspark: needs Java, which is not there"):
        from_files(STUDY, [folder / "1.csv"], engine="pyspark")


def test_files_without_a_study_are_taken_at_their_word(tmp_path: Path):
    (tmp_path / "a.csv").write_text("symbol\n3\n3\n13\n")
    assert from_files(STUDY, [tmp_path], engine=QUICK) == Tally(STUDY.digest, (0,) * 3 + (2,) + (0,) * 9 + (1,))
    with pytest.raises(InvalidInput, match="column=id: must be there"):
        from_files(STUDY, [tmp_path], engine=QUICK, deduplicate=True)
