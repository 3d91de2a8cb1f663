"""The record of what was let go for good: one line for each seal and each batch, beside the keys, in no backup.

A copy of a store that is put back knows nothing of what came after it was made: a sealed study would be open again,
and a batch could leave once more with one answer more or less, so that the difference is a person's.  The record knows.
A line is on the disk before what it tells can be seen, and what contradicts a line is refused.  Each line is signed and
holds the SHA-256 of the line before it, so that none can be changed or left out, and outsiders may be given the file.

A kill between a line and what it tells does no harm: a closed study and a full batch do not change any more, so the
next try comes to the same line.
"""

import asyncio
import json
import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from fairgauge.canonical_json import encode
from fairgauge.collector.seal import read_sealed
from fairgauge.collector.signatures import Signer, public_of, signature_is_good
from fairgauge.collector.stores.store import Published, Store
from fairgauge.errors import FairgaugeError, InvalidInput, StoreError
from fairgauge.server.coarse_time import moment_of, seconds_of
from fairgauge.server.secrets_folder import locked, read_secret, sync
from fairgauge.server.server_errors import RecordContradicted

FILE = "record.jsonl"
PURPOSE = "record"
KEY = "record"  # the purpose under which a store remembers which record it belongs to
_FIRST = "0" * 64  # what the first line holds of the line before it
_UNKNOWN = "f" * 64  # the counts of a batch that was released elsewhere: none are the same again
_OTHER = "the record of seals has another seal"
_Did = Literal["began", "began anew", "taken", "sealed", "released"]
_DID = ("began", "began anew", "taken", "sealed", "released")


@dataclass(frozen=True, slots=True)
class _Line:
    """What was done: the record began, a store took it, a study was sealed, or a batch was released.

    Args:
        did: Which of these.
        digest: Of the seal or of the batch's counts; of a record that began, its name.
        at: When the study closed; of anything else, the hour.
        study: The study.
        batch: Which batch of it.
        before: The SHA-256 of the line before.
        key: The public key that signed this line.
        signature: Its signature.
    """

    did: _Did
    digest: str
    at: str
    study: str = ""
    batch: int = 0
    before: str = _FIRST
    key: str = ""
    signature: str = ""

    def signed(self) -> bytes:
        """Return the bytes that are signed."""
        return encode({name: value for name, value in asdict(self).items() if name != "signature"})

    def to_bytes(self) -> bytes:
        """Return the line as it stands in the file."""
        return encode(asdict(self)) + b"\n"


class History:
    """What a record says."""

    def __init__(self) -> None:
        self.last: _Line | None = None
        self.began: _Line | None = None
        self.since: str | None = None  # since when it is whole, if a record of before was lost
        self.taken = False  # whether a store belongs to it
        self.lines = 0
        self.bytes = 0
        self._head = _FIRST
        self.seals: dict[str, _Line] = {}
        self.batches: dict[str, dict[int, _Line]] = {}

    def read(self, data: bytes, name: object) -> "History":
        """Read on from where it ends; what follows the last end of a line was never finished, and is left out.

        Raises:
            InvalidInput: If a line is none, or does not follow the one before it.
        """
        for raw in data.splitlines(keepends=True):
            if not raw.endswith(b"\n"):
                break
            self._add(raw, _line(raw, f"line {self.lines + 1} of {name}"), name)
        return self

    def _add(self, raw: bytes, line: _Line, name: object) -> None:
        first = line.did == "began" or (line.did == "began anew" and not self.lines)
        known = self.seals.get(line.study) if line.did == "sealed" else None
        if (
            line.before != self._head
            or first != (self.lines == 0)
            or (known is not None and known.digest != line.digest)
        ):
            raise InvalidInput(
                "record", f"line {self.lines + 1} of {name}", "must follow the line before: one was changed or left out"
            )
        self.last, self._head = line, sha256(raw).hexdigest()
        self.lines, self.bytes = self.lines + 1, self.bytes + len(raw)
        self.taken |= line.did == "taken"
        if first:
            self.began = line
        if line.did == "began anew":
            self.since = line.at
        elif line.did == "sealed":
            self.seals[line.study] = line
        elif line.did == "released":
            self.batches.setdefault(line.study, {})[line.batch] = line

    @property
    def head(self) -> str:
        """The SHA-256 of the last line."""
        return self._head

    def of(self, known: Collection[str]) -> bool:
        """Tell whether it is the record that a store belongs to, which remembers these."""
        return self.began is not None and self.began.digest in known

    def released(self, study: str) -> int:
        """Return how many batches of a study were released at least."""
        return max(self.batches.get(study, {}), default=-1) + 1


def read_record(folder: Path) -> History:
    """Read the record of a folder of secrets; an empty one if there is none.

    Raises:
        InvalidInput: If it is damaged, or its last line is not signed by the key that it names.
    """
    path = folder / FILE
    found = History().read(read_secret(folder, FILE) or b"", path)
    last = found.last
    if last is not None and not signature_is_good(last.key, PURPOSE, last.signed(), last.signature):
        raise InvalidInput("record", path, "must end with a line that is signed by the key that it names")
    return found


def _counts_digest(study: str, batch: int, counts: Mapping[int, int]) -> str:
    """Return what names the counts of a batch that is released."""
    return sha256(encode({"study": study, "batch": batch, "counts": sorted(counts.items())})).hexdigest()


class Record(History):
    """The record of a folder of secrets, which several collectors may share."""

    def __init__(self, folder: Path, signer: Signer) -> None:
        super().__init__()
        self._folder, self._signer = folder, signer
        self.read_on()

    def read_on(self) -> None:
        """Read what others have added; whoever calls holds the folder's lock, or is the first to read."""
        path = self._folder / FILE
        try:
            with path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < self.bytes:
                    raise StoreError(f"{path} became shorter while it was used: put the whole of it back")
                file.seek(self.bytes)
                self.read(file.read(), path)
        except FileNotFoundError:
            if self.lines:
                raise StoreError(f"{path} is gone while it was used") from None
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}") from None

    def knows(self, study: str) -> bool:
        """Tell whether anything of a study was let go, by any of the collectors that share the record."""
        with locked(self._folder):
            self.read_on()
        return study in self.seals or study in self.batches

    def begin(self, at: str, *, anew: bool = False) -> None:
        """Begin the record, unless it has begun; ``anew`` if one of before was lost, which every seal will say."""
        with locked(self._folder):
            self.read_on()
            if self.began is None or anew:
                self.write_first("began anew" if anew else "began", at)

    def write_first(self, did: _Did, at: str) -> None:
        """Begin the record, or begin it anew under its name; whoever calls holds the folder's lock."""
        self._write(did, os.urandom(32).hex() if self.began is None else self.began.digest, at)

    def take(self, at: str) -> None:
        """Say that a store belongs to this record, unless that is said."""
        with locked(self._folder):
            self.read_on()
            if not self.taken and self.began is not None:
                self._write("taken", self.began.digest, at)

    def seal(self, study: str, digest: str, closed: str) -> None:
        """Say that a study is being sealed; the same again is fine.

        Raises:
            RecordContradicted: If it was sealed otherwise.
            StoreError: If it cannot be written: then there must be no seal.
        """
        with locked(self._folder):
            self.read_on()
            known = self.seals.get(study)
            if known is None:
                self._write("sealed", digest, closed, study)
            elif known.digest == digest:
                self._sync()
            else:
                raise RecordContradicted(
                    f"This study was sealed with other answers: it closed {known.at}. It has one seal."
                )

    def release(self, study: str, batch: int, digest: str, at: str) -> None:
        """Say that a batch is about to be seen; the same again is fine.

        Its counts must be durable before, and never change again: a kill may come between this and the release.

        Raises:
            RecordContradicted: If it was released with other counts.
            StoreError: If it cannot be written: then the batch must wait.
        """
        with locked(self._folder):
            self.read_on()
            known = self.batches.get(study, {}).get(batch)
            if known is None:
                self._write("released", digest, at, study, batch)
            elif known.digest == digest:
                self._sync()
            else:
                raise RecordContradicted(
                    "A batch of this study was released with other counts: it is not released again."
                )

    def learn(self, study: str, batches: int, at: str) -> None:
        """Say that so many batches of a study were released: by another collector, whose record has their counts."""
        with locked(self._folder):
            self.read_on()
            for batch in range(self.released(study), batches):
                self._write("released", _UNKNOWN, at, study, batch)

    def _write(self, did: _Did, digest: str, at: str, study: str = "", batch: int = 0) -> None:
        """Add a line, durably; whoever calls holds the folder's lock."""
        values: dict[str, Any] = {"did": did, "digest": digest, "at": at, "study": study, "batch": batch}
        line = _Line(**values, before=self.head, key=self._signer.public)
        raw = _Line(
            **values, before=self.head, key=line.key, signature=self._signer.sign(PURPOSE, line.signed())
        ).to_bytes()
        path = self._folder / FILE
        try:
            new = not path.exists()
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.ftruncate(handle, self.bytes)  # a line that was never finished told nothing
                os.lseek(handle, self.bytes, os.SEEK_SET)
                written = 0
                while written < len(raw):
                    written += os.write(handle, raw[written:])
                os.fsync(handle)
            except OSError:
                os.ftruncate(handle, self.bytes)  # or another would take it for written
                raise
            finally:
                os.close(handle)
            if new:
                sync(self._folder)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror}") from None
        self.read(raw, path)

    def _sync(self) -> None:
        """Put a line on the disk that another may have written and not lived to put there."""
        path = self._folder / FILE
        try:
            sync(path)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror}") from None


def open_record(folder: Path, at: str) -> tuple[Signer, Record]:
    """Return what signs, and the record; both are made at once, and a record without which a key was used begins anew.

    Raises:
        InvalidInput, StoreError: If one cannot be read or made.
    """
    with locked(folder):
        used = public_of(folder) is not None
        signer = Signer.in_folder(folder)
        record = Record(folder, signer)
        if record.began is None:
            record.write_first("began anew" if used else "began", at)
    return signer, record


def _belongs_elsewhere(folder: Path) -> bool:
    """Tell whether a folder of secrets was used with a store: its record says so, or only its key is left."""
    if read_record(folder).taken:
        return True
    if public_of(folder) is None or (folder / FILE).exists():
        return False
    with locked(folder):  # unless another collector is making both
        return not (folder / FILE).exists()


def refuse_new_store(what: str, folder: Path) -> None:
    """Refuse to make a store where the secrets belong to one.

    Raises:
        StoreError: Beginning with what is the matter.
    """
    if _belongs_elsewhere(folder):
        raise StoreError(_other_store(what, folder))


def _other_store(what: str, folder: Path) -> str:
    """Return what to say of a store that is new, or is not there, where the secrets belong to one."""
    return (
        f"{what}, and {folder} belongs to another one: is its address right? If that one was lost, put a copy in its "
        "place with fairgauge store restore; if a new one is meant: fairgauge serve --new-store"
    )


async def refuse_other_record(store: Store, folder: Path, *, new: bool = False) -> None:
    """Do nothing if a store and the record of a folder may belong together.

    Args:
        store: The store.
        folder: The folder of secrets.
        new: Whether a new store is meant to share the record with the stores that it belongs to already.

    Raises:
        StoreError: If the store is new and the record is not, the record is not there any more, or has another seal.
    """
    before = _belongs_elsewhere(folder)  # others may start now: a record is taken after its store knows of it
    known = {fingerprint for purpose, fingerprint in await store.keys() if purpose == KEY}
    record = read_record(folder)
    if before and not new and not known and not await store.studies():
        raise StoreError(_other_store("this is a new store", folder))
    if known and not record.of(known):
        raise StoreError(
            f"{folder / FILE} is not the record of seals that this store belongs to: point --secrets to the folder "
            "of before. If it is lost: fairgauge key adopt --store ADDRESS --secrets FOLDER, and later seals say so"
        )
    for fault in await disagreements(store, record):
        if fault.endswith(_OTHER):
            raise StoreError(fault)


async def join(store: Store, record: Record, time: Callable[[], int], *, anew: bool = False) -> list[str]:
    """Let a store belong to the record, add what the record lacks, and close what it says is over.

    Args:
        store: The store, which notes its batches in the record from now on.
        record: The record, which begins if it has not begun.
        time: Tells the time, in buckets.
        anew: Whether one of before was lost.

    Returns:
        The studies that were open and are over by the record.

    Raises:
        RecordContradicted: If the store holds another seal than the record.
    """

    def note(study: str, batch: int, counts: Mapping[int, int]) -> None:
        record.release(study, batch, _counts_digest(study, batch, counts), moment_of(time()))

    bucket = time()
    store.note = note
    record.begin(moment_of(bucket), anew=anew)
    assert record.began is not None  # noqa: S101 - it was just begun
    await store.remember_key(KEY, record.began.digest, bucket)
    record.take(moment_of(bucket))
    over = []
    for kept in await store.studies():
        if kept.sealed:
            closed, digest = await _seal_in(store, kept)
            known = record.seals.get(kept.digest)
            if known is None or known.digest != digest:
                record.seal(kept.digest, digest, closed)
        elif kept.closed is None and await _is_over(store, record, kept):
            over.append(kept.digest)
            told = record.seals.get(kept.digest)
            with suppress(RecordContradicted):  # it is closed, and what waits there goes on waiting
                await store.close_study(kept.number, bucket if told is None else int(seconds_of(told.at)))
    await learn(store, record, bucket)
    return over


async def learn(store: Store, record: Record, bucket: int) -> None:
    """Add what the store has and the record has not: seals and batches of collectors that have a record of their own.

    Or an old record was put in the place of this one: then it has again what the store can tell.
    """
    for kept in await store.studies():
        if kept.sealed and kept.digest not in record.seals:
            closed, digest = await _seal_in(store, kept)
            await asyncio.to_thread(record.seal, kept.digest, digest, closed)
        elif kept.batch is not None and not kept.at_end and kept.closed is None:
            with suppress(RecordContradicted):
                seen = await store.let_go(kept.number)
                if seen > record.released(kept.digest):
                    await asyncio.to_thread(record.learn, kept.digest, seen, moment_of(bucket))


async def _is_over(store: Store, record: History, kept: Published) -> bool:
    """Tell whether the record knows more of an open study than the store: a seal, or batches that it has not."""
    if kept.digest in record.seals:
        return True
    try:
        return record.released(kept.digest) > (0 if kept.batch is None else await store.let_go(kept.number))
    except RecordContradicted:
        return True


async def disagreements(store: Store, record: History) -> list[str]:
    """Return what a store, open to read, and the record say differently."""
    found, studies = [], {kept.digest: kept for kept in await store.studies()}
    for digest, line in record.seals.items():
        kept = studies.get(digest)
        if kept is None:
            continue  # removed on purpose, or of another store: it cannot be published again
        what = f"study {digest[:12]}… ({kept.title})"
        if not kept.sealed:
            found.append(f"{what}: it was sealed, and is not here: this store is older than its record")
        elif (await _seal_in(store, kept))[1] != line.digest:
            found.append(f"{what}: {_OTHER}")
    return found


async def _seal_in(store: Store, kept: Published) -> tuple[str, str]:
    """Return when a sealed study closed, and what names its seal."""
    try:
        seal = read_sealed(await store.sealed(kept.number) or b"").seal
    except FairgaugeError as error:
        raise StoreError(f"the seal of study {kept.digest} cannot be read: {error}") from None
    return seal.closed, seal.digest


def _line(raw: bytes, where: str) -> _Line:
    try:
        line = _Line(**json.loads(raw))
        texts = (line.digest, line.at, line.study, line.before, line.key, line.signature)
        if line.did not in _DID or type(line.batch) is not int or not all(type(text) is str for text in texts):
            raise ValueError
        if line.to_bytes() != raw:  # other readers might read it otherwise
            raise ValueError
    except (RecursionError, TypeError, ValueError):
        raise InvalidInput("record", where, "must be a line of a record") from None
    return line
