"""What the RFCs print comes out of the JavaScript modules too; and a module with a mistake is caught."""

from pathlib import Path

import pytest

from tests.vectors.node import Change, missed, needs_node


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
