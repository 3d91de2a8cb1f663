"""Add up the answers of sites that lie in files: there are few, so no engine is needed."""

from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path

from fairgauge.canonical_json import read_file
from fairgauge.client import Answer
from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.study import Study
from fairgauge.tallies.tally import Tally

_ONE, _MANY, _TABLE = (".json",), (".ndjson", ".jsonl"), (".parquet",)
_KNOWN = _ONE + _MANY + _TABLE


def from_site_files(study: Study, paths: Sequence[str | Path]) -> Tally:
    """Add up the answers in files: one in a ``.json`` file, one a line in ``.ndjson``, one a row in ``.parquet``.

    Args:
        study: The study that was answered.
        paths: Files, folders and patterns.

    Raises:
        InvalidInput: If a file cannot be read, or an answer is not one to this study.
    """
    answers = [answer for path in paths for file in _files(str(path)) for answer in _answers(study, file)]
    return Tally.of(study, answers)


def _files(path: str) -> Iterator[Path]:
    if Path(path).is_dir():
        found = sorted(file for file in Path(path).rglob("*") if file.suffix.lower() in _KNOWN)
    else:
        found = [Path(file) for file in sorted(glob(path, recursive=True))]  # noqa: PTH207 - a pattern may be absolute
    if not found:
        raise InvalidInput("answers", path, "must name a file, a folder with answers, or a pattern that fits some")
    yield from found


def _answers(study: Study, file: Path) -> Iterator[Answer]:
    if file.suffix.lower() not in _KNOWN:
        raise InvalidInput("answers", file, "must end in .json, .ndjson, .jsonl or .parquet in a study for sites")
    if file.suffix.lower() in _TABLE:
        yield from _rows(study, file)
        return
    data = read_file(file, field="answers")
    lines = data.splitlines() if file.suffix.lower() in _MANY else [data]
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield Answer.from_bytes(line)
        except InvalidInput as error:
            raise InvalidInput(f"{file}, line {number}: {error.field}", error.value, error.rule) from None


def _rows(study: Study, file: Path) -> Iterator[Answer]:
    """Read the columns id (16 bytes) and counts; the study is named once, for the whole file."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("Parquet needs pyarrow", "collector") from None
    try:
        table = parquet.read_table(file, columns=["id", "counts"])
        named = (table.schema.metadata or {}).get(b"fairgauge.study", study.digest.encode())
        ids, counts = table.column("id").to_pylist(), table.column("counts").to_pylist()
    except (pa.ArrowException, OSError, KeyError):
        rule = "must be a Parquet file with the columns id and counts, as a collector exports it"
        raise InvalidInput("answers", file, rule) from None
    for id_, held in zip(ids, counts, strict=True):
        yield Answer(named.decode("ascii", "replace"), id_.hex(), tuple(held))
