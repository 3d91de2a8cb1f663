"""Whatever bytes arrive, parsers raise our own errors only; the collector's fast way reads what the strict one does.

Covers: fairgauge.collector.answer_endpoint.
"""

import re
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairgauge.client import Answer
from fairgauge.collector import answer_endpoint
from fairgauge.collector.answer_endpoint import _ONE, _read_answer, _read_lines, _slices
from fairgauge.collector.service import Entry
from fairgauge.collector.stores.store import Published
from fairgauge.errors import FairgaugeError, InvalidInput
from fairgauge.server.server_errors import BadAnswer
from fairgauge.study import Study
from tests.collecting.wire import answer_bytes
from tests.samples import sample_study

STUDY = sample_study()
ENTRY = Entry(Published(STUDY.digest, b"", "open", "", 0, number=7), STUDY.symbols)
GOOD = answer_bytes(STUDY.digest, b"\x5a" * 16, 1)
PIECES = [
    b'"id"',
    b'"study"',
    b'"symbol"',
    b":",
    b",",
    b"{",
    b"}",
    b"1",
    b"1.0",
    b"NaN",
    b"-0",
    b"01",
    b"\n",
    b"\r",
    b" ",
]
PIECES += [b"\x00", b"\xff", b'"', b"\\u0031", b"null", b"true", b"[]", b"5A", b"9" * 30]


@st.composite
def bent(draw: st.DrawFn, good: bytes) -> bytes:
    """Cut, repeat and insert pieces in a good document."""
    data = good
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data)))
        end = draw(st.integers(at, min(len(data), at + 80)))
        data = data[:at] + draw(st.sampled_from([b"", data[at:end] * 2, *PIECES]) | st.binary(max_size=4)) + data[end:]
    return data


answers = bent(GOOD) | st.binary(max_size=200)


@given(answers)
@example(GOOD)
@example(GOOD + b"\n")
@example(GOOD.replace(b":1}", b":01}"))
@example(GOOD.replace(b":1}", b':1,"symbol":1}'))
def test_the_fast_way_reads_only_what_the_strict_way_reads_alike(data: bytes):
    strict: Answer | None = None
    with suppress(InvalidInput):
        strict = Answer.from_bytes(data)
    match = _ONE.fullmatch(data)
    if match is not None:
        assert strict == Answer(match[2].decode(), match[1].decode(), (int(match[3]),))
    if strict is None or strict.study != STUDY.digest or strict.payload[0] >= STUDY.symbols:
        with pytest.raises(BadAnswer):
            _read_answer(data, ENTRY)
    else:
        assert _read_answer(data, ENTRY) == (ENTRY.number, bytes.fromhex(strict.id), str(strict.payload[0]))


def test_a_lax_pattern_would_be_noticed():
    lax = re.compile(rb'\{"id":"([0-9a-f]{32})","study":"([0-9a-f]{64})","symbol":([0-9]+)\}')
    data = GOOD.replace(b":1}", b":01}")
    assert lax.fullmatch(data)
    assert not _ONE.fullmatch(data)


@given(st.lists(bent(GOOD), min_size=1, max_size=6), st.sampled_from([b"", b"\n"]), st.integers(1, 400))
def test_a_batch_is_read_as_its_lines_are(lines: list[bytes], end: bytes, size: int):
    body = b"\n".join(lines) + end
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answer_endpoint, "_SLICE", size)
        parts = list(_slices(body))
    split = body.removesuffix(b"\n").split(b"\n")
    assert [line for part in parts for line in part.split(b"\n")] == split
    read = [one for part in parts for one in _read_lines(part, ENTRY)]
    assert len(read) == len(split)
    for line, one in zip(split, read, strict=True):
        if isinstance(one, BadAnswer):
            with pytest.raises(BadAnswer):
                _read_answer(line, ENTRY)
        else:
            assert one == _read_answer(line, ENTRY)


@given(bent(STUDY.to_bytes()) | st.binary(max_size=300))
def test_a_study_parser_raises_our_errors_only(data: bytes):
    with suppress(FairgaugeError):
        assert Study.from_bytes(data).to_bytes()
