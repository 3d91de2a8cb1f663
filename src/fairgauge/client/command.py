"""``fairgauge answer``, on the standard library alone: the process that sees a person's data loads nothing else.

Whatever goes wrong, nothing that a person gave is repeated: not by messages about the arguments, and not by an
exception that nobody expected.
"""

import argparse
import json
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from fairgauge.errors import AnswerRefused, CannotAnswer, CannotSend, FairgaugeError, InvalidInput

if TYPE_CHECKING:
    from fairgauge.client.answer import Answer
    from fairgauge.client.budget import Limits
    from fairgauge.client.delivery import Patience
    from fairgauge.client.ledger import Ledger
    from fairgauge.client.relay_client import Relay
    from fairgauge.client.site_settings import SiteSettings
    from fairgauge.crowd import Crowd
    from fairgauge.study import NoisyCounts, Study

    # The ticket that was given, what to send through, and how long to try.
    Way = tuple[str | None, Relay | None, Patience | None]

_AT_ONCE = (
    "Sent at once: whoever sees when this device was busy, and when answers arrive, may tie this answer to it. "
    "Without --now it would wait for a random moment.\n"
)
_SEEN = (
    "The collector saw the address that asked for this study; with --relay it would not have. It is kept now, and "
    "nobody is asked again: let some hours pass before the answer is sent.\n"
)
_SUMMARY = "Answer a study once, and deliver it: a device by one randomised symbol, a site by noisy counts."

_HELP = {
    "study": "A study document: a file, or an address, which is asked through --relay where one is given.",
    "group": "The person's group: sex=female, or female for one attribute. Once for each. - reads standard input.",
    "value": "The person's value of a metric: recall=0.83. Once for each metric. - reads standard input.",
    "send": "The collector's address. The answer is sent until it is counted.",
    "to_file": "Write the answer at the end of this file instead.",
    "ledger": "The file that remembers what was answered and what it cost.",
    "limit": "The most epsilon that all answers about one attribute may cost in sum: 8 unless you say otherwise.",
    "study_limit": "The most epsilon that one study may cost: 4 unless you say otherwise.",
    "ticket": "Proof that this device may answer. - reads standard input, from its first line.",
    "site": "For a site that holds many people: its own file, which fairgauge agent --prepare has read.",
    "output": "For a site: write the answer to this file.",
    "relay": "Send through this relay, so that the collector does not see this device's address.",
    "issuer": "Where blind tickets are fetched, from somebody else than the collector; or compare the --digest.",
    "wait": "Stay until the moment that the ledger drew has come, and send then.",
    "now": "Send at once, though the study has answers wait for a moment that tells nothing.",
    "again": "Send the answer again though it was delivered: for a collector that lost it. It costs no privacy.",
    "digest": "The digest that the study must have, from somebody else than its collector.",
    "json": "Print JSON for programs.",
}

# What makes another sign of an = behind it.
_COMPARES = "<>=!"

# What argparse says about itself and not about what was typed.
_HARMLESS = re.compile(r"the following arguments are required: .*|argument --[a-z-]+(/-[a-z])?: expected one argument")


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    study: str
    group: Sequence[str] = field(default=(), repr=False)
    value: Sequence[str] = field(default=(), repr=False)
    send: str | None = None
    to_file: str | None = None
    ledger: str | None = None
    limit: str | None = None
    study_limit: str | None = None
    ticket: str | None = field(default=None, repr=False)
    relay: str | None = None
    issuer: str | None = None
    digest: str | None = None
    site: str | None = None
    output: str | None = None
    again: bool = False
    now: bool = False
    wait: bool = False
    json: bool = False

    def refuse(self, names: Iterable[str], rule: str) -> None:
        """Refuse options that would change nothing, by their names.

        Raises:
            InvalidInput: If one of them was typed.
        """
        usual = Request(self.study)
        for name in names:
            if getattr(self, name) not in (getattr(usual, name), []):
                raise InvalidInput(name.replace("_", "-"), "given", rule)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        said = message if _HARMLESS.fullmatch(message) else "these arguments make no sense together"
        self.exit(2, f"fairgauge: {said}. Try: fairgauge answer --help\n")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    parser = _Parser(prog="fairgauge answer", description=_SUMMARY, allow_abbrev=False)
    parser.add_argument("study", metavar="STUDY", help=_HELP["study"])
    for name, metavar in (("group", "GROUP"), ("value", "METRIC=X")):
        parser.add_argument(f"--{name}", metavar=metavar, help=_HELP[name], action="append", default=[])
    for name, metavar in (
        ("send", "URL"),
        ("to_file", "FILE"),
        ("ledger", "FILE"),
        ("limit", "EPSILON"),
        ("study_limit", "EPSILON"),
        ("ticket", "TICKET"),
        ("relay", "URL"),
        ("issuer", "URL"),
        ("digest", "DIGEST"),
    ):
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name, metavar=metavar, help=_HELP[name])
    parser.add_argument("--site", metavar="FILE", help=_HELP["site"])
    parser.add_argument("--output", "-o", metavar="FILE", help=_HELP["output"])
    for name in ("again", "now", "wait", "json"):
        parser.add_argument(f"--{name}", help=_HELP[name], action="store_true")
    return parser


def _read_arguments(arguments: Sequence[str]) -> Request:
    """Return what was asked for; a group or a value may be any text, also one that begins with a dash.

    Raises:
        SystemExit: For help, and for arguments that make no sense; never for the text of a group or a value.
    """
    left: list[str] = []
    private: dict[str, list[str]] = {"--group": [], "--value": []}
    rest = iter(arguments)
    for argument in rest:
        option, mark, text = argument.partition("=")
        given = text if mark else next(rest, None) if option in private else None
        if option in private and given is not None:
            private[option].append(given)
        else:
            left.append(argument)
    return Request(**vars(make_parser().parse_args(left)) | {name[2:]: given for name, given in private.items()})


def main(arguments: Sequence[str] | None = None, *, patience: "Patience | None" = None) -> int:
    """Run the command and return its exit status: 0 fine, 1 the answer is no, 2 bad input."""
    try:
        run(_read_arguments(sys.argv[1:] if arguments is None else arguments), patience=patience)
    except FairgaugeError as error:
        sys.stderr.write(f"fairgauge: {error}\n")
        return 2 if isinstance(error, InvalidInput) else 1
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - its text might hold what a person gave, so only its place is told
        where = "".join(traceback.format_tb(error.__traceback__))
        sys.stderr.write(f"fairgauge: a mistake in fairgauge, {type(error).__name__}, at\n{where}")
        return 1
    return 0


def run(request: Request, *, patience: "Patience | None" = None) -> None:
    """Do what was asked for, and print what came of it."""
    from fairgauge.client.answer import contributor_of
    from fairgauge.client.budget import LIFETIME_LIMIT, STUDY_LIMIT, Limits, read_limit

    _check(request)
    limits = Limits(
        LIFETIME_LIMIT if request.limit is None else read_limit("limit", request.limit),
        STUDY_LIMIT if request.study_limit is None else read_limit("study-limit", request.study_limit),
    )
    study = _load(request)
    answers = contributor_of(study).choose(profile=_run_for_person, records=_run_for_site)
    answers(request, study, limits=limits, patience=patience)


def _load(request: Request) -> "Study":
    """Return the study.

    One that hides who answers, or when, is asked for once and kept: whoever asks its collector again when the answer
    leaves shows it the address beside the answer.  Through a relay, the collector sees no address at all.
    """
    from fairgauge.client.study_source import named_in, read_study

    if not request.study.startswith(("http://", "https://")):
        return read_study(request.study, digest=request.digest)
    from fairgauge.client.ledger import Ledger, default_ledger

    path = Path(request.ledger) if request.ledger is not None else default_ledger()
    address = request.study.rstrip("/")
    kept = Ledger(path).document(address) if path.exists() else None
    if kept is not None and named_in(address) is None and request.digest not in (None, sha256(kept).hexdigest()):
        # The address gave another study before than the one that the person confirms: that one is kept beside it.
        address = f"{address}#{request.digest}"
        kept = Ledger(path).document(address)
    if kept is not None:
        return read_study(kept, digest=request.digest or named_in(address))
    study = read_study(request.study, digest=request.digest, relay=request.relay)
    if study.unlinkable or study.epoch is not None:
        Ledger(path).keep_document(address, study.to_bytes())
    if study.gateway is not None and request.relay is None:
        sys.stderr.write(_SEEN)
    return study


def _run_for_person(request: Request, study: "Study", *, limits: "Limits", patience: "Patience | None") -> None:
    """Answer for one person, and print what came of it."""
    from fairgauge.client.ledger import Ledger, default_ledger

    request.refuse(("site", "output"), "is for studies of sites only")
    if study.issuer is None:
        request.refuse(("issuer",), "is of no use: the study takes no blind tickets")
    ticket, profile = _read_private(request, study, sys.stdin)
    ledger = Ledger(request.ledger if request.ledger is not None else default_ledger(), at_once=request.now)
    relay = _relay_of(request, study)
    notes: list[str] = []
    if ledger.state(study.digest) is None:
        notes = _misfits(request, study, profile)
        ticket = _prepare(ledger, study, request, (ticket, relay, patience))
    answer = ledger.answer(study, profile, limit=limits, ticket=ticket)
    known = ledger.state(study.digest) == "delivered" and not request.again
    moment = ledger.moment(study.digest)
    waits = moment is not None and time.time() < moment and request.send is not None
    if request.wait and moment is not None:
        waits = _wait(moment)
    if not known and not waits:
        if request.now and study.epoch is not None:
            sys.stderr.write(_AT_ONCE)
        _hand_over(ledger, answer, request, (ticket, relay, patience))
    state = ledger.state(study.digest)
    crowd = _promised(study)
    until = _shown(moment) if waits else ""
    if until and not request.json:
        text = f"{study.title}: answered, waits until {until}: the same command sends it from then on"
    elif request.json:
        told: dict[str, Any] = answer.to_dict() | {"state": state}
        told |= {"waits_until": until} if until else {}
        if crowd is not None:
            told |= {
                "epsilon": study.epsilon,
                "crowd": {"draws": crowd.draws, "delta": float(crowd.delta), "epsilon": crowd.number},
            }
        text = json.dumps(told)
    else:
        done = {"delivered": "delivered before" if known else "delivered", "refused": "refused by the collector"}
        text = f"{study.title}: answered, {done.get(str(state), 'not sent yet')}"
        if crowd is not None:
            from fairgauge.crowd.sentences import readers_sentence, runners_sentence

            text += f"\n{runners_sentence(study)}\n{readers_sentence(crowd)}"
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
    _tell("".join(f"answered all the same, but {note}\n" for note in notes))


def _run_for_site(request: Request, study: "Study", *, limits: "Limits", patience: "Patience | None") -> None:
    """Answer for a site, show the noisy counts, and deliver them; a device loads nothing of what that needs."""
    from fairgauge.client.ledger import Ledger
    from fairgauge.client.site_counts import left_out

    del limits  # a site's are in its own file
    site = study.questions[0].counts
    _check_for_site(request)
    own = _settled(request, study)
    ticket = sys.stdin.readline().strip() if request.ticket == "-" else request.ticket
    ledger = Ledger(own.ledger)
    known = ledger.state(study.digest)
    if known is None and request.send is not None:
        if ticket is None:
            raise CannotAnswer(
                "a collector takes a site's answer with a ticket only: ask whoever runs the study for one, and give it "
                "with --ticket; nothing was drawn"
            )
        _prepare(ledger, study, request, (ticket, None, patience))
    records = None if known is not None else own.load_records()
    answer = ledger.answer(study, records, limit=own.limits, ticket=ticket)
    if not request.json:
        sys.stdout.write(f"{study.title}: what leaves this site, with noise in every count\n{table(site, answer)}\n")
        sys.stdout.flush()
    if request.output is not None:
        answer.save(request.output)  # the same bytes, however often
        ledger.mark_sent(answer)
    elif known != "delivered" or request.again:
        _hand_over(ledger, answer, request, (ticket, None, patience))
    state = ledger.state(study.digest)
    if request.json:
        said = json.dumps(answer.to_dict() | {"state": state})
    else:
        done = {"delivered": "delivered before" if known == "delivered" else "delivered", "refused": "refused"}
        said = f"{study.title}: answered, {done.get(str(state), 'not sent yet')}"
    sys.stdout.write(f"{said}\n")
    sys.stdout.flush()
    if records is not None:
        _tell(
            f"{left_out(site, records):,} of {records.rows:,} records were left out: they lack a person, a group that "
            "the study lists, or an outcome\n"
        )


def _tell(notes: str) -> None:
    """Say what did not fit when everything is sent, for the person's or the site's own eyes.

    Whether there is something to say, and place for it, must not show in how the command ends.
    """
    with suppress(OSError):
        if sys.stderr is not None:
            sys.stderr.write(notes)
            sys.stderr.flush()


def _check_for_site(request: Request) -> None:
    """Refuse what is not for sites, and options that contradict each other."""
    request.refuse(("relay", "issuer", "wait", "now"), "is for devices: that a site takes part is not hidden")
    if request.group or request.value:
        raise InvalidInput("group" if request.group else "value", "not shown", "must not be given for a site")
    if request.to_file is not None:
        raise InvalidInput("to-file", request.to_file, "must be --output for a site: each answer has a file of its own")
    if request.send is not None and request.output is not None:
        raise InvalidInput("output", request.output, "must not be given together with --send")


def _settled(request: Request, study: "Study") -> "SiteSettings":
    """Read the site's own file, and refuse a study that asks for more than it names, before records are opened."""
    from fairgauge.client.site_settings import SiteSettings

    request.refuse(("ledger", "limit", "study_limit"), "must be in the site's file, not beside --site")
    if request.site is None:
        raise CannotAnswer(
            "the study is for sites that hold many people: give the site's own file with --site, once fairgauge agent "
            "--prepare has read its records"
        )
    own = SiteSettings.load(request.site)
    refused = own.policy.refused(study)
    if refused is not None:
        raise CannotAnswer(refused.text)
    return own


def table(site: "NoisyCounts", answer: "Answer") -> str:
    """Return the noisy counts as a table: a line for each group, and a column for each outcome or value."""
    corner, names = _outcomes(site)
    size, groups = len(names), site.attribute.groups
    lines = [[corner, *names]]
    for index, group in enumerate(groups):
        lines.append([group, *(f"{count:,}" for count in answer.payload[size * index : size * (index + 1)])])
    first, *widths = (max(map(len, column)) for column in zip(*lines, strict=True))
    return "\n".join(
        f"{line[0]:<{first}}" + "".join(f"  {text:>{width}}" for text, width in zip(line[1:], widths, strict=True))
        for line in lines
    )


def _outcomes(site: "NoisyCounts") -> tuple[str, list[str]]:
    """Return what stands over the groups, and what over each column: truth and prediction, or a value."""
    from fractions import Fraction

    from fairgauge.channel import LEVEL_UNIT

    if site.metric is None or site.levels is None:
        return "", ["truth 0, said 0", "truth 0, said 1", "truth 1, said 0", "truth 1, said 1"]
    low, high = Fraction(site.metric.low), Fraction(site.metric.high)
    values = (low + (high - low) * Fraction(level + LEVEL_UNIT, 2 * LEVEL_UNIT) for level in site.levels)
    return site.metric.name, [f"{float(value):.6g}" for value in values]


def _relay_of(request: Request, study: "Study") -> "Relay | None":
    """Return the relay to send through; a study that names a gateway wants one."""
    if request.relay is not None:
        from fairgauge.client.relay_client import Relay

        return Relay.of(study, request.relay)
    if study.gateway is not None and request.send is not None:
        rule = "must be given: the study has answers sent through a relay, so that the collector sees no addresses"
        raise InvalidInput("relay", "nothing", rule)
    return None


def _prepare(ledger: "Ledger", study: "Study", request: Request, how: "Way") -> str | None:
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
    from fairgauge.client.http_client import check_apart
    from fairgauge.client.issuer_client import fetch_token, issuer_in
    from fairgauge.unlinkable.pass_token import answer_id

    issuer = request.issuer or issuer_in(study)
    for collector in (request.send, request.study):
        if collector is not None and collector.startswith(("http://", "https://")):
            check_apart("issuer", issuer, collector)
    return answer_id(fetch_token(ledger, study, ticket, issuer=issuer, patience=patience))


def _check_everybodys(study: "Study", request: Request, relay: "Relay | None", patience: "Patience | None") -> None:
    """Refuse a study that may have been made for this device alone: its digest would tell whose the answer is."""
    from fairgauge.client.delivery import Patience
    from fairgauge.client.witness import check_listed, check_witness

    check_witness(study, digest=request.digest, issuer=request.issuer)
    if relay is not None and request.send is not None and study.admission != "blind":
        check_listed(study.digest, request.send, relay=relay, timeout=(patience or Patience()).timeout)


def _hand_over(ledger: "Ledger", answer: "Answer", request: Request, how: "Way") -> None:
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


def _misfits(request: Request, study: "Study", profile: dict[str, Any]) -> list[str]:
    """Return what of a profile the study cannot use, to be told when all is sent; at a terminal it is told now."""
    from fairgauge.client.policy import misfits

    if not request.group and not request.value:
        rule = "must be given to answer, with nothing after = for what the person lacks; nothing was drawn"
        raise InvalidInput("group and value", "nothing", rule)
    found = misfits(study, profile)
    if found and _at_terminal(sys.stdin):
        raise CannotAnswer(f"{found[0]}; nothing was drawn")
    return found


def _check(request: Request) -> None:
    """Refuse options that contradict each other."""
    if request.send is not None and request.to_file is not None:
        raise InvalidInput("to-file", request.to_file, "must not be given together with --send")
    if request.wait and request.now:
        raise InvalidInput("wait", "given", "must not be given together with --now")


def _wait(moment: int) -> bool:
    """Stay until a moment, and say so; nothing waits then."""
    if time.time() < moment:
        sys.stderr.write(f"waits until {_shown(moment)}, and sends then\n")
    while (left := moment - time.time()) > 0:  # a computer that slept wakes up late, and a clock may be set back
        time.sleep(min(left, 60.0))
    return False


def _promised(study: "Study") -> "Crowd | None":
    if study.release is None:
        return None
    from fairgauge.crowd import promised

    return promised(study)


def _shown(moment: int | None) -> str:
    from fairgauge.client.sending_epoch import shown

    return "" if moment is None else shown(moment)


def _read_private(request: Request, study: "Study", stdin: TextIO | None) -> tuple[str | None, dict[str, Any]]:
    """Return the ticket and the profile, from the arguments or from standard input where they are ``-``.

    Standard input has the ticket on its first line if that is read from there.  Each further line is a value if it
    begins with the name of one of the study's metrics and ``=`` and values are read from there, else a group.

    Raises:
        InvalidInput: At a terminal, for what makes no sense; from a program, that counts as nothing.
    """
    if isinstance(stdin, TextIOWrapper):
        stdin.reconfigure(errors="replace")  # bytes that are no text are no group that a study lists
    lines = filter(None, map(str.strip, () if stdin is None else stdin))  # it may be closed
    ticket = next(lines, "") if request.ticket == "-" else request.ticket
    groups = [text for text in request.group if text != "-"]
    values = [text for text in request.value if text != "-"]
    from_stdin = ("-" in request.group, "-" in request.value)
    if any(from_stdin):
        metrics = {question.metric.name for question in study.questions}
        for line in lines:
            value = from_stdin == (False, True) or (from_stdin[1] and line.partition("=")[0] in metrics)
            (values if value else groups).append(line)
    if _at_terminal(stdin):
        _check_typed(groups, values, study)
    return ticket, {"group": _read_groups(groups, study), "values": dict(map(_read_value, values))}


def _at_terminal(stdin: TextIO | None) -> bool:
    """Tell whether somebody sits there, who may be told what does not fit and type something else.

    A program may not: that it then sends nothing would tell whoever picked the study what the person has.
    """
    return stdin is not None and stdin.isatty()


def _check_typed(groups: list[str], values: list[str], study: "Study") -> None:
    """Refuse what cannot be read, without showing it."""
    known = _attributes(study)
    names = [name for name, _ in _named(groups, known)]
    if len(set(names)) < len(names):
        raise InvalidInput("group", "not shown", "must be given once for each attribute")
    if len(groups) > max(1, len(names)):
        rule = f"must name its attribute, one of {', '.join(known)}: NAME=GROUP"
        raise InvalidInput("group", "not shown", rule)
    if not all("=" in text for text in values):
        raise InvalidInput("value", "not shown", "must be METRIC=X, such as recall=0.83")


def _attributes(study: "Study") -> list[str]:
    """Return the names of the attributes that a person has a group of."""
    return sorted({factor.name for attribute in study.attributes for factor in attribute.factors})


def _read_groups(typed: list[str], study: "Study") -> dict[str, str | None] | str | None:
    """Read ``sex=female``, or ``female`` where the study has one attribute; what is given twice counts as nothing.

    A name is what stands before the first ``=``, if the study has an attribute of it; one text that names none is a
    group without a name.
    """
    known = _attributes(study)
    pairs = _named(typed, known)
    if not pairs and len(typed) <= 1:
        return "".join(typed) or None
    often = Counter(name for name, _ in pairs)
    return {name: group or None if often[name] == 1 else None for name, group in pairs}


def _named(typed: list[str], known: list[str]) -> list[tuple[str, str]]:
    """Return the attribute and the group of every text that names an attribute, before its first ``=``.

    Whether a text has a name goes by what its program wrote before the group, and not by the group.  A study that calls
    an attribute ``code=F`` gives no name to ``code=F=female``, and the sign of ``>=65`` names nothing: those who have
    such a group would have another budget than others, and be seen in who refuses.
    """
    own = {name for name in known if name[-1] not in _COMPARES}
    parts = [text.partition("=") for text in typed]
    return [(name, group) for name, mark, group in parts if mark and name in own]


def _read_value(typed: str) -> tuple[str, str | None]:
    name, mark, number = typed.rpartition("=")
    return name, number if mark and number else None
