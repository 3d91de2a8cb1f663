"""A collector of one's own, as an operator starts it: `fairgauge token new`, then `fairgauge serve`."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

FAIRGAUGE = str(Path(sys.executable).with_name("fairgauge"))


@dataclass(frozen=True)
class Service:
    """A running collector, and the token of its operator."""

    url: str
    token: str

    def ask(self, path: str, body: bytes | None = None) -> bytes:
        """Ask the collector something as its operator: GET, or POST if there is a body."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        with urlopen(Request(self.url + path, body, headers), timeout=60) as response:
            found: bytes = response.read()
        return found


@contextmanager
def running_service(folder: Path) -> Iterator[Service]:
    """Run a collector on SQLite, on a free port of this machine, until the block is over."""
    secrets = ["--secrets", str(folder / "secrets")]
    new_token = [FAIRGAUGE, "token", "new", "--name", "me", "--role", "operator", *secrets]
    token = subprocess.run(new_token, check=True, capture_output=True, text=True).stdout.strip()
    serve = [FAIRGAUGE, "serve", "--store", f"sqlite:///{folder / 'gauge.db'}", "--port", "0", *secrets]
    log = folder / "collector.log"
    with log.open("w") as errors, subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        try:
            announced = process.stdout.readline() if process.stdout else ""
            if not announced:
                raise SystemExit(f"The collector did not start: {log.read_text()}")
            yield Service(announced.split()[-1], token)
        finally:
            process.terminate()  # it finishes what it has taken
