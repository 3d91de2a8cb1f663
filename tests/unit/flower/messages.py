"""Messages as the engines make them."""

import time

from flwr.app import Error, Message, Metadata, RecordDict


def asked(*, node: int = 2) -> Message:
    """What a server sends to a device to have it evaluate."""
    metadata = Metadata(
        run_id=1,
        message_id=f"message-{node}",
        src_node_id=1,
        dst_node_id=node,
        reply_to_message_id="",
        group_id="",
        created_at=time.time(),
        ttl=3600.0,
        message_type="evaluate",
    )
    return Message(content=RecordDict(), metadata=metadata)


def replied(content: RecordDict | Error, *, node: int = 2) -> Message:
    return Message(content, reply_to=asked(node=node))
