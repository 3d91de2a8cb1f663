"""The pages in words, for the OpenAPI document."""

from dataclasses import dataclass, field

_FORM = ("bad-request", "no-token", "not-allowed", "too-large", "bad-media-type", "too-many")


@dataclass(frozen=True)
class Described:
    """One request for a page: what it does, what it gives, and which problems it can have."""

    path: str
    method: str
    name: str
    summary: str
    description: str = ""
    gives: dict[str, str] = field(default_factory=lambda: {"200": "text/html"})
    problems: tuple[str, ...] = ()
    fields: tuple[str, ...] | None = None


_ONE = "/studies/{digest}"
_SEES = "Needs the token or session of a reader, unless the results of the study are public."
_OPERATES = "Needs the session of an operator, and the proof that the page puts into its forms."

PAGES = (
    Described(
        "/", "get", "index", "List studies as a page",
        "Everyone sees studies with public results; whoever has signed in sees all.",
        problems=("bad-request", "too-many"),
    ),
    Described(
        f"{_ONE}/events", "get", "events", "Send results as they change, as server-sent events",
        f"Each event `results` has HTML for the study's page; `over` says that no more will come. {_SEES}",
        {"200": "text/event-stream"}, ("bad-request", "no-token", "no-study", "too-many"),
    ),
    Described(
        f"{_ONE}/report", "get", "report", "Send the report of a study as one HTML file",
        f"With anytime intervals and 0.99 confidence, as on the study's page. {_SEES}",
        problems=("bad-request", "no-token", "no-study", "too-many"),
    ),
    Described("/sign-in", "get", "signInPage", "Ask for a token", "", problems=("bad-request",)),
    Described(
        "/sign-in", "post", "signIn", "Sign a browser in",
        "Takes a token, and sets a cookie that is signed, HttpOnly and SameSite=Strict, for eight hours.",
        {"303": "", "403": "text/html"}, ("bad-request", "too-large", "bad-media-type", "too-many"), ("token",),
    ),
    Described(
        "/sign-out", "post", "signOut", "Sign a browser out", "",
        {"303": ""}, ("bad-request", "not-allowed", "too-large", "bad-media-type"), ("proof",),
    ),
    Described(
        "/operator", "get", "operatorPage", "Show the operator's page", "Needs the session of an operator.",
        {"200": "text/html", "303": ""}, ("bad-request", "not-allowed", "too-many"),
    ),
    Described(
        "/operator/publish", "post", "operatorPublish", "Plan or publish a study", _OPERATES,
        {"200": "text/html", "303": ""}, (*_FORM, "other-admission"), ("proof", "action", "title", "epsilon"),
    ),
    Described(
        "/operator/close", "post", "operatorClose", "Close a study", _OPERATES,
        {"303": ""}, (*_FORM, "no-study"), ("proof", "study", "sure"),
    ),
    Described(
        "/operator/tokens", "post", "operatorTokens", "Make or revoke a token", _OPERATES,
        {"200": "text/html", "303": ""}, _FORM, ("proof", "action", "name", "role"),
    ),
    Described(
        "/operator/tickets", "post", "operatorTickets", "Make tickets", _OPERATES,
        {"200": "text/plain"}, (*_FORM, "no-study"), ("proof", "study", "count"),
    ),
    Described("/style.css", "get", "style", "The style sheet of the pages", "", {"200": "text/css", "304": ""}),
    Described(
        "/live.js", "get", "live", "The script that keeps a study's page up to date", "",
        {"200": "text/javascript", "304": ""},
    ),
)  # fmt: skip
