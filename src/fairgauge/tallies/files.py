"""Count the answers in files: Parquet, NDJSON and CSV, by whichever engine is there.

Answers are found by name (a file, everything in a folder, a pattern), sorted by format, and counted in parts of about
a gibibyte, so that memory stays flat and a caller can show how far it is.
"""

import glob
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgauge.errors import FairgaugeError, InvalidInput, MissingExtra
from fairgauge.study import Study
from fairgauge.tallies.remote_files import first_line, is_remote, lacking, listed, readable, size
from fairgauge.tallies.tally import Tally

if TYPE_CHECKING:
    import narwhals as nw

ENGINES = ("auto", "polars", "duckdb", "pyspark", "dask")
_FORMATS = {".parquet": "parquet", ".ndjson": "ndjson", ".jsonl": "ndjson", ".csv": "csv"}
_PART = 2**30  # bytes
_MOST_LOOKED_AT = 20_000_000  # answers whose ids are compared without being asked to: it takes memory

_EXTRAS = {"polars": "polars", "duckdb": "duckdb", "pyspark": "spark", "dask": "dask"}
_ENDINGS = "must end in .parquet, .ndjson, .jsonl or .csv"


@dataclass(frozen=True, slots=True)
class _FileBatch:
    """Files that are counted together."""

    files: tuple[str, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Counted:
    """What was counted.

    Args:
        tally: The count of every symbol.
        again: How many answers have an id that came before; 0 where they were counted once, and None where nobody
            looked: the answers have no ids, or there are too many.
    """

    tally: Tally
    again: int | None


def from_files(
    study: Study,
    paths: Sequence[str | Path],
    *,
    engine: str = "auto",
    deduplicate: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Tally:
    """Count the answers in files; see :func:`count_files`, which also tells which ids came twice."""
    return count_files(study, paths, engine=engine, deduplicate=deduplicate, progress=progress).tally


def count_files(  # noqa: PLR0913 - the rest have defaults
    study: Study,
    paths: Sequence[str | Path],
    *,
    engine: str = "auto",
    deduplicate: bool = False,
    progress: Callable[[int, int], None] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Counted:
    """Count the answers in files, and how many have an id that came before.

    Args:
        study: The study that was answered.
        paths: Files, folders (with everything below them), patterns such as ``answers/*.parquet``, and addresses such
            as ``s3://bucket/answers/*.parquet`` where fsspec or the engine can read them.  A file named twice counts
            once.
        engine: ``polars``, ``duckdb``, ``pyspark`` or ``dask``; ``auto`` takes the first of them that is installed.
        deduplicate: Count answers of the same id once, over all files, as
            ``from_frame`` does.
        progress: Told after every part how many bytes of how many are counted.
        columns: What the columns ``symbol``, ``id`` and ``study`` are called in the files, where they have other names.

    Raises:
        InvalidInput: If a file cannot be read, or an answer is not one to this study; with how many and where.
        MissingExtra: If the engine is not installed.
    """
    from fairgauge.tallies import engine_readers
    from fairgauge.tallies.frame_count import count, repeated, tally_of

    chosen = choose(engine)
    parts = list(split(find(paths), most=None if deduplicate or chosen == "pyspark" else _PART))
    if deduplicate:  # an id may come again in any file, so what is to be counted once is counted together
        parts = [_FileBatch(tuple(file for part in parts for file in part.files), sum(part.size for part in parts))]
    names = dict(columns or {})

    def scan(files: Sequence[str]) -> "nw.LazyFrame[Any]":
        return _scan(study, chosen, files, names)

    whole, done, tally = sum(part.size for part in parts), 0, Tally.empty(study)
    for part in parts:
        with readable(chosen, part.files) as files:
            with _reading(chosen, part.files):
                for file in (file for file in files if _file_format(file) == "parquet"):
                    named = engine_readers.study_of(file, chosen)
                    if named is not None and named != study.digest:
                        raise InvalidInput(f"{file}: study", named, f"must be {study.digest}")
                counts = count(study, scan(files), deduplicate=deduplicate)
            if min(counts, default=0) < 0:
                raise _located(study, counts, scan, files, deduplicate=deduplicate)
        tally += tally_of(study, counts)
        done += part.size
        if progress is not None:
            progress(done, whole)
    if deduplicate:
        return Counted(tally, 0)
    if tally.contributors > _MOST_LOOKED_AT:
        return Counted(tally, None)
    every = [file for part in parts for file in part.files]
    with readable(chosen, every) as files, _reading(chosen, every):
        return Counted(tally, repeated(scan(files)))


def _scan(study: Study, engine: str, files: Sequence[str], names: Mapping[str, str]) -> "nw.LazyFrame[Any]":
    """Open files, of one format or of several."""
    from fairgauge.tallies import engine_readers
    from fairgauge.tallies.frame_count import as_one

    formats: dict[str | None, list[str]] = {}
    for file in files:
        formats.setdefault(_file_format(file), []).append(file)
    found = [engine_readers.scan(engine, str(kind), own, names) for kind, own in formats.items()]
    return found[0] if len(found) == 1 else as_one(study, [engine_readers.with_text_ids(one) for one in found])


def choose(engine: str) -> str:
    """Return the engine to use."""
    if engine not in ENGINES:
        raise InvalidInput("engine", engine, f"must be one of {', '.join(ENGINES)}")
    if engine != "auto":
        if find_spec(engine) is None:
            raise MissingExtra(f"the engine {engine} is not installed", _EXTRAS[engine])
        return engine
    for name in _EXTRAS:
        if find_spec(name) is not None:
            return name
    raise MissingExtra("counting files needs an engine such as Polars", "polars")


def find(paths: Sequence[str | Path]) -> list[str]:
    """Return the files of answers that these paths name, each once, in order."""
    found: dict[str, str] = {}
    for path in paths:
        here = list(_named(str(path)))
        if not here:
            raise InvalidInput("answers", path, "must name a file, a folder with answers, or a pattern that fits some")
        for file in here:
            if _file_format(file) is None:
                missing = lacking(file) if is_remote(file) else None
                look = f", and folders there need more: {missing}"
                raise InvalidInput("answers", file, _ENDINGS + (look if missing else ""))
            found.setdefault(file if is_remote(file) else str(Path(file).resolve()), file)
    return list(found.values())


def split(files: Sequence[str], *, most: int | None) -> Iterator[_FileBatch]:
    """Put files of one format together, up to so many bytes; a larger file is a part of its own."""
    for wanted in dict.fromkeys(_FORMATS.values()):
        taken: list[str] = []
        held = 0
        for file in files:
            if _file_format(file) != wanted:
                continue
            added = size(file) if is_remote(file) else Path(file).stat().st_size
            if taken and most is not None and held + added > most:
                yield _FileBatch(tuple(taken), held)
                taken, held = [], 0
            taken.append(file)
            held += added
        if taken:
            yield _FileBatch(tuple(taken), held)


def _file_format(file: str) -> str | None:
    """Return the format that a file's name tells, or None."""
    return _FORMATS.get(Path(file).suffix.lower())


def _named(path: str) -> Iterator[str]:
    if is_remote(path):
        yield from listed(path, tuple(_FORMATS))
    elif Path(path).is_file():
        yield path
    elif Path(path).is_dir():
        for file in sorted(Path(path).rglob("*")):
            # Spark and others leave marks such as _SUCCESS beside what they write.
            hidden = any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
            if not hidden and _file_format(file.name) is not None and file.is_file():
                yield str(file)
    else:
        yield from (file for file in sorted(glob.glob(path, recursive=True)) if Path(file).is_file())  # noqa: PTH207


class _reading:  # noqa: N801 - reads as a verb where it is used
    """Tell what an engine could not read: each has errors of its own, and all mean the same here."""

    def __init__(self, engine: str, files: Sequence[str]) -> None:
        self._engine, self._files = engine, files

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, FairgaugeError):
            said = first_line(error)
            more = f" and {len(self._files) - 1} more" if len(self._files) > 1 else ""
            rule = f"cannot be counted by {self._engine}: {said}"
            raise InvalidInput("answers", f"{self._files[0]}{more}", rule) from error


def _located(
    study: Study,
    counts: dict[int, int],
    scan: Callable[[Sequence[str]], "nw.LazyFrame[Any]"],
    files: Sequence[str],
    *,
    deduplicate: bool,
) -> InvalidInput:
    """Return the refusal with an example and its file: the first that has one, or none if two contradict each other."""
    from fairgauge.tallies.frame_count import example, refusal

    for file in files:
        row = example(study, scan([file]), deduplicate=deduplicate)
        if row is not None:
            return refusal(study, counts, row, file=file)
    return refusal(study, counts, example(study, scan(files), deduplicate=deduplicate))
