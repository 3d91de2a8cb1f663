"""A tiny collector on loopback that records every request and says what it is told to say."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass(frozen=True)
class Heard:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """What to say to it; a status of 0 hangs up without a word."""

    status: int = 200
    body: bytes = b'{"status":"accepted"}'
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Recorder:
    """The server's address, what it heard, and how it replies."""

    url: str = ""
    heard: list[Heard] = field(default_factory=list)
    reply: Callable[[Heard], Reply] = lambda _: Reply()

    def script(self, *replies: Reply) -> None:
        """Give these replies in turn, the last one from then on."""
        left = list(replies)
        self.reply = lambda _: left.pop(0) if len(left) > 1 else left[0]

    @property
    def bodies(self) -> list[bytes]:
        return [heard.body for heard in self.heard]


@contextmanager
def recorder(certificate: Path | None = None) -> Iterator[Recorder]:
    """Run a recorder until the block is over; over TLS if there is a certificate with its key."""
    found = Recorder()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            heard = Heard(self.command, self.path, dict(self.headers), body)
            found.heard.append(heard)
            reply = found.reply(heard)
            if reply.status == 0:
                return
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Stay quiet: clients that are killed hang up."""

    with Server(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_address[1]}"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
            found.url = found.url.replace("http:", "https:")
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


def problem(title: str) -> bytes:
    return json.dumps({"type": "about:blank", "title": title}).encode()
