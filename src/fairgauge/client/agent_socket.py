"""Both ends of the agent's socket: lines in, lines out, for a few who ask at once, until it is told to stop.

Who asks has :func:`ask_agent`, which an app runs that must not see group or value.  On the agent's end nobody has a
place for long: a line must be whole within a time, and so must everything that is said in one connection.  Who comes
while all places are taken waits until one is free; who takes them all again and again keeps others waiting.
"""

import json
import os
import selectors
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from fairgauge.canonical_json import LONGEST_DOCUMENT
from fairgauge.client.agent import Agent
from fairgauge.client.answer import Answer
from fairgauge.client.profile_entries import entry_of, entry_text
from fairgauge.client.refusals import TOLD, UNTOLD, Refusal
from fairgauge.errors import InvalidInput
from fairgauge.study import Study
from fairgauge.study.numbers import exact

_LONGEST_LINE = LONGEST_DOCUMENT + 64
# A line must be whole so long after the reply to the last one, however slowly its bytes come.
_PATIENCE = 20.0
# And all lines of a connection together.
_LONGEST_TALK = 60.0
_MOST_CALLERS = 32
_PIECE = 2**16
_BACKLOG = 128
# How long who asks waits for a reply, and the longest that is read.
_REPLY_PATIENCE = 60.0
_LONGEST_REPLY = 2**16


class AgentService:
    """Agents that listen, each on the socket of its own settings, within one process.

    Raises:
        InvalidInput: If a socket cannot be made; one that a live agent uses is left alone.
    """

    def __init__(self, agents: Sequence[Agent]) -> None:
        self._agents = agents
        self._talking: set[socket.socket] = set()
        self._stopping = threading.Event()
        self._woken, self._waker = socket.socketpair()
        self._waker.setblocking(False)  # noqa: FBT003 - its only argument

    def run(self) -> None:
        """Serve until :meth:`stop` is called; once."""
        with self._woken, self._waker, ExitStack() as stack, selectors.DefaultSelector() as waiting:
            for agent in self._agents:
                listener = stack.enter_context(_listening(agent.settings.socket, agent.settings.mode))
                waiting.register(listener, selectors.EVENT_READ, (listener, agent))
            waiting.register(self._woken, selectors.EVENT_READ)
            while not self._stopping.is_set():
                if len(self._talking) >= _MOST_CALLERS:
                    self._woken.recv(_PIECE)  # until somebody leaves, or it is told to stop
                    continue
                for key, _ in waiting.select():
                    if key.data is None:
                        self._woken.recv(_PIECE)
                    elif len(self._talking) < _MOST_CALLERS:
                        self._accept(*key.data)
            for caller in list(self._talking):
                with suppress(OSError):  # those who are being answered still get their line
                    caller.shutdown(socket.SHUT_RD)

    def stop(self) -> None:
        """End :meth:`run`; those who are being answered still get their line."""
        self._stopping.set()
        self._wake()

    def _wake(self) -> None:
        with suppress(OSError):  # it ended by itself, or there is enough to wake it
            self._waker.send(b".")

    def _accept(self, listener: socket.socket, agent: Agent) -> None:
        with suppress(OSError):
            caller, _ = listener.accept()
            self._talking.add(caller)
            threading.Thread(target=self._talk, args=(caller, agent)).start()

    def _talk(self, caller: socket.socket, agent: Agent) -> None:
        conversation = agent.conversation()
        try:
            with caller, suppress(OSError):
                for line in _lines(caller):
                    if line is None:
                        caller.sendall(b"no line\n")  # too long, or cut off: nothing of it is used
                        return
                    caller.sendall(conversation.reply(line) + b"\n")
        finally:
            self._talking.discard(caller)
            self._wake()


def _lines(caller: socket.socket) -> Iterator[bytes | None]:
    """Yield whole lines without their ends, and None for one that is too long or cut off.

    Raises:
        TimeoutError: If a line or the whole talk takes too long.
    """
    end = time.monotonic() + _LONGEST_TALK
    held = bytearray()
    while True:
        deadline = min(time.monotonic() + _PATIENCE, end)
        searched = 0
        while (found := held.find(b"\n", searched)) < 0:
            searched = len(held)
            if searched > _LONGEST_LINE:
                yield None
                return
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            caller.settimeout(left)
            piece = caller.recv(_PIECE)
            if not piece:
                if held:
                    yield None
                return
            held += piece
        if found > _LONGEST_LINE:
            yield None
            return
        line = bytes(held[:found]).rstrip(b"\r")
        del held[: found + 1]
        caller.settimeout(_PATIENCE)  # for the reply: who does not read it is not waited for
        yield line


@contextmanager
def _listening(path: Path, mode: int) -> Iterator[socket.socket]:
    """Listen at a path with these permissions; what a dead agent left there is removed, and so is our own at the end.

    Raises:
        InvalidInput: If another agent has the path, or it cannot be used.
    """
    with _alone(path), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        _make_room(path)
        try:
            _bind(listener, path, mode)
            listener.listen(_BACKLOG)
            ours = path.lstat()
        except OSError as problem:
            raise InvalidInput("socket", path, f"cannot be used: {problem.strerror or problem}") from None
        try:
            yield listener
        finally:
            with suppress(OSError):
                now = path.lstat()
                if (now.st_dev, now.st_ino) == (ours.st_dev, ours.st_ino):  # what somebody else put there stays
                    path.unlink()


def _bind(listener: socket.socket, path: Path, mode: int) -> None:
    """Make the socket with its permissions: changed afterwards, they might be those of another file by then."""
    before = os.umask(0o777 & ~mode)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock beside a socket: of two who start at once, neither may take the other's socket for a dead one's."""
    import fcntl

    lock = path.with_name(f"{path.name}.lock")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        raise InvalidInput("socket", path, f"cannot be used: {problem.strerror or problem}") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidInput("socket", path, "is in use by an agent that is running") from None
        yield
    finally:
        os.close(handle)


def _make_room(path: Path) -> None:
    """Remove a socket on which nobody listens; everything else stays."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise InvalidInput("socket", path, "is a file of something else")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError as problem:
            raise InvalidInput("socket", path, f"cannot be used: {problem.strerror or problem}") from None
    raise InvalidInput("socket", path, "is in use by an agent that is running")


def ask_agent(
    path: str | Path, study: Study, values: Callable[[], Mapping[str, Any]] | None = None
) -> Answer | Refusal:
    """Ask an agent to answer a study.

    Args:
        path: The agent's socket.
        study: The study.
        values: Gives the values of those metrics that the agent takes from whoever asks; not called where it takes
            none, or has answered before.

    Returns:
        The answer, or a refusal: ``agent`` if it cannot be reached or says what is no reply.
    """
    document = study.to_bytes()
    try:
        with _talk(path) as talk:
            said = _say(talk, b"check " + document)
        if isinstance(said, Refusal):
            return said
        # Measuring may take long, and nobody is kept waiting: what was measured is told in a talk of its own.
        wanted = _wanted(said) if values is not None else []
        measured = values() if wanted and values is not None else {}
        with _talk(path) as talk:
            _give(talk, wanted, measured)
            said = _say(talk, b"answer " + document)
    except OSError as problem:
        return Refusal("agent", f"the agent at {path} does not answer: {problem.strerror or problem}")
    if isinstance(said, Refusal):
        return said
    try:
        answer = Answer.from_bytes(said.encode())
        study.check_payload(answer.payload)
    except InvalidInput:
        return Refusal("agent", f"the agent at {path} gave no answer that could be read")
    if answer.study != study.digest:
        return Refusal("agent", f"the agent at {path} answered another study")
    return answer


@contextmanager
def _talk(path: str | Path) -> Iterator[Any]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(_REPLY_PATIENCE)
        line.connect(str(path))
        with line.makefile("rwb") as talk:
            yield talk


def _wanted(said: str) -> list[str]:
    """Return the metrics whose values the agent asks for."""
    if not said.startswith("values "):
        return []
    try:
        names = json.loads(said.removeprefix("values "))
    except ValueError:
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _give(talk: Any, wanted: list[str], measured: Mapping[str, Any]) -> None:
    for name in wanted:
        number = entry_text(entry_of(measured, name))
        if exact(number) is not None:  # what is none counts as nothing to measure
            _say(talk, f"value {name}={number}".encode())


def _say(talk: Any, line: bytes) -> str | Refusal:
    """Say a line and return what comes after ``ok``."""
    talk.write(line + b"\n")
    talk.flush()
    reply: str = talk.readline(_LONGEST_REPLY).decode(errors="replace")
    if not reply.endswith("\n"):
        return Refusal("agent", "the agent hung up")
    head, _, rest = reply.rstrip("\n").partition(" ")
    if head == "ok":
        return rest
    return Refusal(rest if rest in TOLD else UNTOLD, f"the agent said {reply[:60]!a}")
