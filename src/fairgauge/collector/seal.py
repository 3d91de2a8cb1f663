"""The end of a study: a snapshot that cannot be changed without anyone noticing.

The export of a study is one canonical answer a line, sorted by id.  The seal holds the SHA-256 of exactly those bytes
(``sha256sum answers.ndjson``), the tally, and the collector's signature over both; beside it stands the estimate,
which anyone can compute again from the study and the tally.

Some answers are nobody's to see but the operator's: those of a study in the crowd, and what sites counted.  Then the
tally is empty if there were too few of them: nothing is shown of fewer than three sites, since one of two could take
its own counts away from the sum.  The seal of a study in the crowd also has the root of a tree over its answers, so
that a device can check that its own is in; where it is no secret who contributes, the seal lists them.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal

from fairgauge import __version__, estimation
from fairgauge.canonical import encode
from fairgauge.client import Answer
from fairgauge.collector.merkle import Growing
from fairgauge.collector.stores.released_sums import may_leave, payload_text, summed
from fairgauge.crowd import blanket_weights, misfit
from fairgauge.errors import OF_BEFORE, InvalidInput, SealBroken
from fairgauge.reports.particulars import SealNote
from fairgauge.study import Study
from fairgauge.tallies import Tally

FORMAT = 1
_DRAFTS = (2, 3)  # numbers that seals with a root and seals of sites had before the first release
PURPOSE = "seal"
PAGE = 10_000
_LONGEST_LINE = 2**21
# What is compared of an estimate that another version may have put into other words.
_TERMS = ("study", "confidence", "interval", "tolerance")
_NUMBERS = ("metric", "attribute", "answers", "gaps", "means", "overall", "shares", "answered")

Agreement = Literal["whole", "numbers", "none"]


@dataclass(frozen=True, slots=True)
class Seal:
    """What is signed when a study is over."""

    study: str
    answers: int
    answers_sha256: str
    tally: tuple[int, ...]
    closed: str
    format: int = FORMAT
    root: str | None = None  # of a study in the crowd
    sites: tuple[str, ...] | None = None  # where it is no secret who contributes
    recorded: str | None = None  # since when the collector knows of its seals, if it lost the record of before

    @classmethod
    def of(
        cls, study: Study, found: "AnswerDigest", closed: str, shown: Sequence[int] = (), *, recorded: str | None = None
    ) -> "Seal":
        """Return the seal of a closed study with these answers, and the counts that it shows where draws are in them.

        Raises:
            SealBroken: If these counts are not the answers and draws of the study.
        """
        names = found.names if shown_answers(study, found.answers) or found.names is None else ()
        sums = released_tally(study, found.counts, found.answers)
        if study.release is not None:
            check_draws(study, found.counts, found.answers, shown)
            sums = tuple(shown)
        seal = cls(study.digest, found.answers, found.hexdigest(), sums, closed, root=found.root, sites=names)
        return replace(seal, recorded=recorded)

    def fits(self, study: Study) -> bool:
        """Tell whether it has what seals of such a study have: a root in the crowd, the list of who contributed."""
        listed = study.mechanism.contributors_known
        return (self.root is not None, self.sites is not None) == (study.release is not None, listed)

    @property
    def counted(self) -> Tally:
        """The tally that was sealed.

        Raises:
            BadTally: If it is none.
        """
        if self.sites is not None:
            return Tally(self.study, self.tally, len(self.sites))
        return Tally(self.study, self.tally) if self.root is None else Tally(self.study, self.tally, self.answers)

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        later = ("root", "sites", "recorded")
        return {name: value for name, value in asdict(self).items() if name not in later or value is not None}

    def to_bytes(self) -> bytes:
        """Return the canonical bytes (RFC 8785), which are what is signed."""
        return encode(self.to_dict())

    @property
    def digest(self) -> str:
        """What names it in the collector's record: the SHA-256 of these bytes."""
        return sha256(self.to_bytes()).hexdigest()


class AnswerDigest:
    """Adds up answers and digests them, given sorted by id.

    Args:
        study: The study's digest.
        growing: Makes their tree, which must know how many will come.
        listed: Whether to list who contributed.
    """

    def __init__(self, study: str, *, growing: Growing | None = None, listed: bool = False) -> None:
        self._study = study
        self._growing = growing
        self._names: list[str] | None = [] if listed else None
        self._hash = sha256()
        self._last = b""
        self.counts: dict[int, int] = {}
        self.answers = 0

    def add(self, page: Sequence[tuple[bytes, str]]) -> None:
        """Add answers whose ids are above all those before."""
        for id_, _ in page:
            if id_ <= self._last:
                raise SealBroken(f"the answer {id_.hex()} is there twice, or out of order")
            self._last = id_
        for (_, place), amount in summed(("", payload) for _, payload in page).items():
            self.counts[place] = self.counts.get(place, 0) + amount
        self.answers += len(page)
        if self._names is not None:
            self._names += [listed_name(id_) for id_, _ in page]
        lines = lines_of(self._study, page)
        self._hash.update(lines)
        if self._growing is not None:
            self._growing.add([id_ for id_, _ in page], lines.splitlines())

    @property
    def root(self) -> str | None:
        """The root of the tree, if there is one."""
        return None if self._growing is None else self._growing.tree().root

    @property
    def names(self) -> tuple[str, ...] | None:
        """Who contributed, if they are listed."""
        return None if self._names is None else tuple(sorted(self._names))

    def hexdigest(self) -> str:
        """Return the SHA-256 of the sorted lines."""
        return self._hash.hexdigest()


def listed_name(id_: bytes) -> str:
    """Return what stands for a contributor in a seal: half of the SHA-256 of the answer's id.

    The id may be a ticket.  Its holder finds itself in the list; whoever reads it cannot ask a collector about it.

    >>> listed_name(bytes(16))
    '374708fff7719dd5979ec875d56cd228'
    """
    return sha256(id_).hexdigest()[:32]


def lines_of(study: str, page: Sequence[tuple[bytes, str]]) -> bytes:
    """Return answers as canonical lines: the export is made of these, and the seal digests them."""
    return "".join([_line(study, id_.hex(), payload) for id_, payload in page]).encode()


def _line(study: str, name: str, payload: str) -> str:
    if "," in payload:  # as an Answer is written, without making one
        return f'{{"counts":[{payload}],"id":"{name}","study":"{study}"}}\n'
    return f'{{"id":"{name}","study":"{study}","symbol":{payload}}}\n'


def sealed_document(seal: Seal, study: Study, *, key: str, signature: str) -> bytes:
    """Return the document that is kept and shown: the seal, its signature, and the estimate."""
    found = estimation.estimate(study, seal.counted).to_dict()
    document = {
        "seal": seal.to_dict(),
        "key": key,
        "signature": signature,
        "version": __version__,
        "estimate": found,
    }
    return json.dumps(document, ensure_ascii=False).encode()


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed document as read from a file."""

    seal: Seal
    key: str
    signature: str
    estimate: dict[str, Any]
    version: str  # of the fairgauge that made the estimate

    @property
    def note(self) -> SealNote:
        """What a report tells of it."""
        seal = self.seal
        return SealNote(seal.closed, seal.answers, seal.answers_sha256, self.key, self.signature)


def read_sealed(data: bytes) -> Sealed:
    """Read a sealed document.

    Raises:
        InvalidInput: If it is none.
    """
    try:
        document = json.loads(data)
        fields = dict(document["seal"])
        fields |= {name: tuple(fields[name]) for name in ("tally", "sites") if name in fields}
        seal = Seal(**fields)
        key, signature, estimate = (document[name] for name in ("key", "signature", "estimate"))
        if "version" not in document or seal.format in _DRAFTS:
            raise InvalidInput("sealed.format", seal.format, OF_BEFORE)
        found = Sealed(seal, key, signature, estimate, document["version"])
        if [*map(type, (key, signature, estimate, found.version))] != [str, str, dict, str]:
            raise TypeError
    except KeyError as error:
        raise InvalidInput(
            "sealed", f"{len(data)} bytes", f"must be a sealed study: it has no {error.args[0]}"
        ) from None
    except InvalidInput:
        raise
    except (AttributeError, RecursionError, TypeError, ValueError) as error:
        raise InvalidInput("sealed", f"{len(data)} bytes", f"must be a sealed study ({type(error).__name__})") from None
    if type(seal.format) is not int or seal.format != FORMAT:
        raise InvalidInput("sealed.format", seal.format, f"must be {FORMAT}")
    return found


def column_of(numbers: int) -> str:
    """Return what the column of a table is called that has so many numbers of each answer."""
    return "symbol" if numbers == 1 else "counts"


def batch_of(study: Study) -> int | None:
    """Return of how many answers at least a study shows a sum; None if of any."""
    return study.mechanism.fewest if study.release is None else study.release.batch


def shown_answers(study: Study, answers: int) -> int:
    """Return how many of so many answers a closed study shows: all of them, or none if they are too few."""
    batch, at_end = batch_of(study), study.release is None
    return answers if batch is None or may_leave(answers, batch, at_end=at_end) else 0


def released_tally(study: Study, counts: Mapping[int, int], answers: int) -> tuple[int, ...]:
    """Return what a closed study shows of the sum of so many answers: all of it, or nothing if they are too few."""
    shown = counts if shown_answers(study, answers) else {}
    return tuple(shown.get(place, 0) for place in range(study.symbols))


def check_draws(study: Study, counts: Mapping[int, int], answers: int, shown: Sequence[int]) -> None:
    """Refuse counts that are not those of so many answers with the draws that their batches have.

    Raises:
        SealBroken: Naming why.
    """
    if study.release is None:
        return
    more = [count - counts.get(place, 0) for place, count in enumerate(shown)]
    wanted = study.release.draws * study.release.batches(answers)
    wrong = misfit(blanket_weights(study.channels), study.release.draws, more) if len(more) == study.symbols else "few"
    if wrong is None and sum(more) != wanted:
        wrong = f"they are {sum(more):,}, and {answers:,} answers leave with {wanted:,}"
    if wrong is not None:
        raise SealBroken(f"the counts less the answers are no secret draws of this study: {wrong}")


def wrong_draws(study: Study, seal: Seal) -> str | None:
    """Say what is wrong with how many secret draws a seal's tally has; None if nothing is."""
    if study.release is None:
        return None
    drawn, wanted = seal.counted.draws(study), study.release.draws * study.release.batches(seal.answers)
    if drawn != wanted:
        return f"the tally has {drawn:,} secret draws, and so many answers leave with {wanted:,}"
    return None


def check_sealed(study: Study, sealed: Sealed, answers: Iterable[tuple[bytes, str]] | None) -> None:
    """Recompute everything from the study and the exported answers, and compare.

    Without the answers, which a collector may have removed, the tally is taken as it was sealed.

    Raises:
        SealBroken: Naming the first thing that differs.
    """
    seal = sealed.seal
    if seal.study != study.digest:
        raise SealBroken(f"the seal is of study {seal.study}, and this is {study.digest}")
    if not seal.fits(study):
        raise SealBroken("the seal has not the parts that seals of such a study have")
    if answers is not None:
        check_answers(study, seal, answers)
    elif seal.counted.contributors != (shown := shown_answers(study, seal.answers)):
        raise SealBroken(f"the tally has {seal.counted.contributors} answers, and the seal {shown} to show")
    if (wrong := wrong_draws(study, seal)) is not None:
        raise SealBroken(wrong)
    if agreement(study, sealed) == "none":
        raise SealBroken("the estimate is not the one that this tally gives")


def agreement(study: Study, sealed: Sealed) -> Agreement:
    """Tell how much of the sealed estimate is what the sealed tally gives.

    Returns:
        ``whole``: every number and sentence.  ``numbers``: another version sealed it, which may have said the same in
        other words, and the numbers agree.  ``none``: they do not.
    """
    named, same = sealed.estimate, sealed.version == __version__
    found = _found(study, sealed)
    if same:
        return "whole" if _close(found, named) else "none"
    return "numbers" if _close(_numbers_of(found), _numbers_of(named)) else "none"


def _numbers_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return the terms and the numbers of an estimate."""
    asked = document.get("questions")
    questions = [
        {name: _without_shown(question.get(name)) for name in _NUMBERS} if isinstance(question, dict) else question
        for question in (asked if isinstance(asked, list) else [asked])
    ]
    return {name: document.get(name) for name in _TERMS} | {"questions": questions}


def _without_shown(document: Any) -> Any:
    if isinstance(document, dict):
        return {name: _without_shown(value) for name, value in document.items() if name != "shown"}
    return [_without_shown(value) for value in document] if isinstance(document, list) else document


def check_answers(study: Study, seal: Seal, answers: Iterable[tuple[bytes, str]]) -> None:
    """Count exported answers again, and compare them with the seal.

    Raises:
        SealBroken: Naming the first thing that differs.
    """
    found = digest_of(study, answers, sealed=None if seal.root is None else seal.answers)
    again = Seal.of(study, found, seal.closed, seal.tally)
    for name in ("answers", "answers_sha256", "tally", "root", "sites"):
        recounted, expected = getattr(again, name), getattr(seal, name)
        if recounted != expected:
            raise SealBroken(f"{name} is {_short(recounted)} by the export, and {_short(expected)} by the seal")


def digest_of(study: Study, answers: Iterable[tuple[bytes, str]], *, sealed: int | None = None) -> AnswerDigest:
    """Digest answers page by page if they are sorted, as an export is; else sort them first, which takes the memory.

    Their tree is made, too, if it is said how many were ``sealed``.
    """

    def empty() -> AnswerDigest:
        growing = None if sealed is None else Growing(sealed)
        return AnswerDigest(study.digest, growing=growing, listed=study.mechanism.contributors_known)

    digest, several = empty(), iter(answers)
    if several is not answers:  # can be read again
        try:
            while page := list(islice(several, PAGE)):
                digest.add(page)
        except SealBroken:
            digest = empty()
        else:
            return digest
    digest.add(sorted(answers))
    return digest


class Export:
    """Exported answers, NDJSON, or Parquet if it starts as Parquet does; read anew each time.

    Args:
        source: A file, or what opens one, as for a file in an archive.
        study: The study that they answer.
    """

    def __init__(self, source: Path | Callable[[], BinaryIO], study: Study) -> None:
        self._source = source
        self._study = study

    def __iter__(self) -> Iterator[tuple[bytes, str]]:
        """Read the answers one by one.

        Raises:
            InvalidInput: If there is no such file, or a line is no answer to the study.
        """
        try:
            with self._source.open("rb") if isinstance(self._source, Path) else self._source() as file:
                start = file.read(4)
                file.seek(0)
                if start == b"PAR1":
                    yield from _read_parquet(file, self._study)
                    return
                for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), start=1):
                    answer = _answer(self._study, number, line.rstrip(b"\n"))
                    yield bytes.fromhex(answer.id), payload_text(answer.payload)
        except OSError as error:
            raise InvalidInput("export", self._source, f"cannot be read: {error.strerror}") from None


def _answer(study: Study, number: int, line: bytes) -> Answer:
    try:
        answer = Answer.from_bytes(line)
        study.check_payload(answer.payload)
        if answer.study != study.digest:
            raise InvalidInput("study", answer.study, f"must be {study.digest}")
    except InvalidInput as error:
        raise InvalidInput(f"line {number}: {error.field}", error.value, error.rule) from None
    return answer


def _read_parquet(source: BinaryIO, study: Study) -> Iterator[tuple[bytes, str]]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(source) as file:
            names, column = set(file.schema_arrow.names), column_of(study.mechanism.numbers)
            if not {"id", column} <= names:
                raise InvalidInput("export", ", ".join(sorted(names)), f"must have the columns id and {column}")
            named = (file.schema_arrow.metadata or {}).get(b"fairgauge.study", study.digest.encode())
            if named != study.digest.encode():
                raise InvalidInput("export: study", named.decode("ascii", "replace"), f"must be {study.digest}")
            for batch in file.iter_batches(columns=["id", column]):
                ids, held = batch.column("id"), batch.column(column)
                if ids.null_count or held.null_count or not _are_answers(ids.type, held.type):
                    rule = f"must be ids of 16 bytes, and integers in the column {column}"
                    raise InvalidInput("export", f"{ids.type}, {held.type}", rule)
                for id_, value in zip(ids.to_pylist(), held.to_pylist(), strict=True):
                    payload = tuple(value) if isinstance(value, list) else (value,)
                    try:
                        study.check_payload(payload)
                    except InvalidInput as error:
                        raise InvalidInput(f"answer {id_.hex()}: {error.field}", error.value, error.rule) from None
                    yield id_, payload_text(payload)
    except pa.ArrowException as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidInput("export", "a Parquet file", f"must be whole: {first}") from None


def _are_answers(ids: Any, held: Any) -> bool:
    from pyarrow import types

    number = held.value_type if types.is_list(held) else held
    return bool((types.is_binary(ids) or types.is_fixed_size_binary(ids)) and types.is_integer(number))


def _found(study: Study, sealed: Sealed) -> dict[str, Any]:
    """Return the estimate that the sealed tally gives, by the terms that the seal names."""
    tally, named = sealed.seal.counted, sealed.estimate
    terms = {"confidence": named.get("confidence", 0.99), "interval": str(named.get("interval", ""))}
    return estimation.estimate(study, tally, **terms).to_dict()


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 70 else text[:67] + "..."


def _close(one: object, other: object) -> bool:
    """Compare two JSON documents; numbers may differ in the last digits, as they do between processors."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_close(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_close, one, other))
    if isinstance(one, float) and isinstance(other, int | float):
        return abs(one - other) <= 1e-6 * max(1.0, abs(one))
    return one == other
