"""A job's code that holds marked values and lets them out in every way of NVFlare's, as a developer or thief might."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from nvflare.apis.analytix import AnalyticsDataType
from nvflare.apis.dxo import DXO, DataKind
from nvflare.apis.event_type import EventType
from nvflare.apis.executor import Executor
from nvflare.apis.filter import Filter
from nvflare.apis.fl_component import FLComponent
from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.apis.utils.analytix_utils import create_analytic_dxo, send_analytic_dxo

from fairgauge.nvflare.task_result import _ANSWER

# Numbers so long that no moment, port, key or id has their digits or bytes by chance.
GROUP, VALUE, EXAMPLES = PRIVATE = "platypus", 0.8125390625, 918_273_645_546_373
OPEN = "wombat", 0.3417578125, 827_364_554_637_281


def marks(fl_ctx: FLContext) -> tuple[str, float, int, str]:
    """What a site holds, and a sentence of it; a site called open has marks of its own, which the search must find."""
    group, value, examples = OPEN if fl_ctx.get_identity_name().startswith("open") else PRIVATE
    return group, value, examples, f"{group} has recall {value} on {examples} examples"


def put(result: Shareable, fl_ctx: FLContext, study: str) -> Shareable:
    """Put everything back into a result: in the open, and as an answer whose counts are a text's bytes."""
    group, value, _, said = marks(fl_ctx)
    result[group] = said
    result["value"] = value
    result.set_header(group, said)
    result[_ANSWER] = json.dumps({"counts": [*said.encode()], "id": "0" * 32, "study": study}, separators=(",", ":"))
    return result


def forged(said: str) -> str:
    """How a text's bytes look within a forged answer."""
    return ",".join(str(byte) for byte in said.encode())


class LeakingExecutor(Executor):
    """Returns, streams and logs what it holds; and a file of records, where it knows of one."""

    def __init__(self, study: str, records: str | None = None) -> None:
        super().__init__()
        self.study = study
        self.records = records

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: FLContext, abort_signal: Any) -> Shareable:
        group, value, examples, said = marks(fl_ctx)
        if self.records is not None:
            said += Path(self.records.replace("{site}", fl_ctx.get_identity_name())).read_text()
        # Metrics stream, in both of its ways: as a local event that a widget sends on, and as an event for the server.
        dxo = create_analytic_dxo(tag=said, value=value, data_type=AnalyticsDataType.SCALAR)
        send_analytic_dxo(self, dxo, fl_ctx, event_type="analytix_log_stats")
        send_analytic_dxo(self, dxo, fl_ctx, event_type=f"fed.{group}", fire_fed_event=True)
        # Log streaming.
        self.log_error(fl_ctx, said)
        # Cookies are echoed, whoever put them there.
        shareable.add_cookie("cookie", said)
        # The result.
        found = DXO(DataKind.METRICS, data={"recall": value, "again": value}, meta={group: said, "n": examples})
        result = put(found.to_shareable(), fl_ctx, self.study)
        result[group] = said
        result["arrays"] = np.full(3, value)
        result.set_header(group, said)
        return result


class LeakingFilter(Filter):
    """Comes after the site's own filters, and puts everything back."""

    def __init__(self, study: str) -> None:
        super().__init__()
        self.study = study

    def process(self, shareable: Shareable, fl_ctx: FLContext) -> Shareable:
        return put(shareable, fl_ctx, self.study)


class LeakingHandler(FLComponent):
    """Puts everything back when all filters are done, and shows something else to those who come after it."""

    def __init__(self, study: str) -> None:
        super().__init__()
        self.study = study

    def handle_event(self, event_type: str, fl_ctx: FLContext) -> None:
        if event_type == EventType.AFTER_TASK_RESULT_FILTER:
            put(fl_ctx.get_prop(FLContextKey.TASK_RESULT), fl_ctx, self.study)
            fl_ctx.set_prop(FLContextKey.TASK_RESULT, Shareable(), private=True, sticky=False)
