"""Events that a job fires for the server: whatever they say of themselves, NVFlare's widget sends none.

Covers: fairgauge.nvflare.outgoing_guard.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from nvflare.apis.event_type import EventType
from nvflare.apis.fl_constant import EventScope, FedEventHeader, FLContextKey
from nvflare.apis.fl_context import FLContext, FLContextManager
from nvflare.apis.shareable import Shareable
from nvflare.apis.utils.event import fire_event_to_components
from nvflare.widgets.fed_event import ClientFedEventRunner

from fairgauge.nvflare import SiteGuard

Event = tuple[str, Any, Shareable, type[FLContext]]


@pytest.fixture(autouse=True)
def the_widget_of_before() -> Iterator[None]:
    """Give NVFlare its own widget back, which a guard changes for the process."""
    handle = ClientFedEventRunner.handle_event
    yield
    ClientFedEventRunner.handle_event = handle


class Widget(ClientFedEventRunner):
    """NVFlare's, with what it would send."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Shareable] = []

    def fire_and_forget_request(self, request: Shareable, fl_ctx: FLContext, targets: Any = None, secure: Any = False):
        self.sent.append(request)


class Neither(str):
    """Is neither equal to a text nor different from it."""

    def __eq__(self, _: object) -> bool:
        return False

    __ne__ = __eq__
    __hash__ = str.__hash__


class Second(str):
    """Equals a text from the second time on, and differs from none."""

    def __init__(self, _: str) -> None:
        self._asked = 0

    def __eq__(self, _: object) -> bool:
        self._asked += 1
        return self._asked > 1

    def __ne__(self, _: object) -> bool:
        return False

    __hash__ = str.__hash__


class Whatever(str):
    """Equals whatever a guard compares it with, once."""

    def __init__(self, _: str) -> None:
        self._asked = 0

    def __eq__(self, _: object) -> bool:
        self._asked += 1
        return self._asked == 1

    __hash__ = str.__hash__


class Sticky(Shareable):
    """Data that cannot be emptied, and always goes out."""

    def clear(self) -> None:
        pass

    def get_header(self, key: str, default: Any = None) -> Any:
        return "out" if key == FedEventHeader.DIRECTION else super().get_header(key, default)


class Federal(FLContext):
    """A context that is the federation's from the second time on."""

    asked = 0

    def get_prop(self, key: str, default: Any = None) -> Any:
        if key != FLContextKey.EVENT_SCOPE:
            return super().get_prop(key, default)
        self.asked += 1
        return EventScope.FEDERATION if self.asked > 2 else EventScope.LOCAL


def data(kind: type[Shareable] = Shareable, direction: str | None = None) -> Shareable:
    found = kind({"said": "platypus"})
    if direction is not None:
        found.set_header(FedEventHeader.DIRECTION, direction)
    return found


EVENTS: dict[str, Callable[[], Event]] = {
    "as any": lambda: ("fed.x", EventScope.FEDERATION, data(), FLContext),
    "scope": lambda: ("fed.x", Neither("x"), data(), FLContext),
    "direction": lambda: ("fed.x", EventScope.FEDERATION, data(direction=Second("out")), FLContext),
    "data": lambda: ("fed.x", EventScope.FEDERATION, data(Sticky), FLContext),
    "context": lambda: ("fed.x", EventScope.LOCAL, data(), Federal),
    "name": lambda: (Whatever("fed.x"), EventScope.FEDERATION, data(), FLContext),
}


def sent(event: Event, *guards: SiteGuard) -> list[Shareable]:
    name, scope, found, kind = event
    context = kind()
    context.set_prop(FLContextKey.EVENT_DATA, found, private=True, sticky=False)
    context.set_prop(FLContextKey.EVENT_SCOPE, scope, private=True, sticky=False)
    widget = Widget()
    fire_event_to_components(name, [*guards, widget], context)
    return widget.sent


@pytest.mark.parametrize("which", EVENTS)
def test_no_event_is_sent_to_the_server(which: str) -> None:
    guard = SiteGuard(records="site.json")
    SiteGuard(records="site.json")  # once more is as good as once
    assert sent(EVENTS[which](), guard) == []


@pytest.mark.parametrize("which", ["as any", "scope", "direction", "data"])  # the others lie to a guard alone
def test_the_twin_without_a_guard_sends_them(which: str) -> None:
    (found,) = sent(EVENTS[which]())
    assert found["said"] == "platypus"


def test_the_widget_still_hears_of_its_run() -> None:
    class Engine:
        topics: tuple[str, ...] = ()

        def register_aux_message_handler(self, topic: str, **_: Any) -> None:
            self.topics += (topic,)

    SiteGuard(records="site.json")
    engine, widget = Engine(), Widget()
    context = FLContextManager(engine, "site-1", "job", {}, {}).new_context()
    widget.handle_event(EventType.START_RUN, context)
    assert engine.topics == ("fed.event",)
    assert widget.ready
    widget.handle_event(EventType.END_RUN, context)
    assert widget.asked_to_stop
