"""Add up the answers of sites that lie in files: there are few, so nothing but the standard library is needed."""

from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path

from fairgauge.canonical import read_file
from fairgauge.client import Answer
from fairgauge.errors import InvalidInput
from fairgauge.study import Study
from fairgauge.tallies.counts import Tally

_ONE, _MANY = (".json",), (".ndjson", ".jsonl")


def from_site_files(study: Study, paths: Sequence[str | Path]) -> Tally:
    """Add up the answers in files: one in a ``.json`` file, one a line in ``.ndjson``.

    Args:
        study: The study that was answered.
        paths: Files, folders and patterns.

    Raises:
        InvalidInput: If a file cannot be read, or an answer is not one to this study.
    """
    answers = [answer for path in paths for file in _files(str(path)) for answer in _answers(file)]
    return Tally.of(study, answers)


def _files(path: str) -> Iterator[Path]:
    if Path(path).is_dir():
        found = sorted(file for file in Path(path).rglob("*") if file.suffix.lower() in _ONE + _MANY)
    else:
        found = [Path(file) for file in sorted(glob(path, recursive=True))]  # noqa: PTH207 - a pattern may be absolute
    if not found:
        raise InvalidInput("answers", path, "must name a file, a folder with answers, or a pattern that fits some")
    yield from found


def _answers(file: Path) -> Iterator[Answer]:
    if file.suffix.lower() not in _ONE + _MANY:
        raise InvalidInput("answers", file, "must end in .json, .ndjson or .jsonl in a study for sites")
    data = read_file(file, field="answers")
    lines = data.splitlines() if file.suffix.lower() in _MANY else [data]
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield Answer.from_bytes(line)
        except InvalidInput as error:
            raise InvalidInput(f"{file}, line {number}: {error.field}", error.value, error.rule) from None
