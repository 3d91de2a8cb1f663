"""An issuer's key, made once for all tests of this folder: two primes take their time."""

from pathlib import Path

import pytest

from fairgauge.parties.blind_signing import make_key


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where it lies."""
    made = tmp_path_factory.mktemp("issuer")
    make_key(made)
    return made
