"""The collector as a gateway, and blind tickets at its door.

Covers: fairgauge.collector.gateway, fairgauge.collector.admission, fairgauge.collector.gateway,
fairgauge.server.serving
"""

import json
from base64 import urlsafe_b64encode
from dataclasses import replace
from pathlib import Path

import pytest

from fairgauge.client import Answer
from fairgauge.collector.admission import Gate
from fairgauge.collector.gateway import Gateway, _Caught
from fairgauge.parties.blind_signing import PrivateKey, sign_blinded
from fairgauge.server.problems import Problem
from fairgauge.server.server_errors import BadTicket
from fairgauge.study import Issuer, Study
from fairgauge.unlinkable.binary_http import Message, read_response, write_request
from fairgauge.unlinkable.oblivious_http import (
    REQUEST_TYPE,
    RESPONSE_TYPE,
    SEALED_RESPONSE,
    SIZE,
    KeyConfig,
    open_response,
    seal_request,
)
from fairgauge.unlinkable.pass_token import answer_id, begin_pass, challenge_of, read_key, write_key
from tests.collecting.desk import Desk
from tests.samples import sample_question, sample_study

RFC9578 = json.loads((Path(__file__).parents[2] / "vectors" / "passes.json").read_text(encoding="utf-8"))["rfc9578"]
SECRET = PrivateKey(int(RFC9578["p"], 16), int(RFC9578["q"], 16), 65537)
KEY = write_key(SECRET.public)
STUDY = replace(sample_study(), admission="blind", issuer=Issuer("issuer.example", KEY))
PATH = "/.well-known/ohttp-gateway"


def new_token(study: Study = STUDY) -> bytes:
    key, challenge = read_key(KEY), challenge_of("issuer.example", study.digest)
    begun = begin_pass(key)
    return begun.token(key, challenge, sign_blinded(SECRET, begun.request(key, challenge)[3:]))


def shown(token: bytes) -> dict[str, str]:
    return {"authorization": f'PrivateToken token="{urlsafe_b64encode(token).decode()}"'}


async def plainly(desk: Desk, body: bytes, headers: dict[str, str], kind: str = "application/json") -> int:
    path = f"/studies/{STUDY.digest}/answers"
    return (await desk.client.post(path, content=body, headers={"content-type": kind, **headers})).status_code


async def enveloped(desk: Desk, method: str, path: str, body: bytes = b"", **headers: str) -> Message:
    told = tuple((name.replace("_", "-").encode(), value.encode()) for name, value in headers.items())
    message = Message((method.encode(), b"https", b"collector", path.encode()), told, body)
    sealed = seal_request(desk.collector.gateway.config, write_request(message, size=SIZE))
    found = await desk.client.post(PATH, content=sealed.data, headers={"content-type": REQUEST_TYPE})
    assert (found.status_code, found.headers["content-type"]) == (200, RESPONSE_TYPE)
    padded = len(found.content) - (SEALED_RESPONSE - SIZE)
    assert padded == SIZE or (method == "GET" and padded > SIZE and padded.bit_count() == 1)
    return read_response(open_response(sealed, found.content))


# ---------------------------------------------------------------------------------------------------------- tokens
def test_a_token_counts_once_and_only_for_its_own_id(ask):
    async def scene(desk: Desk) -> None:
        assert (await desk.publish(STUDY)).status_code == 201
        token = new_token()
        body = Answer(STUDY.digest, answer_id(token), (1,)).to_bytes()
        assert await plainly(desk, body, shown(token)) == 200
        assert await plainly(desk, body, shown(token)) == 200
        assert await plainly(desk, Answer(STUDY.digest, answer_id(token), (2,)).to_bytes(), shown(token)) == 409
        assert sum(await desk.tally(STUDY)) == 1
        assert await plainly(desk, Answer(STUDY.digest, "0" * 32, (1,)).to_bytes(), shown(token)) == 403
        assert await plainly(desk, Answer(STUDY.digest, answer_id(new_token()), (1,)).to_bytes(), shown(token)) == 403
        assert sum(await desk.tally(STUDY)) == 1

    ask(scene)


def test_without_a_token_or_with_another_studys_nothing_is_counted(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        foreign = new_token(replace(STUDY, planned=9))
        ordinary = desk.collector.tickets.new(STUDY.digest)
        for name, headers in (
            (answer_id(foreign), shown(foreign)),
            (ordinary, {}),
            (ordinary, {"authorization": f"Bearer {ordinary}"}),
            (ordinary, {"authorization": "PrivateToken token=AAAA"}),
            (answer_id(bytes(354)), shown(bytes(354))),
        ):
            assert await plainly(desk, Answer(STUDY.digest, name, (1,)).to_bytes(), headers) == 403
        told = await desk.batch(STUDY, [Answer(STUDY.digest, ordinary, (1,)).to_bytes()])
        assert told.status_code == 403
        assert "send them one by one" in told.json()["detail"]
        assert sum(await desk.tally(STUDY)) == 0

    ask(scene)


def test_a_gate_is_that_of_its_study():
    gate = Gate.of(STUDY)
    assert gate is not None
    token = new_token()
    assert gate.id_of(token).hex() == answer_id(token)
    with pytest.raises(BadTicket):
        gate.id_of(token[:-1] + bytes([token[-1] ^ 1]))
    assert Gate.of(sample_study()) is None


# ------------------------------------------------------------------------------------------------------- envelopes
def test_an_answer_in_an_envelope_counts_as_one_that_came_by_itself(ask):
    async def scene(desk: Desk) -> None:
        study = replace(STUDY, gateway=desk.collector.gateway.config.to_text(), epoch=3600)
        assert (await desk.publish(study)).status_code == 201
        token = new_token(study)
        body = Answer(study.digest, answer_id(token), (1,)).to_bytes()
        path, told = f"/studies/{study.digest}/answers", {"content_type": "application/json", **shown(token)}
        for said in ("accepted", "duplicate"):
            found = await enveloped(desk, "POST", path, body, **told)
            assert (found.status, json.loads(found.content)) == (200, {"status": said})
        assert sum(await desk.tally(study)) == 1
        status = await enveloped(desk, "GET", f"/studies/{study.digest}/status")
        assert json.loads(status.content)["status"] == "open"

    ask(scene)


def test_a_refusal_is_in_the_envelope_and_of_the_same_size(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        path, body = f"/studies/{STUDY.digest}/answers", Answer(STUDY.digest, "0" * 32, (1,)).to_bytes()
        assert (await enveloped(desk, "POST", path, body, content_type="application/json")).status == 403
        assert (await enveloped(desk, "POST", path, b"{", content_type="application/json")).status == 400
        assert (await enveloped(desk, "POST", path, body, content_type="text/plain")).status == 415
        for method, elsewhere in (
            ("GET", "/"), ("POST", "/studies"), ("GET", f"{path}?x=1"), ("GET", f"/studies/{STUDY.digest}/tally"),
            ("GET", f"/studies/{STUDY.digest}/export"), ("POST", PATH), ("GET", f"/studies/{STUDY.digest}/status/"),
        ):  # fmt: skip
            assert (await enveloped(desk, method, elsewhere, authorization=f"Bearer {desk.operator}")).status == 404

    ask(scene)


def test_what_does_not_open_is_refused_outside(ask):
    async def scene(desk: Desk) -> None:
        other = KeyConfig.of(bytes(31) + b"\5")
        good = seal_request(desk.collector.gateway.config, bytes(SIZE)).data
        for body, kind, status in (
            (seal_request(other, bytes(SIZE)).data, REQUEST_TYPE, 400),
            (good[:-1] + b"\0", REQUEST_TYPE, 400),
            (b"", REQUEST_TYPE, 400),
            (good + b"\0", REQUEST_TYPE, 413),
            (good, "application/json", 415),
        ):
            found = await desk.client.post(PATH, content=body, headers={"content-type": kind})
            assert found.status_code == status
            assert found.headers["content-type"] == "application/problem+json"

    ask(scene)


def test_envelopes_are_charged_before_they_are_opened(ask, monkeypatch: pytest.MonkeyPatch):
    async def scene(desk: Desk) -> None:
        def never(self: Gateway, data: bytes) -> None:
            raise AssertionError("opened")

        monkeypatch.setattr(Gateway, "open", never)
        desk.collector.turnstile._rates["envelopes"]._level = -1e9
        found = await desk.client.post(PATH, content=b"x", headers={"content-type": REQUEST_TYPE})
        assert found.status_code == 429
        assert int(found.headers["retry-after"]) > 0

    ask(scene)


def test_what_is_in_an_envelope_is_charged_as_if_it_came_by_itself(ask):
    async def scene(desk: Desk) -> None:
        study = sample_study()
        await desk.publish(study)
        desk.collector.turnstile._rates["open"]._level = -1e9
        body = Answer(study.digest, "0" * 32, (1,)).to_bytes()
        path = f"/studies/{study.digest}/answers"
        found = await enveloped(desk, "POST", path, body, content_type="application/json")
        assert found.status == 429
        assert dict(found.headers)[b"retry-after"]

    ask(scene)


def test_the_gateways_key_is_at_the_well_known_place_and_a_study_must_name_it(ask):
    async def scene(desk: Desk) -> None:
        found = await desk.client.get(PATH)
        config = desk.collector.gateway.config
        assert found.headers["content-type"] == "application/ohttp-keys"
        assert found.content == len(config.to_bytes()).to_bytes(2, "big") + config.to_bytes()
        other = replace(sample_study(), gateway=KeyConfig.of(bytes(31) + b"\5").to_text())
        told = await desk.publish(other)
        assert (told.status_code, told.json()["field"]) == (400, "gateway")
        assert (await desk.publish(replace(other, gateway=config.to_text()))).status_code == 201

    ask(scene)


@pytest.mark.parametrize("levels", [2, 60])
def test_a_study_and_the_directory_come_in_envelopes_padded_to_a_power_of_two(ask, levels: int):
    """The larger one is sent in pieces where it is asked for by itself."""

    async def scene(desk: Desk) -> None:
        gateway = desk.collector.gateway.config.to_text()
        ends = (*range(-(2**30), 2**30, 2**31 // (levels - 1) + 1), 2**30)
        study = replace(sample_study(sample_question(levels=ends)), gateway=gateway)
        assert (await desk.publish(study)).status_code == 201
        await desk.publish(sample_study())
        closed = replace(study, title="Closed")
        await desk.publish(closed)
        await desk.post(f"/studies/{closed.digest}/close")
        whole = await enveloped(desk, "GET", f"/studies/{study.digest}", accept="application/json")
        assert whole.content == study.to_bytes()
        listed = await enveloped(desk, "GET", "/studies/directory")
        assert json.loads(listed.content) == {"studies": [study.digest]}
        assert (await desk.get("/studies/directory", token="")).content == listed.content

    ask(scene)


def test_a_response_that_is_too_long_loses_its_body():
    long = _Caught.of(Problem("bad-request", "x" * 2000))
    assert len(long.to_bytes()) == SIZE
    found = read_response(long.to_bytes())
    assert (found.status, found.content) == (400, b"")


def test_a_gateway_keeps_its_key(tmp_path: Path):
    assert Gateway.in_folder(tmp_path).config == Gateway.in_folder(tmp_path).config
    assert (tmp_path / "gateway.key").stat().st_mode & 0o777 == 0o600


def test_a_rotated_gateway_opens_for_studies_that_name_the_key_of_before_until_they_close(ask):
    async def scene(desk: Desk) -> None:
        old = desk.collector.gateway.config
        study = replace(sample_study(), gateway=old.to_text(), title="Rotated")
        assert (await desk.publish(study)).status_code == 201
        desk.collector.gateway = Gateway.rotate(desk.collector.secrets)
        new = desk.collector.gateway.config
        assert new.number != old.number
        await desk.collector._forget_gateway_keys()
        assert desk.collector.gateway.named == {old.to_text(), new.to_text()}
        asked = Message((b"GET", b"https", b"collector", f"/studies/{study.digest}/status".encode()))
        for config in (old, new):
            sealed = seal_request(config, write_request(asked, size=SIZE))
            found = await desk.client.post(PATH, content=sealed.data, headers={"content-type": REQUEST_TYPE})
            assert read_response(open_response(sealed, found.content)).start == (b"200",)
        await desk.post(f"/studies/{study.digest}/close")
        assert desk.collector.gateway.named == {new.to_text()}
        late = seal_request(old, write_request(asked, size=SIZE)).data
        told = await desk.client.post(PATH, content=late, headers={"content-type": REQUEST_TYPE})
        assert (told.status_code, told.headers["content-type"]) == (400, "application/problem+json")
        assert told.json()["type"] == "https://iana.org/assignments/http-problem-types#ohttp-key"

    ask(scene)
