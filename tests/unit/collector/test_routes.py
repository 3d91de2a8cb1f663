"""The collector's routes: who may do what, what is refused, and how it is said.

Covers: fairgauge.collector.access, fairgauge.collector.app, fairgauge.server.request_body, fairgauge.collector.metrics,
fairgauge.collector.routes, fairgauge.collector.routes, fairgauge.collector.app,
fairgauge.server.problems, fairgauge.server.server_errors, fairgauge.collector.answer_endpoint,
fairgauge.collector.study_endpoints, fairgauge.collector.result_endpoints,
fairgauge.collector.service, fairgauge.collector.documents, fairgauge.collector.routes.
"""

import asyncio
import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import structlog
from starlette.routing import Route
from starlette.types import Message

from fairgauge.canonical_json import encode
from fairgauge.collector import access, study_endpoints
from fairgauge.collector.app import make_app
from fairgauge.collector.routes import openapi
from fairgauge.collector.signatures import signature_is_good
from fairgauge.server.bearer_tokens import revoke_token
from fairgauge.server.problems import KINDS, URN
from fairgauge.server.slow_clients import GONE
from fairgauge.study import Study
from fairgauge.tallies import Tally
from tests.collecting.desk import Desk
from tests.collecting.wire import answer_bytes
from tests.samples import sample_question, sample_study

STUDY = sample_study()
ID = bytes(range(16))
ONE = f"/studies/{STUDY.digest}"


def test_a_study_comes_back_byte_by_byte_and_signed(ask):
    async def scene(desk: Desk) -> None:
        made = await desk.publish(STUDY)
        assert (made.status_code, made.headers["location"]) == (201, ONE)
        assert (await desk.publish(STUDY)).status_code == 200
        (listed,) = (await desk.get("/studies")).json()["studies"]
        assert (listed["study"], listed["title"]) == (STUDY.digest, STUDY.title)
        shown = await desk.get(ONE, token="")
        assert shown.content == STUDY.to_bytes()
        assert shown.headers["etag"] == f'"{STUDY.digest}"'
        key = (await desk.get("/key", token="")).json()["key"]
        assert signature_is_good(key, "study", shown.content, shown.headers["fairgauge-signature"])
        assert not signature_is_good(key, "seal", shown.content, shown.headers["fairgauge-signature"])
        assert not signature_is_good(key, "study", shown.content + b" ", shown.headers["fairgauge-signature"])

    ask(scene)


def test_whoever_publishes_for_everyone_is_told_of_people_who_cannot_abstain(ask):
    async def scene(desk: Desk) -> None:
        abstaining = sample_study(sample_question(abstain=True))
        found = [await desk.publish(study) for study in (STUDY, STUDY, abstaining)]
        told = await desk.publish(replace(STUDY, title="By ticket", admission="tickets"))
        notes = [each.json()["note"] for each in (*found, told)]
        assert "cannot abstain" in notes[0]
        assert notes == [notes[0], notes[0], "", ""]

    ask(scene)


def test_web_pages_of_other_origins_may_do_what_devices_do_and_nothing_else(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        page = {"origin": "https://app.example"}

        async def allowed(method: str, path: str) -> object:
            return (await desk.client.request(method, path, headers=page)).headers.get("access-control-allow-origin")

        assert await allowed("GET", ONE) == "*"
        assert await allowed("GET", f"{ONE}/status") == "*"
        json_kind = {"content-type": "application/json"}
        for body in (answer_bytes(STUDY.digest, ID, 1), b"nonsense"):  # a page must be able to read refusals
            told = await desk.client.post(f"{ONE}/answers", content=body, headers=page | json_kind)
            assert told.headers["access-control-allow-origin"] == "*"
            assert "Retry-After" in told.headers["access-control-expose-headers"]
            assert "access-control-allow-credentials" not in told.headers
        assert await allowed("GET", "/studies/unknown") == "*"
        for method, path in (
            ("GET", "/studies"), ("POST", "/studies"), ("POST", ONE), ("GET", f"{ONE}/answers"), ("GET", "/metrics"),
            ("POST", f"{ONE}/close"), ("GET", f"{ONE}/tally"), ("GET", f"{ONE}/estimate"), ("GET", f"{ONE}/export"),
            ("OPTIONS", "/studies"), ("OPTIONS", f"{ONE}/close"), ("OPTIONS", f"{ONE}/tally"), ("GET", "/healthz"),
        ):  # fmt: skip
            assert await allowed(method, path) is None, (method, path)

    ask(scene)


@pytest.mark.parametrize(("path", "method"), [(ONE, "GET"), (f"{ONE}/answers", "POST")])
def test_browsers_that_ask_first_are_told(ask, path: str, method: str):
    async def scene(desk: Desk) -> None:
        asked = {"origin": "https://app.example", "access-control-request-method": method}
        told = await desk.client.options(path, headers={**asked, "access-control-request-headers": "content-type"})
        assert (told.status_code, told.content) == (204, b"")
        assert told.headers["access-control-allow-origin"] == "*"
        assert told.headers["access-control-allow-methods"] == method
        assert told.headers["access-control-allow-headers"] == "Authorization, Content-Type"

    ask(scene)


READERS_MAY = ["/studies", f"{ONE}/tally", f"{ONE}/estimate", f"{ONE}/export", f"{ONE}/arrivals", "/metrics"]
SCRIPTS = [
    *(f"/static/fairgauge-{name}.js" for name in ("client", "crowd", "envelopes", "inclusion", "passes", "study")),
    *(f"/static/{name}" for name in ("fairgauge-client.d.ts", "take-part-page.js", "take-part.css")),
]
PAGES = [
    "/", "/studies/{digest}/events", "/studies/{digest}/report", "/sign-in", "/sign-out", "/operator",
    "/operator/publish", "/operator/close", "/operator/tokens", "/operator/tickets", "/style.css", "/live.js",
]  # fmt: skip
EVERYONE_MAY = [
    ONE,
    "/.well-known/ohttp-gateway",
    f"{ONE}/status",
    f"{ONE}/take-part",
    *SCRIPTS,
    "/key",
    "/healthz",
    "/readyz",
    "/openapi.json",
]


def test_guesses_wait_in_one_line_and_good_tokens_do_not(ask, monkeypatch: pytest.MonkeyPatch):
    """At one in a thousand seconds the first is answered, and nobody's turn comes after it."""
    monkeypatch.setattr(access, "PATIENCE", 0.2)

    async def scene(desk: Desk) -> None:
        told = await asyncio.gather(*(desk.get("/studies", token=f"guess{n}") for n in range(20)))
        assert sorted(one.status_code for one in told) == [401] + [429] * 19
        assert (await desk.get("/studies")).status_code == 200

    ask(scene, rates={"refused": 0.001})


def test_every_path_fails_closed(ask, tmp_path: Path):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        for path in READERS_MAY:
            for token in ("", "nonsense", desk.reader + "x", desk.reader.upper()):
                found = await desk.get(path, token=token)
                assert (found.status_code, found.headers["www-authenticate"]) == (401, 'Bearer realm="fairgauge"')
                assert found.headers["connection"] == "close"  # one guess a connection
            for token in (desk.reader, desk.operator):
                assert (await desk.get(path, token=token)).status_code == 200, path
        for path in EVERYONE_MAY:
            assert (await desk.get(path, token="")).status_code == 200, path
        for path in ("/studies", f"{ONE}/close"):
            assert (await desk.post(path, token="")).status_code == 401
            assert (await desk.post(path, token=desk.reader)).status_code == 403
        described = {path.replace("{digest}", STUDY.digest) for path in openapi()["paths"]}
        pages = {path.replace("{digest}", STUDY.digest) for path in PAGES}  # see test_pages.py
        assert described - pages == {
            *READERS_MAY,
            *EVERYONE_MAY,
            f"{ONE}/answers",
            f"{ONE}/close",
            "/studies/directory",
            f"{ONE}/sealed",
            f"{ONE}/bundle",
            f"{ONE}/inclusion",
        }
        revoke_token(tmp_path / "secrets", name="reader")
        assert (await desk.get("/studies")).status_code == 401
        (tmp_path / "secrets" / "tokens.json").write_text("{")
        assert (await desk.get("/studies", token=desk.operator)).status_code == 401
        (tmp_path / "secrets" / "tokens.json").unlink()
        assert (await desk.get("/studies", token=desk.operator)).status_code == 401

    ask(scene, rates={"refused": 1000.0, "readers": 1000.0})


def test_the_openapi_document_has_every_route(tmp_path: Path, ask):
    async def scene(desk: Desk) -> None:
        routes = {
            (route.path, method)
            for route in make_app(desk.collector).router.routes
            if isinstance(route, Route)
            for method in (route.methods or set()) - {"HEAD", "OPTIONS"}  # HTTP's own business
        }
        described = {
            (path, method.upper())
            for path, methods in openapi()["paths"].items()
            for method in methods
            if method != "parameters"
        }
        assert routes == described

    ask(scene)


GOOD = answer_bytes(STUDY.digest, ID, 1)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (GOOD[:-1], "bad-answer"),
        (GOOD.replace(b'"symbol":1', b'"symbol":1,"symbol":1'), "bad-answer"),
        (GOOD.replace(b'"symbol":1', b'"symbol":1.0'), "bad-answer"),
        (GOOD.replace(b'"symbol":1', b'"symbol":1e0'), "bad-answer"),
        (GOOD.replace(b'"symbol":1', b'"symbol":NaN'), "bad-answer"),
        (GOOD.replace(b'"symbol":1', b'"symbol":true'), "bad-answer"),
        (GOOD.replace(b'"symbol":1', b'"symbol":-1'), "bad-answer"),
        (GOOD.replace(b'"symbol":1', b'"symbol":4'), "bad-answer"),
        (GOOD.replace(b'"symbol":1', b'"symbol":' + b"9" * 400), "bad-answer"),
        (GOOD.replace(b'"symbol":1', b'"symbol":1,"when":2'), "bad-answer"),
        (GOOD.replace(b"0001", b"00zz"), "bad-answer"),
        (GOOD.replace(b"0a0b", b"0A0B"), "bad-answer"),
        (GOOD.replace(STUDY.digest.encode(), b"0" * 64), "bad-answer"),
        (b"[" * 2000, "bad-answer"),
        (b"\xff\xfe", "bad-answer"),
        (b"[]", "bad-answer"),
        (b"", "bad-answer"),
        (GOOD + b" " * 5000, "too-large"),
    ],
)
def test_what_is_no_answer_is_refused_with_a_reason(ask, body: bytes, kind: str):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        found = await desk.post(f"{ONE}/answers", body)
        assert found.headers["content-type"] == "application/problem+json"
        told = found.json()
        assert (told["type"], told["status"]) == (URN + kind, KINDS[kind][0])
        assert found.status_code == told["status"]
        assert sum(await desk.tally(STUDY)) == 0

    ask(scene)


def test_another_spelling_of_the_same_answer_is_the_same_answer(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        spelled = json.dumps({"symbol": 1, "id": ID.hex(), "study": STUDY.digest}, indent=2).encode()
        assert (await desk.post(f"{ONE}/answers", spelled)).json() == {"status": "accepted"}
        assert (await desk.post(f"{ONE}/answers", GOOD)).json() == {"status": "duplicate"}

    ask(scene)


def test_media_types_and_parameters_are_checked(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        assert (await desk.post(f"{ONE}/answers", GOOD, kind="text/plain")).status_code == 415
        assert (await desk.post(f"{ONE}/answers?now=1", GOOD)).status_code == 400
        assert (await desk.post("/studies", STUDY.to_bytes(), kind="text/plain")).status_code == 415
        for path in (f"{ONE}/tally?x=1", f"{ONE}/export?format=csv", f"{ONE}/export?format=ndjson&format=ndjson"):
            assert (await desk.get(path)).status_code == 400, path
        for query in ("confidence=2", "confidence=nan", "confidence=x", "interval=guess"):
            assert (await desk.get(f"{ONE}/estimate?{query}")).status_code == 400, query
        for path in ("/studies/none", f"/studies/{'0' * 64}", f"/studies/{'0' * 63}%00/tally"):
            assert (await desk.get(path)).status_code == 404, path
        assert (await desk.client.delete("/studies")).status_code == 405

    ask(scene)


def test_a_study_that_is_not_private_is_not_published(ask):
    async def scene(desk: Desk) -> None:
        document = json.loads(STUDY.to_bytes())
        document["tables"][0]["epsilon"] = "0.5"
        found = await desk.post("/studies", encode(document))
        assert (found.status_code, found.json()["type"]) == (400, URN + "not-private")
        document["tables"][0]["surprise"] = 1
        assert (await desk.post("/studies", encode(document))).json()["field"] == "tables[0].surprise"
        assert (await desk.get("/studies")).json() == {"studies": []}

    ask(scene)


def test_tickets_let_a_device_answer_once(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY, admission="tickets")
        assert (await desk.publish(STUDY)).status_code == 409
        assert (await desk.get(ONE)).headers["fairgauge-admission"] == "tickets"
        assert (await desk.answer(STUDY, ID, 1)).json()["type"] == URN + "bad-ticket"
        other = bytes.fromhex(desk.collector.tickets.new("0" * 64))
        assert (await desk.answer(STUDY, other, 1)).status_code == 403
        ticket = bytes.fromhex(desk.collector.tickets.new(STUDY.digest))
        bent = ticket[:-1] + bytes([ticket[-1] ^ 1])
        assert (await desk.answer(STUDY, bent, 1)).status_code == 403
        lines = [answer_bytes(STUDY.digest, id_, 1) for id_ in (ID, ticket, bent, ticket)]
        told = (await desk.batch(STUDY, lines)).json()
        assert (told["accepted"], told["duplicates"]) == (1, 1)
        assert [(e["line"], e["status"]) for e in told["errors"]] == [(1, 403), (3, 403)]
        assert (await desk.answer(STUDY, ticket, 2)).status_code == 409
        assert await desk.tally(STUDY) == [0, 1, 0, 0]

    ask(scene)


def test_a_study_opens_and_closes_at_its_time(ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fairgauge.collector.service._LOOK_SECONDS", 0.05)
    study = Study("Timed", (sample_question(),), opens="2026-01-01T00:00:00Z", closes="2026-01-02T00:00:00Z")
    opens, closes = 1767225600.0, 1767312000.0
    now = opens - 1

    async def scene(desk: Desk) -> None:
        nonlocal now
        await desk.publish(study)
        early = await desk.answer(study, ID, 1)
        assert (early.status_code, early.headers["retry-after"]) == (425, "60")
        now = opens
        assert (await desk.answer(study, ID, 1)).status_code == 200
        now = closes
        assert (await desk.answer(study, b"\1" * 16, 1)).status_code == 410
        assert (await desk.answer(study, ID, 1)).json() == {"status": "duplicate"}
        for _ in range(2400):
            found = await desk.get(f"/studies/{study.digest}/sealed")
            if found.status_code == 200:
                break
            await asyncio.sleep(0.05)
        assert found.json()["seal"]["closed"] == "2026-01-02T00:00:00Z"

    ask(scene, clock=lambda: now)


def test_too_much_is_refused_until_later(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        statuses = [(await desk.answer(STUDY, bytes([n] * 16), 0)).status_code for n in range(30)]
        assert statuses.count(200) == 1
        refused = await desk.answer(STUDY, ID, 0)
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 1000
        assert sum(await desk.tally(STUDY)) == 1

    ask(scene, rates={"open": 0.001})


def test_a_batch_has_a_largest_size(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        lines = [answer_bytes(STUDY.digest, bytes([n] * 16), 0) for n in range(11)]
        assert (await desk.batch(STUDY, lines)).status_code == 400
        assert (await desk.batch(STUDY, [])).status_code == 400
        assert (await desk.batch(STUDY, lines[:10])).json()["accepted"] == 10
        assert (await desk.batch(STUDY, [b"x" * 3000])).status_code == 413

    ask(scene, limits={"batch_lines": 10, "batch_bytes": 2000})


def test_the_estimate_is_the_library_s(ask):
    async def scene(desk: Desk) -> None:
        from fairgauge.estimation import estimate

        await desk.publish(STUDY)
        await desk.batch(STUDY, [answer_bytes(STUDY.digest, n.to_bytes(16), n % 4) for n in range(900)])
        found = (await desk.get(f"{ONE}/estimate?confidence=0.9&interval=normal")).json()
        tally = Tally(STUDY.digest, (225, 225, 225, 225))
        assert found == json.loads(json.dumps(estimate(STUDY, tally, confidence=0.9, interval="normal").to_dict()))

    ask(scene)


def test_the_export_is_sorted_and_complete_in_both_formats(ask):
    async def scene(desk: Desk) -> None:
        from pyarrow import parquet

        await desk.publish(STUDY)
        empty = await desk.get(f"{ONE}/export?format=parquet")
        assert parquet.read_table(BytesIO(empty.content)).num_rows == 0
        answers = sorted((bytes([n * 37 % 256] * 16), n % 4) for n in range(200))
        await desk.batch(STUDY, [answer_bytes(STUDY.digest, *answer) for answer in reversed(answers)])
        table = parquet.read_table(BytesIO((await desk.get(f"{ONE}/export?format=parquet")).content))
        assert list(zip(table["id"].to_pylist(), table["symbol"].to_pylist(), strict=True)) == answers
        lines = (await desk.get(f"{ONE}/export")).content
        assert lines == b"".join(answer_bytes(STUDY.digest, *answer) + b"\n" for answer in answers)

    ask(scene)


def test_times_are_kept_as_hours(ask):
    async def scene(desk: Desk) -> None:
        assert (await desk.publish(STUDY)).json()["published"] == "2026-01-01T01:00:00Z"
        await desk.answer(STUDY, ID, 1)
        found = (await desk.get(f"{ONE}/arrivals")).json()
        assert found["arrivals"] == [{"start": "2026-01-01T01:00:00Z", "answers": 1}]

    ask(scene, clock=lambda: 1767225600.0 + 3600 + 1234.5)


def test_metrics_tell_no_time(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        await desk.answer(STUDY, ID, 1)
        text = (await desk.get("/metrics")).text
        assert 'fairgauge_answers_total{outcome="accepted"} 1.0' in text
        values = [float(line.split()[-1]) for line in text.splitlines() if not line.startswith("#")]
        assert max(values) < 1e6, "seconds since 1970 are more"

    ask(scene)


def test_a_stopping_collector_says_so(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        await desk.collector.intake.stop()
        desk.collector.ready = False
        for found in (await desk.answer(STUDY, ID, 1), await desk.get("/readyz")):
            assert (found.status_code, found.json()["type"]) == (503, URN + "stopping")
            assert int(found.headers["retry-after"]) > 0
        assert (await desk.get("/healthz")).status_code == 200

    ask(scene)


def test_a_fault_is_a_problem_without_its_text(ask, capsys):
    async def scene(desk: Desk) -> None:
        from fairgauge.server.logs import log_to

        log_to()

        async def broken(_now: int) -> None:
            raise RuntimeError("the secret 1234")

        desk.collector.store.study = broken  # type: ignore[assignment, method-assign]
        found = await desk.get(ONE)
        assert (found.status_code, found.json()["type"]) == (500, URN + "broken")
        assert "1234" not in found.text

    try:
        ask(scene)
    finally:
        structlog.reset_defaults()
    logged = capsys.readouterr().err
    assert "RuntimeError" in logged
    assert "1234" not in logged


def test_a_large_study_comes_back_whole_though_it_is_sent_in_pieces(ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(study_endpoints, "_PIECE", 100)

    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        shown = await desk.get(ONE, token="")
        assert shown.content == STUDY.to_bytes()
        assert shown.headers["content-length"] == str(len(STUDY.to_bytes()))

    ask(scene)


def test_nonsense_without_end_is_answered_late_and_good_answers_at_once(ask, monkeypatch: pytest.MonkeyPatch):
    slowed: list[str] = []

    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        slow = desk.collector.turnstile.slow

        async def counted(kind: str, patience: float) -> None:
            slowed.append(kind)
            await slow(kind, 0.0)

        monkeypatch.setattr(desk.collector.turnstile, "slow", counted)
        assert (await desk.post(f"{ONE}/answers", b"nonsense")).status_code == 400
        assert (await desk.get("/nowhere")).status_code == 404
        assert (await desk.get("/studies", token="no")).status_code == 401
        assert slowed == ["faulty"] * 3
        assert (await desk.answer(STUDY, ID, 1)).status_code == 200
        assert (await desk.answer(STUDY, ID, 2)).status_code == 409  # a device may try in good faith
        assert (await desk.get(f"{ONE}/tally")).status_code == 200
        assert len(slowed) == 3
        for path in ("/healthz", "/readyz", "/key", "/openapi.json", "/style.css", "/sign-in"):
            assert (await desk.get(path, token="")).status_code == 200
        assert slowed[3:] == ["free"] * 6  # nothing is free of charge

    ask(scene)


def test_an_answer_does_not_wait_for_a_thousand_other_requests(ask):
    """They come at once; each is short, and the answer is handed to be stored before nearly all of them are done."""

    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        await desk.answer(STUDY, bytes(16), 0)
        done, handed, submit = 0, [], desk.collector.intake.submit

        async def other() -> None:
            nonlocal done
            await desk.get("/healthz", token="")
            done += 1

        async def watched(rows: list[Any]) -> list[str]:
            handed.append(done)
            return await submit(rows)

        desk.collector.intake.submit = watched  # type: ignore[method-assign]
        flood = [asyncio.create_task(other()) for _ in range(1000)]
        await asyncio.sleep(0)
        assert (await desk.answer(STUDY, ID, 1)).status_code == 200
        await asyncio.gather(*flood)
        assert handed[0] < 500

    ask(scene, rates={"free": 1e6})


def test_a_request_whose_sender_has_left_is_not_begun(ask):
    async def scene(desk: Desk) -> None:
        said: list[Message] = []

        async def send(message: Message) -> None:
            said.append(message)

        scope = {"type": "http", "method": "GET", "path": "/healthz", "query_string": b"", "headers": [], GONE: True}
        await make_app(desk.collector)(scope, send, send)  # type: ignore[arg-type]
        assert said == []

    ask(scene)
