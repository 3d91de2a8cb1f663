"""A relay between a browser and a collector that keeps every byte the browser sends."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Relay:
    """Its address, and what went through it toward the collector: connection by connection, in order of arrival."""

    url: str = ""
    parts: list[bytes] = field(default_factory=list)

    @property
    def sent(self) -> bytes:
        return b"".join(self.parts)


@contextmanager
def relay(port: int) -> Iterator[Relay]:
    """Pass connections on to a port of this machine until the block is over."""
    found, opened = Relay(), list[socket.socket]()

    def pump(source: socket.socket, target: socket.socket, kept: list[bytes] | None) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if kept is not None:
                    kept.append(data)
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", port))
                opened.extend((near, far))
                threading.Thread(target=pump, args=(near, far, found.parts), daemon=True).start()
                threading.Thread(target=pump, args=(far, near, None), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        found.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield found
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for one in opened:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
