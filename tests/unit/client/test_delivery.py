"""Sending: the same bytes until they are counted, when to stop, how long to wait, and what is said about the device."""

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from fairgauge.client import Answer, Ledger, Patience, deliver, send
from fairgauge.client.delivery import _retry_after
from fairgauge.errors import AnswerRefused, CannotSend, InvalidInput
from tests.recorder import Heard, Recorder, Reply, problem, recorder
from tests.samples import sample_study

ANSWER = Answer("0123456789abcdef" * 4, "fedcba9876543210" * 2, (17,))
AT_ONCE = Patience(tries=4, first=0, longest=0, timeout=5)
PROFILE = {"group": "female", "values": {"recall": 0.5}}


@pytest.fixture
def server():
    with recorder() as found:
        yield found


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    monkeypatch.setattr(time, "sleep", found.append)
    return found


class TestSend:
    def test_posts_the_canonical_bytes_and_nothing_about_the_device(self, server: Recorder) -> None:
        assert send(ANSWER, server.url + "/") == "accepted"
        (heard,) = server.heard
        assert (heard.method, heard.path) == ("POST", f"/studies/{ANSWER.study}/answers")
        assert heard.body == ANSWER.to_bytes()
        assert heard.headers["User-Agent"] == "fairgauge"
        assert heard.headers["Content-Type"] == "application/json"
        known = {"Host", "User-Agent", "Content-Type", "Content-Length", "Accept", "Accept-Encoding", "Connection"}
        assert set(heard.headers) <= known

    @pytest.mark.parametrize("status", [200, 201, 202])
    def test_a_receipt(self, server: Recorder, status: int) -> None:
        server.script(Reply(status, b'{"status":"duplicate"}'))
        assert send(ANSWER, server.url) == "duplicate"

    @pytest.mark.parametrize(
        "first",
        [
            Reply(0),
            Reply(408),
            Reply(425),
            Reply(429),
            Reply(500),
            Reply(503),
            Reply(507),
            Reply(302, headers={"Location": "/login"}),
            Reply(200, b"<html>Welcome to our hotel</html>"),
            Reply(200, b'{"status":"maybe"}'),
            Reply(200, b"[]"),
            Reply(200, b"[" * 60_000),
            Reply(200, b"\xff"),
            Reply(204, b""),
        ],
        ids=lambda reply: f"{reply.status} {reply.body[:20]!r}",
    )
    def test_tries_again_with_the_same_bytes(self, server: Recorder, first: Reply) -> None:
        server.script(first, first, Reply())
        assert send(ANSWER, server.url, patience=AT_ONCE) == "accepted"
        assert server.bodies == [ANSWER.to_bytes()] * 3
        assert {heard.method for heard in server.heard} == {"POST"}

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 422])
    def test_a_refusal_is_final(self, server: Recorder, status: int) -> None:
        server.script(Reply(status, problem("Said by a stranger")))
        with pytest.raises(AnswerRefused, match=rf"{re.escape(server.url)} .* \(HTTP status {status}\)") as caught:
            send(ANSWER, server.url, patience=AT_ONCE)
        assert len(server.heard) == 1
        assert "stranger" not in str(caught.value)

    def test_gives_up_in_the_end(self, server: Recorder) -> None:
        server.script(Reply(503))
        with pytest.raises(CannotSend, match=r"is not ready to take the answer \(HTTP status 503\)") as caught:
            send(ANSWER, server.url, patience=AT_ONCE)
        assert not isinstance(caught.value, AnswerRefused)
        assert len(server.heard) == 4

    def test_nobody_there(self) -> None:
        with pytest.raises(CannotSend, match=r"http://127\.0\.0\.1:1 does not answer \(Connection refused\)"):
            send(ANSWER, "http://127.0.0.1:1/secret/path", patience=AT_ONCE)

    def test_silence_is_given_up(self, server: Recorder) -> None:
        over = threading.Event()

        def reply(_: Heard) -> Reply:
            over.wait(60)
            return Reply()

        server.reply = reply
        with pytest.raises(CannotSend, match=r"does not answer \(timed out\)"):
            send(ANSWER, server.url, patience=Patience(tries=1, timeout=0.1))
        over.set()

    @pytest.mark.parametrize("drip", [b"HTTP/1.1 200 OK\r\nX-A: ", b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n"])
    def test_a_reply_that_drips_is_given_up(self, drip: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
        """Although it is never silent for long: on this clock, five seconds go by between two looks at it."""
        clock = SimpleNamespace(monotonic=iter(range(0, 10**6, 5)).__next__)
        monkeypatch.setattr("fairgauge.client.http_client.time", clock)
        with dripping(drip) as url, pytest.raises(CannotSend, match=r"does not answer \(timed out\)"):
            send(ANSWER, url, patience=Patience(tries=1, timeout=20))

    def test_over_tls(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        certificate = make_certificate(tmp_path / "certificate.pem")
        with recorder(certificate) as server:
            with pytest.raises(CannotSend, match="certificate verify failed"):
                send(ANSWER, server.url, patience=AT_ONCE)
            assert server.heard == []
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
            assert send(ANSWER, server.url, patience=AT_ONCE) == "accepted"
            assert server.bodies == [ANSWER.to_bytes()]

    @pytest.mark.parametrize("url", ["example.org", "file:///etc", "https://me:word@example.org", "https://a b", ""])
    def test_an_address_that_is_none(self, url: str) -> None:
        with pytest.raises(InvalidInput, match="must be an address such as") as caught:
            send(ANSWER, url)
        assert "word" not in str(caught.value)


@contextmanager
def dripping(start: bytes) -> Iterator[str]:
    """A server that says this at once, and then one more letter every 20 ms."""

    def drip(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65536)
            connection.sendall(start)
            for _ in range(300):
                time.sleep(0.02)
                connection.sendall(b"a")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=lambda: drip(listener.accept()[0]))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def make_certificate(path: Path) -> Path:
    """Write a key and a certificate of 127.0.0.1 that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(key.private_bytes(*form) + builder.sign(key, hashes.SHA256()).public_bytes(form[0]))
    return path


class TestWaiting:
    def test_doubles_at_most_with_full_jitter(self) -> None:
        many = [list(Patience(tries=6, first=1, longest=6).waits()) for _ in range(400)]
        for position, longest in enumerate([1, 2, 4, 6, 6]):
            waits = [waits[position] for waits in many]
            assert 0 <= min(waits) < 0.05 * longest, "down to nothing"
            assert 0.95 * longest < max(waits) <= longest

    def test_a_thousand_tries_do_not_overflow(self) -> None:
        assert max(Patience(tries=5000, first=1, longest=2).waits()) <= 2

    def test_waits_between_tries_and_not_after_the_last(self, server: Recorder, slept: list[float]) -> None:
        server.script(Reply(503))
        with pytest.raises(CannotSend):
            send(ANSWER, server.url, patience=Patience(tries=3, first=0.5, longest=300))
        assert len(slept) == 2
        assert all(wait <= 1 for wait in slept)

    def test_a_collector_may_ask_for_more_time(self, server: Recorder, slept: list[float]) -> None:
        server.script(Reply(429, headers={"Retry-After": "77"}), Reply(503, headers={"Retry-After": "99999"}), Reply())
        assert send(ANSWER, server.url, patience=Patience(first=1, longest=300)) == "accepted"
        assert 77 <= slept[0] <= 78
        assert 300 <= slept[1] <= 302, "but not for days"

    @pytest.mark.parametrize(
        ("header", "seconds"),
        [
            (None, 0),
            ("", 0),
            ("0", 0),
            (" 120 ", 120),
            ("-5", 0),
            ("1.5", 0),
            ("٣", 0),
            ("9" * 5000, 999999999999),
            ("Sun, 15 Nov 2026 12:02:00 GMT", 120),
            ("Sun, 15 Nov 2026 12:02:00 +0100", 0),
            ("Sun, 15 Nov 2026 12:02:00", 120),
            ("Sun, 15 Nov 2026 11:00:00 GMT", 0),
            ("Sun, 99 Nov 2026 11:00:00 GMT", 0),
            ("soon", 0),
        ],
    )
    def test_retry_after(self, header: str | None, seconds: float) -> None:
        assert _retry_after(header, now=datetime(2026, 11, 15, 12, tzinfo=UTC)) == seconds

    @pytest.mark.parametrize(
        "bad", [{"tries": 0}, {"first": -1}, {"first": 400}, {"timeout": 0}, {"longest": float("inf")}]
    )
    def test_patience_that_makes_no_sense(self, bad: dict[str, float]) -> None:
        with pytest.raises(InvalidInput):
            Patience(**bad)  # type: ignore[arg-type]


class TestDeliver:
    def test_remembers_what_became_of_it(self, server: Recorder, tmp_path: Path) -> None:
        ledger, study = Ledger(tmp_path / "ledger"), sample_study()
        answer = ledger.answer(study, PROFILE)
        server.script(Reply(503))
        with pytest.raises(CannotSend):
            deliver(ledger, answer, server.url, patience=AT_ONCE)
        assert ledger.pending() == [answer]
        server.script(Reply(410))
        with pytest.raises(AnswerRefused):
            deliver(ledger, answer, server.url, patience=AT_ONCE)
        assert (ledger.pending(), ledger.state(study.digest)) == ([], "refused")
        server.script(Reply())
        assert deliver(ledger, answer, server.url, patience=AT_ONCE) == "accepted"
        assert (ledger.pending(), ledger.state(study.digest)) == ([], "delivered")
        assert set(server.bodies) == {answer.to_bytes()}


def test_an_answer_is_not_sent_before_its_moment(server: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    study = replace(sample_study(), epoch=3600)
    ledger = Ledger(tmp_path / "ledger")
    drawn = ledger.answer(study, PROFILE)
    moment = ledger.moment(study.digest)
    assert moment is not None
    for now, sent in ((moment - 0.5, False), (moment, True)):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        if sent:
            assert deliver(ledger, drawn, server.url, patience=AT_ONCE) == "accepted"
        else:
            with pytest.raises(CannotSend, match="so that its moment tells nothing"):
                deliver(ledger, drawn, server.url, patience=AT_ONCE)
        assert len(server.heard) == sent
