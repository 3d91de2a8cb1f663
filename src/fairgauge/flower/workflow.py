"""The server's part where Flower's workflows run the rounds, as SecAgg+ does: the evaluation counts private answers."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from flwr.app import Context, Message
from flwr.server.workflow import DefaultWorkflow
from flwr.server.workflow.constant import MAIN_CONFIGS_RECORD, Key

from fairgauge.flower.server import AnswerCounter, count_round

if TYPE_CHECKING:
    from flwr.serverapp import Grid


class PrivateEvaluation:
    """An ``evaluate_workflow`` for Flower's ``DefaultWorkflow``, whatever its ``fit_workflow`` is.

    The context's strategy chooses the devices.  What comes back are answers, which are counted and reported, and what
    they tell is in the context's history; the strategy has nothing left to aggregate.

    Args:
        counter: What counts the answers.
        first_round: The first round that evaluates.  A device answers a study once, so the round in which it first
            evaluates is the round whose model is measured.
    """

    def __init__(self, counter: AnswerCounter, *, first_round: int = 1) -> None:
        self.counter = counter
        self.first_round = first_round

    def __call__(self, grid: "Grid", context: Context) -> None:
        """Run the evaluation of one round."""
        server_round = cast(int, context.state.config_records[MAIN_CONFIGS_RECORD][Key.CURRENT_ROUND])
        if server_round < self.first_round:
            return
        between = _Between(grid)
        # Flower's own evaluation asks the devices, and must not see the answers: it takes a reply for a loss.
        DefaultWorkflow().evaluate_workflow(cast("Grid", between), context)
        count_round(self.counter, between.replies)
        cast(Any, context).history.add_metrics_distributed(server_round, self.counter.numbers())


class _Between:
    """A grid that passes messages on and keeps what comes back to itself."""

    def __init__(self, grid: "Grid") -> None:
        self._grid = grid
        self.replies: list[Message] = []

    def send_and_receive(self, messages: Iterable[Message], **settings: Any) -> list[Message]:
        self.replies += self._grid.send_and_receive(messages, **settings)
        return []
