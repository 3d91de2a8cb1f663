"""A batch of answers: charged as it comes in, read in slices, and given up when too much of it is wrong."""

import re
from collections.abc import Iterable, Iterator

from starlette.types import Receive, Scope

from fairgauge.collector.blind_admission import ONE_AT_A_TIME
from fairgauge.collector.routes.counting import ANSWER, NO_TICKET, check_open, count, read_answer
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.shapes import BatchReceipt, RefusedLine
from fairgauge.collector.stores.base import FRESH, Row
from fairgauge.errors import FairgaugeError, InvalidInput, Refused
from fairgauge.server.problems import URN, problem_of
from fairgauge.server.request_body import read_body
from fairgauge.server.server_errors import BadAnswer

PATIENCE = 2.0  # seconds that a batch waits for its turn
SLICE = 2**15  # bytes that are read at a time, some 250 answers: a millisecond or so
LONGEST = 4096  # bytes of a line that is looked at
BYTES = 128  # as many bytes count as an answer, if there are fewer lines than that
_LINES = re.compile(rb"^" + ANSWER + rb"$", re.MULTILINE)


async def take_batch(collector: Collector, entry: Entry, scope: Scope, receive: Receive) -> bytes:
    """Take a batch, and return what to tell its sender.

    Raises:
        TooMany: If its turn does not come.
        Busy: If too much is being received already.
        BadAnswer, BadTicket: If more lines than allowed are no answers, or have no tickets: nothing of it is counted.
        TooEarly: If the study is not open yet.
    """
    if entry.gate is not None:
        raise ONE_AT_A_TIME.with_traceback(None)
    limits, turnstile = collector.config.limits, collector.turnstile
    kinds = ("answers in batches", f"{'tickets' if entry.kept.admission == 'tickets' else 'open'} in batches")
    for kind in kinds:
        await turnstile.turn(kind, PATIENCE)
    check_open(collector, entry)
    with collector.bodies.guest() as guest:

        def meter(part: bytes) -> None:
            guest.hold(len(part))
            for kind in kinds:
                turnstile.owe(kind, max(part.count(b"\n"), len(part) / BYTES))

        body = await read_body(scope, receive, limits.batch_bytes, meter)
        lines = body.count(b"\n") + (not body.endswith(b"\n"))
        if not body or lines > limits.batch_lines:
            raise InvalidInput("lines", lines if body else 0, f"must be from 1 to {limits.batch_lines}")
        return await _counted(collector, entry, body)


async def _counted(collector: Collector, entry: Entry, body: bytes) -> bytes:
    good: list[Row] = []
    numbers: list[int] = []
    errors: dict[int, FairgaugeError] = {}
    first = 1
    for part in slices(body):
        async with collector.lane.slice():
            for number, one in enumerate(_checked(read_lines(part, entry), collector, entry), start=first):
                if isinstance(one, FairgaugeError):
                    errors[number] = one
                    if len(errors) > collector.config.limits.faulty_lines:
                        raise _given_up(errors)
                else:
                    good.append(one)
                    numbers.append(number)
            first += part.count(b"\n") + 1
    results = await count(collector, entry, good) if good else []
    async with collector.lane.slice():
        refused = {n: r for n, r in zip(numbers, results, strict=True) if isinstance(r, Refused)}
        accepted = results.count(FRESH)
        told = [_line(number, error) for number, error in sorted({**errors, **refused}.items())]
        return BatchReceipt(accepted, len(good) - accepted - len(refused), told).to_bytes()


def slices(body: bytes) -> Iterator[bytes]:
    r"""Cut a body at line ends, into parts that are read in a moment.

    >>> [len(part) for part in slices(b"x" * 30_000 + b"\n" + b"y" * 10_000 + b"\nz\n")]
    [30000, 10002]
    """
    at, end = 0, len(body.removesuffix(b"\n"))
    while at <= end:
        cut = end if end - at <= SLICE else body.rfind(b"\n", at, at + SLICE)
        if cut < 0:  # a line that is longer than a slice
            cut = body.find(b"\n", at, end)
        cut = end if cut < 0 else cut
        yield body[at:cut]
        at = cut + 1


def read_lines(part: bytes, entry: Entry) -> Iterable[Row | FairgaugeError]:
    """Read lines; all at once if all are canonical answers to this study, which is several times as fast."""
    lines = part.count(b"\n") + 1
    found = _LINES.findall(part) if len(part) <= SLICE else []
    if len(found) == lines:
        ids, studies, written = zip(*found, strict=True)
        symbols = b"\n".join(written).decode().split("\n")
        if entry.numbers == 1 and set(studies) == {entry.digest.encode()} and max(map(int, symbols)) < entry.symbols:
            joined = bytes.fromhex(b"".join(ids).decode())
            return [(entry.number, joined[16 * n : 16 * n + 16], symbol) for n, symbol in enumerate(symbols)]
    return (_read(line, entry) for line in part.split(b"\n"))


def _read(line: bytes, entry: Entry) -> Row | FairgaugeError:
    if len(line) > (longest := entry.most_bytes(LONGEST)):
        return BadAnswer("line", f"{len(line)} bytes", f"must be at most {longest} bytes")
    try:
        return read_answer(line, entry)
    except BadAnswer as error:
        return error


def _checked(
    read: Iterable[Row | FairgaugeError], collector: Collector, entry: Entry
) -> Iterable[Row | FairgaugeError]:
    if entry.kept.admission != "tickets":
        return read
    good = collector.tickets.good
    return (one if isinstance(one, FairgaugeError) or good(entry.digest, one[1]) else NO_TICKET for one in read)


def _given_up(errors: dict[int, FairgaugeError]) -> FairgaugeError:
    """Return why a batch is refused as a whole."""
    number, error = min(errors.items())
    many = f"{len(errors)} lines of this batch are refused, so all of it is; line {number}"
    if isinstance(error, InvalidInput):
        return BadAnswer(f"{many}: {error.field}", error.value, error.rule)
    return type(error)(f"{many}: {error}")


def _line(number: int, error: Exception) -> RefusedLine:
    problem = problem_of(error)
    return RefusedLine(number, URN + problem.kind, problem.status, problem.detail)
