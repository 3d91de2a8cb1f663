"""Names that last through a power cut."""

import errno
import os
from pathlib import Path

import pytest

from fairgauge.client.disk import sync_folder


def test_the_folder_is_written_out_and_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    synced: list[Path] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(Path(f"/proc/self/fd/{handle}").resolve()))
    before = len(list(Path("/proc/self/fd").iterdir()))
    sync_folder(tmp_path / "ledger.sqlite3")
    assert synced == [tmp_path.resolve()]
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize(("number", "raised"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_disk_that_fails_is_told_and_a_system_without_such_a_thing_is_not(
    number: int, raised: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(handle: int) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(os, "fsync", fail)
    if raised:
        with pytest.raises(OSError, match="no"):
            sync_folder(tmp_path / "ledger.sqlite3")
    else:
        sync_folder(tmp_path / "ledger.sqlite3")


def test_elsewhere_than_on_posix_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "name", "nt")
    sync_folder(None)  # type: ignore[arg-type]
