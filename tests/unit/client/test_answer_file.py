"""A file of answers: each on a line of its own, at most once, whatever happened before."""

import os
import stat
from pathlib import Path

import pytest

from fairgauge.client import Answer, append
from fairgauge.client.answer_file import append_all
from fairgauge.errors import InvalidInput

FIRST, SECOND = Answer("0" * 64, "a" * 32, (1,)), Answer("1" * 64, "b" * 32, (23,))
LINE, OTHER = FIRST.to_bytes() + b"\n", SECOND.to_bytes() + b"\n"


def test_one_line_each(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    assert append(FIRST, path)
    assert append(SECOND, str(path))
    assert path.read_bytes() == LINE + OTHER
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_at_most_once(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    append(FIRST, path)
    append(SECOND, path)
    assert not append(FIRST, path)
    assert not append(SECOND, path)
    assert path.read_bytes() == LINE + OTHER


@pytest.mark.parametrize("written", range(len(LINE)))
def test_a_line_that_a_crash_cut_off_is_written_again(tmp_path: Path, written: int) -> None:
    path = tmp_path / "answers"
    path.write_bytes(OTHER + LINE[:written])
    assert append(FIRST, path)
    assert path.read_bytes() == OTHER + LINE
    path.write_bytes(LINE[:written])
    assert append(SECOND, path)
    assert path.read_bytes() == OTHER, "of someone else, who will write it again"


def test_nothing_is_left_of_a_longer_line_that_a_crash_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    path.write_bytes(OTHER + b'{"counts":[' + b"123," * 100)
    assert append(FIRST, path)
    assert path.read_bytes() == OTHER + LINE


@pytest.mark.parametrize("text", [b"dear diary", OTHER + b"dear diary", b'{"id":"' + b"a" * 300, b'{"my":1'])
def test_what_is_no_answer_is_left_alone(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "answers"
    path.write_bytes(text)
    with pytest.raises(InvalidInput, match="must end in a whole line"):
        append(FIRST, path)
    assert path.read_bytes() == text


def test_it_is_on_the_disk_before_it_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[bool, bytes]] = []
    path = tmp_path / "answers"
    real = os.fsync

    def fsync(handle: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(handle).st_mode), path.read_bytes()))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    append(FIRST, path)
    assert synced == [(False, LINE), (True, LINE)]
    append(FIRST, path)
    assert len(synced) == 4, "also what another process wrote just before it was killed"


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be written: No such file"):
        append(FIRST, tmp_path / "nowhere" / "answers")
    with pytest.raises(InvalidInput, match="cannot be written: Is a directory"):
        append(FIRST, tmp_path)


def test_many_at_once_each_at_most_once(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    some = [Answer("0" * 64, f"{number:032x}", (number,)) for number in range(4)]
    assert append_all(some[:2], path) == 2
    assert append_all([*some, some[3]], path) == 2
    assert append_all([], path) == 0
    assert path.read_bytes() == b"".join(answer.to_bytes() + b"\n" for answer in some)
