"""Run a Flower app in Flower's simulation, with a SuperLink of our own that ends with the run."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 1800.0
HERE = Path(__file__).parent


def run_app(
    app: Path, folder: Path, *, nodes: int, config: Mapping[str, str | int] | None = None, install: bool = False
) -> str:
    """Run an app to its end, and return what `flwr run` shows.

    Args:
        app: The app's folder.
        folder: Where Flower keeps what it unpacks and logs.
        nodes: How many simulated devices there are.
        config: What the run's configuration says instead of the app's ``pyproject.toml``.
        install: Whether Flower installs what the app depends on, as it does unless it is told not to.
    """
    home = folder / "flwr"
    home.mkdir(parents=True, exist_ok=True)
    port = free_port()
    (home / "config.toml").write_text(
        f'[superlink.here]\naddress = "127.0.0.1:{port}"\ninsecure = true\n'
        f"options.num-supernodes = {nodes}\noptions.backend.client-resources.num-cpus = 1\n",
        encoding="utf-8",
    )
    given = (config or {}).items()
    told = " ".join(f'{key}="{value}"' if isinstance(value, str) else f"{key}={value}" for key, value in given)
    command = ["flwr", "run", str(app), "here", "--stream", *(["--run-config", told] if told else [])]
    with _superlink(home, port, install=install):
        done = subprocess.run(
            command,
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    if done.returncode != 0 or "Exit Code: " in done.stdout:  # `flwr run` itself ends well when its simulation did not
        raise SystemExit(done.stdout)
    return done.stdout


@contextmanager
def _superlink(home: Path, port: int, *, install: bool) -> Iterator[None]:
    command = ["flower-superlink", "--simulation", "--insecure", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--database", str(home / "state.db")]
    command += [] if install else ["--disable-runtime-dependency-installation"]
    with running(command, home / "superlink.log", environment(home)) as link:
        wait_for(port, link)
        yield


@contextmanager
def running(command: list[str], log: Path, environment: Mapping[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program in the folder of the file that it logs into, and end it with all that it started."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, env=environment, stdout=file, stderr=file, cwd=log.parent, start_new_session=True
        )
        try:
            yield process
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def environment(home: Path) -> dict[str, str]:
    """Return what Flower's programs run in: all of its files in one folder, and no word to its makers."""
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


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until somebody listens."""
    for _ in range(int(PATIENCE)):
        if process.poll() is not None:
            raise SystemExit("Flower's SuperLink ended; its log says why")
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            threading.Event().wait(0.5)
        else:
            return
    raise SystemExit("Flower's SuperLink does not start")
