"""The end of a study: a snapshot that cannot be changed without anyone noticing.

The export of a study is one canonical answer a line, sorted by id.  The seal holds the SHA-256 of exactly those bytes
(``sha256sum answers.ndjson``), the tally, and the collector's signature over both; beside it stands the estimate,
which anyone can compute again from the study and the tally.

Some answers are nobody's to see but the operator's: those of a study in the crowd, and what sites counted.  Then the
tally is empty if there were too few of them: nothing is shown of fewer than three sites, since one of two could take
its own counts away from the sum.  The seal of a study in the crowd also has the root of a tree over its answers, so
that a device can check that its own is in; where it is no secret who contributes, the seal lists them.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

from fairgauge import __version__, estimation
from fairgauge.canonical_json import encode, members, once
from fairgauge.collector.merkle import Growing
from fairgauge.collector.stores.released_sums import may_leave, summed
from fairgauge.collector.stores.store import Published, Store
from fairgauge.crowd import blanket_weights, misfit
from fairgauge.errors import OF_BEFORE, InvalidInput, SealBroken, StoreError
from fairgauge.reports.provenance import SealNote
from fairgauge.server.coarse_time import moment_of
from fairgauge.study import Study
from fairgauge.tallies import Tally

_FORMAT = 1
_DRAFTS = (2, 3)  # numbers that seals with a root and seals of sites had before the first release
PURPOSE = "seal"


@dataclass(frozen=True, slots=True)
class Seal:
    """What is signed when a study is over."""

    study: str
    answers: int
    answers_sha256: str
    tally: tuple[int, ...]
    closed: str
    format: int = _FORMAT
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
        sums = _released_tally(study, found.counts, found.answers)
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
            self._names += [_listed_name(id_) for id_, _ in page]
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


def _listed_name(id_: bytes) -> str:
    """Return what stands for a contributor in a seal: half of the SHA-256 of the answer's id.

    The id may be a ticket.  Its holder finds itself in the list; whoever reads it cannot ask a collector about it.

    >>> _listed_name(bytes(16))
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
        document = json.loads(data, object_pairs_hook=once(InvalidInput))
        fields = dict(document["seal"])
        fields |= {name: tuple(fields[name]) for name in ("tally", "sites") if name in fields}
        seal = Seal(**fields)
        key, signature, estimate = (document[name] for name in ("key", "signature", "estimate"))
        if "version" not in document or seal.format in _DRAFTS:
            raise InvalidInput("sealed.format", seal.format, OF_BEFORE)
        members(document, "seal", "key", "signature", "estimate", "version", error=InvalidInput)
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
    if type(seal.format) is not int or seal.format != _FORMAT:
        raise InvalidInput("sealed.format", seal.format, f"must be {_FORMAT}")
    return found


def batch_of(study: Study) -> int | None:
    """Return of how many answers at least a study shows a sum; None if of any."""
    return study.mechanism.fewest if study.release is None else study.release.batch


def leaves_at_end(study: Study) -> bool:
    """Tell whether a study shows a sum when it has closed, and not before."""
    return study.release is None and batch_of(study) is not None


def shown_answers(study: Study, answers: int) -> int:
    """Return how many of so many answers a closed study shows: all of them, or none if they are too few."""
    batch = batch_of(study)
    return answers if batch is None or may_leave(answers, batch, at_end=leaves_at_end(study)) else 0


def _released_tally(study: Study, counts: Mapping[int, int], answers: int) -> tuple[int, ...]:
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


async def seal_of(store: Store, study: Study, kept: Published, *, recorded: str | None = None) -> Seal:
    """Return the seal of a study that takes no more answers; it says since when there is a record, if one was lost.

    Raises:
        StoreError: If its tally is not what its answers give.
    """
    came = sum((await store.arrivals(kept.number)).values())
    growing = Growing(came) if kept.in_crowd else None
    found = AnswerDigest(kept.digest, growing=growing, listed=study.mechanism.contributors_known)
    async for page in store.answers(kept.number):
        await asyncio.to_thread(found.add, page)
    counts = await store.tally(kept.number)
    shown = tuple(counts.get(place, 0) for place in range(study.symbols))
    broken = StoreError(f"the tally of study {kept.digest} does not equal its answers: it is not sealed")
    try:
        seal = Seal.of(study, found, moment_of(kept.closed or 0), shown, recorded=recorded)
    except SealBroken:
        raise broken from None
    agrees = study.release is not None or Counter(await store.counts(kept.number)) == Counter(found.counts)
    if not agrees or came != found.answers or seal.tally != shown:
        raise broken
    return seal
