"""The device's part: check a study, answer it once, remember that, and deliver it.  Standard library only.

The names below load on first use: a device that only answers loads neither SQLite nor HTTP.
"""

from typing import TYPE_CHECKING

# Not lazily: the module and the function have one name, and which of them one got would depend on what was imported.
from fairgauge.client.answer import Answer, answer
from fairgauge.lazy import lazily

if TYPE_CHECKING:
    from fairgauge.client.answer_file import append
    from fairgauge.client.budget import Limits, ToReaders
    from fairgauge.client.delivery import Patience, deliver, send
    from fairgauge.client.inclusion_proof import check_included
    from fairgauge.client.issuer_client import fetch_token
    from fairgauge.client.ledger import Ledger
    from fairgauge.client.relay_client import Relay
    from fairgauge.client.study_source import load_study

__all__ = [
    "Answer",
    "Ledger",
    "Limits",
    "Patience",
    "Relay",
    "ToReaders",
    "answer",
    "append",
    "check_included",
    "deliver",
    "fetch_token",
    "load_study",
    "send",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "Answer": "answer",
        "Ledger": "ledger",
        "Limits": "budget",
        "Patience": "delivery",
        "Relay": "relay_client",
        "ToReaders": "budget",
        "answer": "answer",
        "append": "answer_file",
        "check_included": "inclusion_proof",
        "deliver": "delivery",
        "fetch_token": "issuer_client",
        "load_study": "study_source",
        "send": "delivery",
    },
)
