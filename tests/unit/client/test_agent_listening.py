"""Where an agent listens: links, other files, and two who start at once."""

import os
import socket
import threading
from pathlib import Path

import pytest

from fairgauge.client.agent_socket import _listening
from fairgauge.errors import InvalidInput


def left_by_a_dead_agent(path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(path))


def test_permissions_are_there_from_the_start(tmp_path: Path) -> None:
    for mode in (0o600, 0o660, 0o666):
        with _listening(tmp_path / "s", mode):
            assert (tmp_path / "s").stat().st_mode & 0o777 == mode
    assert os.umask(0o022) == 0o022  # as it was before


@pytest.mark.parametrize("target", ["file", "nothing", "socket"])
def test_a_link_is_somebody_elses(target: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    (tmp_path / "file").chmod(0o600)
    left_by_a_dead_agent(tmp_path / "socket")
    (tmp_path / "s").symlink_to(target)
    with pytest.raises(InvalidInput, match="is a file of something else"), _listening(tmp_path / "s", 0o666):
        pass
    assert (tmp_path / "s").is_symlink()
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "socket").exists()


def test_the_lock_is_no_link_either(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    (tmp_path / "s.lock").symlink_to("file")
    with pytest.raises(InvalidInput, match="cannot be used"), _listening(tmp_path / "s", 0o600):
        pass
    assert (tmp_path / "file").read_text() == "precious"


def test_of_many_who_start_at_once_on_a_dead_ones_socket_one_listens(tmp_path: Path) -> None:
    left_by_a_dead_agent(tmp_path / "s")
    gate, over = threading.Barrier(8), threading.Event()
    tried = threading.Semaphore(0)
    listened: list[bool] = []

    def start() -> None:
        gate.wait()
        try:
            with _listening(tmp_path / "s", 0o600):
                listened.append(True)
                tried.release()
                over.wait()
        except InvalidInput:
            tried.release()

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for _ in threads:
        tried.acquire()
    assert listened == [True]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.connect(str(tmp_path / "s"))  # and it is the one that can be reached
    over.set()
    for thread in threads:
        thread.join()
    assert not (tmp_path / "s").exists()


def test_what_somebody_put_in_its_place_stays(tmp_path: Path) -> None:
    with _listening(tmp_path / "s", 0o600):
        (tmp_path / "s").unlink()
        (tmp_path / "s").write_text("theirs")
    assert (tmp_path / "s").read_text() == "theirs"
