"""From what is stored of a closed study to its seal, if the store agrees with itself."""

import asyncio
from collections import Counter

from fairgauge.collector.merkle import Growing
from fairgauge.collector.seal import AnswerDigest, Seal
from fairgauge.collector.stores.base import Published, Store
from fairgauge.errors import SealBroken, StoreError
from fairgauge.server.coarse_time import moment_of
from fairgauge.study import Study


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
