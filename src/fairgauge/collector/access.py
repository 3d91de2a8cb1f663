"""Who may make a request: what it must show, which rate it is counted in, and whose forms are read."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request

from fairgauge.collector.load_limits import STRANGER, Asker
from fairgauge.collector.service import Collector
from fairgauge.collector.sessions import COOKIE, Session
from fairgauge.errors import InvalidInput
from fairgauge.server.request_body import media_type, read_body
from fairgauge.server.server_errors import BadMediaType, NoStudy, NotAllowed, NoToken

PATIENCE = 5.0  # seconds that a visitor waits in line
_MOST_FIELDS = 40
_FREE_SECONDS = 1.0  # that anyone waits for what is the same for everyone


@dataclass(frozen=True)
class Access:
    """A way to let requests in.

    Args:
        enter: Lets a request pass, and counts it; or raises a refusal.
        sentence: What it takes, for people.
        problems: The kinds of problems that it can end in.
        token: Whether a token opens it, for programs.
        form_bytes: How long a form may be: what a stranger sends is short.
    """

    enter: Callable[[Request], Awaitable[None]]
    sentence: str = ""
    problems: tuple[str, ...] = ()
    token: bool = False
    form_bytes: int = 4096


def collector_of(request: Request) -> Collector:
    """Return the collector that a request is for."""
    found: Collector = request.scope["app"].collector
    return found


def role_of(request: Request) -> str | None:
    """Return the role that a request shows: of its bearer token, or of its session if it changes nothing.

    A browser sends its cookie by itself, so a cookie alone is enough for looking only: see
    ``require_operator`` for what else it takes to change something.
    """
    collector = collector_of(request)
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and text:
        return collector.gatekeeper.role_of(text.strip())
    session = session_of(request) if request.method in ("GET", "HEAD") else None
    return None if session is None else session.role


def who(request: Request) -> str:
    """Return the name of the token that a request shows, itself or by its session; empty if it shows none."""
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and text:
        token = collector_of(request).gatekeeper.find(text.strip())
        return "" if token is None else token.name
    session = session_of(request)
    return "" if session is None else session.name


def session_of(request: Request) -> Session | None:
    """Return the session of the browser that a request comes from, if it is signed in."""
    cookie = request.cookies.get(COOKIE)
    return None if cookie is None else collector_of(request).sessions.find(cookie)


async def _require(request: Request, role: str) -> None:
    collector, found = collector_of(request), role_of(request)
    if found is None:
        # In line with everyone who shows no good token: guessing is as slow as the rate, however many connections.
        await collector.turnstile.turn("refused", PATIENCE)
        raise NoToken("Send Authorization: Bearer, with a token that is good here.")
    if role == "operator" and found != "operator":
        raise NotAllowed("This needs the token of an operator.")
    collector.turnstile.enter("operators" if role == "operator" else "readers")


async def _require_results(request: Request, *, ids: bool) -> None:
    collector, digest = collector_of(request), request.path_params["digest"]
    if role_of(request) is None and await may_see(collector, digest, ids=ids):
        await collector.turnstile.turn("visitors", PATIENCE)
    else:
        await _require(request, "operator" if ids and await _held_close(collector, digest) else "reader")


async def _held_close(collector: Collector, digest: str) -> bool:
    """Tell whether answers are for those who run the study only: others see sums of several."""
    try:
        entry = await collector.entry(digest)
    except NoStudy:
        return False
    return entry.kept.batch is not None


async def may_see(collector: Collector, digest: str, *, ids: bool = False) -> bool:
    """Tell whether everyone may see the results of a study.

    Args:
        collector: The collector.
        digest: The study.
        ids: Whether it is about answers with their ids.  Ids can be tickets, and who gave those out would see who
            sent what: where a study takes tickets, ids are for readers only; where it is in the crowd or for
            sites, for operators.
    """
    try:
        kept = (await collector.entry(digest)).kept
    except NoStudy:
        return False
    return kept.public and not (ids and (kept.admission == "tickets" or kept.batch is not None))


def asker_of(request: Request) -> Asker:
    """Return who asks for what takes long, and whose places it takes: an operator's, a reader's or a stranger's."""
    return Asker(role_of(request) or STRANGER, request.scope)


async def _free(request: Request) -> None:
    """Let everyone in, beyond the rate a second later: a check of health is answered beside any flood."""
    await collector_of(request).turnstile.slow("free", _FREE_SECONDS)


async def _operator(request: Request) -> None:
    await _require(request, "operator")


async def _reader(request: Request) -> None:
    await _require(request, "reader")


async def _results(request: Request) -> None:
    await _require_results(request, ids=False)


async def _ids(request: Request) -> None:
    await _require_results(request, ids=True)


async def _device(request: Request) -> None:
    collector_of(request).turnstile.enter("answers")


async def _envelope(request: Request) -> None:
    collector_of(request).turnstile.enter("envelopes")


async def _browser(request: Request) -> None:
    turnstile = collector_of(request).turnstile
    if role_of(request) is None:
        await turnstile.turn("visitors", PATIENCE)
    else:
        turnstile.enter("readers")


async def _form(request: Request) -> None:
    if session_of(request) is None:  # before the form is read
        collector_of(request).turnstile.enter("refused")
        raise NoToken("Sign in with the token of an operator.")


_READER = "Needs the token of a reader or operator."
_PUBLIC = f"{_READER} Anyone may ask if results are public."
_TOKEN = ("no-token", "too-many")


class Door:
    """Every way in that there is."""

    FREE = Access(_free)
    DEVICE = Access(_device, "Anyone may ask.", ("too-many",))
    ENVELOPE = Access(_envelope, "Anyone may send one.", ("too-many",))
    VISITOR = Access(_browser, "Anyone may ask.", ("too-many",))
    BROWSER = Access(_browser, problems=("too-many",))
    READER = Access(_reader, _READER, _TOKEN, token=True)
    RESULTS = Access(_results, _PUBLIC, _TOKEN, token=True)
    IDS = Access(
        _ids,
        f"{_PUBLIC[:-1]} and the study takes no tickets. A study in the crowd, or for sites, needs the token of an "
        "operator.",
        (*_TOKEN, "not-allowed"),
        token=True,
    )
    OPERATOR = Access(_operator, "Needs the token of an operator.", (*_TOKEN, "not-allowed"), token=True)
    # The rest of what it takes is in the form: see ``require_operator``.
    FORM = Access(
        _form,
        "Needs the session of an operator, and the proof that the page puts into its forms.",
        (*_TOKEN, "not-allowed"),
        form_bytes=2**20,
    )


async def read_form(request: Request, names: Iterable[str], most: int) -> dict[str, str]:
    """Read a form of so many bytes whose fields have these names, each at most once; those that are missing are empty.

    Raises:
        NotAllowed: If another site's page sent it.
        BadMediaType, TooLarge: If it is no form, or too large.
        InvalidInput: If it has a field that it should not have.
    """
    _check_site(request)
    if media_type(request.scope) != "application/x-www-form-urlencoded":
        raise BadMediaType("Send the form as application/x-www-form-urlencoded.")
    body = await read_body(request.scope, request.receive, most)
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except (ValueError, UnicodeDecodeError):
        raise InvalidInput("form", f"{len(body)} bytes", "must be an encoded form") from None
    found = dict.fromkeys(names, "")
    for name, value in pairs:
        if name not in found:
            raise InvalidInput("form", name, "is not a field of this form")
        if found[name]:
            raise InvalidInput("form", name, "must be given once")
        # Browsers send line ends as CR LF.
        found[name] = value.replace("\r\n", "\n").strip()
    return found


def require_operator(request: Request, proof: str) -> Collector:
    """Let a form pass that a signed-in operator sent from one of our pages.

    Raises:
        NoToken: Without a session.
        NotAllowed: For a reader, or without the page's proof.
        TooMany: If there are too many.
    """
    collector, session = collector_of(request), session_of(request)
    if session is None:
        collector.turnstile.enter("refused")
        raise NoToken("Sign in with the token of an operator.")
    if session.role != "operator":
        raise NotAllowed("This needs the token of an operator.")
    if not session.is_own(proof):
        raise NotAllowed("The form is not from this session: load the page again.")
    collector.turnstile.enter("operators")
    return collector


def _check_site(request: Request) -> None:
    """Refuse a form of another site.  A browser says where a form is from, and a page cannot make it lie."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "same-origin")
    if site != "same-origin" or (origin is not None and _host_of(origin) != request.headers.get("host", "")):
        raise NotAllowed("The form was sent by another site.")


def _host_of(origin: str) -> str | None:
    """Return the host of an origin, or None if it is no address.

    >>> _host_of("https://collector.example:8642"), _host_of("http://[")
    ('collector.example:8642', None)
    """
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None
