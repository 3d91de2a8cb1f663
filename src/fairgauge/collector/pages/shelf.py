"""What the pages of one collector share: the list of studies, worked-out results, and those who watch."""

import asyncio

from starlette.requests import Request

from fairgauge.collector.pages.catalogue import Catalogue
from fairgauge.collector.pages.live import Live
from fairgauge.collector.pages.results import Reckoner
from fairgauge.collector.routes.inclusion import Trees
from fairgauge.collector.service import Collector


class Pages:
    """The pages of one collector."""

    def __init__(self, collector: Collector) -> None:
        self.catalogue = Catalogue(collector)
        self.reckoner = Reckoner(collector)
        self.live = Live(collector, self.reckoner)
        self.trees = Trees(collector)
        self.designing = asyncio.Lock()  # one at a time: answers come first


def pages_of(request: Request) -> Pages:
    """Return the pages of the collector that a request is for."""
    found: Pages = request.scope["app"].pages
    return found
