"""The door: where NVFlare's runner hands over a task's reply to be sent, behind everything that a job has.

NVFlare has two places for a site's own part, and a job is in both: a job's filters come after the site's, and its
handlers of events come before the site's, in a context that they can write.  So a handler can show the site something
else than what is sent, what is sent can be written to after the site looked, and cookies that a job puts into its task
are echoed last of all.  The guard therefore wraps the one function that each task enters and each reply leaves: it
reads the task before any of a job's code does, and what it returns is an object that no code of a job has seen.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_constant import FLContextKey, ReservedTopic, ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import ReservedHeaderKey, Shareable, make_reply
from nvflare.fuel.sec.audit import AuditService
from nvflare.private.fed.client.client_run_manager import ClientRunManager
from nvflare.private.fed.client.client_runner import ClientRunner
from nvflare.widgets.fed_event import ClientFedEventRunner

from fairgauge.errors import InvalidInput
from fairgauge.nvflare.task_result import study_of

_PLACE = "_process_task"
# What NVFlare's widget does on these is no sending.
_OF_THE_RUN = (EventType.SYSTEM_BOOTSTRAP, EventType.START_RUN, EventType.CHECK_END_RUN_READINESS, EventType.END_RUN)
# What NVFlare's runner asks the server beside its tasks, and what it answers: with codes, or by the door.
_ASKED_BY_RUNNER = (ReservedTopic.TASK_CHECK, ReservedTopic.SYNC_RUNNER, ReservedTopic.JOB_HEART_BEAT)
_DONE_BY_RUNNER = (ReservedTopic.DO_TASK, ReservedTopic.END_RUN, *_ASKED_BY_RUNNER)


@dataclass(frozen=True)
class StudyTask:
    """A task as it came from the server.

    Args:
        site: The site's name.
        study: The study's document; None if the task asks none.
        headers: What its reply is addressed with.
    """

    site: str = ""
    study: str | None = None
    headers: dict[str, Any] = field(default_factory=dict)


# What was asked, for the site's filters; not in the context itself, where a job could write.
ASKED: "WeakKeyDictionary[FLContext, StudyTask]" = WeakKeyDictionary()


class _Doorkeeper(Protocol):
    """Decides what leaves."""

    def leaving(self, asked: StudyTask, reply: Shareable) -> Shareable:
        """Return what leaves instead of a reply; nothing of it may be an object of the job's."""


def keep_the_door(keeper: Callable[[], _Doorkeeper | None]) -> None:
    """Let every reply of a runner in this process be what the keeper says; more than once is as good as once.

    Args:
        keeper: Finds the keeper when a task comes; without one, a reply leaves as it is.

    Raises:
        InvalidInput: If NVFlare has no such place, which another version may not have: better no job than no guard.
    """
    process = getattr(ClientRunner, _PLACE, None)
    if process is None:
        raise InvalidInput("nvflare", _PLACE, "must be a function of its ClientRunner: use NVFlare 2.9")
    if getattr(process, "keeper", None) is not None:
        return

    @wraps(process)
    def through_the_door(runner: ClientRunner, task: Any, fl_ctx: FLContext) -> Shareable:
        found = keeper()
        if found is None:
            return process(runner, task, fl_ctx)
        asked = ASKED[fl_ctx] = _read(runner, task)
        try:
            reply = process(runner, task, fl_ctx)
        except BaseException:  # noqa: BLE001 - the runner writes to an object of the job's, which may raise anything
            reply = make_reply(ReturnCode.EXECUTION_EXCEPTION)
        fl_ctx.put(FLContextKey.TASK_RESULT, None, private=True, sticky=False)  # every line of a log would read it
        leaves = found.leaving(asked, reply)
        for name, value in asked.headers.items():
            leaves.set_header(name, value)
        return leaves

    through_the_door.keeper = keeper  # type: ignore[attr-defined]
    setattr(ClientRunner, _PLACE, through_the_door)


def hold_events() -> None:
    """Let no event leave this process for the server; more than once is as good as once.

    NVFlare's widget asks the event, its data and its context whether to send them, and each can be an object of a
    job's that says one thing to a guard and another to the widget.  So it is not asked: what it hears is no more than
    when a run begins and ends.
    """
    handle = ClientFedEventRunner.handle_event
    if getattr(handle, "held", False):
        return

    @wraps(handle)
    def held(widget: ClientFedEventRunner, event_type: str, fl_ctx: FLContext) -> None:
        if type(event_type) is str and event_type in _OF_THE_RUN:  # a class of a job's own could equal them all
            handle(widget, event_type, fl_ctx)

    held.held = True  # type: ignore[attr-defined]
    ClientFedEventRunner.handle_event = held


def hold_messages() -> None:
    """Let no auxiliary message and no stream leave a job's process; more than once is as good as once.

    NVFlare has parts that a job can name without code of its own, as far as the site's ``class_allow_list`` has them,
    and that send by other ways than a task's reply: results to other sites, trees of XGBoost, logs, the files of a
    folder.  What remains is what the runner itself asks and answers: nothing, or a task's number.
    """
    dispatch, ask = ClientRunManager.dispatch, ClientRunManager.send_aux_request
    if getattr(ask, "held", False):
        return

    @wraps(ask)
    def asked(manager: ClientRunManager, targets: Any, topic: Any, request: Any, *more: Any, **named: Any) -> Any:
        if type(topic) is not str or topic not in _ASKED_BY_RUNNER:
            return {}
        bare = Shareable()
        if topic == ReservedTopic.TASK_CHECK:
            bare.set_header(ReservedHeaderKey.TASK_ID, str(request.get_header(ReservedHeaderKey.TASK_ID)))
        return ask(manager, targets, topic, bare, *more, **named)

    @wraps(dispatch)
    def done(manager: ClientRunManager, topic: Any, request: Any, fl_ctx: FLContext) -> Shareable:
        reply = dispatch(manager, topic, request, fl_ctx)
        return reply if type(topic) is str and topic in _DONE_BY_RUNNER else make_reply(ReturnCode.OK)

    @wraps(ClientRunManager.multicast_aux_requests)
    def to_nobody(*_: Any, **__: Any) -> dict[str, Any]:
        return {}

    @wraps(ClientRunManager.stream_objects)
    def unsent(*_: Any, **__: Any) -> tuple[str, None]:
        return ReturnCode.EXECUTION_EXCEPTION, None

    asked.held = True  # type: ignore[attr-defined]
    ClientRunManager.send_aux_request = asked
    ClientRunManager.dispatch = done
    ClientRunManager.multicast_aux_requests = to_nobody
    ClientRunManager.stream_objects = unsent


def _read(runner: ClientRunner, task: Any) -> StudyTask:
    headers = {ReservedHeaderKey.TASK_NAME: task.name, ReservedHeaderKey.TASK_ID: task.task_id}
    # An entry of our own in the site's audit: the runner tells the number of its own to an object of the job's.
    audited = AuditService.add_job_event(
        runner.job_id, task_name=task.name, task_id=task.task_id, msg="task came to fairgauge's guard"
    )
    if audited:  # the simulator keeps no audit
        headers[ReservedHeaderKey.AUDIT_EVENT_ID] = audited
    if isinstance(task.data, Shareable) and task.data.get_cookie_jar():
        headers[ReservedHeaderKey.COOKIE_JAR] = deepcopy(task.data.get_cookie_jar())
    # Not from the task's context, whose name a job could change: it stands for a folder of the site's.
    return StudyTask(str(runner.engine.fl_ctx_mgr.identity_name), study_of(task.data), headers)
