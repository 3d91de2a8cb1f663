"""A Chromium, a real collector on loopback, and visitors who watch the network and the console.

Playwright keeps an event loop in this thread for as long as it runs, so its fixtures live no longer than this
package's tests, and nothing here may call ``asyncio.run`` in the same thread.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from fairgauge.server.tickets import Tickets
from fairgauge.study import Study
from tests.browser.visitor import Visitor
from tests.collecting.servers import ServerProcess

HERE = Path(__file__).parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = "tests in a browser need Chromium; on Debian or Ubuntu: apt-get install chromium fonts-dejavu-core"
# Two pages of Chromium's own, for its address bar, come with every window and take as long as the page that is tested.
# What is said last counts alone, so the first line is what matters here of what Playwright turns off.
OFF = (
    "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,ThirdPartyStoragePartitioning,PaintHolding,OptimizationHints,"
    "DestroyProfileOnBrowserClose,AvoidUnnecessaryBeforeUnloadCheckSync,AvoidCorsURLLoaderRestartOnRedirect,"
    "MediaRouter,LensOverlay,NetworkTimeServiceQuerying,PreconnectToSearch,AimEnabled,"
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup"
)
FLAGS = [
    f"--disable-features={OFF}",
    "--no-sandbox",  # in containers the tests run as root
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]

PATIENCE = 60_000.0  # milliseconds until what does not come has failed: machines that run tests are busy
expect.set_options(timeout=PATIENCE)

OpenVisitor = Callable[..., Visitor]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip this folder where there is no Chromium, unless FAIRGAUGE_BROWSER=required says that there must be."""
    if CHROMIUM is None and os.environ.get("FAIRGAUGE_BROWSER") != "required":
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=MISSING))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests; each visitor has a profile of its own in it."""
    assert CHROMIUM is not None, MISSING
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@dataclass(frozen=True)
class Collecting:
    """A running collector, and what an operator does with it."""

    process: ServerProcess
    url: str

    def ask(self, method: str, path: str, body: bytes | None = None) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.process.token}", "content-type": "application/json"}
        response = httpx.request(method, self.url + path, content=body, headers=headers, timeout=120)
        response.raise_for_status()
        return response

    def publish(self, study: Study, *, admission: str = "open", results: str = "readers") -> str:
        """Publish a study and return its path."""
        self.ask("POST", f"/studies?admission={admission}&results={results}", study.to_bytes())
        return f"/studies/{study.digest}"

    def counts(self, study: Study) -> list[int]:
        """Return how often each symbol was counted."""
        counts: list[int] = self.ask("GET", f"/studies/{study.digest}/tally").json()["counts"]
        return counts

    def ticket(self, study: Study) -> str:
        """Return a new ticket."""
        return Tickets.in_folder(self.process.folder / "secrets").new(study.digest)


@pytest.fixture(scope="package")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collecting]:
    """A collector in a process of its own, with a store in a file."""
    folder = tmp_path_factory.mktemp("collector")
    process = ServerProcess(folder, f"sqlite:///{folder / 'gauge.db'}").start()
    try:
        with ThreadPoolExecutor(1) as elsewhere:  # it runs an event loop, and this thread may have one
            elsewhere.submit(process.wait_until_ready).result()
        yield Collecting(process, f"http://127.0.0.1:{process.port}")
    finally:
        process.stop()


@pytest.fixture
def visitor(browser: Browser, collector: Collecting) -> Iterator[OpenVisitor]:
    """Give visitors to the collector: ``visitor(color_scheme="dark", viewport=..., java_script_enabled=False)``."""
    opened: list[Visitor] = []

    def new(url: str = collector.url, **options: Any) -> Visitor:
        found = Visitor(browser.new_context(**options), url)
        found.context.set_default_timeout(PATIENCE)
        opened.append(found)
        return found

    yield new
    for found in opened:
        found.context.close()
