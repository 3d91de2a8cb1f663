"""Where an app's relative paths begin: never where some other program happened to be started.

``flwr run`` keeps one SuperLink for all apps of a computer, and its working folder is the one in which the first of
them was run.  So a study is looked for beside the app's ``pyproject.toml``.  What must outlive a version of the app,
which are a device's ledger and a server's answers, is kept in a folder of the app's name: Flower unpacks every version
of an app into a folder of its own, and a ledger in there would be forgotten with the next version.
"""

import os
import re
import sys
import tomllib
from functools import lru_cache
from pathlib import Path

from fairgauge.client.study_source import read_study
from fairgauge.study import Study

# How Flower calls the folder of an app that it unpacked: publisher, name, version, and the start of its hash.
_UNPACKED = re.compile(r"(?P<app>.+?)\.\d[^/]*\.[0-9a-f]{8}")
_CONFIG = "pyproject.toml"


def app_folder(depth: int = 1) -> Path:
    """Return the folder of the app whose code called the caller: the nearest one above it that has a Flower app.

    Where there is none, as in a notebook, it is the folder of the code itself, or the working folder.

    Args:
        depth: How many calls above the caller the app's code is.
    """
    name = sys._getframe(depth + 1).f_code.co_filename
    file = Path(name)
    if not file.is_file():
        return Path.cwd()
    folder = file.resolve().parent
    return next((above for above in (folder, *folder.parents) if _is_app(above / _CONFIG)), folder)


def study_of(app: Path, source: Study | str | Path | bytes) -> Study:
    """Return a study: a file that came with the app, an address, the document itself, or a loaded study.

    Raises:
        InvalidInput: If nothing can be read there, or it is no study.
        NotPrivate: If a table spends more than the study declares.
    """
    if isinstance(source, Study):
        return source
    if isinstance(source, Path) or (isinstance(source, str) and not source.startswith(("http://", "https://"))):
        return _load(app / Path(source).expanduser())
    return _load(source)


# A process that evaluates round after round reads and checks a study once.
_load = lru_cache(maxsize=8)(read_study)


def state_of(app: Path, path: str | os.PathLike[str]) -> Path:
    """Return a file that outlives versions of the app, such as a ledger, as an absolute path."""
    unpacked = _UNPACKED.fullmatch(app.name) if app.parent.name == "apps" else None
    home = app if unpacked is None else app.parent.parent / "fairgauge" / unpacked["app"]
    return home / Path(path).expanduser()


def _is_app(config: Path) -> bool:
    try:
        return "flwr" in tomllib.loads(config.read_text(encoding="utf-8")).get("tool", {})
    except (OSError, ValueError):
        return False
