"""What all tests share: how Hypothesis looks for examples."""

import os
import shutil
import sys

import pytest
from hypothesis import settings

# The same examples on every run and no clock: a red test is red for everyone, and slowness is not a bug.
settings.register_profile("repeatable", max_examples=50, derandomize=True, deadline=None)
# HYPOTHESIS_PROFILE=explore looks for new examples, twenty times as many.
settings.register_profile("explore", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


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
    """Stop the databases of the collector's tests: workers of pytest-xdist end without running exit handlers."""
    servers = sys.modules.get("tests.collecting.servers")
    if servers is not None:
        servers.stop_postgres()
