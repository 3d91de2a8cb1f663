"""What every framework of federated learning shares: the guard on a device, and the count on the server.

A framework's own room (``flower``, ``nvflare``) carries messages between the two and does nothing else.
"""

from typing import TYPE_CHECKING

from fairgauge.lazy import lazily

if TYPE_CHECKING:
    from fairgauge.federation.counter import NodeCounter
    from fairgauge.federation.guard import Guard

__all__ = ["Guard", "NodeCounter"]

# A device does not pay for the server's part.
__getattr__, __dir__ = lazily(__name__, {"NodeCounter": "counter", "Guard": "guard"})
