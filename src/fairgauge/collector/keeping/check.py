"""Does a store agree with itself: documents with digests, tallies with answers, seals with both?

It may be asked of a store that a collector is writing.  Counts only grow, so what was counted one by one must lie
between the tally before and the tally after.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from fairgauge.collector.keeping.check_sites import check_sites, whose_seal
from fairgauge.collector.seal import AnswerDigest, Sealed, read_sealed
from fairgauge.collector.signing import signature_is_good
from fairgauge.collector.stores.base import Published, Store
from fairgauge.collector.tree import Growing
from fairgauge.errors import FairgaugeError, StoreDamaged
from fairgauge.study import Study, parse

ENOUGH_SECONDS = 3600.0


@dataclass(frozen=True)
class Checked:
    """What was looked at, and every contradiction that was found."""

    studies: int
    answers: int
    seals: int
    pages: bool  # whether every page of the file was read
    faults: tuple[str, ...]


async def check_store(store: Store, *, progress: Callable[[str], object] = str) -> Checked:
    """Look at everything in a store.

    Args:
        store: The store, open to read.
        progress: Called with the title of each study before it is looked at.
    """
    faults: list[str] = []
    try:
        pages = await store.check_pages(ENOUGH_SECONDS)
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
    study = _for_sites(kept.document)
    if study is not None:
        found = await check_sites(store, kept, study)
        return _Found(found.answers, faults + found.faults)
    before = await store.counts(kept.number)
    recounted = AnswerDigest(kept.digest, growing=None if kept.batch is None else Growing(sum(before.values())))
    try:
        async for page in store.answers(kept.number):
            recounted.add(page)
    except FairgaugeError as error:
        faults.append(f"its answers cannot be read: {error}")
    after = await store.counts(kept.number)
    if kept.dropped is None and not _between(before, recounted.counts, after):
        faults.append(f"its tally says {sum(after.values()):,} answers and there are {recounted.answers:,}")
    arrived = sum((await store.arrivals(kept.number)).values())
    if not sum(before.values()) <= arrived <= sum((await store.counts(kept.number)).values()):
        faults.append(f"its hours add up to {arrived:,} answers and its tally to {sum(after.values()):,}")
    if kept.batch is not None:
        faults += await _check_batches(store, kept, kept.batch)
    sealed = await store.sealed(kept.number)
    if sealed is not None:
        faults += _check_seal(kept, sealed, await store.tally(kept.number), recounted)
    return _Found(recounted.answers, faults)


def _for_sites(document: bytes) -> Study | None:
    """Return a study that is for sites; None for any other, and for what cannot be read."""
    try:
        study = parse(document)
    except FairgaugeError:
        return None
    return study if study.counts_mechanism is not None else None


async def _check_batches(store: Store, kept: Published, size: int) -> list[str]:
    """Whatever readers see is a sum of whole batches; the last one may be larger than the others."""
    totals = [sum(look.values()) for look in await store.looks(kept.number)]
    shown = sum((await store.tally(kept.number)).values())
    over = await store.study(kept.digest)
    if over is not None and over.closed is None and shown % size:
        return [f"it shows {shown:,} answers, which is no number of whole batches of {size:,}"]
    return [f"it shows {total:,} answers, and a batch has {size:,}" for total in (*totals, shown) if 0 < total < size]


def _check_seal(kept: Published, document: bytes, tally: Mapping[int, int], recounted: AnswerDigest) -> list[str]:
    try:
        sealed: Sealed = read_sealed(document)
    except FairgaugeError as error:
        return [f"its seal cannot be read: {error}"]
    seal, faults = sealed.seal, whose_seal(kept, sealed)
    if {symbol: count for symbol, count in enumerate(seal.tally) if count} != {s: c for s, c in tally.items() if c}:
        faults.append("its tally is not the one that was sealed")
    found = (recounted.answers, recounted.hexdigest(), recounted.root)
    if kept.dropped is None and found != (seal.answers, seal.answers_sha256, seal.root):
        faults.append("its answers are not those that were sealed")
    return faults


def _between(before: Mapping[int, int], counted: Mapping[int, int], after: Mapping[int, int]) -> bool:
    symbols = set(before) | set(counted) | set(after)
    least, found, most = (Counter(dict(counts)) for counts in (before, counted, after))
    return all(least[symbol] <= found[symbol] <= most[symbol] for symbol in symbols)
