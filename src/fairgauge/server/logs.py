"""The log: one JSON line for each event, with these fields and no others, and the hour instead of the time.

Requests are not logged at all.  Texts of exceptions are not either, since they may hold what a stranger sent: a fault
is logged as the exception's type and the place in our code.
"""

import contextlib
import logging
import sys
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

import structlog

from fairgauge.server.coarse_time import bucket_of, moment_of

_FIELDS = frozenset({"event", "level", "hour", "store", "study", "version", "port", "host", "fault", "place", "reason"})


def log_to(stream: Any = None, *, bucket_seconds: int = 3600) -> None:
    """Send the log to a stream, standard error unless given."""

    def hour(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        event["hour"] = moment_of(bucket_of(time.time(), bucket_seconds))
        return event

    structlog.configure(
        processors=[structlog.processors.add_log_level, hour, _allowed_only, structlog.processors.JSONRenderer()],
        logger_factory=structlog.PrintLoggerFactory(stream or sys.stderr),
        cache_logger_on_first_use=False,
    )
    # uvicorn's own messages may hold addresses: its warnings are replaced by one word, the rest is dropped.
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [_Relay()], False
        logger.setLevel(logging.ERROR)
    # So are the tracebacks of a database driver, which may hold what was sent.
    for name in ("asyncio", "asyncpg"):
        # Warnings are about the other side, which went away: a flood would fill the log with them.
        logging.getLogger(name).handlers = [_Relay(logging.ERROR)]
        logging.getLogger(name).propagate = False


def log_fault(error: BaseException) -> None:
    """Log a fault of ours, without what the exception says."""
    with contextlib.suppress(OSError, ValueError):
        structlog.get_logger().error("fault", fault=type(error).__name__, place=_place(error.__traceback__))


def _place(trace: TracebackType | None) -> str:
    """Return where in our code an exception came from, else where in a library's, without a path of this machine."""
    frames = traceback.extract_tb(trace)
    ours = [frame for frame in frames if "fairgauge" in frame.filename]
    if ours:
        return f"{ours[-1].name}:{ours[-1].lineno}"
    return f"{Path(frames[-1].filename).stem}.{frames[-1].name}:{frames[-1].lineno}" if frames else "nowhere"


def log(event: str, **fields: object) -> None:
    """Log an event; a log that cannot be written must not keep a request from being answered."""
    with contextlib.suppress(OSError, ValueError):
        structlog.get_logger().info(event, **fields)


def _allowed_only(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    return {name: value for name, value in event.items() if name in _FIELDS}


class _Relay(logging.Handler):
    """Turns what libraries log into our own lines, without their texts."""

    def emit(self, record: logging.LogRecord) -> None:
        fault, place = record.levelname.lower(), f"{record.name} {record.funcName}:{record.lineno}"
        if record.exc_info and record.exc_info[0]:
            fault, place = record.exc_info[0].__name__, f"{record.name} {_place(record.exc_info[2])}"
        with contextlib.suppress(OSError, ValueError):
            structlog.get_logger().error("fault", fault=fault, place=place)
