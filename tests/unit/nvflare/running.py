"""NVFlare's own runner at a site, with a job's parts around a task; no network, and what would be sent is kept."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from nvflare.apis.executor import Executor
from nvflare.apis.filter import Filter
from nvflare.apis.fl_component import FLComponent
from nvflare.apis.fl_constant import FilterKey, FLContextKey
from nvflare.apis.fl_context import FLContext, FLContextManager
from nvflare.apis.shareable import Shareable
from nvflare.apis.utils.event import fire_event_to_components
from nvflare.private.fed.client.client_engine_executor_spec import TaskAssignment
from nvflare.private.fed.client.client_runner import ClientRunner, ClientRunnerConfig, TaskRouter
from nvflare.private.privacy_manager import PrivacyManager, PrivacyService, Scope

from fairgauge.nvflare import AnswerFilter, SiteGuard, StudyFilter
from fairgauge.nvflare.task_result import STUDY

SITE, TASK, JOB = "site-1", "validate", "job"
COOKIE = {"workflow": "w1"}

Process = Callable[[Shareable, FLContext], Shareable]


class Doing(Executor):
    """A job's executor; its parts are functions, to be short."""

    def __init__(self, work: Process) -> None:
        super().__init__()
        self._work = work

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: FLContext, abort_signal: Any) -> Shareable:
        return self._work(shareable, fl_ctx)


class Filtering(Filter):
    """A job's filter."""

    def __init__(self, work: Process) -> None:
        super().__init__()
        self._work = work

    def process(self, shareable: Shareable, fl_ctx: FLContext) -> Shareable:
        return self._work(shareable, fl_ctx)


class Handling(FLComponent):
    """A job's handler of events."""

    def __init__(self, work: Callable[[str, FLContext], None]) -> None:
        super().__init__()
        self._work = work

    def handle_event(self, event_type: str, fl_ctx: FLContext) -> None:
        self._work(event_type, fl_ctx)


class Engine:
    """As much of a client's engine as its runner needs: one task to fetch, and what is sent."""

    def __init__(self, task: TaskAssignment, handlers: list[FLComponent], scope: Scope | None) -> None:
        self.task, self.handlers, self.sent = task, handlers, Shareable()
        stickers = {FLContextKey.SCOPE_OBJECT: scope}
        self.fl_ctx_mgr = FLContextManager(self, SITE, JOB, {}, stickers)

    def register_aux_message_handler(self, **_: Any) -> None:
        pass

    def fire_event(self, event_type: str, fl_ctx: FLContext) -> None:
        fire_event_to_components(event_type, self.handlers, fl_ctx)

    def get_task_assignment(self, fl_ctx: FLContext, timeout: Any = None) -> TaskAssignment:
        peer = FLContextManager(None, "server", JOB, {}, {}).new_context()
        fl_ctx.set_peer_context(peer)
        return self.task

    def send_aux_request(self, targets: list[str], **_: Any) -> dict[str, Shareable]:
        return {targets[0]: Shareable()}

    def send_task_result(self, result: Shareable, fl_ctx: FLContext, timeout: Any = None) -> bool:
        self.sent = result
        return True


@contextmanager
def guarding(guard: SiteGuard | None, scope: Scope | None) -> Iterator[None]:
    """Let the site's ``privacy.json`` name this guard."""
    scopes, before = [] if scope is None else [scope], PrivacyService.manager
    components = {} if guard is None else {"fairgauge_guard": guard}
    PrivacyService.initialize(PrivacyManager(scopes, "fairgauge" if scopes else None, components))
    try:
        yield
    finally:
        PrivacyService.manager = before


def make_scope(**how: str) -> Scope:
    """The filters of the site's ``privacy.json``."""
    scope = Scope()
    scope.set_name("fairgauge")
    scope.add_task_data_filter(StudyFilter(), FilterKey.IN)
    scope.add_task_result_filter(AnswerFilter(**how), FilterKey.OUT)
    return scope


def run_task(
    guard: SiteGuard | None,
    work: Process,
    *,
    asked: str | None,
    scope: Scope | None = None,
    before: Sequence[Filter] = (),
    after: Sequence[Filter] = (),
    handlers: Sequence[FLComponent] = (),
) -> Shareable:
    """Run one task of a job, with its own filters of task and result and its handlers, and return what is sent."""
    data = Shareable() if asked is None else Shareable({STUDY: asked})
    data.set_cookie_jar(dict(COOKIE))
    router = TaskRouter()
    router.add_executor([TASK], executor := Doing(work))
    # The order of NVFlare's: what a job's configuration names, then what the site's does.
    listening = [executor, *before, *after, *handlers, *([] if guard is None else [guard])]
    engine = Engine(TaskAssignment(TASK, "task-1", data), listening, scope)
    key = TASK + FilterKey.DELIMITER
    config = ClientRunnerConfig(router, {key + FilterKey.IN: [*before]}, {key + FilterKey.OUT: [*after]}, listening)
    with guarding(guard, scope):
        runner = ClientRunner({}, config, JOB, engine)
        engine.handlers.append(runner)
        with engine.fl_ctx_mgr.new_context() as fl_ctx:
            runner.fetch_and_run_one_task(fl_ctx)
    return engine.sent
