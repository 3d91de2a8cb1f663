"""Firefox and WebKit, driven by what Debian ships with them: Marionette, and WebDriver.

Both are told the same few commands of WebDriver (https://www.w3.org/TR/webdriver2/).  Nothing that they ask for leaves
this machine.
"""

import json
import os
import shutil
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import httpx

PATIENCE = 60.0
# Where the parts of the page are: in the custom element's own tree.
ROOT = "(document.querySelector('fairgauge-study')?.shadowRoot ?? document)"
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Driver(ABC):
    """A browser with one window."""

    name: str

    @abstractmethod
    def tell(self, command: str, **parameters: Any) -> Any:
        """Give a command of WebDriver, and return its value."""

    def goto(self, url: str) -> None:
        """Open a page."""
        self.tell("Navigate", url=url)

    def run(self, script: str, *args: Any) -> Any:
        """Run the body of an async function in the page, and return what it returns."""
        body = (
            "const [give, ...args] = [arguments[arguments.length - 1], ...arguments];"
            f"(async (...args) => {{ {script} }})(...args).then((value) => give({{ value }}), "
            "(error) => give({ error: `${error}\\n${error.stack}` }));"
        )
        found = self.tell("ExecuteAsyncScript", script=body, args=list(args))
        assert "error" not in found, found["error"]
        return found.get("value")

    def until(self, what: Callable[[], Any]) -> Any:
        """Wait until something is true, and return it."""
        end = time.monotonic() + PATIENCE
        while not (found := what()):
            assert time.monotonic() < end, f"{self.name} waited too long; the page says: {self.shown()}"
            time.sleep(0.05)
        return found

    def shown(self) -> str:
        """Return what the page says."""
        said: str = self.run(f"return ({ROOT}.querySelector('main') ?? {ROOT}).textContent")
        return " ".join(said.split())

    def text(self, css: str) -> str:
        """Return the text of an element that can be seen, or nothing."""
        script = f"const it = {ROOT}.querySelector(args[0]); return it?.checkVisibility() ? it.textContent : ''"
        found: str = self.run(script, css)
        return found

    def _element(self, css: str) -> str:
        script = f"return {ROOT}.querySelector(arguments[0]) ?? document.querySelector(arguments[0])"
        return str(self.tell("ExecuteScript", script=script, args=[css])[_ELEMENT])

    def click(self, css: str) -> None:
        """Click an element."""
        self.tell("ElementClick", id=self._element(css))

    def type(self, css: str, text: str) -> None:
        """Type into an element."""
        self.tell("ElementSendKeys", id=self._element(css), text=text)


class Marionette(Driver):
    """What Firefox speaks: lengths and JSON on a socket."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._stream = self._socket.makefile("rb")
        self._read()
        self.version = self.tell("NewSession", capabilities={"alwaysMatch": {}})["capabilities"]["browserVersion"]
        self.name = f"Firefox {self.version}"

    def _read(self) -> Any:
        size = b""
        while (digit := self._stream.read(1)) != b":":
            assert digit, "Firefox has gone"
            size += digit
        return json.loads(self._stream.read(int(size)))

    def tell(self, command: str, **parameters: Any) -> Any:
        body = json.dumps([0, 1, f"WebDriver:{command}", parameters]).encode()
        self._socket.sendall(b"%d:%b" % (len(body), body))
        _, _, error, result = self._read()
        assert error is None, error
        return result["value"] if isinstance(result, dict) and "value" in result else result

    def close(self) -> None:
        self._stream.close()
        self._socket.close()


class WebDriver(Driver):
    """What WebKit speaks: HTTP."""

    _PATHS: ClassVar = {
        "Navigate": "url",
        "ExecuteScript": "execute/sync",
        "ExecuteAsyncScript": "execute/async",
        "ElementClick": "element/{id}/click",
        "ElementSendKeys": "element/{id}/value",
    }

    def __init__(self, port: int, options: dict[str, Any]) -> None:
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE)
        found = self._client.post("/session", json={"capabilities": {"alwaysMatch": options}}).json()["value"]
        self._session = f"/session/{found['sessionId']}"
        self.name = f"WebKit {found['capabilities']['browserVersion']}"

    def tell(self, command: str, **parameters: Any) -> Any:
        path = self._PATHS[command].format(**parameters)
        answer = self._client.post(f"{self._session}/{path}", json=parameters).json()["value"]
        assert not (isinstance(answer, dict) and "error" in answer and "stacktrace" in answer), answer
        return answer

    def close(self) -> None:
        self._client.delete(self._session)
        self._client.close()


# --------------------------------------------------------------------------------------------------- starting them
_QUIET = {
    "marionette.port": 0,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "services.settings.server": "data:,",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    # A proxy that is not there for all but this machine: nothing gets out.
    "network.proxy.type": 1,
    **{f"network.proxy.{kind}": "127.0.0.1" for kind in ("http", "ssl")},
    **{f"network.proxy.{kind}_port": 9 for kind in ("http", "ssl")},
    "network.proxy.no_proxies_on": "127.0.0.1, localhost",
}


@contextmanager
def firefox(folder: Path) -> Iterator[Driver]:
    """Start Firefox with a profile in a folder."""
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in _QUIET.items()]
    (folder / "user.js").write_text("\n".join(lines), encoding="utf-8")
    program = [_found(FIREFOX), "--headless", "--marionette", "--no-remote", "--profile", str(folder)]
    with _program(program, {"HOME": str(folder)}):
        port = _until(folder / "MarionetteActivePort")
        driver = Marionette(int(port))
        try:
            yield driver
        finally:
            driver.close()


@contextmanager
def webkit(folder: Path) -> Iterator[Driver]:
    """Start WebKit's small browser with a profile in a folder, on a screen that nobody sees."""
    options = {"webkitgtk:browserOptions": {"binary": str(_mini_browser()), "args": ["--automation"]}}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    nothing = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "no_proxy": "127.0.0.1"}
    place = {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"), "XDG_CACHE_HOME": str(folder / "cache")}
    screen = ["Xvfb", "-displayfd", "1", "-screen", "0", "1024x900x24", "-nolisten", "tcp"]
    with _program(screen, {}, subprocess.PIPE) as shown:
        assert shown.stdout is not None
        display = f":{shown.stdout.readline().decode().strip()}"
        sandbox = {"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}  # in containers the tests run as root
        settings = {"DISPLAY": display, **nothing, **place, **sandbox}
        with _program([_found(WEBKIT), f"--port={port}"], settings):
            _until_answers(port)
            driver = WebDriver(port, options)
            try:
                yield driver
            finally:
                driver.close()


FIREFOX, WEBKIT = "firefox-esr", "WebKitWebDriver"
STARTS = {"firefox": firefox, "webkit": webkit}
PACKAGES = {"firefox": "firefox-esr", "webkit": "webkit2gtk-driver xvfb"}


def installed(name: str) -> bool:
    """Tell whether a browser is there."""
    if name == "firefox":
        return shutil.which(FIREFOX) is not None
    return None not in (shutil.which(WEBKIT), shutil.which("Xvfb"), _mini_browser())


def _mini_browser() -> Path | None:
    return next(iter(sorted(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))), None)


def _found(name: str) -> str:
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed"
    return found


@contextmanager
def _program(
    command: list[str], settings: dict[str, str], output: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL, env={**os.environ, **settings})
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _until(file: Path) -> str:
    end = time.monotonic() + PATIENCE
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < end, "the browser does not start"
        time.sleep(0.05)
    return file.read_text()


def _until_answers(port: int) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            httpx.get(f"http://127.0.0.1:{port}/status")
        except httpx.TransportError:
            assert time.monotonic() < end, "the browser does not start"
            time.sleep(0.05)
        else:
            return
