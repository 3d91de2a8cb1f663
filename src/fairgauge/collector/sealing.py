"""From what is stored of a closed study to its seal, if the store agrees with itself."""

import asyncio

from fairgauge.collector.buckets import moment_of
from fairgauge.collector.seal import AnswerDigest, Seal, released_tally
from fairgauge.collector.seal_sites import answers_in
from fairgauge.collector.stores.base import Published, Store
from fairgauge.collector.tree import Growing
from fairgauge.errors import StoreError
from fairgauge.study import Study


async def seal_of(store: Store, study: Study, kept: Published) -> Seal:
    """Return the seal of a study that takes no more answers.

    Raises:
        StoreError: If its tally is not what its answers give.
    """
    return await (_of_devices(store, study, kept) if study.counts_mechanism is None else _of_sites(store, study, kept))


async def _of_devices(store: Store, study: Study, kept: Published) -> Seal:
    counts = await store.counts(kept.number)
    found = AnswerDigest(kept.digest, growing=None if kept.batch is None else Growing(sum(counts.values())))
    async for page in store.answers(kept.number):
        await asyncio.to_thread(found.add, page)
    shown = await store.tally(kept.number)
    tally = tuple(shown.get(symbol, 0) for symbol in range(study.symbols))
    if counts != found.counts or tally != released_tally(study, counts):
        raise StoreError(f"the tally of study {kept.digest} does not equal its answers: it is not sealed")
    closed = moment_of(kept.closed or 0)
    return Seal(kept.digest, found.answers, found.hexdigest(), tally, closed, root=found.root)


async def _of_sites(store: Store, study: Study, kept: Published) -> Seal:
    answers = answers_in(kept.digest, await store.sites(kept.number))
    if len(answers) != sum((await store.arrivals(kept.number)).values()):
        raise StoreError(f"the answers of study {kept.digest} are not as many as came: it is not sealed")
    return await asyncio.to_thread(Seal.of_sites, study, answers, moment_of(kept.closed or 0))
