"""Which nodes have given an answer: names only, in no order that would say which answer is whose."""

import os
from collections.abc import Iterable
from pathlib import Path

from fairgauge.client.disk import sync_folder
from fairgauge.errors import InvalidInput


class NodeList:
    """The names of nodes, each once, in memory and, where there is a file, in it.

    >>> nodes = NodeList(None)
    >>> nodes.add("site-1"), nodes.add("site-1"), "site-1" in nodes
    (True, False, True)

    Args:
        path: A file with a name a line.

    Raises:
        InvalidInput: If the file cannot be read.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._names: set[str] = set()
        if path is not None and path.exists():
            try:
                whole = path.read_text(encoding="utf-8")
            except (OSError, ValueError):
                raise InvalidInput("path", path, "must be a list of nodes") from None
            self._names.update(line for line in whole.splitlines() if line)

    def __contains__(self, name: str) -> bool:
        return _line(name) in self._names

    def __len__(self) -> int:
        return len(self._names)

    def add(self, name: str) -> bool:
        """Remember a node, and tell whether it is new; :meth:`keep` writes it out."""
        line = _line(name)
        new = line not in self._names
        self._names.add(line)
        return new

    def keep(self, names: Iterable[str]) -> None:
        """Write names at the end of the file, sorted: the order in which they came is that of the answers."""
        lines = sorted(map(_line, names))
        if self._path is None or not lines:
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self._path)


def _line(name: str) -> str:
    """Return a name on one line, whatever a stranger called its node."""
    return name if name.isprintable() else ascii(name)
