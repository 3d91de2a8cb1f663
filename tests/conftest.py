"""What all tests share: how Hypothesis looks for examples, what random bytes are, and designs that are made once."""

import gc
import os
import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests import kept_designs

# The same examples on every run and no clock: a red test is red for everyone, and slowness is not a bug.
settings.register_profile("repeatable", max_examples=50, derandomize=True, deadline=None)
# HYPOTHESIS_PROFILE=explore looks for new examples, twenty times as many.
settings.register_profile("explore", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
# Nothing of what is collected is garbage: looking for some takes a quarter of the time.
gc.disable()


class RandomBytes:
    """Random bytes that are the same on every run, in place of the operating system's: for each test its own."""

    def __init__(self) -> None:
        self._stream = random.Random(0)
        self._begun = Counter[str]()

    def begin(self, name: str) -> None:
        """Begin the bytes of this name: others each time, as ids must differ that a fixture draws when made anew."""
        self._begun[name] += 1
        self._stream.seed(f"{name} {self._begun[name]}")

    def __call__(self, size: int) -> bytes:
        return self._stream.randbytes(size)


# Every draw of this process comes from here, also those of ``secrets`` and of generators without a seed: no test is red
# by chance.  Programs that tests start draw from the operating system, as ever.
RANDOM_BYTES = RandomBytes()
random._urandom = os.urandom = RANDOM_BYTES  # type: ignore[attr-defined]
os.register_at_fork(after_in_child=lambda: RANDOM_BYTES.begin(f"process {os.getpid()}"))


def pytest_configure(config: pytest.Config) -> None:
    """Keep designs for this run; workers find those of the one that started them."""
    if not hasattr(config, "workerinput"):
        kept_designs.begin()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Forget them."""
    if not hasattr(config, "workerinput"):
        kept_designs.end()


@pytest.fixture
def solved_anew() -> Iterator[None]:
    """Designs are solved in this test, and those of it are kept for no other."""
    with kept_designs.solving():
        yield


def pytest_collectstart() -> None:
    """Look designs up that another worker has needed for a module of tests."""
    kept_designs.keep()


def pytest_runtest_setup() -> None:
    """Look designs up that another test has needed."""
    kept_designs.keep()


def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> None:
    """Begin the bytes of a fixture, whichever test is the first to want it."""
    place = getattr(request, "param_index", 0)
    RANDOM_BYTES.begin(f"{request.node.nodeid} {fixturedef.argname} {place}")


def pytest_runtest_call(item: pytest.Item) -> None:
    """Begin the bytes of a test."""
    RANDOM_BYTES.begin(item.nodeid)


def pytest_collection_finish() -> None:
    """Leave what is loaded out of garbage collection: looking through seven thousand tests takes half a second."""
    gc.freeze()
    gc.enable()


def pytest_report_header() -> str:
    """Say which browsers there are: tests in those that are missing are skipped."""
    programs = {"Chromium": "chromium", "Firefox": "firefox-esr", "WebKit": "WebKitWebDriver"}
    here = [name for name, program in programs.items() if shutil.which(program)]
    return f"browsers: {', '.join(here) or 'none'}"


@pytest.hookimpl(optionalhook=True)  # the environments of Flower and NVFlare have no pytest-xdist
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores: tests in browsers and of databases wait as much as they work."""
    return (os.cpu_count() or 1) + 1


def pytest_sessionfinish() -> None:
    """Stop what tests of this process share: workers of pytest-xdist end without running exit handlers."""
    if servers := sys.modules.get("tests.collecting.servers"):
        servers.stop_postgres()
    if programs := sys.modules.get("tests.programs"):
        programs.stop_programs()
