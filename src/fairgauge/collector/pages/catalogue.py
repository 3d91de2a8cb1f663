"""The list of studies: what is asked, and what state each study is in."""

import asyncio
from dataclasses import dataclass

from fairgauge.collector.service import Collector
from fairgauge.collector.stores.base import Published
from fairgauge.reports.sites import asks_sentence
from fairgauge.reports.words import question_sentence
from fairgauge.study import Study

SHOWN = 100
_REMEMBERED = 10_000


@dataclass(frozen=True)
class Asked:
    """What a list says of a study; it never changes."""

    title: str
    asks: str
    counted: str = "answers"


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
        answers = sum((await self._collector.store.arrivals(kept.number)).values())
        return Card(kept, asked, kept.state(self._collector.clock()), answers)


def _read(study: Study) -> Asked:
    asks = map(question_sentence, study.questions) if study.site is None else [asks_sentence(study.site)]
    return Asked(study.title, " ".join(asks), "answers" if study.site is None else "sites")
