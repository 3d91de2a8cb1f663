"""A seal checked by whoever has the study and the export: everything is computed again, and compared."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO, Literal

from fairgauge import __version__, estimation
from fairgauge.client import Answer
from fairgauge.collector.merkle import Growing
from fairgauge.collector.seal import AnswerDigest, Seal, Sealed
from fairgauge.collector.stores.released_sums import payload_text
from fairgauge.errors import InvalidInput, SealBroken
from fairgauge.study import Study
from fairgauge.study.mechanism import payload_field

_Agreement = Literal["whole", "numbers", "none"]
_PAGE = 10_000
_LONGEST_LINE = 2**21
# What is compared of an estimate that another version may have put into other words.
_TERMS = ("study", "confidence", "interval", "tolerance")
_NUMBERS = ("metric", "attribute", "answers", "gaps", "means", "overall", "shares", "answered")


def wrong_draws(study: Study, seal: Seal) -> str | None:
    """Say what is wrong with how many secret draws a seal's tally has; None if nothing is."""
    if study.release is None:
        return None
    drawn, wanted = seal.counted.draws(study), study.release.draws * study.release.batches(seal.answers)
    if drawn != wanted:
        return f"the tally has {drawn:,} secret draws, and so many answers leave with {wanted:,}"
    return None


def agreement(study: Study, sealed: Sealed) -> _Agreement:
    """Tell how much of the sealed estimate is what the sealed tally gives.

    Returns:
        ``whole``: every number and sentence.  ``numbers``: another version sealed it, which may have said the same in
        other words, and the numbers agree.  ``none``: they do not.
    """
    named, same = sealed.estimate, sealed.version == __version__
    found = _found(study, sealed, same=same)
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

    They are read from their beginning again where they are not sorted: an :class:`Export` or a list, not an iterator.
    Their tree is made, too, if it is said how many were ``sealed``.
    """

    def empty() -> AnswerDigest:
        growing = None if sealed is None else Growing(sealed)
        return AnswerDigest(study.digest, growing=growing, listed=study.mechanism.contributors_known)

    digest, several = empty(), iter(answers)
    try:
        while page := list(islice(several, _PAGE)):
            digest.add(page)
    except SealBroken:
        digest = empty()
        digest.add(sorted(answers))
    return digest


class Export:
    """Exported answers, NDJSON, or Parquet if it starts as Parquet does; read anew each time.

    Args:
        source: Opens the file, which may be in an archive.
        study: The study that they answer.
    """

    def __init__(self, source: Callable[[], BinaryIO], study: Study) -> None:
        self._source = source
        self._study = study

    def __iter__(self) -> Iterator[tuple[bytes, str]]:
        """Read the answers one by one.

        Raises:
            InvalidInput: If there is no such file, or a line is no answer to the study.
        """
        try:
            with self._source() as file:
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
            names, column = set(file.schema_arrow.names), payload_field(study.mechanism.numbers)
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


def _found(study: Study, sealed: Sealed, *, same: bool) -> dict[str, Any]:
    """Return the estimate that the sealed tally gives, on the terms on which it is sealed.

    A collector has no choice of these, and nothing signs them: only another version may have had others.
    """
    tally, named = sealed.seal.counted, sealed.estimate
    terms = {"confidence": named.get("confidence", 0.99), "interval": str(named.get("interval", ""))}
    return estimation.estimate(study, tally, **({} if same else terms)).to_dict()


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
