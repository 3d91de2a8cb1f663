"""Ask the agent on the other side of a Unix socket: what an app does that must not see group or value."""

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairgauge.client.answer import Answer
from fairgauge.client.profile_entries import entry_of, entry_text
from fairgauge.client.refusals import TOLD, UNTOLD, Refusal
from fairgauge.errors import InvalidInput
from fairgauge.study import Study
from fairgauge.study.numbers import exact

PATIENCE = 60.0
LONGEST_REPLY = 2**16


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
        line.settimeout(PATIENCE)
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
    reply: str = talk.readline(LONGEST_REPLY).decode(errors="replace")
    if not reply.endswith("\n"):
        return Refusal("agent", "the agent hung up")
    head, _, rest = reply.rstrip("\n").partition(" ")
    if head == "ok":
        return rest
    return Refusal(rest if rest in TOLD else UNTOLD, f"the agent said {reply[:60]!a}")
