"""What a server sees of a job: everything that reaches it is written down."""

from pathlib import Path
from typing import Any

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_component import FLComponent
from nvflare.apis.fl_constant import EventScope, FLContextKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable

from fairgauge.nvflare.answer_collector import AnswerCollector


class Recording(AnswerCollector):
    """Keeps every result, with its headers."""

    def __init__(self, study: str, answers: str, record: str) -> None:
        super().__init__(study, answers)
        self.record = record

    def process_client_response(self, client: Any, task_name: str, response: Shareable, fl_ctx: FLContext) -> bool:
        headers = {key: value for key, value in response.get("__headers__", {}).items() if key != "__peer_ctx__"}
        _write(self.record, "result", {**response, "__headers__": headers})
        return super().process_client_response(client, task_name, response, fl_ctx)


class Listening(FLComponent):
    """Keeps every event that came from a client."""

    def __init__(self, record: str) -> None:
        super().__init__()
        self.record = record

    def handle_event(self, event_type: str, fl_ctx: FLContext) -> None:
        if fl_ctx.get_prop(FLContextKey.EVENT_SCOPE) == EventScope.FEDERATION:
            _write(self.record, f"event {event_type}", fl_ctx.get_prop(FLContextKey.EVENT_DATA))
        elif event_type == EventType.START_RUN:
            _write(self.record, "start", "")


def _write(path: str, what: str, said: object) -> None:
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{what}: {said!r}\n")
