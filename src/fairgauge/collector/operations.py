"""What an operation is: one request that a collector answers, with all that is to be known about it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairgauge.collector.access import FREE, Access
from fairgauge.collector.pages.forms import read_form
from fairgauge.collector.pages.html import wants_html
from fairgauge.collector.queries import Language, Query, read_query
from fairgauge.collector.routes.answers import AnswersEndpoint

Handler = Callable[..., Awaitable[Response]]
Shape = type[msgspec.Struct]


@dataclass(frozen=True)
class Gives:
    """A good response: its media types (none if it has no body), and the documents that it may be."""

    words: str = "Fine."
    kinds: tuple[str, ...] = ("application/json",)
    shapes: tuple[Shape, ...] = ()


@dataclass(frozen=True)
class Page:
    """What a browser is given instead, which prefers HTML."""

    handler: Handler
    access: Access


@dataclass(frozen=True)
class Operation:
    """One request: who may make it, what it takes, what it gives, and who answers it.

    Args:
        method: The HTTP method.
        path: The path.
        name: The name, for programs that are made from the OpenAPI document.
        summary: What it does, in a line.
        handler: Answers the request; is given the parameters or the form, where there are any.
        access: Who may make it.
        gives: Good responses by status.
        description: More for people.
        problems: Kinds of problems beside those that access, parameters and form bring with them.
        query: The parameters; None lets any pass unread.
        form: The fields of a form.
        body: The media types of a body, each with the documents that it may be.
        shared: Whether web pages of other origins may make it.
        page: What a browser is given instead.
    """

    method: str
    path: str
    name: str
    summary: str
    handler: Handler | AnswersEndpoint
    access: Access = FREE
    gives: Mapping[int, Gives] = field(default_factory=lambda: {200: Gives()})
    description: str = ""
    problems: tuple[str, ...] = ()
    query: type[Query] | None = Query
    form: tuple[str, ...] | None = None
    body: Mapping[str, tuple[Shape, ...]] = field(default_factory=dict)
    shared: bool = False
    page: Page | None = None

    async def answer(self, request: Request) -> Response:
        """Let a request in, read what it brings, and answer it."""
        access, handler, query = self.access, self.handler, self.query
        if self.page is not None and wants_html(request):
            access, handler, query = self.page.access, self.page.handler, Language
        if isinstance(handler, AnswersEndpoint):
            raise TypeError("answers are taken by an application of their own")
        await access.enter(request)
        given: list[Any] = []
        if query is not None:
            read = read_query(request, query)
            given += [read] if query not in (Query, Language) else []  # a page asks the request for its language
        if self.form is not None:
            given.append(await read_form(request, self.form, access.form_bytes))
        return await handler(request, *given)
