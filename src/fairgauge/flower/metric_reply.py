"""How an answer travels in Flower: as the one record of a reply, in the integers that a metric record can hold.

A metric record holds numbers only, so the digest and the id are lists of 32-bit words.  ``num-examples`` is what
Flower's strategies weigh by; it is 1 on every device, since how much data a device has is nobody's business.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from flwr.app import Message, MetricRecord, RecordDict

from fairgauge.client import Answer
from fairgauge.errors import InvalidInput

_NAME = "metrics"
# What a node lets out as it is, beside the answer.
_PLAIN = "plain-metrics"
_WEIGHT = "num-examples"
_DIGITS = 8  # hexadecimal, of one word


def to_content(answer: Answer, plain: Mapping[str, int | float] | None = None) -> RecordDict:
    """Return the whole content of a reply: the answer, and nothing else but what the node lets out as it is."""
    record = MetricRecord(
        {
            _WEIGHT: 1,
            "study": _to_words(answer.study),
            "id": _to_words(answer.id),
            "payload": list(answer.payload),
        }
    )
    return RecordDict({_NAME: record, **({_PLAIN: MetricRecord({_WEIGHT: 1, **plain})} if plain else {})})


def plain_replies(replies: Iterable[Message]) -> list[Message]:
    """Return replies that hold what nodes let out as it is and nothing else, all with the metrics that most have.

    Flower's strategies end a run where replies differ in that.
    """
    given = [(reply, reply.content.metric_records.get(_PLAIN)) for reply in replies if not reply.has_error()]
    found = [(reply, record) for reply, record in given if record is not None]
    usual = Counter(frozenset(record) for _, record in found).most_common(1)
    return [
        Message(content=RecordDict({_NAME: record}), metadata=reply.metadata)
        for reply, record in found
        if frozenset(record) == usual[0][0]
    ]


def from_content(content: RecordDict) -> Answer:
    """Read an answer from a reply, which may come from anyone.

    Raises:
        InvalidInput: If there is none.
    """
    record = content.metric_records.get(_NAME, {})
    study, name = (_from_words(field, record.get(field)) for field in ("study", "id"))
    payload = record.get("payload")
    if not isinstance(payload, list):
        raise InvalidInput("payload", payload, "must be a list of integers")
    return Answer(study, name, tuple(payload))


def _to_words(digits: str) -> list[int]:
    return [int(digits[start : start + _DIGITS], 16) for start in range(0, len(digits), _DIGITS)]


def _from_words(field: str, words: object) -> str:
    if not isinstance(words, list) or not all(type(word) is int and 0 <= word < 2**32 for word in words):
        raise InvalidInput(field, words, "must be a list of 32-bit words")
    return "".join(f"{word:08x}" for word in words)
