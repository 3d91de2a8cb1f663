"""The list of studies: what is asked, and what state each study is in."""

import asyncio
from dataclasses import dataclass

from fairgauge.client.moments import sharing
from fairgauge.collector.service import Collector
from fairgauge.collector.stores.base import Published
from fairgauge.languages import Voice
from fairgauge.reports.display import display_of
from fairgauge.reports.naming import title_in
from fairgauge.reports.views import naming
from fairgauge.study import Study

SHOWN = 100
_REMEMBERED = 10_000


@dataclass(frozen=True)
class Asked:
    """What a list says of a study in one language; it never changes.  ``lang`` is the title's, if the study says it."""

    title: str
    asks: str
    lang: str | None = None
    count: str = "study.answers"  # the key of how many there are
    contributors_known: bool = False
    sharing: str = ""  # how many share an epoch, for its operator


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
        self._asked: dict[tuple[str, Voice], Asked] = {}

    async def asked(self, digest: str, voice: Voice) -> Asked:
        """Return what a study asks."""
        found = self._asked.get((digest, voice))
        if found is None:
            found = await asyncio.to_thread(_read, await self._collector.study(digest), voice)
            if len(self._asked) >= _REMEMBERED:
                self._asked.clear()
            self._asked[digest, voice] = found
        return found

    async def cards(self, voice: Voice, *, everything: bool) -> tuple[list[Card], int]:
        """Return the newest studies, all or those with public results, and how many there are beyond them."""
        listed = [kept for kept in await self._collector.store.studies() if everything or kept.public]
        return [await self._card(kept, voice) for kept in listed[:SHOWN]], max(0, len(listed) - SHOWN)

    async def _card(self, kept: Published, voice: Voice) -> Card:
        asked = await self.asked(kept.digest, voice)
        answers = sum((await self._collector.store.arrivals(kept.number)).values())
        return Card(kept, asked, kept.state(self._collector.clock()), answers)


def _read(study: Study, voice: Voice) -> Asked:
    title, lang = title_in(study, voice)
    display = display_of(study.mechanism)
    said = [naming(study, question, voice).tell(sentence) for question, sentence in display.asks(study)]
    count, known = display.count, study.mechanism.contributors_known
    return Asked(title, " ".join(said), lang, count, known, sharing(study)[0])
