"""Counting the answers in files."""

import importlib
import sys
from pathlib import Path

import pytest

from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.tallies import Tally, engines, files, from_files
from tests.samples import sample_study
from tests.unit.tallies.answers import FORMATS, STUDY, Answers

ANSWERS = Answers.drawn(100_000, twice=5_000)
# Dask calls pandas, and PySpark tests it, in ways that pandas is about to leave behind.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
QUICK = "polars"
SMALL_SPARK = "--master local[1] --conf spark.sql.shuffle.partitions=1 --conf spark.ui.enabled=false pyspark-shell"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same answers in every format, in two files each."""
    path = tmp_path_factory.mktemp("answers")
    half = len(ANSWERS.ids) // 2
    for suffix in FORMATS:
        Answers(ANSWERS.ids[:half], ANSWERS.symbols[:half]).write(path / f"1.{suffix}")
        Answers(ANSWERS.ids[half:], ANSWERS.symbols[half:]).write(path / f"2.{suffix}")
    return path


@pytest.mark.parametrize("engine", files.ENGINES)
def test_every_engine_counts_the_same(engine: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All of an engine in one test: Spark takes seconds to start, and starts once."""
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", SMALL_SPARK)
    try:
        check_engine(engine, folder, tmp_path)
    finally:
        if engine == "pyspark" and (session := importlib.import_module("pyspark.sql").SparkSession.getActiveSession()):
            session.stop()


def check_engine(engine: str, folder: Path, tmp_path: Path) -> None:
    if engine == "pyspark" and not engines.has_java():
        pytest.skip("Spark needs Java, and this machine has none")
    for suffix in FORMATS:
        for once in (False, True):
            found = from_files(STUDY, [f"{folder}/*.{suffix}"], engine=engine, deduplicate=once)
            assert found == ANSWERS.tally(once=once)
    for suffix in ("parquet", "csv"):
        good = Answers(ANSWERS.ids[:50], ANSWERS.symbols[:50]).write(tmp_path / f"good.{suffix}")
        bad = Answers(ANSWERS.ids[50:54], [1, 99, None, -1]).write(tmp_path / f"bad.{suffix}")
        with pytest.raises(
            InvalidInput, match=f"wrong among 54 answers: 3 with no such symbol.*id [0-9a-f]{{32}}, file {bad}"
        ):
            from_files(STUDY, [good, bad], engine=engine)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_a_contradiction_is_refused_only_where_ids_matter(engine: str, suffix: str, tmp_path: Path):
    Answers(ANSWERS.ids[:2], [3, 4]).write(tmp_path / f"1.{suffix}")
    Answers(ANSWERS.ids[:2], [3, 5]).write(tmp_path / f"2.{suffix}")
    assert from_files(STUDY, [tmp_path], engine=engine).total == 4
    rule = "symbol=4 and 5: must be the same in all answers of one id; wrong among 2 answers: 1 of an id with several"
    with pytest.raises(InvalidInput, match=f"{rule} symbols \\(such as id {ANSWERS.ids[1].hex()}\\)"):
        from_files(STUDY, [tmp_path], engine=engine, deduplicate=True)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
@pytest.mark.parametrize("suffix", ["ndjson", "csv"])
@pytest.mark.parametrize("symbol", ["1.5", "one", "01", " 1", "1e0"])
def test_text_that_is_no_symbol_is_counted_as_wrong(engine: str, suffix: str, symbol: str, tmp_path: Path):
    file = Answers(ANSWERS.ids[:3], [1, symbol, 2]).write(tmp_path / f"a.{suffix}")
    with pytest.raises(InvalidInput, match="wrong among 3 answers: 1 with no such symbol"):
        from_files(STUDY, [file], engine=engine)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_answers_to_another_study_are_refused(engine: str, suffix: str, tmp_path: Path):
    file = Answers(ANSWERS.ids[:3], [1, 2, 3]).write(tmp_path / f"a.{suffix}", sample_study())
    with pytest.raises(InvalidInput, match=f"study={sample_study().digest[:57]}") as refused:
        from_files(STUDY, [file], engine=engine)
    assert f"must be {STUDY.digest}" in str(refused.value)


def test_folders_patterns_and_names_may_overlap(folder: Path, tmp_path: Path):
    (tmp_path / "deep").mkdir()
    for name in ("deep/a.parquet", "b.ndjson", "c.csv", "_mark.csv", ".hidden.csv"):
        Answers(ANSWERS.ids[:10], ANSWERS.symbols[:10]).write(tmp_path / name)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "notes.txt").write_text("not answers")
    assert from_files(STUDY, [tmp_path], engine=QUICK).total == 30
    assert from_files(STUDY, [tmp_path, tmp_path / "c.csv", f"{tmp_path}/**/*.parquet"], engine=QUICK).total == 30
    with pytest.raises(InvalidInput, match="files of several formats"):
        from_files(STUDY, [tmp_path], engine=QUICK, deduplicate=True)


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
    monkeypatch.setattr(files, "PART", 1)
    found = from_files(STUDY, [folder], engine=QUICK, progress=lambda done, whole: told.append((done, whole)))
    assert found.total == 3 * len(ANSWERS.ids)
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
    monkeypatch.setattr(engines, "has_java", lambda: False)
    with pytest.raises(InvalidInput, match="engine=pyspark: needs Java, which is not there"):
        from_files(STUDY, [folder / "1.csv"], engine="pyspark")


def test_files_without_a_study_are_taken_at_their_word(tmp_path: Path):
    (tmp_path / "a.csv").write_text("symbol\n3\n3\n13\n")
    assert from_files(STUDY, [tmp_path], engine=QUICK) == Tally(STUDY.digest, (0,) * 3 + (2,) + (0,) * 9 + (1,))
    with pytest.raises(InvalidInput, match="column=id: must be there"):
        from_files(STUDY, [tmp_path], engine=QUICK, deduplicate=True)
