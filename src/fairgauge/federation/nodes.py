"""Which nodes have given an answer: names only, in no order that would say which answer is whose."""

from pathlib import Path

from fairgauge.canonical import write_file
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

    def keep(self) -> None:
        """Write all names to the file, sorted: the order in which they came is that of the answers."""
        if self._path is not None:
            write_file(self._path, "".join(f"{line}\n" for line in sorted(self._names)).encode(), field="path")
            sync_folder(self._path)


def _line(name: str) -> str:
    """Return a name on one line, whatever a stranger called its node."""
    return name if name.isprintable() else ascii(name)
