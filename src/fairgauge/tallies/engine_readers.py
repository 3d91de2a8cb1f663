"""How each engine opens files of answers.

Text is read as text: a symbol that is no integer is then counted as wrong, where an engine that guesses types would
stop, or would cut 1.5 down to 1.
"""

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from tempfile import gettempdir
from threading import get_ident
from typing import Any

from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.tallies.remote_files import is_remote, lacking, opened

try:
    import narwhals as nw
except ImportError:
    raise MissingExtra("reading data frames needs narwhals", "lab") from None

_STUDY = "fairgauge.study"  # the study's digest in a Parquet file, whose rows then need not repeat it
_BLOCK = 2**26  # bytes of text for each of Dask's partitions
_COLUMNS = ("study", "id", "symbol")
_Names = tuple[str, ...]


def _polars(kind: str, files: Sequence[str], names: _Names) -> Any:
    import polars as pl

    if kind == "parquet":
        return pl.scan_parquet(list(files))
    if kind == "ndjson":
        return pl.scan_ndjson(list(files), schema=dict.fromkeys(names, pl.String))
    return pl.scan_csv(list(files), infer_schema=False)


def _duckdb(kind: str, files: Sequence[str], names: _Names) -> Any:
    connection = _connection(get_ident())
    for scheme in dict.fromkeys(file.partition("://")[0] for file in files if is_remote(file)):
        if scheme not in ("http", "https", "hf", *connection.list_filesystems()):
            import fsspec

            connection.register_filesystem(fsspec.filesystem(scheme))
    every: Any = list(files)  # its type hints know of one file only
    if kind == "parquet":
        return connection.read_parquet(every)
    if kind == "ndjson":
        columns = dict.fromkeys(names, "VARCHAR")
        return connection.read_json(every, format="newline_delimited", columns=columns)
    return connection.read_csv(every, header=True, all_varchar=True)


@lru_cache(maxsize=4)
def _connection(_thread: int) -> Any:
    """Return one connection for a thread: what is to be put together must be of one."""
    import duckdb

    # Beyond the memory there is the disk, but not the folder that the user happens to be in.
    return duckdb.connect(config={"temp_directory": gettempdir(), "preserve_insertion_order": "false"})


def _pyspark(kind: str, files: Sequence[str], names: _Names) -> Any:
    from pyspark.sql import SparkSession

    if SparkSession.getActiveSession() is None and "SPARK_REMOTE" not in os.environ and not has_java():
        raise InvalidInput("engine", "pyspark", "needs Java, which is not there: install it, or take another engine")
    # Under spark-submit this is the session on the cluster; otherwise one on this machine.
    session = SparkSession.builder.appName("fairgauge tally").config("spark.ui.showConsoleProgress", "false")
    read = session.getOrCreate().read
    if kind == "parquet":
        return read.parquet(*files)
    if kind == "ndjson":
        return read.schema(", ".join(f"{name} STRING" for name in names)).json(list(files))
    return read.csv(list(files), header=True)


def _dask(kind: str, files: Sequence[str], names: _Names) -> Any:
    import dask.dataframe as dd

    if kind == "parquet":
        return dd.read_parquet(list(files), dtype_backend="pyarrow")  # else a gap makes floats of integers
    if kind == "ndjson":
        import dask.bag as db

        # Dask's own reader makes floats of a column with a gap in it, and then 1.0 of a 1.
        read_text: Any = db.read_text
        answers = read_text(list(files), blocksize=_BLOCK).map(partial(_as_text, names=names))
        return answers.to_dataframe(meta=dict.fromkeys(names, "str"))
    return dd.read_csv(list(files), dtype=str)


def _as_text(line: str, names: _Names = _COLUMNS) -> dict[str, str | None]:
    """Read one answer; what is none has neither study nor symbol."""
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    entries = answer if isinstance(answer, dict) else {}
    return {name: None if entries.get(name) is None else str(entries[name]) for name in names}


_OPEN: dict[str, Callable[[str, Sequence[str], _Names], Any]] = {
    "polars": _polars,
    "duckdb": _duckdb,
    "pyspark": _pyspark,
    "dask": _dask,
}


def has_java() -> bool:
    """Tell whether Spark could start on this machine."""
    return shutil.which("java") is not None or "JAVA_HOME" in os.environ


def scan(engine: str, kind: str, files: Sequence[str], columns: Mapping[str, str] | None = None) -> "nw.LazyFrame[Any]":
    """Open files of one format; nothing is counted yet.

    Args:
        engine: Which engine.
        kind: The format.
        files: The files.
        columns: What the columns ``study``, ``id`` and ``symbol`` are called in them, where that is something else.
    """
    own = dict(columns or {})
    names = tuple(own.get(name, name) for name in _COLUMNS)
    rows: nw.LazyFrame[Any] = nw.from_native(_OPEN[engine](kind, files, names)).lazy()
    there = rows.collect_schema().names() if own else []
    for theirs in own.values():
        if theirs not in there:
            raise InvalidInput("column", theirs, f"must be there; the answers have {', '.join(there)}")
    # A column that stands in the way of one that was named is not the one that is meant.
    rows = rows.drop([name for name in own if name in there]) if own else rows
    return rows.rename({theirs: name for name, theirs in own.items()}) if own else rows


def with_text_ids(rows: "nw.LazyFrame[Any]") -> "nw.LazyFrame[Any]":
    """Return rows whose ids are hexadecimal, as text files have them, and not bytes."""
    if rows.collect_schema().get("id", nw.String()) in (nw.String, nw.Object):
        return rows
    native: Any = rows.to_native()
    if rows.implementation.is_polars():
        import polars as pl

        native = native.with_columns(pl.col("id").bin.encode("hex"))
    elif rows.implementation.is_duckdb():
        native = native.project("* REPLACE (lower(hex(id)) AS id)")
    elif rows.implementation.is_pyspark():
        from pyspark.sql import functions

        native = native.withColumn("id", functions.lower(functions.hex("id")))
    else:
        native = native.assign(id=native["id"].map(_hexadecimal, meta=("id", "str")))
    found: nw.LazyFrame[Any] = nw.from_native(native).lazy()
    return found


def _hexadecimal(name: Any) -> str | None:
    return name.hex() if isinstance(name, bytes) else None


def study_of(file: str, engine: str) -> str | None:
    """Return the digest that a Parquet file carries beside its rows, or None."""
    if not is_remote(file):
        return _noted(Path(file), engine)
    if any(letter in file for letter in "*?["):
        return None  # a pattern that only the engine can look up
    if engine == "polars" and lacking(file) is not None:
        return _noted(file, engine)
    with opened(file) as source:
        return None if source is None else _noted(source, engine)


def _noted(source: Any, engine: str) -> str | None:
    if engine == "polars":
        import polars as pl

        return pl.read_parquet_metadata(source).get(_STUDY)
    import pyarrow.parquet as pq

    digest = (pq.read_schema(source).metadata or {}).get(_STUDY.encode())
    return None if digest is None else digest.decode()
