"""The agent's sockets: lines in, lines out, for a few who ask at once, until it is told to stop."""

import os
import selectors
import socket
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from fairgauge.canonical import LONGEST_DOCUMENT
from fairgauge.client.agent import Agent
from fairgauge.errors import InvalidInput

LONGEST_LINE = LONGEST_DOCUMENT + 64
# Who says nothing for so long is not waited for.
PATIENCE = 20.0
MOST_CALLERS = 32
BACKLOG = 128


class AgentService:
    """Agents that listen, each on the socket of its own settings, within one process.

    Raises:
        InvalidInput: If a socket cannot be made; one that a live agent uses is left alone.
    """

    def __init__(self, agents: Sequence[Agent]) -> None:
        self._agents = agents
        self._callers = threading.BoundedSemaphore(MOST_CALLERS)
        self._stop, self._stopper = socket.socketpair()

    def run(self) -> None:
        """Serve until :meth:`stop` is called; once."""
        with self._stop, self._stopper, ExitStack() as stack, selectors.DefaultSelector() as waiting:
            for agent in self._agents:
                listener = stack.enter_context(_listening(agent.settings.socket, agent.settings.mode))
                waiting.register(listener, selectors.EVENT_READ, (listener, agent))
            waiting.register(self._stop, selectors.EVENT_READ)
            while True:
                for key, _ in waiting.select():
                    if key.data is None:
                        return
                    self._accept(*key.data)

    def stop(self) -> None:
        """End :meth:`run`; those who are being answered still get their line."""
        with suppress(OSError):  # it ended by itself
            self._stopper.send(b".")

    def _accept(self, listener: socket.socket, agent: Agent) -> None:
        with suppress(OSError):
            caller, _ = listener.accept()
            self._callers.acquire()
            threading.Thread(target=self._talk, args=(caller, agent)).start()

    def _talk(self, caller: socket.socket, agent: Agent) -> None:
        conversation = agent.conversation()
        try:
            with caller, suppress(OSError):
                caller.settimeout(PATIENCE)
                with caller.makefile("rb") as lines:
                    while line := lines.readline(LONGEST_LINE + 1):
                        if not line.endswith(b"\n"):
                            caller.sendall(b"no line\n")  # too long, or cut off: nothing of it is used
                            return
                        caller.sendall(conversation.reply(line.rstrip(b"\r\n")) + b"\n")
        finally:
            self._callers.release()


@contextmanager
def _listening(path: Path, mode: int) -> Iterator[socket.socket]:
    """Listen at a path; what a dead agent left there is removed, and so is our own at the end."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _make_room(path)
        before = os.umask(0o177)  # nobody may connect before the permissions are right
        try:
            listener.bind(str(path))
        finally:
            os.umask(before)
        path.chmod(mode)
        listener.listen(BACKLOG)
    except InvalidInput:
        listener.close()
        raise
    except OSError as problem:
        listener.close()
        raise InvalidInput("socket", path, f"cannot be used: {problem.strerror or problem}") from None
    try:
        yield listener
    finally:
        listener.close()
        path.unlink(missing_ok=True)


def _make_room(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        return
    if not stat.S_ISSOCK(path.stat().st_mode):
        raise InvalidInput("socket", path, "is a file of something else")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise InvalidInput("socket", path, "is in use by an agent that is running")
