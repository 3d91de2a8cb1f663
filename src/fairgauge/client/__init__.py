"""The device's part: check a study, answer it once, remember that, and deliver it.  Standard library only.

The names below load on first use: a device that only answers loads neither SQLite nor HTTP.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from fairgauge.client.answer import Answer, answer

if TYPE_CHECKING:
    from fairgauge.client.answer_file import append
    from fairgauge.client.delivery import Patience, deliver, send
    from fairgauge.client.ledger import Ledger
    from fairgauge.client.limits import Limits
    from fairgauge.client.load import load_study

__all__ = ["Answer", "Ledger", "Limits", "Patience", "answer", "append", "deliver", "load_study", "send"]

_HOMES = {
    "Ledger": "ledger",
    "Limits": "limits",
    "Patience": "delivery",
    "append": "answer_file",
    "deliver": "delivery",
    "load_study": "load",
    "send": "delivery",
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'fairgauge.client' has no attribute {name!r}")
    value: object = getattr(import_module(f"fairgauge.client.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
