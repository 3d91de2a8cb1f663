"""A person with a browser, who remembers every request and every complaint of the page."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request


@dataclass
class Visitor:
    """A browser's profile of its own: one context, any number of tabs."""

    context: BrowserContext
    url: str
    requests: list[Request] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context.on("request", lambda request: self.requests.append(request))  # noqa: PLW0108 - no built-in will do
        self.context.on("console", self._hear)
        self.context.on("weberror", lambda error: self.complaints.append(str(error.error)))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def open(self, path: str) -> Page:
        """Open a page of the collector in a new tab."""
        page = self.context.new_page()
        page.goto(self.url + path)
        return page

    @property
    def elsewhere(self) -> list[str]:
        """Addresses outside the collector that the browser asked for."""
        here = (self.url + "/", "data:", "blob:")
        return [request.url for request in self.requests if not request.url.startswith(here)]

    def check_quiet(self) -> None:
        """Fail if the console said anything bad, or a request went elsewhere."""
        assert self.complaints == []
        assert self.elsewhere == []


def until(page: Page, what: Callable[[], object]) -> None:
    """Let a page go on until something is true of what it has done."""
    for _ in range(1200):
        if what():
            return
        page.wait_for_timeout(50)
    raise AssertionError("the page never did it")


def barriers(page: Page) -> list[dict[str, Any]]:
    """Return what axe-core finds about a page, each with the elements that it is about."""
    found = Axe().run(page).response["violations"]
    return [
        {"rule": one["id"], "help": one["help"], "elements": [node["html"] for node in one["nodes"]]} for one in found
    ]
