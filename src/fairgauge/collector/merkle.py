"""The tree over a sealed study's answers, from which a device is shown that its own is in."""

from collections.abc import Sequence
from dataclasses import dataclass

from fairgauge.client.inclusion_proof import bucket_of, depth_of, hash_bucket, hash_pair, leaf_of


@dataclass(frozen=True, slots=True)
class Tree:
    """The hashes of all buckets, and of the nodes above them, the root last."""

    levels: tuple[tuple[bytes, ...], ...]

    @property
    def root(self) -> str:
        """The root, in hexadecimal."""
        return self.levels[-1][0].hex()

    def path(self, bucket: int) -> list[str]:
        """Return the neighbours on the way from a bucket up to the root."""
        found = []
        for level in self.levels[:-1]:
            found.append(level[bucket ^ 1].hex())
            bucket >>= 1
        return found


class Growing:
    """Makes a tree from answers that are sorted by id, one bucket at a time.

    Args:
        answers: How many there will be: that decides how many buckets there are.
    """

    def __init__(self, answers: int) -> None:
        self._depth = depth_of(answers)
        self._hashes: list[bytes] = []
        self._leaves: list[bytes] = []

    def add(self, ids: Sequence[bytes], lines: Sequence[bytes]) -> None:
        """Add answers, given their ids and their canonical bytes."""
        for id_, line in zip(ids, lines, strict=True):
            while len(self._hashes) < bucket_of(id_, self._depth):
                self._end_bucket()
            self._leaves.append(leaf_of(line))

    def _end_bucket(self) -> None:
        self._hashes.append(hash_bucket(self._leaves))
        self._leaves = []

    def tree(self) -> Tree:
        """Return the tree of all that was added."""
        while len(self._hashes) < 2**self._depth:
            self._end_bucket()
        levels = [tuple(self._hashes)]
        while len(levels[-1]) > 1:
            below = levels[-1]
            levels.append(tuple(hash_pair(below[at], below[at + 1]) for at in range(0, len(below), 2)))
        return Tree(tuple(levels))
