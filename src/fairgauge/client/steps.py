"""The steps of ``fairgauge answer`` around drawing: what is asked and fetched before it, and how the answer leaves."""

from typing import TYPE_CHECKING

from fairgauge.errors import AnswerRefused, CannotSend, InvalidInput

if TYPE_CHECKING:
    from fairgauge.client.answer import Answer
    from fairgauge.client.command import Request
    from fairgauge.client.delivery import Patience
    from fairgauge.client.ledger import Ledger
    from fairgauge.client.relay_client import Relay
    from fairgauge.study import Study

    # The ticket that was given, what to send through, and how long to try.
    Way = tuple[str | None, Relay | None, Patience | None]


def relay_of(request: "Request", study: "Study") -> "Relay | None":
    """Return the relay to send through; a study that names a gateway wants one."""
    if request.relay is not None:
        from fairgauge.client.relay_client import Relay

        return Relay.of(study, request.relay)
    if study.gateway is not None and request.send is not None:
        rule = "must be given: the study has answers sent through a relay, so that the collector sees no addresses"
        raise InvalidInput("relay", "nothing", rule)
    return None


def prepare(ledger: "Ledger", study: "Study", request: "Request", how: "Way") -> str | None:
    """Do what comes before drawing: ask whether the study is open, and fetch a blind ticket; return the ticket."""
    ticket, relay, patience = how
    if study.unlinkable:
        _check_everybodys(study, request, relay, patience)
    if request.send is not None:
        from fairgauge.client.delivery import check_open

        check_open(study.digest, request.send, patience=patience, relay=relay)
    if study.admission != "blind":
        return ticket
    if request.to_file is not None:
        rule = "must not be given where tickets are blind: such answers are sent one by one, each with its token"
        raise InvalidInput("to-file", request.to_file, rule)
    from fairgauge.client.exchange import fetch_token, issuer_in
    from fairgauge.client.web import check_apart
    from fairgauge.unlinkable.pass_token import answer_id

    issuer = request.issuer or issuer_in(study)
    for collector in (request.send, request.study):
        if collector is not None and collector.startswith(("http://", "https://")):
            check_apart("issuer", issuer, collector)
    return answer_id(fetch_token(ledger, study, ticket, issuer=issuer, patience=patience))


def _check_everybodys(study: "Study", request: "Request", relay: "Relay | None", patience: "Patience | None") -> None:
    """Refuse a study that may have been made for this device alone: its digest would tell whose the answer is."""
    from fairgauge.client.delivery import Patience
    from fairgauge.client.witness import check_listed, check_witness

    check_witness(study, digest=request.digest, issuer=request.issuer)
    if relay is not None and request.send is not None and study.admission != "blind":
        check_listed(study.digest, request.send, relay=relay, timeout=(patience or Patience()).timeout)


def hand_over(ledger: "Ledger", answer: "Answer", request: "Request", how: "Way") -> None:
    """Put an answer where it was asked for: at the end of a file, or to a collector."""
    _, relay, patience = how
    if request.to_file is not None:
        from fairgauge.client.answer_file import append

        append(answer, request.to_file)
        ledger.mark_sent(answer)
    elif request.send is not None:
        from fairgauge.client.delivery import deliver

        try:
            deliver(ledger, answer, request.send, patience=patience, relay=relay)
        except AnswerRefused:
            raise
        except CannotSend as problem:
            raise CannotSend(f"{problem}; the answer is in the ledger, and the same command sends it again") from None
