"""The collector's settings, limits, log, migrations and group commit.

Covers: fairgauge.collector.config, fairgauge.collector.load_limits, fairgauge.collector.stores.store,
fairgauge.server.logs, fairgauge.server.server_config, fairgauge.server.token_bucket.
"""

import io
import json
import logging
from pathlib import Path

import pytest
import structlog

from fairgauge.collector.config import Config, Rates, read_config
from fairgauge.collector.load_limits import Turnstile
from fairgauge.collector.stores.sql_store import check_version, migrations
from fairgauge.errors import InvalidInput, StoreError
from fairgauge.server.logs import log, log_fault, log_to
from fairgauge.server.server_errors import TooMany
from fairgauge.server.token_bucket import TokenBucket


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("prot = 1", "unknown field"),
        ("port = 'x'", "int"),
        ("port = 70000", "from 0 to 65535"),
        ("bucket_seconds = 0", "from 1"),
        ("[limits]\nwaiting = 0", "limits.waiting=0: must be above 0"),
        ("[rates]\nopen = nan", "rates.open=nan: must be above 0"),
        ("[rates]\nall = 1", "unknown field"),
        ("= 1", "must be TOML"),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, text: str, rule: str):
    path = tmp_path / "fairgauge.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=rule):
        read_config(path)


def test_settings_come_from_the_file_and_options_win(tmp_path: Path):
    path = tmp_path / "fairgauge.toml"
    path.write_text("port = 1\nhost = '::1'\n[limits]\nwaiting = 5")
    found = read_config(path, port=2, store=None)
    assert (found.port, found.host, found.limits.waiting, found.store) == (2, "::1", 5, Config().store)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_config(tmp_path / "none.toml")


def test_a_rate_gives_bursts_and_an_average():
    now = 0.0
    rate = TokenBucket(2.0, clock=lambda: now)
    assert [rate.take() for _ in range(20)] == [0.0] * 20
    assert rate.take() == 0.5
    now = 1.0
    assert [rate.take() == 0 for _ in range(3)] == [True, True, False]
    now = 100.0
    assert rate.take(50) == 0  # a large batch passes once, and those after it wait
    assert rate.take() == 15.5


def test_classes_have_rates_of_their_own():
    turnstile = Turnstile(Rates(open=0.1, tickets=100.0))
    turnstile.enter("open")
    with pytest.raises(TooMany) as refused:
        turnstile.enter("open")
    assert round(refused.value.seconds) == 10
    turnstile.enter("tickets", 1000)


def test_the_log_has_allowed_fields_and_hours_only():
    stream = io.StringIO()
    log_to(stream)
    try:
        log("event", study="x", address="203.0.113.9")
        try:
            raise ValueError("203.0.113.9")
        except ValueError as error:
            log_fault(error)
        stream.close()
        log("a log that cannot be written is no reason to fail")
    except ValueError:
        pytest.fail("a closed log was noticed")
    finally:
        structlog.reset_defaults()


def test_what_the_log_says():
    stream = io.StringIO()
    log_to(stream)
    try:
        log("event", study="x", address="203.0.113.9", id="00")
        log_fault(ValueError("203.0.113.9"))
    finally:
        structlog.reset_defaults()
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first.keys() == {"event", "study", "level", "hour"}
    assert first["hour"].endswith(":00:00Z")
    assert (second["fault"], second["place"]) == ("ValueError", "nowhere")
    assert "203" not in stream.getvalue()


def test_what_libraries_say_is_traced_and_gone_senders_are_no_faults():
    stream = io.StringIO()
    log_to(stream)
    library = logging.getLogger("asyncio")
    try:
        library.warning("socket.send() raised exception.")
        try:
            json.loads("203.0.113.9")
        except ValueError:
            library.exception("a callback failed")
        library.error("without an exception")
    finally:
        structlog.reset_defaults()
        library.handlers, library.propagate = [], True
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first["fault"] == "JSONDecodeError"
    assert first["place"].startswith("asyncio decoder.decode:")
    assert second["place"].startswith("asyncio test_what_libraries_say")
    assert "203" not in stream.getvalue()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_migrations_are_numbered_and_the_future_is_refused(kind: str):
    known = migrations(kind)
    assert known
    check_version(len(known), kind, "x")
    with pytest.raises(StoreError, match="x has schema version 9"):
        check_version(9, kind, "x")
