"""Our canonical bytes are those of an independent implementation of RFC 8785."""

import json

import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.canonical_json import encode
from fairgauge.client import answer
from fairgauge.tallies import Tally
from tests.samples import sample_study, two_questions

keys = st.text(st.characters(codec="ascii"), max_size=8)
safe_integers = st.integers(-(2**53) + 1, 2**53 - 1)
scalars = st.none() | st.booleans() | safe_integers | st.text(st.characters(codec="utf-8"))
documents = st.dictionaries(
    keys,
    st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4)),
)


@given(documents)
def test_any_document_of_integers_and_text(document: dict[str, object]) -> None:
    assert encode(document) == rfc8785.dumps(document)  # type: ignore[arg-type]


def test_what_fairgauge_writes() -> None:
    sent = answer(sample_study(), {"group": "male", "values": {"recall": 1}})
    for data in (two_questions().to_bytes(), sent.to_bytes(), Tally.of(sample_study(), [sent]).to_bytes()):
        assert data == rfc8785.dumps(json.loads(data))
