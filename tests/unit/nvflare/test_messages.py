"""Messages and streams beside a task's reply: a job that only names parts of NVFlare's sends nothing by them.

Covers: fairgauge.nvflare.outgoing_guard.
"""

from collections.abc import Iterator
from inspect import unwrap
from pathlib import Path
from typing import Any

import pytest
from nvflare.apis.fl_constant import ReservedTopic, ReturnCode
from nvflare.apis.fl_context import FLContext, FLContextManager
from nvflare.apis.shareable import ReservedHeaderKey, Shareable
from nvflare.app_common.streamers.file_retriever import FileRetriever
from nvflare.private.fed.client.client_run_manager import ClientRunManager

from fairgauge.nvflare import SiteGuard

WAYS = ("dispatch", "send_aux_request", "multicast_aux_requests", "stream_objects")
SAID = "platypus"


@pytest.fixture(autouse=True)
def the_manager_of_before() -> Iterator[None]:
    """Give NVFlare its own manager back, which a guard changes for the process."""
    for name in WAYS:  # guards of other tests changed it, too
        setattr(ClientRunManager, name, unwrap(getattr(ClientRunManager, name)))
    yield
    for name in WAYS:
        setattr(ClientRunManager, name, unwrap(getattr(ClientRunManager, name)))


class Sent(list[Any]):
    """What NVFlare's messages and streams are handed to; and a handler of a job's, which answers with what it knows."""

    def __bool__(self) -> bool:
        return True

    def send_aux_request(self, targets: Any, topic: str, request: Shareable, *_: Any, **__: Any) -> dict[str, Any]:
        self.append((topic, request))
        return {}

    def multicast_aux_requests(self, topic: str, targets: Any, *_: Any, **__: Any) -> dict[str, Any]:
        self.append((topic, targets))
        return {}

    def stream(self, producer: Any, stream_ctx: Any, fl_ctx: FLContext, **_: Any) -> tuple[str, bool]:
        self.append(("stream", producer.produce(stream_ctx, fl_ctx)[0]))
        return ReturnCode.OK, True

    def dispatch(self, topic: str, request: Shareable, fl_ctx: FLContext) -> Shareable:
        return Shareable({"said": SAID})


def manager_of(sent: Sent) -> ClientRunManager:
    """Return the engine of a job's process at a site, without a network."""
    manager: ClientRunManager = object.__new__(ClientRunManager)
    manager.aux_runner = manager.object_streamer = sent
    manager.all_clients, manager.name_to_clients = [], {}
    return manager


def at(manager: ClientRunManager) -> FLContext:
    context: FLContext = FLContextManager(manager, "site-1", "job", {}, {}).new_context()
    return context


def file_of_the_site(manager: ClientRunManager, folder: Path) -> None:
    """What the server needs no code at the site for: its job names this part with a folder, and it asks for a file."""
    (folder / "profile.json").write_text(SAID)
    part = FileRetriever(source_dir=str(folder))
    code, path = part.validate_request(Shareable({"file_name": "profile.json"}), FLContext())
    assert code == ReturnCode.OK
    part.do_stream("server", Shareable(), at(manager), {}, path)


def everything(manager: ClientRunManager, folder: Path) -> list[Shareable]:
    """Send by every way, and return what a handler of a job's answers."""
    file_of_the_site(manager, folder)
    for topic in ("own", ReservedTopic.APP_METRICS, ReservedTopic.SYNC_RUNNER, ReservedTopic.TASK_CHECK):
        request = Shareable({"said": SAID})
        request.set_header("said", SAID)
        request.set_header(ReservedHeaderKey.TASK_ID, "task-1")
        manager.send_aux_request(targets=["server"], topic=topic, request=request, timeout=1.0, fl_ctx=FLContext())
        manager.multicast_aux_requests(topic, {"server": request}, 1.0, FLContext())
        manager.fire_and_forget_aux_request(topic, request, FLContext())
    return [manager.dispatch("own", Shareable(), FLContext())]


def test_nothing_leaves_beside_a_tasks_reply_but_the_runners_own(tmp_path: Path) -> None:
    sent = Sent()
    SiteGuard(records="site.json")
    SiteGuard(records="site.json")  # once more is as good as once
    (reply,) = everything(manager_of(sent), tmp_path)
    assert SAID not in f"{sent} {reply}"
    assert SAID.encode() not in b"".join(str(one).encode() for one in sent)
    assert [topic for topic, _ in sent] == [ReservedTopic.SYNC_RUNNER] * 2 + [ReservedTopic.TASK_CHECK] * 2
    assert sent[-1][1].get_header(ReservedHeaderKey.TASK_ID) == "task-1", "or no result would ever be sent"
    assert reply.get_return_code() == ReturnCode.OK


def test_the_runner_still_answers(tmp_path: Path) -> None:
    SiteGuard(records="site.json")
    reply = manager_of(Sent()).dispatch(ReservedTopic.DO_TASK, Shareable(), FLContext())
    assert reply["said"] == SAID, "which the door looks at"


def test_the_twin_without_a_guard_sends_all_of_it(tmp_path: Path) -> None:
    sent = Sent()
    (reply,) = everything(manager_of(sent), tmp_path)
    assert len(sent) == 13
    assert SAID in str(sent[0])
    assert SAID in str(reply)
