"""Canonical JSON: what is written, and what is refused when reading."""

from pathlib import Path
from typing import Any

import pytest

from fairgauge.canonical_json import LONGEST_DOCUMENT, decode, encode, members, write_file
from fairgauge.client import Answer
from fairgauge.errors import BadStudy, BadTally, InvalidInput
from fairgauge.study import Study
from fairgauge.tallies import Tally
from tests.samples import sample_study


def test_keys_are_sorted_at_every_depth_without_white_space() -> None:
    assert encode({"b": {"d": 1, "c": [2, 3]}, "a": None}) == b'{"a":null,"b":{"c":[2,3],"d":1}}'


def test_only_what_must_be_escaped_is() -> None:
    assert encode({"a": '"\\\n\x01é/\u2028'}) == '{"a":"\\"\\\\\\n\\u0001é/\u2028"}'.encode()


def test_what_was_written_can_be_read() -> None:
    document = {"a": [1, -2, True, None], "b": {"c": "é"}}
    assert decode(encode(document), error=InvalidInput) == document


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'{"a":1,"a":1}', "a=1: must be given once"),
        (b'{"x":{"a":1,"b":2,"a":3}}', "a=3: must be given once"),
        (b'{"a":1.0}', "document=1.0: must hold no number but integers"),
        (b'{"a":1e3}', "document=1e3: must hold no number but integers"),
        (b'{"a":NaN}', "document=NaN: must hold no number but integers"),
        (b'{"a":-Infinity}', "document=-Infinity: must hold no number but integers"),
        (b"[]", "document=[]: must be an object"),
        (b"7", "document=7: must be an object"),
        (b"", "document=0 bytes: must be JSON in UTF-8"),
        (b'{"a":1', "document=6 bytes: must be JSON in UTF-8"),
        (b'{"a":1} x', "document=9 bytes: must be JSON in UTF-8"),
        (b'{"a":"\xff"}', "document=9 bytes: must be JSON in UTF-8"),
        (b'\xef\xbb\xbf{"a":1}', "document=10 bytes: must be JSON in UTF-8"),
        ('{"a":1}'.encode("utf-16"), "document=16 bytes: must be JSON in UTF-8"),
        (b"[" * 200_000, "document=200000 bytes: must be JSON in UTF-8"),
        (b'{"a":' + b"9" * 5000 + b"}", "document=5006 bytes: must be JSON in UTF-8"),
        (b" " * LONGEST_DOCUMENT + b"{}", "document=8388610 bytes: must be at most 8388608 bytes"),
    ],
)
@pytest.mark.parametrize("error", [BadStudy, BadTally, InvalidInput])
def test_reading_does_not_guess(data: bytes, text: str, error: type[InvalidInput]) -> None:
    with pytest.raises(InvalidInput) as caught:
        decode(data, error=error)
    assert type(caught.value) is error
    assert str(caught.value).startswith(text)


def test_the_longest_document_is_read() -> None:
    assert decode(b" " * (LONGEST_DOCUMENT - 2) + b"{}", error=InvalidInput) == {}


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"a": 1}, "b=nothing: must be given"),
        ({"a": 1, "b": 2, "c": 3}, "c=3: is not a field of this format"),
    ],
)
def test_members_must_be_there_and_no_others(document: dict[str, Any], text: str) -> None:
    with pytest.raises(BadStudy) as caught:
        members(document, "a", "b", error=BadStudy)
    assert str(caught.value) == text


def test_members_come_in_the_order_asked_for() -> None:
    assert members({"a": 1, "b": 2}, "b", "a", error=BadStudy) == [2, 1]


class TestFiles:
    @pytest.mark.parametrize(
        "document",
        [sample_study(), Tally.empty(sample_study()), Answer("0" * 64, "1" * 32, (3,))],
        ids=lambda d: type(d).__name__,
    )
    def test_what_is_saved_is_loaded(self, document: Study | Tally | Answer, tmp_path: Path) -> None:
        for path in (tmp_path / "document.json", str(tmp_path / "document.json")):
            document.save(path)
            assert Path(path).read_bytes() == document.to_bytes()
            assert type(document).load(path) == document
        assert [found.name for found in tmp_path.iterdir()] == ["document.json"]  # nothing half-written stays

    @pytest.mark.parametrize("kind", [Study, Tally, Answer])
    def test_a_file_that_cannot_be_used_is_named(self, kind: type[Study], tmp_path: Path) -> None:
        name = kind.__name__.lower()
        with pytest.raises(InvalidInput, match=f"{name}=nothing.json: cannot be read: No such file"):
            kind.load("nothing.json")
        with pytest.raises(InvalidInput, match=f"{name}=a dict: must be a file's name"):
            kind.load({})  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match=f"{name}='a.*b': cannot be written: no file has such a name"):
            write_file("a\0b", b"", field=name)
        with pytest.raises(InvalidInput, match=f"{name}=.*: cannot be written: No such file"):
            write_file(tmp_path / "no" / "folder", b"", field=name)

    def test_a_device_is_written_to_and_not_replaced(self) -> None:
        write_file("/dev/null", b"x", field="study")
        assert not Path("/dev/null").is_file()
