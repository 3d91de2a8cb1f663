"""Loading a study: from where, which one, and what is refused.

Covers: fairgauge.client.http_client.
"""

import hashlib
from pathlib import Path

import pytest

from fairgauge.client import load_study
from fairgauge.client import study_source as module
from fairgauge.client.http_client import request
from fairgauge.errors import BadStudy, CannotSend, InvalidInput, NotPrivate
from tests.recorder import Reply, recorder
from tests.samples import sample_question, sample_study, two_questions

STUDY = sample_study()
DATA = STUDY.to_bytes()


def test_bytes() -> None:
    assert load_study(DATA) == STUDY
    assert load_study(DATA, digest=hashlib.sha256(DATA).hexdigest()) == STUDY


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    path.write_bytes(DATA)
    assert load_study(path) == load_study(str(path)) == STUDY


def test_an_address() -> None:
    with recorder() as server:
        server.script(Reply(body=DATA))
        assert load_study(f"{server.url}/studies/{STUDY.digest}") == STUDY
    (heard,) = server.heard
    assert (heard.method, heard.path) == ("GET", f"/studies/{STUDY.digest}")
    assert heard.headers["User-Agent"] == "fairgauge"


def test_a_relay_that_is_no_plain_address_is_refused_before_it_is_asked() -> None:
    address = f"https://collector.example/studies/{STUDY.digest}"
    with pytest.raises(InvalidInput, match=r"^relay=.*must be an address such as") as told:
        load_study(address, relay="http://me:secret@127.0.0.1:9")
    assert "secret" not in str(told.value)


def test_another_study_is_refused() -> None:
    other = two_questions()
    with pytest.raises(BadStudy, match="this is another study"):
        load_study(DATA, digest=other.digest)
    with recorder() as server:
        server.script(Reply(body=DATA))
        with pytest.raises(BadStudy, match=f"must be {other.digest}"):
            load_study(f"{server.url}/studies/{other.digest}")
        with pytest.raises(BadStudy, match=f"must be {other.digest}"):
            load_study(f"{server.url}/studies/{STUDY.digest}", digest=other.digest)


def test_a_digest_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="digest=abc: must be 64"):
        load_study(DATA, digest="abc")


def test_a_study_that_is_not_private_is_refused() -> None:
    with pytest.raises(NotPrivate):
        load_study(sample_study(sample_question(epsilon="1.09")).to_bytes())


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("nothing.json", "study=nothing.json: cannot be read: No such file"),
        ("/", "study=/: cannot be read: Is a directory"),
        ("a\0b", r"study='a\x00b': cannot be read: no file has such a name"),
        ("ftp://example.org/study", "cannot be read: No such file"),
        ("https://user:word@example.org/x", "must be an address such as"),
        ("https://example.org:port/x", "must be an address such as"),
        ("https:///x", "must be an address such as"),
        ("https://exam ple.org/x", "must be an address such as"),
        ("http://127.0.0.1:1/x", "cannot be read: http://127.0.0.1:1 does not answer (Connection refused)"),
    ],
)
def test_what_cannot_be_read(source: str, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_study(source)
    assert text in str(caught.value)
    assert "word" not in str(caught.value)


@pytest.mark.parametrize("status", [404, 500, 302, 204])
def test_a_status_that_is_no_study(status: int) -> None:
    with recorder() as server:
        server.script(Reply(status, DATA, {"Location": f"{server.url}/elsewhere"}))
        with pytest.raises(InvalidInput, match=f"must give a study, but has HTTP status {status}"):
            load_study(f"{server.url}/study")
    assert len(server.heard) == 1, "redirects are not followed"


def test_no_more_is_read_than_a_study_may_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_DOCUMENT", len(DATA) - 1)
    monkeypatch.setattr("fairgauge.canonical_json.LONGEST_DOCUMENT", len(DATA) - 1)
    path = tmp_path / "study.json"
    path.write_bytes(DATA + b" " * 10_000_000)
    with recorder() as server:
        server.script(Reply(body=DATA + b" " * 10_000))
        for source in (path, f"{server.url}/study"):
            with pytest.raises(BadStudy, match=f"document={len(DATA)} bytes: must be at most {len(DATA) - 1}"):
                load_study(source)


@pytest.mark.parametrize(("most", "read"), [(3, b"abc"), (6, b"abcdef"), (8, b"abcdefgh")])
def test_what_comes_after_the_most_is_not_looked_at(most: int, read: bytes) -> None:
    """In pieces, too: the third would be an error."""
    with recorder() as server:
        server.script(Reply(body=b"4\r\nabcd\r\n4\r\nefgh\r\nno size\r\n", headers={"Transfer-Encoding": "chunked"}))
        assert request(server.url, timeout=5, most=most).body == read
        with pytest.raises(CannotSend, match="does not answer"):
            request(server.url, timeout=5, most=9)


def test_a_server_that_sends_byte_by_byte_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10**6, 100))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    with recorder() as server:
        server.script(Reply(body=DATA))
        with pytest.raises(InvalidInput, match="does not answer"):
            load_study(f"{server.url}/study")
