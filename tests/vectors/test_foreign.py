"""Implementations that are not ours: what npm's packages made and read is committed, and made anew where they are.

``FAIRGAUGE_NODE_MODULES`` names a folder with ``node_modules`` of ``@cloudflare/blindrsa-ts``, ``@hpke/core`` and
``bhttp-js``.  ``python -m tests.vectors.test_foreign`` then writes ``foreign.json``.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fairgauge.parties.blind_signing import PrivateKey, sign_blinded
from fairgauge.unlinkable.binary_http import Message, read_request, read_response, write_response
from fairgauge.unlinkable.blinding import blind, finalize, new_blinding, verify
from fairgauge.unlinkable.oblivious_http import KeyConfig, open_request
from tests.vectors.node import HERE, NODE

FILE = HERE / "foreign.json"
MODULES = os.environ.get("FAIRGAUGE_NODE_MODULES")
RFC9578 = json.loads((HERE / "passes.json").read_text(encoding="utf-8"))["rfc9578"]
KEY = PrivateKey(int(RFC9578["p"], 16), int(RFC9578["q"], 16), 65537)
GATEWAY = bytes.fromhex(json.loads((HERE / "envelopes.json").read_text(encoding="utf-8"))["secret"])
CONFIG = KeyConfig(1, KeyConfig.of(GATEWAY).public)


def made_by_us() -> dict[str, str]:
    """Return a request and a signature of ours, and a response, for others to sign, check and read."""
    message, blinding = b"made by fairgauge", new_blinding(KEY.public)
    request = blind(KEY.public, message, blinding)
    signature = finalize(KEY.public, message, blinding, sign_blinded(KEY, request))
    response = write_response(Message((b"200",), ((b"content-type", b"application/json"),), b'{"status":"duplicate"}'))
    found = {"message": message, "blinded": request, "signature": signature, "response": response}
    return {name: value.hex() for name, value in found.items()}


def made_by_them(folder: str) -> str:
    """Run the foreign packages."""
    assert NODE is not None
    command = [NODE, str(HERE / "foreign.mjs"), str(HERE / "passes.json"), str(Path(folder).resolve())]
    given = json.dumps(made_by_us())
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True, timeout=120).stdout


LIVE = pytest.param(
    "live", marks=pytest.mark.skipif(not (MODULES and NODE), reason="FAIRGAUGE_NODE_MODULES is not set")
)


@pytest.fixture(scope="module", params=["committed", LIVE])
def foreign(request: pytest.FixtureRequest) -> dict[str, Any]:
    text = FILE.read_text(encoding="utf-8") if request.param == "committed" else made_by_them(str(MODULES))
    found: dict[str, Any] = json.loads(text)
    return found


def test_blindrsa_ts_and_we_sign_and_take_the_same(foreign: dict[str, Any]):
    theirs = {name: bytes.fromhex(value) for name, value in foreign["blind_rsa"].items()}
    assert sign_blinded(KEY, theirs["blinded"]) == theirs["signed"]
    assert verify(KEY.public, theirs["message"], theirs["signature"])
    assert not verify(KEY.public, theirs["message"] + b"!", theirs["signature"])
    ours = {name: bytes.fromhex(value) for name, value in foreign["ours"].items()}
    assert foreign["answered"] == {"signed": sign_blinded(KEY, ours["blinded"]).hex(), "verified": True}


def test_what_hpke_core_seals_we_open(foreign: dict[str, Any]):
    opened = open_request(GATEWAY, CONFIG, bytes.fromhex(foreign["hpke"]["sealed"]))
    assert opened.data.hex() == foreign["hpke"]["plain"]
    assert opened.context.export(b"message/bhttp response", 16).hex() == foreign["hpke"]["exported"]


def test_what_bhttp_js_writes_we_read_and_the_other_way_round(foreign: dict[str, Any]):
    asked = read_request(bytes.fromhex(foreign["hpke"]["plain"]))
    assert asked.start == (b"POST", b"https", b"collector.example", b"/studies/1f0c/answers")
    assert (b"content-type", b"application/json") in asked.headers
    assert asked.content == b'{"symbol":17}'
    told = read_response(bytes.fromhex(foreign["binary_http"]["response"]))
    assert (told.status, told.content) == (200, b'{"status":"accepted"}')
    assert foreign["read_back"] == {"status": 200, "body": '{"status":"duplicate"}'}


if __name__ == "__main__":
    FILE.write_text(made_by_them(str(MODULES)), encoding="utf-8")
