"""Run a Flower app in Flower's simulation, with a SuperLink of our own that ends with the run."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 1800.0
HERE = Path(__file__).parent


def run_app(app: Path, folder: Path, *, nodes: int, config: Mapping[str, str | int] | None = None) -> str:
    """Run an app to its end, and return what `flwr run` shows.

    Args:
        app: The app's folder.
        folder: Where Flower keeps what it unpacks and logs.
        nodes: How many simulated devices there are.
        config: What the run's configuration says instead of the app's ``pyproject.toml``.
    """
    home = folder / "flwr"
    home.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    (home / "config.toml").write_text(
        f'[superlink.here]\naddress = "127.0.0.1:{port}"\ninsecure = true\n'
        f"options.num-supernodes = {nodes}\noptions.backend.client-resources.num-cpus = 1\n",
        encoding="utf-8",
    )
    given = (config or {}).items()
    told = " ".join(f'{key}="{value}"' if isinstance(value, str) else f"{key}={value}" for key, value in given)
    command = ["flwr", "run", str(app), "here", "--stream", *(["--run-config", told] if told else [])]
    with _superlink(home, port):
        done = subprocess.run(
            command,
            env=_environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    if done.returncode != 0:
        raise SystemExit(done.stdout)
    return done.stdout


@contextmanager
def _superlink(home: Path, port: int) -> Iterator[None]:
    command = ["flower-superlink", "--simulation", "--insecure", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--disable-runtime-dependency-installation", "--database", str(home / "state.db")]
    with (home / "superlink.log").open("wb") as log:
        link = subprocess.Popen(command, env=_environment(home), stdout=log, stderr=log, cwd=home)
        try:
            _wait_for(port, link)
            yield
        finally:
            link.terminate()
            try:
                link.wait(20)
            except subprocess.TimeoutExpired:
                link.kill()
                link.wait()


def _environment(home: Path) -> dict[str, str]:
    """Everything of Flower's in one folder, its programs from this environment, and no word to its makers."""
    return {
        **os.environ,
        "FLWR_HOME": str(home),
        "FLWR_TELEMETRY_ENABLED": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",  # else Ray's workers stand back for every other program
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
        "COLUMNS": "200",
    }


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _wait_for(port: int, link: "subprocess.Popen[bytes]") -> None:
    for _ in range(int(PATIENCE)):
        if link.poll() is not None:
            raise SystemExit("Flower's SuperLink ended; see superlink.log")
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            threading.Event().wait(0.5)
        else:
            return
    raise SystemExit("Flower's SuperLink does not start")
