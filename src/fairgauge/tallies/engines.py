"""How each engine opens files of answers.

Text is read as text: a symbol that is no integer is then counted as wrong, where an engine that guesses types would
stop, or would cut 1.5 down to 1.
"""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from fairgauge.errors import InvalidInput, MissingExtra

try:
    import narwhals as nw
except ImportError:
    raise MissingExtra("reading data frames needs narwhals", "lab") from None

STUDY = "fairgauge.study"  # the study's digest in a Parquet file, whose rows then need not repeat it
_BLOCK = 2**26  # bytes of text for each of Dask's partitions
_COLUMNS = ("study", "id", "symbol")


def _polars(kind: str, files: Sequence[str]) -> Any:
    import polars as pl

    if kind == "parquet":
        return pl.scan_parquet(list(files))
    if kind == "ndjson":
        return pl.scan_ndjson(list(files), schema=dict.fromkeys(_COLUMNS, pl.String))
    return pl.scan_csv(list(files), infer_schema=False)


def _duckdb(kind: str, files: Sequence[str]) -> Any:
    import duckdb

    # Beyond the memory there is the disk, but not the folder that the user happens to be in.
    connection = duckdb.connect(config={"temp_directory": gettempdir(), "preserve_insertion_order": "false"})
    names: Any = list(files)  # its type hints know of one file only
    if kind == "parquet":
        return connection.read_parquet(names)
    if kind == "ndjson":
        columns = dict.fromkeys(_COLUMNS, "VARCHAR")
        return connection.read_json(names, format="newline_delimited", columns=columns)
    return connection.read_csv(names, header=True, all_varchar=True)


def _pyspark(kind: str, files: Sequence[str]) -> Any:
    from pyspark.sql import SparkSession

    if SparkSession.getActiveSession() is None and "SPARK_REMOTE" not in os.environ and not has_java():
        raise InvalidInput("engine", "pyspark", "needs Java, which is not there: install it, or take another engine")
    # Under spark-submit this is the session on the cluster; otherwise one on this machine.
    session = SparkSession.builder.appName("fairgauge tally").config("spark.ui.showConsoleProgress", "false")
    read = session.getOrCreate().read
    if kind == "parquet":
        return read.parquet(*files)
    if kind == "ndjson":
        return read.schema(", ".join(f"{name} STRING" for name in _COLUMNS)).json(list(files))
    return read.csv(list(files), header=True)


def _dask(kind: str, files: Sequence[str]) -> Any:
    import dask.dataframe as dd

    if kind == "parquet":
        return dd.read_parquet(list(files), dtype_backend="pyarrow")  # else a gap makes floats of integers
    if kind == "ndjson":
        import dask.bag as db

        # Dask's own reader makes floats of a column with a gap in it, and then 1.0 of a 1.
        read_text: Any = db.read_text
        answers = read_text(list(files), blocksize=_BLOCK).map(_as_text)
        return answers.to_dataframe(meta=dict.fromkeys(_COLUMNS, "str"))
    return dd.read_csv(list(files), dtype=str)


def _as_text(line: str) -> dict[str, str | None]:
    """Read one answer; what is none has neither study nor symbol."""
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    entries = answer if isinstance(answer, dict) else {}
    return {name: None if entries.get(name) is None else str(entries[name]) for name in _COLUMNS}


_OPEN: dict[str, Callable[[str, Sequence[str]], Any]] = {
    "polars": _polars,
    "duckdb": _duckdb,
    "pyspark": _pyspark,
    "dask": _dask,
}


def has_java() -> bool:
    """Tell whether Spark could start on this machine."""
    return shutil.which("java") is not None or "JAVA_HOME" in os.environ


def scan(engine: str, kind: str, files: Sequence[str]) -> "nw.LazyFrame[Any]":
    """Open files of one format; nothing is counted yet."""
    rows: nw.LazyFrame[Any] = nw.from_native(_OPEN[engine](kind, files)).lazy()
    return rows


def study_of(file: str, engine: str) -> str | None:
    """Return the digest that a Parquet file carries beside its rows, or None."""
    if "://" in file:
        return None
    if engine == "polars":
        import polars as pl

        return pl.read_parquet_metadata(Path(file)).get(STUDY)
    import pyarrow.parquet as pq

    digest = (pq.read_schema(file).metadata or {}).get(STUDY.encode())
    return None if digest is None else digest.decode()
