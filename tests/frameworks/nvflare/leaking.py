"""A job's code that holds marked values and lets them out in every way of NVFlare's, as a developer might."""

from typing import Any

import numpy as np
from nvflare.apis.analytix import AnalyticsDataType
from nvflare.apis.dxo import DXO, DataKind
from nvflare.apis.executor import Executor
from nvflare.apis.filter import Filter
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.apis.utils.analytix_utils import create_analytic_dxo, send_analytic_dxo

GROUP, VALUE, EXAMPLES = "platypus", 0.8125390625, 123_457
SAID = f"{GROUP} has recall {VALUE} on {EXAMPLES} examples"


class LeakingExecutor(Executor):
    """Returns, streams and logs what it holds."""

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: FLContext, abort_signal: Any) -> Shareable:
        # Metrics stream, in both of its ways: as a local event that a widget sends on, and as an event for the server.
        dxo = create_analytic_dxo(tag=SAID, value=VALUE, data_type=AnalyticsDataType.SCALAR)
        send_analytic_dxo(self, dxo, fl_ctx, event_type="analytix_log_stats")
        send_analytic_dxo(self, dxo, fl_ctx, event_type=f"fed.{GROUP}", fire_fed_event=True)
        # Log streaming.
        self.log_error(fl_ctx, SAID)
        # The result.
        found = DXO(DataKind.METRICS, data={"recall": VALUE, "again": VALUE}, meta={GROUP: SAID, "n": EXAMPLES})
        result = found.to_shareable()
        result[GROUP] = SAID
        result["arrays"] = np.full(3, VALUE)
        result.set_header(GROUP, SAID)
        return result


class LeakingFilter(Filter):
    """Comes after the site's own filters, and puts everything back."""

    def process(self, shareable: Shareable, fl_ctx: FLContext) -> Shareable:
        shareable[GROUP] = SAID
        shareable["value"] = VALUE
        shareable.set_header(GROUP, SAID)
        return shareable
