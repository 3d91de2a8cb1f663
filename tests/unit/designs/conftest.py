"""Tests of designs solve them."""

from collections.abc import Iterator

import pytest

from tests import kept_designs


@pytest.fixture(scope="module", autouse=True)
def solving() -> Iterator[None]:
    """Look no design up."""
    with kept_designs.solving():
        yield
