"""Browsers that watch a study: they come and go, and keep nobody from stopping."""

import re
import socket
import time
from pathlib import Path

import httpx

from tests.collecting.servers import PATIENCE, SERVE, ServerProcess
from tests.samples import sample_study

STUDY = sample_study()
SETTINGS = "shutdown_seconds = 600\n[limits]\nlisteners = 2\n"  # after so long uvicorn would give up
# Who went without a word is noticed at the second beat; nobody learns more by waiting a minute and a half for them.
BEATING = "from fairgauge.collector.pages import live_results\nlive_results._BEAT_SECONDS /= 75\n" + SERVE


def test_listeners_that_leave_are_forgotten_and_those_who_stay_are_let_go(tmp_path: Path):
    store = f"sqlite:///{tmp_path / 'gauge.db'}"
    with ServerProcess(tmp_path, store, settings=SETTINGS, code=BEATING) as server:
        headers = {"authorization": f"Bearer {server.token}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=headers, timeout=PATIENCE) as client:
            kind = {"content-type": "application/json"}
            client.post("/studies?results=public", content=STUDY.to_bytes(), headers=kind).raise_for_status()
            events = f"/studies/{STUDY.digest}/events"

            def listening() -> int:
                found = re.search(r"^fairgauge_listeners (\d+)", client.get("/metrics").text, re.MULTILINE)
                assert found is not None
                return int(found[1])

            with client.stream("GET", events) as first, client.stream("GET", events) as second:
                heard = [stream.iter_lines() for stream in (first, second)]  # which leave when nobody holds them
                for lines in heard:
                    assert "event: results" in lines
                assert listening() == 2
                refused = client.get(events)
                assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
            deadline = time.monotonic() + PATIENCE
            while listening() and time.monotonic() < deadline:
                time.sleep(0.1)
            assert listening() == 0
            # Whoever asks for something more on the same connection, and goes, is forgotten, too.
            for _ in range(3):
                with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as line:
                    asked = f"GET {events} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
                    line.sendall(asked)
                    while b"event: results" not in line.recv(65536):
                        pass
                    line.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                deadline = time.monotonic() + PATIENCE
                while listening() and time.monotonic() < deadline:
                    time.sleep(0.1)
                assert listening() == 0
            with client.stream("GET", events) as last:
                lines = last.iter_lines()
                assert "event: results" in lines
                assert server.stop() == 0  # which waits far less
                assert "event: over" not in list(lines)
