"""The list of studies: what is asked, and what state each study is in."""

import asyncio
from dataclasses import dataclass

from fairgauge.collector.buckets import seconds_of
from fairgauge.collector.service import Collector
from fairgauge.collector.stores.base import Published
from fairgauge.study import Study

SHOWN = 100
_REMEMBERED = 10_000


@dataclass(frozen=True)
class Asked:
    """What a list says of a study; it never changes."""

    title: str
    asks: str
    opens: float | None


@dataclass(frozen=True)
class Card:
    """A study on a list."""

    kept: Published
    asked: Asked
    state: str
    answers: int


class Catalogue:
    """The studies of one collector."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._asked: dict[str, Asked] = {}

    async def asked(self, digest: str) -> Asked:
        """Return what a study asks."""
        found = self._asked.get(digest)
        if found is None:
            found = await asyncio.to_thread(_read, await self._collector.study(digest))
            if len(self._asked) >= _REMEMBERED:
                self._asked.clear()
            self._asked[digest] = found
        return found

    async def cards(self, *, everything: bool) -> tuple[list[Card], int]:
        """Return the newest studies, all or those with public results, and how many there are beyond them."""
        listed = [kept for kept in await self._collector.store.studies() if everything or kept.public]
        return [await self._card(kept) for kept in listed[:SHOWN]], max(0, len(listed) - SHOWN)

    async def _card(self, kept: Published) -> Card:
        asked = await self.asked(kept.digest)
        answers = sum((await self._collector.store.tally(kept.number)).values())
        return Card(kept, asked, self.state(kept, asked), answers)

    def state(self, kept: Published, asked: Asked) -> str:
        """Return what a study is doing, in a word."""
        now = self._collector.clock()
        if kept.sealed:
            return "sealed"
        if kept.closed is not None or (kept.closes is not None and now >= kept.closes):
            return "closed"
        return "not open yet" if asked.opens is not None and now < asked.opens else "open"


def _read(study: Study) -> Asked:
    # Here, and not above: a collector that restarts takes answers a second earlier.
    from fairgauge.reports.words import question_sentence

    opens = None if study.opens is None else seconds_of(study.opens)
    return Asked(study.title, " ".join(map(question_sentence, study.questions)), opens)
