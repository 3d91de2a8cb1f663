"""Answers that are elsewhere, in folders and patterns, through the command; and ids that came twice."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairgauge.errors import InvalidInput
from fairgauge.tallies.files import count_files
from fairgauge.tallies.remote_files import listed, readable, size
from tests.samples import sample_study

STUDY = sample_study()


def lines(first: int, last: int) -> bytes:
    found = [{"id": f"{n:032x}", "study": STUDY.digest, "symbol": n % 4} for n in range(first, last)]
    return "".join(json.dumps(one) + "\n" for one in found).encode()


@pytest.fixture
def memory() -> Iterator[str]:
    """A folder in fsspec's memory, with 12 answers in two files and a note."""
    files = fsspec.filesystem("memory")
    for name, data in (("a.ndjson", lines(0, 8)), ("deep/b.ndjson", lines(8, 12)), ("note.txt", b"hello")):
        files.pipe_file(f"/answers/{name}", data)
    yield "memory://answers"
    files.rm("/answers", recursive=True)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
def test_a_folder_elsewhere_is_counted_by_every_engine(memory: str, engine: str):
    found = count_files(STUDY, [memory], engine=engine)
    assert (found.tally.counts, found.again) == ((3, 3, 3, 3), 0)


def test_a_pattern_and_one_file_elsewhere(memory: str):
    assert listed(f"{memory}/*.ndjson", (".ndjson",)) == ["memory:///answers/a.ndjson"]
    assert count_files(STUDY, [f"{memory}/deep/b.ndjson"]).tally.contributors == 4
    assert size(f"{memory}/a.ndjson") == len(lines(0, 8))


def test_addresses_of_this_machine(tmp_path: Path):
    (tmp_path / "a.ndjson").write_bytes(lines(0, 8))
    assert count_files(STUDY, [f"file://{tmp_path}/a.ndjson"], engine="polars").tally.contributors == 8
    assert count_files(STUDY, [f"file://{tmp_path}"], engine="duckdb").tally.contributors == 8


def test_what_an_engine_reads_itself_is_left_to_it(memory: str):
    with readable("polars", ["s3://bucket/a.parquet"]) as files:
        assert files == ["s3://bucket/a.parquet"]
    with readable("polars", [f"{memory}/a.ndjson"]) as files:
        copies = [Path(file) for file in files]
        assert copies[0].read_bytes() == lines(0, 8)
    assert not copies[0].exists()
    assert listed("nowhere+nothing://x/y.parquet", (".parquet",)) == ["nowhere+nothing://x/y.parquet"]


def test_what_has_to_be_installed_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    for engine, address in (("duckdb", "s3://bucket/a.parquet"), ("dask", "s3://bucket/a.csv")):
        with pytest.raises(InvalidInput, match=f"cannot be counted by {engine}: Install s3fs to access S3"):
            count_files(STUDY, [address], engine=engine)
    with pytest.raises(InvalidInput, match=r"must end in .*, and folders there need more: install s3fs to access S3"):
        count_files(STUDY, ["s3://bucket/answers"], engine="polars")
    with pytest.raises(InvalidInput, match="cannot be fetched: protocol not known: foo"):
        count_files(STUDY, ["foo://bucket/a.csv"], engine="polars")


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
def test_the_digest_beside_the_rows_is_checked_elsewhere_too(tmp_path: Path, engine: str):
    table = pa.table({"symbol": [0, 1]}).replace_schema_metadata({"fairgauge.study": "0" * 64})
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(InvalidInput, match=rf"a\.parquet: study={'0' * 10}"):
        count_files(STUDY, [f"file://{tmp_path}/a.parquet"], engine=engine)


def test_what_is_not_there_is_one_line():
    with pytest.raises(InvalidInput, match=r"answers=memory://answers/no\.ndjson: cannot be fetched"):
        count_files(STUDY, ["memory://answers/no.ndjson"], engine="polars")


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
def test_ids_that_came_twice_are_told_unless_removed(tmp_path: Path, engine: str):
    (tmp_path / "a.ndjson").write_bytes(lines(0, 8))
    (tmp_path / "b.ndjson").write_bytes(lines(6, 10) + lines(6, 7))
    found = count_files(STUDY, [tmp_path], engine=engine)
    assert (found.tally.contributors, found.again) == (13, 3)
    once = count_files(STUDY, [tmp_path], engine=engine, deduplicate=True)
    assert (once.tally.contributors, once.again) == (10, 0)


def test_columns_of_other_names(tmp_path: Path):
    (tmp_path / "a.csv").write_text("answer,who\n0,x\n3,y\n3,y\n")
    found = count_files(STUDY, [tmp_path / "a.csv"], engine="polars", columns={"symbol": "answer", "id": "who"})
    assert (found.tally.counts, found.again) == ((1, 0, 0, 2), 1)
    with pytest.raises(InvalidInput, match="column=symbols: must be there; the answers have answer, who"):
        count_files(STUDY, [tmp_path / "a.csv"], engine="polars", columns={"symbol": "symbols"})
