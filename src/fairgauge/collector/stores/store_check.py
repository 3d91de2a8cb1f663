"""Does a store agree with itself: documents with digests, tallies with answers, seals with both?

It may be asked of a store that a collector is writing.  What was added up one by one must lie between the tally before
and the tally after.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from fairgauge.collector.merkle import Growing
from fairgauge.collector.seal import PURPOSE, AnswerDigest, Sealed, read_sealed
from fairgauge.collector.signatures import signature_is_good
from fairgauge.collector.stores.store import Published, Store
from fairgauge.crowd import blanket_weights, misfit
from fairgauge.errors import FairgaugeError, StoreDamaged
from fairgauge.study import parse

_ENOUGH_SECONDS = 3600.0
_TRIES = 3  # sums of what may be negative need not lie between those before and after; seldom does one come each time


@dataclass(frozen=True)
class Checked:
    """What was looked at, and every contradiction that was found."""

    studies: int
    answers: int
    seals: int
    pages: bool  # whether every page of the file was read
    faults: tuple[str, ...]
    over: tuple[str, ...] = ()  # studies that were open in a copy, and are over by the record of seals


async def check_store(store: Store, *, progress: Callable[[str], object] = str) -> Checked:
    """Look at everything in a store.

    Args:
        store: The store, open to read.
        progress: Called with the title of each study before it is looked at.
    """
    faults: list[str] = []
    try:
        pages = await store.check_pages(_ENOUGH_SECONDS)
    except StoreDamaged as damage:
        return Checked(0, 0, 0, pages=False, faults=(str(damage),))
    answers = seals = 0
    listed = await store.studies()
    for one in listed:
        kept = await store.study(one.digest)
        if kept is None:
            continue  # deleted while we looked
        progress(kept.title)
        found = await _check_study(store, kept)
        answers += found.answers
        seals += kept.sealed
        faults += [f"study {kept.digest[:12]}… ({kept.title}): {fault}" for fault in found.faults]
    return Checked(len(listed), answers, seals, pages, tuple(faults))


@dataclass(frozen=True)
class _Found:
    answers: int
    faults: list[str]


async def _check_study(store: Store, kept: Published) -> _Found:
    faults = []
    if sha256(kept.document).hexdigest() != kept.digest:
        faults.append("its document is not the one that its digest names")
    if kept.key and not signature_is_good(kept.key, "study", kept.document, kept.signature):
        faults.append("its signature is not by its key")
    sealed, told = await _sealed(store, kept)
    faults += told
    for _ in range(_TRIES):
        recounted, told = await _recounted(store, kept, sealed)
        if not told:
            break
    faults += told
    if kept.in_crowd:
        faults += await _check_batches(store, kept, recounted)
    if sealed is not None:
        faults += _check_seal(kept, sealed, await store.tally(kept.number), recounted)
    return _Found(recounted.answers, faults)


async def _sealed(store: Store, kept: Published) -> tuple[Sealed | None, list[str]]:
    document = await store.sealed(kept.number)
    try:
        return None if document is None else read_sealed(document), []
    except FairgaugeError as error:
        return None, [f"its seal cannot be read: {error}"]


async def _recounted(store: Store, kept: Published, sealed: Sealed | None) -> tuple[AnswerDigest, list[str]]:
    """Add up all answers, and compare with the tally and with the hours; what comes meanwhile lies between."""
    faults = []
    came, before = sum((await store.arrivals(kept.number)).values()), await store.counts(kept.number)
    listed = sealed is not None and sealed.seal.sites is not None
    found = AnswerDigest(kept.digest, growing=Growing(came) if kept.in_crowd else None, listed=listed)
    try:
        async for page in store.answers(kept.number):
            found.add(page)
    except (FairgaugeError, ValueError) as error:
        faults.append(f"its answers cannot be read: {error}")
    after, arrived = await store.counts(kept.number), sum((await store.arrivals(kept.number)).values())
    if kept.dropped is None and not kept.in_crowd and not _between(before, found.counts, after):
        faults.append(f"its tally is not the sum of its {found.answers:,} answers")
    answers = sealed.seal.answers if kept.dropped is not None and sealed is not None else found.answers
    if not came <= answers <= arrived:
        faults.append(f"its hours add up to {arrived:,} answers and there are {answers:,}")
    return found, faults


async def _check_batches(store: Store, kept: Published, recounted: AnswerDigest) -> list[str]:
    """Whatever readers see are whole batches with their draws; counts less answers are draws and nothing else."""
    study = parse(kept.document)
    if study.release is None:
        return ["it is kept as a study in the crowd, and its document says nothing of that"]
    size, draws = study.release.batch, study.release.draws
    shown, now = sum((await store.tally(kept.number)).values()), await store.study(kept.digest)
    faults = []
    if now is not None and now.closed is None and shown % (size + draws):
        faults.append(f"it shows {shown:,}, which is no number of whole batches of {size:,} with {draws:,} draws")
    if kept.dropped is None:
        counts = await store.counts(kept.number)
        more = [counts.get(place, 0) - recounted.counts.get(place, 0) for place in range(study.symbols)]
        wrong = misfit(blanket_weights(study.channels), draws, more)
        # While answers come, some are counted that were not read yet.
        if wrong is not None and now is not None and now.closed is not None:
            faults.append(f"its counts less its answers are no secret draws: {wrong}")
    return faults


def _check_seal(kept: Published, sealed: Sealed, tally: Mapping[int, int], recounted: AnswerDigest) -> list[str]:
    seal, faults = sealed.seal, []
    if seal.study != kept.digest:
        faults.append("its seal is of another study")
    if not signature_is_good(sealed.key, PURPOSE, seal.to_bytes(), sealed.signature):
        faults.append("its seal is not signed by the key that it names")
    if Counter(dict(enumerate(seal.tally))) != Counter(dict(tally)):
        faults.append("its tally is not the one that was sealed")
    names = recounted.names if seal.sites else seal.sites  # of too few none is listed
    found = (recounted.answers, recounted.hexdigest(), recounted.root, names)
    if kept.dropped is None and found != (seal.answers, seal.answers_sha256, seal.root, seal.sites):
        faults.append("its answers are not those that were sealed")
    return faults


def _between(before: Mapping[int, int], counted: Mapping[int, int], after: Mapping[int, int]) -> bool:
    places = set(before) | set(counted) | set(after)
    first, found, last = (Counter(dict(counts)) for counts in (before, counted, after))
    return all(min(first[at], last[at]) <= found[at] <= max(first[at], last[at]) for at in places)
