"""``fairgauge answer`` for a site that holds many people: one table of noisy counts, from what was prepared."""

import json
import sys
from fractions import Fraction
from typing import TYPE_CHECKING

from fairgauge.channel import LEVEL_UNIT
from fairgauge.client.answer import Answer
from fairgauge.client.ledger import Ledger
from fairgauge.client.site_counts import left_out
from fairgauge.client.site_settings import SiteSettings
from fairgauge.client.steps import hand_over, prepare
from fairgauge.errors import CannotAnswer, InvalidInput

if TYPE_CHECKING:
    from fairgauge.client.command import Request
    from fairgauge.client.delivery import Patience
    from fairgauge.study import NoisyCounts, Study


def run_for_site(request: "Request", study: "Study", site: "NoisyCounts", *, patience: "Patience | None") -> None:
    """Answer for a site, show the noisy counts, and deliver them."""
    _check(request)
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
        prepare(ledger, study, request, (ticket, None, patience))
    records = None if known is not None else own.load_records()
    answer = ledger.answer(study, records, limit=own.limits, ticket=ticket)
    if not request.json:
        sys.stdout.write(f"{study.title}: what leaves this site, with noise in every count\n{table(site, answer)}\n")
        sys.stdout.flush()
    if request.output is not None:
        answer.save(request.output)  # the same bytes, however often
        ledger.mark_sent(answer)
    elif known != "delivered" or request.again:
        hand_over(ledger, answer, request, (ticket, None, patience))
    state = ledger.state(study.digest)
    if request.json:
        said = json.dumps(answer.to_dict() | {"state": state})
    else:
        done = {"delivered": "delivered before" if known == "delivered" else "delivered", "refused": "refused"}
        said = f"{study.title}: answered, {done.get(str(state), 'not sent yet')}"
    sys.stdout.write(f"{said}\n")
    sys.stdout.flush()
    # For the site's own eyes, when everything is sent; said of none, too, or a standard error that is full would tell.
    if records is not None:
        sys.stderr.write(
            f"{left_out(site, records):,} of {records.rows:,} records were left out: they lack a person, a group that "
            "the study lists, or an outcome\n"
        )


def _check(request: "Request") -> None:
    """Refuse what is not for sites, and options that contradict each other."""
    request.refuse(("relay", "issuer", "wait", "now"), "is for devices: that a site takes part is not hidden")
    if request.group or request.value:
        raise InvalidInput("group" if request.group else "value", "not shown", "must not be given for a site")
    if request.to_file is not None:
        raise InvalidInput("to-file", request.to_file, "must be --output for a site: each answer has a file of its own")
    if request.send is not None and request.output is not None:
        raise InvalidInput("output", request.output, "must not be given together with --send")


def _settled(request: "Request", study: "Study") -> SiteSettings:
    """Read the site's own file, and refuse a study that asks for more than it names, before records are opened."""
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


def table(site: "NoisyCounts", answer: Answer) -> str:
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
    if site.metric is None or site.levels is None:
        return "", ["truth 0, said 0", "truth 0, said 1", "truth 1, said 0", "truth 1, said 1"]
    low, high = Fraction(site.metric.low), Fraction(site.metric.high)
    values = (low + (high - low) * Fraction(level + LEVEL_UNIT, 2 * LEVEL_UNIT) for level in site.levels)
    return site.metric.name, [f"{float(value):.6g}" for value in values]
