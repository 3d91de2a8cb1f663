"""What the RFCs print comes out of the JavaScript modules too; and a module with a mistake is caught.

Browsers check the client's vectors too (``tests/browser``); Node does it in a second.
"""

import json
from pathlib import Path

import pytest

from tests.vectors.node import STATIC, Change, client_misses, missed, needs_node, run_node


@needs_node
@pytest.mark.parametrize(
    ("change", "line"),
    [
        (None, ""),
        (("const TRAILER = 0xbc", "const TRAILER = 0xbd"), "encoded"),
        (("(code * power(r, e, n)) % n", "code % n"), "blinded"),
        (("if (await verify(key, message, signature, salt.length)) return signature", "return signature"), "wrong"),
        (("key.id.subarray(-1)", "key.id.subarray(0, 1)"), "request"),
    ],
    ids=["honest", "trailer", "blinding", "unchecked", "key"],
)
def test_the_vectors_of_blind_tickets(tmp_path: Path, change: Change | None, line: str):
    found = missed(tmp_path, "passes", change)
    assert [one for one in found if line in one] if change else found == []


@needs_node
@pytest.mark.parametrize(
    ("change", "line"),
    [
        (None, ""),
        (('"message/bhttp request"', '"message/bhttp response"'), "sealed request"),
        (("join(context.enc, nonce)", "join(nonce, context.enc)"), "stopped"),
        (("if (data.subarray(at).some(Boolean)) throw bad()", ""), "refused"),
        (("new Uint8Array(size - data.length)", "[]"), "written"),
    ],
    ids=["honest", "info", "salt", "tail", "padding"],
)
def test_the_vectors_of_envelopes(tmp_path: Path, change: Change | None, line: str):
    found = missed(tmp_path, "envelopes", change)
    assert [one for one in found if line in one] if change else found == []


@needs_node
@pytest.mark.parametrize(
    ("script", "file"),
    [
        ("check.js", "vectors.json"),
        ("check.js", "vectors2.json"),
        ("limits.js", "limits.json"),
        ("crowd.js", "crowd.json"),
    ],
    ids=["format 1", "format 2", "limits", "crowds"],
)
def test_what_python_says_the_client_says(tmp_path: Path, script: str, file: str):
    assert client_misses(tmp_path, script, file) == []


@needs_node
def test_random_bits_are_the_first_ones_and_what_is_above_a_limit_is_drawn_again(tmp_path: Path):
    (tmp_path / "client.mjs").write_text((STATIC / "fairgauge-client.js").read_text(encoding="utf-8"), encoding="utf-8")
    printed = run_node(
        tmp_path,
        """
        import { secureBelow, secureBits } from "./client.mjs";
        const bytes = [0xff, 0x80, 0, 0, 0, 0, 0x1f, 0xa0, 0xff];
        crypto.getRandomValues = (array) => array.map(() => bytes.shift());
        const found = [secureBits(53), secureBits(3), secureBits(8)].map(String);
        const drawn = [6n, 7n, 5n, 4n, 3n];
        const sizes = [];
        const bits = (size) => { sizes.push(size); return drawn.shift(); };
        console.log(JSON.stringify([found, [secureBelow(5, bits), secureBelow(5, bits)], sizes]));
        """,
    )
    assert json.loads(printed) == [[str(0xFF80000000001F >> 3), "5", "255"], [4, 3], [3, 3, 3, 3, 3]]
