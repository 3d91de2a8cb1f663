"""Which file is what: told by what it holds, not by its name, since people rename files."""

import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from fairgauge.canonical_json import LONGEST_DOCUMENT
from fairgauge.errors import InvalidInput

# What a bundle may hold, and what each is called in a sentence.
KINDS = {
    "study": "a study",
    "tally": "a tally",
    "seal": "a seal",
    "signature": "a signature",
    "report": "a report",
    "export": "an export of answers",
}
# What a collector's bundle calls them, but for the export, which others write, too.
_NAMES = {
    "study.json": "study",
    "signature.json": "signature",
    "tally.json": "tally",
    "sealed.json": "seal",
    "report.html": "report",
}
_LONGEST_REPORT = 2**26
_MOST_FILES = 100
_EXPORTS = (".ndjson", ".jsonl", ".parquet")
# An export is called so in a bundle, or by its study: other tables may lie beside it.
_EXPORT = re.compile("answers|[0-9a-f]{16}")


@dataclass(frozen=True)
class Piece:
    """One file of a bundle.

    Args:
        kind: What it is; one of ``KINDS``, or ``record``.
        name: What it is called, for people.
        open: Opens it, as often as it is read.
    """

    kind: str
    name: str
    open: Callable[[], BinaryIO]

    def read(self) -> bytes:
        """Read it whole.

        Raises:
            InvalidInput: If it is longer than such a file may be, or cannot be read.
        """
        most = _LONGEST_REPORT if self.kind in ("report", "record") else LONGEST_DOCUMENT
        with reading(self.name), self.open() as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise InvalidInput(self.kind, self.name, f"must be at most {most} bytes")
        return data


@dataclass(frozen=True)
class Bundle:
    """The files of a study.

    Args:
        pieces: One of each kind.
        others: The names of files that are none of these.
        unread: Of files that are named like one of these, and cannot be read as it: the kind, by name.
        missing: What a collector's bundle has and a folder or zip has not, by kind.
    """

    pieces: dict[str, Piece]
    others: tuple[str, ...] = field(default=())
    unread: dict[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = field(default=())


_ZIP = b"PK\x03\x04"


def printable(text: str) -> str:
    r"""Return a text of unknown origin with nothing in it that steers a terminal or begins another line.

    >>> print(printable("report\x1b[2K.html"))
    report\x1b[2K.html
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Say in one line which file could not be read, and why."""
    try:
        yield
    except OSError as error:
        raise InvalidInput("file", name, f"cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        raise InvalidInput("file", name, f"cannot be unpacked: {error}") from None


def gather(paths: Sequence[Path]) -> Bundle:
    """Find out what each file is: files, folders, and zips as a collector serves them.

    Raises:
        InvalidInput: If a file cannot be read, if one that was named is none of a study's, if there are two of a kind,
            or no study.
    """
    named: list[tuple[str, Callable[[], BinaryIO]]] = []
    inside: list[tuple[str, Callable[[], BinaryIO]]] = []
    others: list[str] = []
    for path in paths:
        with reading(str(path)):
            if path.is_dir():
                found = [one for one in sorted(path.iterdir()) if not one.name.startswith(".")]
                inside += [(one.name, _opener(one)) for one in found if one.is_file()]
                others += [f"{one.name} (a folder)" if one.is_dir() else one.name for one in found if not one.is_file()]
            elif _is_zip(path):
                inside += _zipped(path)
            else:
                named.append((str(path), _opener(path)))
    if len(inside) > _MOST_FILES:
        raise InvalidInput("files", f"{len(inside)} files", f"must be at most {_MOST_FILES}")
    pieces: dict[str, Piece] = {}
    unknown: list[tuple[str, Callable[[], BinaryIO]]] = []
    for name, open_ in (*named, *inside):
        kind = _kind_of(name, open_)
        if kind is None and (name, open_) in named:
            unknown.append((name, open_))
        elif kind is None:
            others.append(name)
        elif kind in pieces:
            raise InvalidInput("files", f"{pieces[kind].name} and {name}", f"must be one file: both are {KINDS[kind]}")
        else:
            pieces[kind] = Piece(kind, name, open_)
    if unknown and "study" not in pieces:  # which then says what is wrong with it as a study
        name, open_ = unknown.pop(0)
        pieces["study"] = Piece("study", name, open_)
    if unknown:
        raise InvalidInput("file", unknown[0][0], f"is none of these: {', '.join(KINDS.values())}")
    if "study" not in pieces:
        raise InvalidInput("study", ", ".join(map(str, paths)), "has no study in it: give the study too")
    unread = {name: kind for name in others if (kind := _named(name)) is not None and kind not in pieces}
    there = {*pieces, *unread.values()}
    missing = tuple(kind for kind in _NAMES.values() if kind not in there) if inside else ()
    others = [name for name in others if name not in unread]
    return Bundle(pieces, tuple(map(printable, others)), unread, missing)


def _is_zip(path: Path) -> bool:
    if zipfile.is_zipfile(path):
        return True
    with path.open("rb") as file:
        if file.read(len(_ZIP)) == _ZIP:
            raise zipfile.BadZipFile("it begins like a zip, and is cut short or damaged")
    return False


def _opener(path: Path) -> Callable[[], BinaryIO]:
    return lambda: path.open("rb")


def _zipped(path: Path) -> Iterator[tuple[str, Callable[[], BinaryIO]]]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist()[: _MOST_FILES + 1]:
            inner = PurePosixPath(info.filename)
            if not info.is_dir() and not inner.name.startswith(".") and "__MACOSX" not in inner.parts:
                yield str(inner), _unzipper(path, info.filename)


def _unzipper(path: Path, name: str) -> Callable[[], BinaryIO]:
    def unzip() -> BinaryIO:
        archive = zipfile.ZipFile(path)
        found = archive.open(name)
        archive.close()  # the member keeps the file open until it is closed itself
        return cast(BinaryIO, found)

    return unzip


def _kind_of(name: str, open_: Callable[[], BinaryIO]) -> str | None:
    with reading(name), open_() as file:
        data = file.read(LONGEST_DOCUMENT + 1)
    if data.startswith(b"PAR1"):
        return "export"
    if data.lstrip()[:14].lower() == b"<!doctype html":
        return "report"
    if not data:
        return "export" if name.endswith(_EXPORTS[:2]) else None
    first = _keys(data.split(b"\n", 1)[0])
    if first in ({"id", "study", "symbol"}, {"id", "study", "counts"}):
        return "export"
    keys = _keys(data)
    if {"format", "title"} <= keys:
        return "study"
    if keys - {"products", "contributors"} == {"study", "counts"}:  # without contributors of before: reading it says so
        return "tally"
    if "seal" in keys:
        return "seal"
    return "signature" if keys == {"study", "key", "signature"} else None


def _named(name: str) -> str | None:
    """Return what a file would be by its name; None if by that it is nothing of a study's."""
    last = PurePosixPath(name)
    if last.suffix in _EXPORTS and _EXPORT.fullmatch(last.stem):
        return "export"
    return _NAMES.get(last.name)


def _keys(data: bytes) -> set[str]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return set()
    return set(document) if isinstance(document, dict) else set()
