"""The operator's page: sign in, plan and publish, close, tokens and tickets.

Looking needs the session cookie.  Changing something also needs the proof that our pages put into their forms: the
cookie is SameSite=Strict, and even a browser that sent it along with another site's form would not know the proof.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

# Both load what they name when it is used: a collector that restarts does not wait for solvers.
from fairgauge import planning, reports
from fairgauge.collector.access import PATIENCE, collector_of, require_operator, session_of, who
from fairgauge.collector.admission import PublishingTerms
from fairgauge.collector.audit_log import site_words
from fairgauge.collector.pages.html import carried, on_loopback, page, see_other, voice_of
from fairgauge.collector.pages.study_pages import pages_of
from fairgauge.collector.query_parameters import read_values
from fairgauge.collector.service import Entry
from fairgauge.collector.sessions import COOKIE, SECONDS
from fairgauge.errors import FairgaugeError, InvalidInput
from fairgauge.languages import Voice
from fairgauge.server.bearer_tokens import new_token, read_uses, revoke_token
from fairgauge.server.coarse_time import moment_of
from fairgauge.server.problems import problem_of
from fairgauge.server.server_errors import NotAllowed
from fairgauge.study import Question, Study
from fairgauge.study.attribute import ANY
from fairgauge.study.numbers import as_count, as_epsilon
from fairgauge.targets.channel_inputs import OUTSIDERS

_T = TypeVar("_T")
# What the study itself says, by its own names.
_TERMS = ("opens", "closes", "contact", "operator", "purpose", "model", "retention")
FIELDS = (
    "title", "attribute", "groups", "metrics", "epsilon", "clients", "target", "abstain", "abstaining", *_TERMS,
    "answering", "share_source", "share_error", *PublishingTerms.__struct_fields__, "document",
)  # fmt: skip
_BLANK = dict.fromkeys(FIELDS, "") | {
    "attribute": "sex", "groups": "female=0.5\nmale=0.5", "metrics": "recall:0:1", "epsilon": "1", "clients": "1000000",
    "answering": ANY,
    **msgspec.structs.asdict(PublishingTerms()),
}  # fmt: skip
_MOST_TICKETS = 100_000
_MOST_SITES = 1000  # names in one form
_EVENTS = 30  # lines of the audit log on the page; fairgauge store log shows more
_MOST_GROUPS = 12
_MOST_METRICS = 8


async def sign_in_page(request: Request) -> Response:
    """Show the form that asks for a token."""
    return page(request, "sign_in.html", wrong=False)


async def sign_in(request: Request, form: dict[str, str]) -> Response:
    """Sign a browser in that shows a good token."""
    collector = collector_of(request)
    cookie = collector.sessions.start(form["token"])
    if cookie is None:
        await collector.turnstile.turn("refused", PATIENCE)
        return page(request, "sign_in.html", status=403, wrong=True)
    operator = collector.gatekeeper.role_of(form["token"]) == "operator"
    found = see_other(f"{'/operator' if operator else '/studies'}{carried(request)}")
    _set_cookie(request, found, cookie, SECONDS)
    return found


async def sign_out(request: Request, _form: dict[str, str]) -> Response:
    """Forget the session of a browser."""
    found, collector = see_other("/studies"), collector_of(request)
    ended = collector.sessions.end(request.cookies.get(COOKIE, ""))
    if ended is not None:
        await collector.store.sign_out(*ended)
    _set_cookie(request, found, "", 0)
    return found


async def desk(request: Request) -> Response:
    """Show the operator's page."""
    session = session_of(request)
    if session is None:
        return see_other("/sign-in")
    collector = collector_of(request)
    collector.turnstile.enter("operators")
    if session.role != "operator":
        raise NotAllowed("This needs the token of an operator.")
    return await _desk(request)


async def publish(request: Request, form: dict[str, str]) -> Response:
    """Show what a draft would tell, or publish it."""
    collector = require_operator(request, form.pop("proof"))
    action = form.pop("action")
    try:
        if action == "plan":
            plans = await _design(request, lambda: _plans(form, voice_of(request)))
            return await _desk(request, form=form, plans=plans)
        data = form["document"].encode() if form["document"] else await _design(request, lambda: _drafted(form))
        named = {name: form[name] for name in PublishingTerms.__struct_fields__ if form[name]}
        terms = read_values(named, PublishingTerms)
        kept, created = await collector.publish(data, terms)
        if created:
            await collector.record(who(request), "published", kept.digest)
    except FairgaugeError as error:
        problem = problem_of(error)
        return await _desk(request, status=problem.status, form=form, wrong=problem.detail)
    return see_other(f"/studies/{kept.digest}")


async def close(request: Request, form: dict[str, str]) -> Response:
    """Close a study and seal it."""
    collector = require_operator(request, form["proof"])
    if form["sure"] != "yes":
        wrong = "A study is closed for good: tick the box to say so."
        return await _desk(request, status=400, wrong=wrong)
    await collector.close(form["study"])
    await collector.record(who(request), "closed", form["study"])
    return see_other(f"/studies/{form['study']}")


async def tokens(request: Request, form: dict[str, str]) -> Response:
    """Make a token, which is shown once, or revoke one."""
    collector = require_operator(request, form["proof"])
    folder, made, name = collector.secrets, None, who(request)
    try:
        if form["action"] == "revoke":
            await asyncio.to_thread(revoke_token, folder, name=form["name"])
        else:
            made = await asyncio.to_thread(new_token, folder, name=form["name"], role=form["role"])
        await collector.record(name, "made a token" if made else "revoked a token", form["name"])
    except InvalidInput as error:
        return await _desk(request, status=400, wrong=str(error))
    if session_of(request) is None:  # an operator may revoke the very token that this session is of
        return see_other("/sign-in")
    return await _desk(request, token=made, token_name=form["name"])


async def tickets(request: Request, form: dict[str, str]) -> Response:
    """Make tickets for a study, one a line."""
    collector = require_operator(request, form["proof"])
    entry = await collector.entry(form["study"])
    if entry.contributors_known:
        return await _site_tickets(request, entry, form["sites"])
    count = int(form["count"]) if form["count"].isdecimal() and len(form["count"]) < 9 else 0
    if not 1 <= count <= _MOST_TICKETS:
        wrong = f"count={form['count'][:20]}: must be a whole number from 1 to {_MOST_TICKETS:,}"
        return await _desk(request, status=400, wrong=wrong)
    if entry.gate is not None:
        raise InvalidInput("study", entry.digest, "takes blind tickets, which its issuer gives out (fairgauge issuer)")
    await collector.record(who(request), f"made {count} tickets", entry.digest)
    lines = await asyncio.to_thread(lambda: "".join(collector.tickets.new(entry.digest) + "\n" for _ in range(count)))
    return _tickets(entry, lines)


async def _site_tickets(request: Request, entry: Entry, typed: str) -> Response:
    """Make the ticket of each site that is named, one a line; the same ones if they are asked for again."""
    collector = collector_of(request)
    names = list(dict.fromkeys(filter(None, map(str.strip, typed.splitlines()))))
    if not 1 <= len(names) <= _MOST_SITES:
        wrong = f"sites={len(names)} names: must be from 1 to {_MOST_SITES:,}, one a line"
        return await _desk(request, status=400, wrong=wrong)
    try:
        made = await collector.expect(entry.digest, names)
    except InvalidInput as error:
        return await _desk(request, status=400, wrong=str(error))
    for name in names:
        await collector.record(who(request), site_words(name), entry.digest)
    return _tickets(entry, "".join(f"{ticket}\t{name}\n" for name, ticket in made.items()))


def _tickets(entry: Entry, lines: str) -> Response:
    headers = {
        "Content-Disposition": f'attachment; filename="tickets-{entry.digest[:16]}.txt"',
        "Cache-Control": "no-store",
    }
    return Response(lines, 200, headers, "text/plain; charset=utf-8")


async def _desk(request: Request, *, status: int = 200, **more: object) -> Response:
    values: dict[str, object] = {"form": _BLANK, "plans": [], "wrong": None, "token": None, "token_name": ""}
    cards, _ = await pages_of(request).catalogue.cards(voice_of(request), everything=True)
    collector = collector_of(request)
    kept, uses = collector.gatekeeper.kept(), read_uses(collector.secrets)
    events = [(moment_of(one.bucket), one) for one in await collector.store.events(_EVENTS)]
    sites = {
        one.kept.digest: await collector.store.ticketed(one.kept.number)
        for one in cards
        if one.asked.contributors_known
    }
    found = {
        "sites": sites,
        "cards": cards,
        "tokens": [(one, uses.get(one.name, "")) for one in kept],
        "events": events,
    }
    return page(request, "operator.html", status=status, voice=None, **found, **values | more)


async def _design(request: Request, run: Callable[[], _T]) -> _T:
    async with pages_of(request).designing:
        return await asyncio.to_thread(run)


def _questions(form: dict[str, str]) -> list[Question]:
    groups, metrics = ([line.strip() for line in form[name].splitlines()] for name in ("groups", "metrics"))
    for name, typed, most in (("groups", groups, _MOST_GROUPS), ("metrics", metrics, _MOST_METRICS)):
        if len(typed) > most:
            raise InvalidInput(name, f"{len(typed)} lines", f"must be at most {most} here: fairgauge design takes more")
    grouping = planning.Grouping(
        list(filter(None, groups)),
        form["attribute"],
        answering=form["answering"] or ANY,
        share_error=form["share_error"] or None,
        share_source=form["share_source"] or None,
    )
    return planning.read_questions(
        list(filter(None, metrics)),
        planning.read_attribute(grouping),
        target=form["target"] or None,
        abstain=form["abstain"] == "yes",
        abstaining=form["abstaining"] or _outsiders(form),
    )


def _outsiders(form: dict[str, str]) -> str | None:
    """Return how many will abstain where everyone may answer and nobody said it: those whom the study is not about."""
    return str(OUTSIDERS) if form["admission"] == "open" and form["abstain"] != "yes" else None


def _plans(form: dict[str, str], voice: Voice) -> "list[reports.PlanView]":
    clients = as_count("clients", form["clients"])
    if form["document"]:
        study = Study.from_bytes(form["document"].encode())
        return reports.study_views(study, clients, voice)
    return reports.plan_views(_questions(form), as_epsilon(form["epsilon"]), clients, voice)


def _drafted(form: dict[str, str]) -> bytes:
    terms = planning.read_terms(**{name: form[name] for name in _TERMS})
    epsilon = as_epsilon(form["epsilon"])
    return planning.make_study(form["title"], _questions(form), epsilon, **terms).to_bytes()


def _set_cookie(request: Request, response: Response, value: str, seconds: int) -> None:
    # Over a network a session travels encrypted or not at all; a loopback address needs no TLS.
    secure = not on_loopback(request)
    response.set_cookie(COOKIE, value, max_age=seconds, path="/", httponly=True, samesite="strict", secure=secure)
