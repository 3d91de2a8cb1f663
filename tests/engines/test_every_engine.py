"""Every engine counts the same: Polars, DuckDB, Dask and Spark on the same files, wrong ones among them.

Covers: fairgauge.tallies.engine_readers.
"""

import importlib
from pathlib import Path

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.tallies import engine_readers, files, from_files
from tests.answers import FORMATS, STUDY, Answers
from tests.samples import sample_study

ANSWERS = Answers.drawn(20_000, twice=1_000)
# Dask calls pandas, and PySpark tests it, in ways that pandas is about to leave behind.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
# Little to do and done once: compiling it would take longer than doing it.
SMALL_SPARK = (
    "--master local[1] --conf spark.sql.shuffle.partitions=1 --conf spark.ui.enabled=false "
    "--conf spark.sql.codegen.wholeStage=false --conf spark.sql.codegen.factoryMode=NO_CODEGEN "
    '--driver-java-options "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" pyspark-shell'
)
# Spark takes seconds to start: all that is asked of it is in one test.
QUICK = pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])


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
    if engine == "pyspark" and not engine_readers.has_java():
        pytest.skip("Spark needs Java, and this machine has none")
    slow = engine == "pyspark"
    for suffix in FORMATS:
        for once in (True,) if slow and suffix != FORMATS[0] else (False, True):
            found = from_files(STUDY, [f"{folder}/*.{suffix}"], engine=engine, deduplicate=once)
            assert found == ANSWERS.tally(once=once)
    # The same answers in all formats: ids are bytes in one of them and text in the others.
    assert from_files(STUDY, [folder], engine=engine, deduplicate=True) == ANSWERS.tally(once=True)
    for suffix in ("csv",) if slow else ("parquet", "csv"):
        good = Answers(ANSWERS.ids[:50], ANSWERS.symbols[:50]).write(tmp_path / f"good.{suffix}")
        bad = Answers(ANSWERS.ids[50:54], [1, 99, None, -1]).write(tmp_path / f"bad.{suffix}")
        with pytest.raises(
            InvalidInput, match=f"wrong among 54 answers: 3 with no such symbol.*id [0-9a-f]{{32}}, file {bad}"
        ):
            from_files(STUDY, [good, bad], engine=engine)


@QUICK
@pytest.mark.parametrize("suffix", FORMATS)
def test_a_contradiction_is_refused_only_where_ids_matter(engine: str, suffix: str, tmp_path: Path):
    Answers(ANSWERS.ids[:2], [3, 4]).write(tmp_path / f"1.{suffix}")
    Answers(ANSWERS.ids[:2], [3, 5]).write(tmp_path / f"2.{suffix}")
    assert from_files(STUDY, [tmp_path], engine=engine).contributors == 4
    rule = "symbol=4 and 5: must be the same in all answers of one id; wrong among 2 answers: 1 of an id with several"
    with pytest.raises(InvalidInput, match=f"{rule} symbols \\(such as id {ANSWERS.ids[1].hex()}\\)"):
        from_files(STUDY, [tmp_path], engine=engine, deduplicate=True)


@QUICK
@pytest.mark.parametrize("suffix", ["ndjson", "csv"])
@pytest.mark.parametrize("symbol", ["1.5", "one", "01", " 1", "1e0"])
def test_text_that_is_no_symbol_is_counted_as_wrong(engine: str, suffix: str, symbol: str, tmp_path: Path):
    file = Answers(ANSWERS.ids[:3], [1, symbol, 2]).write(tmp_path / f"a.{suffix}")
    with pytest.raises(InvalidInput, match="wrong among 3 answers: 1 with no such symbol"):
        from_files(STUDY, [file], engine=engine)


@QUICK
@pytest.mark.parametrize("suffix", FORMATS)
def test_answers_to_another_study_are_refused(engine: str, suffix: str, tmp_path: Path):
    file = Answers(ANSWERS.ids[:3], [1, 2, 3]).write(tmp_path / f"a.{suffix}", sample_study())
    with pytest.raises(InvalidInput, match=f"study={sample_study().digest[:57]}") as refused:
        from_files(STUDY, [file], engine=engine)
    assert f"must be {STUDY.digest}" in str(refused.value)
