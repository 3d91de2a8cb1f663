"""A file gets a name that is free, or keeps its own; with links and where there are none."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fairgauge.client.durable_files import rename_to_free


@pytest.fixture(params=["links", "no links"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    if request.param == "no links":
        monkeypatch.setattr(os, "link", refuse)


@pytest.mark.usefixtures("system")
class TestRename:
    def test_to_a_free_name(self, tmp_path: Path) -> None:
        (tmp_path / "old").write_text("it")
        rename_to_free(tmp_path / "old", tmp_path / "new")
        assert [path.name for path in tmp_path.iterdir()] == ["new"]
        assert (tmp_path / "new").read_text() == "it"

    def test_a_name_that_is_taken_stays_so(self, tmp_path: Path) -> None:
        for name in ("old", "new"):
            (tmp_path / name).write_text(name)
        with pytest.raises(FileExistsError):
            rename_to_free(tmp_path / "old", tmp_path / "new")
        assert [(tmp_path / name).read_text() for name in ("old", "new")] == ["old", "new"]

    def test_of_many_at_once_one_succeeds(self, tmp_path: Path) -> None:
        def rename(number: int) -> bool:
            try:
                rename_to_free(tmp_path / str(number), tmp_path / "new")
            except FileExistsError:
                return False
            return True

        for number in range(16):
            (tmp_path / str(number)).write_text(str(number))
        with ThreadPoolExecutor(8) as pool:
            won = [number for number, first in enumerate(pool.map(rename, range(16))) if first]
        assert [(tmp_path / "new").read_text()] == [str(number) for number in won]

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            rename_to_free(tmp_path / "old", tmp_path / "new")
