"""A site's answer: one table of counts, bounded and charged before it is read, stored before it is acknowledged."""

from starlette.types import Receive, Scope

from fairgauge.client import Answer
from fairgauge.collector.bodies import media_type, read_body
from fairgauge.collector.refusals import BadAnswer, BadMediaType, Closed, Conflict
from fairgauge.collector.routes.counting import NO_TICKET, check_open
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.stores.sites import Sent, SiteOutcome
from fairgauge.errors import InvalidInput, Refused

LEAST_BYTES = 512  # for everything but the counts
COUNT_BYTES = 16  # for one count, with its comma and some white space
CHARGED = 128  # as many bytes count as an answer

_REFUSED: dict[SiteOutcome, Refused] = {
    "closed": Closed("The study takes no more answers."),
    "other": Conflict("Other counts came with this ticket before, and a site answers once."),
}
_WORDS: dict[SiteOutcome, str] = {"fresh": "accepted", "same": "duplicate", "other": "conflict", "closed": "closed"}


async def take_site(collector: Collector, entry: Entry, scope: Scope, receive: Receive) -> bool:
    """Take a site's answer; False if the same one was there before.

    Raises:
        TooLarge: If the body has more bytes than so many counts take; it is not read further.
        BadAnswer: If it is no answer to the study, or its counts are too large to be added to those of others.
        BadTicket: If its id is no ticket for the study.
        TooEarly: If the study is not open yet.
        Closed: If it takes no more.
        Conflict: If the ticket has other counts.
    """
    if media_type(scope) != "application/json":
        raise BadMediaType("A site sends one answer, as application/json.")
    turnstile = collector.turnstile
    for kind in ("answers", "tickets"):
        turnstile.enter(kind)
    with collector.bodies.guest() as guest:

        def meter(part: bytes) -> None:
            guest.hold(len(part))
            turnstile.owe("tickets", len(part) / CHARGED)

        body = await read_body(scope, receive, LEAST_BYTES + COUNT_BYTES * entry.symbols, meter)
        sent = read_site_answer(body, entry)
    if not collector.tickets.good(entry.digest, sent.id):
        raise NO_TICKET.with_traceback(None)
    check_open(collector, entry)
    outcome = await _store(collector, entry, sent)
    if outcome in _WORDS:
        collector.metrics.count([(_WORDS[outcome], 1)])
    if outcome == "full":
        raise BadAnswer("counts", "these", "must leave room for those of the other sites in sums below 2^53")
    if outcome in _REFUSED:
        raise _REFUSED[outcome].with_traceback(None)
    return outcome == "fresh"


def read_site_answer(data: bytes, entry: Entry) -> Sent:
    """Read a site's answer to a study.

    Raises:
        BadAnswer: Naming what is wrong with it, and never repeating a count.
    """
    try:
        answer = Answer.from_bytes(data)
    except InvalidInput as error:
        value = error.value if error.field in ("study", "id") else "not shown"
        raise BadAnswer(error.field, value, error.rule) from None
    if answer.study != entry.digest:
        raise BadAnswer("study", answer.study, "must be the study that it is sent to")
    if len(answer.payload) != entry.symbols:
        raise BadAnswer("counts", f"{len(answer.payload)} counts", f"must be {entry.symbols}, one a cell")
    return Sent(entry.number, bytes.fromhex(answer.id), answer.payload)


async def _store(collector: Collector, entry: Entry, sent: Sent) -> SiteOutcome:
    takes = entry.kept.state(collector.clock()) == "open"
    if not takes:
        return await collector.store.add_site(sent, collector.bucket(), takes=False)
    await collector.hourly.take(entry.kept, 1)
    outcome: SiteOutcome | None = None
    try:
        outcome = await collector.store.add_site(sent, collector.bucket(), takes=True)
    finally:
        collector.hourly.settle(entry.kept, 1, int(outcome == "fresh"))
    return outcome
