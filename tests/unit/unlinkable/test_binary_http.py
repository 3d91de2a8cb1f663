"""Binary HTTP: the examples of RFC 9292, what comes back, and what is no message."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.errors import InvalidInput
from fairgauge.unlinkable.binary_http import Message, read_request, read_response, write_request, write_response

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "envelopes.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", VECTORS["responses"], ids=["unknown length", "known length", "short"])
def test_the_examples_of_rfc_9292(vector):
    for tail in (b"", bytes(3)):
        found = read_response(bytes.fromhex(vector["hex"]) + tail)
        assert found.status == vector["status"]
        assert {name.decode(): value.decode() for name, value in found.headers} == vector["headers"]
        assert found.content.decode() == vector["content"]


@pytest.mark.parametrize("data", VECTORS["bad_responses"])
def test_what_is_no_response_is_refused(data: str):
    with pytest.raises(InvalidInput, match="binary HTTP message"):
        read_response(bytes.fromhex(data))


def test_a_request_is_padded_with_zeros_to_one_size():
    asked = VECTORS["written"]["request"]
    start = (asked["method"], "https", asked["authority"], asked["path"])
    headers = tuple((name.encode(), value.encode()) for name, value in asked["headers"].items())
    message = Message(tuple(map(str.encode, start)), headers, asked["content"].encode())
    assert write_request(message).hex() == VECTORS["written"]["hex"]
    assert len(write_request(message, size=1024)) == 1024
    assert read_request(write_request(message, size=1024)) == message
    with pytest.raises(InvalidInput, match="must be at most 50 bytes"):
        write_request(message, size=50)


@pytest.mark.parametrize("size", [63, 64, 16383, 16384])
def test_a_length_takes_as_few_bytes_as_quic_gives_it(size: int):
    """RFC 9000, section 16: one byte for what is below 2^6, two below 2^14, four below 2^30."""
    empty, written = (len(write_request(Message((b"",) * 4, (), bytes(n)))) for n in (0, size))
    assert written - empty == size + {63: 0, 64: 1, 16383: 1, 16384: 3}[size]
    assert read_request(write_request(Message((b"",) * 4, (), bytes(size)))).content == bytes(size)


FIELDS = st.lists(st.tuples(st.binary(min_size=1, max_size=9), st.binary(max_size=70)), max_size=3).map(tuple)


@given(st.tuples(*[st.binary(max_size=70)] * 4), FIELDS, st.binary(max_size=300))
def test_what_is_written_is_read(start: tuple[bytes, ...], headers: tuple[tuple[bytes, bytes], ...], content: bytes):
    message = Message(start, headers, content)
    assert read_request(write_request(message)) == message
    response = Message((b"207",), headers, content)
    assert read_response(write_response(response, size=2000)) == response


@given(st.binary(max_size=60))
def test_no_bytes_are_too_strange(data: bytes):
    for read in (read_request, read_response):
        with suppress(InvalidInput):
            read(data)
