"""How an answer travels in Flower: as the one record of a reply, in the integers that a metric record can hold.

A metric record holds numbers only, so the digest and the id are lists of 32-bit words.  ``num-examples`` is what
Flower's strategies weigh by; it is 1 on every device, since how much data a device has is nobody's business.
"""

from flwr.app import MetricRecord, RecordDict

from fairgauge.client import Answer
from fairgauge.errors import InvalidInput

NAME = "metrics"
WEIGHT = "num-examples"
_DIGITS = 8  # hexadecimal, of one word


def to_content(answer: Answer) -> RecordDict:
    """Return the whole content of a reply: the answer, and nothing else."""
    record = MetricRecord(
        {
            WEIGHT: 1,
            "study": _to_words(answer.study),
            "id": _to_words(answer.id),
            "payload": list(answer.payload),
        }
    )
    return RecordDict({NAME: record})


def from_content(content: RecordDict) -> Answer:
    """Read an answer from a reply, which may come from anyone.

    Raises:
        InvalidInput: If there is none.
    """
    record = content.metric_records.get(NAME, {})
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
