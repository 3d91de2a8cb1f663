"""The agent's own file: where profile, ledger and socket are, how far it goes, and who may touch these.

Who asks has no say in that.  Whoever may connect to the socket, and everyone else on the computer, must not be able to
read the profile, to raise the limits, or to make the ledger forget.  So owners and permissions are looked at whenever a
file is used.
"""

import json
import os
import stat
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from fairgauge.canonical_json import decode, read_file
from fairgauge.client.budget import LIFETIME_LIMIT, STUDY_LIMIT, Limits, read_limit
from fairgauge.client.policy import FIELDS, Policy, unsettled
from fairgauge.errors import BadLedger, CannotAnswer, InvalidInput
from fairgauge.study.numbers import exact

_LONGEST_PROFILE = 2**20
READ, WRITE, _SEARCH = 0o4, 0o2, 0o1
_GROUP = 0o060
_ONE = 2**128
_PARTS = ("group", "values")
_FIELDS = {"socket", "profile", "ledger", "limit", "study_limit", "askers_give", "mode", "site", *FIELDS}


@dataclass(frozen=True)
class AgentSettings:
    """What an agent may do.

    Args:
        socket: Where it listens.
        profile: The file with the person's group and values, looked at for every answer; None for a site's agent whose
            file names none.
        ledger: The file that remembers what was answered.
        limits: The most that it spends.
        policy: What studies may ask.
        askers_give: Metrics whose values come from whoever asks, because the profile cannot have them.
        mode: Who may connect, as permissions of the socket.
        site: The own file of a site that holds many people, for studies of such sites; None if this is a person's.
    """

    socket: Path
    profile: Path | None
    ledger: Path
    limits: Limits
    policy: Policy = field(default_factory=Policy)
    askers_give: frozenset[str] = frozenset()
    mode: int = 0o600
    site: Path | None = None

    @classmethod
    def load(cls, path: str | Path) -> "AgentSettings":
        """Read the settings; relative paths in them begin at the file's own folder.

        Raises:
            InvalidInput: Naming the field; also if somebody else could have written the file.
        """
        document = decode(read_file(path, field="settings"), error=InvalidInput)
        for name in document:
            if name not in _FIELDS:
                raise InvalidInput(name, document[name], f"must be one of {', '.join(sorted(_FIELDS))}")
        home = Path(path).absolute().parent
        only_a_site = "site" in document and "profile" not in document
        mode = _mode(_text(document, "mode", "600"))
        problem = trouble(Path(path).absolute(), mode, WRITE)
        if problem is not None:
            raise InvalidInput("settings", path, f"must be safe from others: {problem}")
        return cls(
            socket=home / _text(document, "socket", "agent.sock"),
            profile=None if only_a_site else home / _text(document, "profile", "profile.json"),
            ledger=home / _text(document, "ledger", "ledger.sqlite3"),
            limits=Limits(
                read_limit("limit", _text(document, "limit", str(LIFETIME_LIMIT))),
                read_limit("study_limit", _text(document, "study_limit", str(STUDY_LIMIT))),
            ),
            policy=Policy.read(document),
            askers_give=frozenset(_texts(document, "askers_give")),
            mode=mode,
            site=home / _text(document, "site", "") if "site" in document else None,
        )

    def check_ledger(self) -> None:
        """Refuse a ledger that somebody else could have written.

        Raises:
            BadLedger: Saying why.
        """
        problem = trouble(self.ledger, self.mode, READ | WRITE)
        if problem is not None:
            raise BadLedger("ledger", self.ledger, f"must be safe from others: {problem}")

    @property
    def has_profile(self) -> bool:
        """Whether there is a person, by the settings alone: a site's agent may have none."""
        return self.profile is not None

    def read_profile(self) -> dict[str, Any]:
        """Read the person's groups and values; what is none of them, or a file that is gone, counts as missing.

        Raises:
            CannotAnswer: If somebody may read the file who may only ask.
        """
        try:
            data = self._profile()
        except OSError:
            data = b""
        return _parts_of(data)

    def check_profile(self) -> list[str]:
        """Look at the profile at set-up: later, what is in the file must not decide whether there is an answer.

        Returns:
            That it cannot be read or is no profile, or what of it the settings do not name, by name alone: to be told
            to its owner, and to nobody else.

        Raises:
            CannotAnswer: If who may only ask may read it, or see how long it is.  The text holds nothing of it.
        """
        if self.profile is not None and (seen := length_seen(self.profile, self.mode)) is not None:
            raise CannotAnswer(seen)
        try:
            profile = _read(self._profile(), errors="strict")
        except OSError as problem:
            return [f"the profile {self.profile} cannot be read: {problem.strerror}"]
        if not isinstance(profile, dict) or not set(profile) <= set(_PARTS) or not _are_objects(profile):
            return [f'the profile {self.profile} must be {{"group": {{...}}, "values": {{...}}}}']
        return unsettled(self.policy, {name: profile.get(name) or {} for name in _PARTS}, self.askers_give)

    def _profile(self) -> bytes:
        """Return what is in the profile's file, up to a length that no profile has; nothing if there is no file."""
        if self.profile is None:
            return b""
        with self.profile.open("rb") as file:
            if os.name == "posix":
                problem = wrong(self.profile, os.fstat(file.fileno()), self.mode, READ | WRITE, owned=False)
                if problem is not None:
                    raise CannotAnswer(f"the profile is not safe: {problem}")
            return file.read(_LONGEST_PROFILE)


def _read(data: bytes, errors: str) -> object:
    """Return what a profile's text says, with numbers as they are written; None if it is no JSON."""
    try:
        read: object = json.loads(data.decode(json.detect_encoding(data), errors), parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None
    return read


@lru_cache(maxsize=64)
def _parts_of(data: bytes) -> dict[str, dict[str, Any]]:
    """Return the two parts of a profile, with values as numbers of one length.

    A text is read once and not for every study: how long that takes depends on what is in it, and who may ask thousands
    of studies that cost nothing could take the mean.
    """
    profile = _read(data, errors="replace")
    found = profile if isinstance(profile, dict) else {}
    group, values = (found[name] if isinstance(found.get(name), dict) else {} for name in _PARTS)
    return {"group": group, "values": {name: _bounded(value) for name, value in values.items()}}


def _bounded(value: object) -> Fraction | None:
    """Return a number to the nearest 2^-128, at most 2^128 in size: with 390 digits an answer would take longer."""
    number = exact(value)
    return None if number is None else Fraction(max(-(_ONE**2), min(_ONE**2, round(number * _ONE))), _ONE)


def _are_objects(profile: dict[str, Any]) -> bool:
    return all(part is None or isinstance(part, dict) for part in profile.values())


def _text(document: dict[str, Any], name: str, default: str) -> str:
    found = document.get(name, default)
    if not isinstance(found, str) or not found:
        raise InvalidInput(name, found, "must be text")
    return found


def _texts(document: dict[str, Any], name: str) -> list[str]:
    found = document.get(name, [])
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise InvalidInput(name, found, "must be a list of texts")
    return found


def _mode(typed: str) -> int:
    if typed not in ("600", "660", "666"):
        raise InvalidInput("mode", typed, "must be 600 (its own user), 660 (its group as well) or 666 (everyone)")
    return int(typed, 8)


def trouble(path: Path, mode: int, forbidden: int, *, owned: bool = True) -> str | None:
    """Return what is wrong with a file and with the folders above it, or None.

    Args:
        path: The file; one that is missing has nothing wrong but its folders.
        mode: The socket's permissions: they say whether the agent's group may ask.
        forbidden: What nobody else may do: ``READ``, ``WRITE`` or both.
        owned: Whether the file must belong to the agent's user, or to root.
    """
    if os.name != "posix":
        return None
    try:
        # By its name and by where that leads: who can change a folder on either way can put another file in its place.
        for place in (path.absolute(), Path(os.path.realpath(path))):
            for folder in place.parents:
                # Beside a ledger nobody may put a file either: SQLite would roll it back by a journal of theirs.
                sticky = folder != place.parent or not forbidden & READ
                if (problem := _open_folder(folder, mode, owned=owned, sticky=sticky)) is not None:
                    return problem
        return wrong(path, path.stat(), mode, forbidden, owned=owned)
    except FileNotFoundError:
        return None
    except OSError as problem:
        return f"{path} cannot be used: {problem.strerror}"


def _open_folder(folder: Path, mode: int, *, owned: bool, sticky: bool) -> str | None:
    """Return what is wrong where others could move what is in a folder; None if they could not.

    Args:
        folder: The folder.
        mode: As above.
        owned: Whether it must belong to the agent's user, or to root.
        sticky: Whether others may put files of theirs there, as in ``/tmp``.
    """
    try:
        found = folder.stat()
    except FileNotFoundError:
        return None  # it will be made, in the one above it
    if owned and found.st_uid not in (0, os.geteuid()):
        return f"the folder {folder} must belong to the user that the agent runs as, or to root"
    if not (sticky and found.st_mode & stat.S_ISVTX) and allowed(found, mode) & WRITE:
        return f"the folder {folder} must be closed for writing to whoever may ask: chmod go-w FOLDER"
    return None


def wrong(path: Path, found: os.stat_result, mode: int, forbidden: int, *, owned: bool = True) -> str | None:
    """Return what is wrong with the owner or the permissions of a file, or None."""
    if owned and found.st_uid not in (0, os.geteuid()):
        return f"{path} must belong to the user that the agent runs as"
    if allowed(found, mode) & forbidden:
        closed = "go-w" if forbidden == WRITE else "go="
        return f"{path} must be closed to others and to whoever may ask: chmod {closed} FILE"
    return None


def length_seen(path: Path, mode: int) -> str | None:
    """Return what is wrong where others can see how long a file is; None if a folder above it is closed to them.

    Who cannot read "female" in a file can count its letters: permissions of the file hide what is in it, and not how
    much.
    """
    if os.name != "posix" or not all(allowed(folder.stat(), mode) & _SEARCH for folder in path.resolve().parents):
        return None
    return (
        f"others can see how long {path} is, which tells of what is in it: chmod go= FOLDER, with the socket elsewhere"
    )


def allowed(found: os.stat_result, mode: int) -> int:
    """Return what everyone, and whoever may ask as one of the agent's group, may do with a file."""
    may = found.st_mode & 0o7
    if mode & _GROUP and found.st_gid == os.getegid():
        may |= found.st_mode >> 3 & 0o7
    return may
