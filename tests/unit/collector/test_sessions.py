"""Sessions: a cookie is good for as long as its token is, and for nobody else."""

from pathlib import Path

import pytest

from fairgauge.collector.sessions import SECONDS, Sessions, _name_of
from fairgauge.server.bearer_tokens import Gatekeeper, new_token, revoke_token


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sessions(tmp_path: Path, clock: Clock) -> Sessions:
    return Sessions.in_folder(tmp_path, Gatekeeper(tmp_path), clock=clock)


def test_a_cookie_tells_who_signed_in(sessions: Sessions, tmp_path: Path):
    alice, bob = new_token(tmp_path, name="alice", role="operator"), new_token(tmp_path, name="bob", role="reader")
    for token, name, role in ((alice, "alice", "operator"), (bob, "bob", "reader")):
        cookie = sessions.start(token)
        assert cookie is not None
        assert token not in cookie
        found = sessions.find(cookie)
        assert found is not None
        assert (found.name, found.role) == (name, role)
        assert found.proof not in cookie
    assert sessions.start(alice + "x") is None
    assert sessions.start("") is None


def test_two_sessions_have_two_cookies_and_two_proofs(sessions: Sessions, tmp_path: Path):
    token = new_token(tmp_path, name="alice", role="operator")
    first, second = (sessions.start(token) or "" for _ in range(2))
    assert first != second
    assert sessions.find(first).proof != sessions.find(second).proof  # type: ignore[union-attr]


def test_a_session_ends_after_its_time_and_with_its_token(sessions: Sessions, tmp_path: Path, clock: Clock):
    cookie = sessions.start(new_token(tmp_path, name="alice", role="operator")) or ""
    clock.now += SECONDS - 1
    assert sessions.find(cookie) is not None
    clock.now += 1
    assert sessions.find(cookie) is None
    clock.now -= 100
    revoke_token(tmp_path, name="alice")
    assert sessions.find(cookie) is None
    new_token(tmp_path, name="alice", role="operator")  # another token of the same name is another token
    assert sessions.find(cookie) is None


def test_a_changed_cookie_is_none(sessions: Sessions, tmp_path: Path):
    cookie = sessions.start(new_token(tmp_path, name="alice", role="operator")) or ""
    ends, nonce, signature = cookie.split(".")
    later = str(int(ends) + 1)
    changed = [
        "", ".", "..", f"{later}.{nonce}.{signature}", f"{ends}.{nonce[:-1]}.{signature}", f"{ends}.{nonce}",
        f"{ends}.{nonce}.{signature[:-1]}", f"{ends}.{nonce}.", cookie + "0", "x" * 100_000, f"-{cookie}", "²" + cookie,
        f"{'9' * 5000}.{nonce}.{signature}",
    ]  # fmt: skip
    assert [sessions.find(one) for one in changed] == [None] * len(changed)
    proof = sessions.find(cookie).proof  # type: ignore[union-attr]
    assert sessions.find(f"{ends}.{nonce}.{proof}") is None


def test_another_key_makes_all_sessions_void(sessions: Sessions, tmp_path: Path, clock: Clock):
    cookie = sessions.start(new_token(tmp_path, name="alice", role="operator")) or ""
    assert Sessions(b"k" * 32, Gatekeeper(tmp_path), clock=clock).find(cookie) is None
    assert Sessions.in_folder(tmp_path, Gatekeeper(tmp_path), clock=clock).find(cookie) is not None


def test_a_session_that_was_ended_is_over_here_and_wherever_it_is_heard_of(sessions: Sessions, tmp_path: Path):
    token = new_token(tmp_path, name="alice", role="operator")
    cookie, other = (sessions.start(token) or "" for _ in range(2))
    assert sessions.find(cookie) is not None
    ended = sessions.end(cookie)
    assert ended is not None
    assert sessions.find(cookie) is None
    assert sessions.end(cookie) is None
    assert sessions.find(other) is not None
    sessions.remember_ended({_name_of(other): ended[1]})
    assert sessions.find(other) is None
    assert sessions.find(cookie) is None
