"""``GET /studies/{digest}/inclusion``: what a device needs to see that its answer is among those that were sealed."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from fairgauge.client.inclusion_proof import PURPOSE, bucket_of, depth_of, leaf_of, signed_bytes
from fairgauge.collector.access import collector_of
from fairgauge.collector.merkle import Growing, Tree
from fairgauge.collector.queries import InclusionQuery
from fairgauge.collector.seal import AnswerDigest, lines_of, read_sealed
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.shapes import Inclusion
from fairgauge.errors import InvalidInput, StoreError
from fairgauge.server.server_errors import AnswersGone, NotSealed

_KEPT = 16  # studies whose trees are kept in memory: 32 bytes for some 256 answers


class Trees:
    """The trees of sealed studies, each made from the answers when it is first asked for, one at a time."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._known: dict[str, tuple[Tree, int]] = {}
        self._making = asyncio.Lock()

    async def find(self, entry: Entry) -> tuple[Tree, int]:
        """Return the tree of a sealed study, and how many answers it is over.

        Raises:
            NotSealed: If it is not in the crowd, or not sealed yet.
            AnswersGone: If its answers were removed.
        """
        if not (entry.kept.in_crowd and entry.kept.sealed):
            raise NotSealed("A study in the crowd has such proofs when it is sealed; others have their export.")
        if entry.kept.dropped is not None:
            raise AnswersGone("They were removed after the study was sealed; the tally and the seal are kept.")
        async with self._making:
            if entry.digest not in self._known:
                made = await self._make(entry)
                if len(self._known) >= _KEPT:
                    self._known.clear()
                self._known[entry.digest] = made
            return self._known[entry.digest]

    async def _make(self, entry: Entry) -> tuple[Tree, int]:
        store = self._collector.store
        sealed = read_sealed(await store.sealed(entry.number) or b"")
        growing = Growing(sealed.seal.answers)
        digest = AnswerDigest(entry.digest, growing=growing)
        async for page in store.answers(entry.number):
            await asyncio.to_thread(digest.add, page)
        tree = growing.tree()
        if tree.root != sealed.seal.root:
            raise StoreError(f"the answers of study {entry.digest} are not those that were sealed")
        return tree, sealed.seal.answers


async def inclusion(request: Request, query: InclusionQuery) -> Response:
    """Show the root, and the leaves of one bucket with their way to it, if one is asked for."""
    collector = collector_of(request)
    entry = await collector.current(request.path_params["digest"])
    tree, answers = await request.scope["app"].pages.trees.find(entry)
    depth = depth_of(answers)
    leaves, path, bucket = None, None, None if query.bucket < 0 else query.bucket
    if bucket is not None:
        if bucket >= 2**depth:
            raise InvalidInput("bucket", bucket, f"must be from 0 to {2**depth - 1}")
        leaves, path = await _leaves(collector, entry, bucket, depth), tree.path(bucket)
    signature = collector.signer.sign(PURPOSE, signed_bytes(entry.digest, answers, tree.root))
    key = collector.signer.public
    found = Inclusion(entry.digest, answers, tree.root, key, signature, bucket, leaves, path)
    return Response(found.to_bytes(), 200, {"Cache-Control": "no-store"}, "application/json")


async def _leaves(collector: Collector, entry: Entry, bucket: int, depth: int) -> list[str]:
    """Return the leaves of a bucket, sorted: their order tells nothing."""
    first = (bucket << (128 - depth)).to_bytes(16)
    found = []
    async for page in collector.store.answers(entry.number, start=first):
        inside = [row for row in page if bucket_of(row[0], depth) == bucket]
        found += [leaf_of(line).hex() for line in lines_of(entry.digest, inside).splitlines()]
        if len(inside) < len(page):
            break
    return sorted(found)
