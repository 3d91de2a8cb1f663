"""The server's part of a Flower app: any strategy or workflow, with its evaluation replaced by counting answers."""

from collections.abc import Iterable
from logging import INFO, WARNING
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.common.logger import log
from flwr.server.workflow import DefaultWorkflow
from flwr.server.workflow.constant import MAIN_CONFIGS_RECORD, Key
from flwr.serverapp.strategy import Strategy

from fairgauge.client import Answer
from fairgauge.client.refusals import summarise
from fairgauge.errors import InvalidInput
from fairgauge.federation.counter import NodeCounter
from fairgauge.flower.metric_reply import from_content, plain_replies
from fairgauge.flower.paths import app_folder, state_of, study_of
from fairgauge.study import Study

if TYPE_CHECKING:
    from flwr.serverapp import Grid
    from flwr.serverapp.strategy import Result
from typing import TYPE_CHECKING, cast

from flwr.app import Context

if TYPE_CHECKING:
    from flwr.serverapp import Grid


class AnswerCounter(NodeCounter):
    """What the devices of a federation answered, each counted once, over all rounds.

    Its :meth:`aggregate` is an ``evaluate_metrics_aggr_fn`` for the strategies that take one.

    Args:
        study: The study that the devices answer: a file of the app's, an address, the document or a loaded study.
        confidence: How often all intervals of all rounds are to hold the truth together.
        path: A file that keeps the answers of this study, one a line; a relative path is one of the app's, and its
            folder is made if need be.  A later run that is given the same file goes on from there.
        nodes: The ids of the only nodes that count, such as those that ``flwr supernode register`` gave; None for any.
            A SuperNode that is not authenticated has a new id whenever it starts, and can so count again.

    Raises:
        InvalidInput: If the file holds answers to another study.
    """

    def __init__(
        self,
        study: Study | str | Path | bytes,
        *,
        confidence: float = 0.99,
        path: str | Path | None = None,
        nodes: Iterable[int | str] | None = None,
    ) -> None:
        app = app_folder()
        kept = None if path is None else state_of(app, path)
        known = None if nodes is None else map(str, nodes)
        super().__init__(study_of(app, study), confidence=confidence, path=kept, nodes=known)

    def count(self, contents: Iterable[RecordDict]) -> int:
        """Count what came back from devices that are not known, and return how many answers are new.

        Raises:
            InvalidInput: If only certain nodes count: Flower does not say here which these are.
        """
        if self.nodes is not None:
            raise InvalidInput("nodes", f"{len(self.nodes)} nodes", "cannot be told apart here; wrap the strategy")
        return self.add(_answers((None, content) for content in contents))

    def count_replies(self, replies: Iterable[Message]) -> int:
        """Count replies, each device once, and return how many answers are new."""
        whole = [reply for reply in replies if not reply.has_error()]
        return self.add(_answers((str(reply.metadata.src_node_id), reply.content) for reply in whole))

    def aggregate(self, contents: list[RecordDict], _weighted_by_key: str) -> MetricRecord:
        """Count what came back, and return what is known so far; the signature is Flower's."""
        self.count(contents)
        return self.metrics()

    def metrics(self) -> MetricRecord:
        """Return what is known so far as a record, as :meth:`numbers` has it."""
        return MetricRecord(self.numbers())


def _answers(contents: "Iterable[tuple[str | None, RecordDict]]") -> Iterable[tuple[str | None, Answer]]:
    for node, content in contents:
        try:
            yield node, from_content(content)
        except InvalidInput:
            continue  # a stranger's reply must not end a round


def _count_round(counter: AnswerCounter, replies: list[Message]) -> None:
    """Count what came back in one round, and log what the answers of all rounds tell."""
    new = counter.count_replies(replies)
    log(INFO, "private metrics: %d replies, %d new answers", len(replies), new)
    refused = summarise([reply.error.reason for reply in replies if reply.has_error()])
    if refused:
        log(WARNING, "\t%s", refused)
    for line in counter.report().splitlines():
        log(INFO, "\t%s", line)


class PrivateMetrics(Strategy):
    """Any strategy, with its evaluation replaced by counting private answers.

    Training is the wrapped strategy's.  So is the choice of devices to evaluate on; what comes back are answers, which
    are counted.  Metrics that nodes let out as they are, beside the answer, are aggregated by the strategy as ever, and
    stand beside the gap in the round's metrics.

    Args:
        strategy: The strategy to wrap.
        counter: What counts the answers.
        first_round: The first round that evaluates.  A device answers a study once, so the round in which it first
            evaluates is the round whose model is measured.
    """

    def __init__(self, strategy: Strategy, counter: AnswerCounter, *, first_round: int = 1) -> None:
        super().__init__()
        self.strategy = strategy
        self.counter = counter
        self.first_round = first_round

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: "Grid"
    ) -> Iterable[Message]:
        """Let the wrapped strategy do it."""
        return self.strategy.configure_train(server_round, arrays, config, grid)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> "tuple[ArrayRecord | None, MetricRecord | None]":
        """Let the wrapped strategy do it."""
        return self.strategy.aggregate_train(server_round, replies)

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: "Grid"
    ) -> Iterable[Message]:
        """Let the wrapped strategy choose the devices, from the first round that evaluates."""
        if server_round < self.first_round:
            return []
        return self.strategy.configure_evaluate(server_round, arrays, config, grid)

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> "MetricRecord | None":
        """Count the answers, and return what they say so far."""
        if server_round < self.first_round:
            return None
        replies = list(replies)
        _count_round(self.counter, replies)
        known, plain = self.counter.metrics(), plain_replies(replies)
        own = self.strategy.aggregate_evaluate(server_round, plain) if plain else None
        return known if own is None else MetricRecord({**own, **known})

    def start(self, grid: "Grid", initial_arrays: ArrayRecord, *args: Any, **kwargs: Any) -> "Result":
        """Run the strategy; where nothing was trained, the model of the result is the one that was measured."""
        result = super().start(grid, initial_arrays, *args, **kwargs)
        if not result.arrays:
            result.arrays = initial_arrays
        return result

    def summary(self) -> None:
        """Log the study, where its answers are kept, and what the wrapped strategy has to say."""
        study = self.counter.study
        log(INFO, "\t├──> Private metrics: %s, epsilon %.4g, study %s", study.title, study.epsilon, study.digest)
        if self.counter.path is not None:
            log(INFO, "\t├──> Answers: %s", self.counter.path)
        self.strategy.summary()


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
        _count_round(self.counter, between.replies)
        cast(Any, context).history.add_metrics_distributed(server_round, self.counter.numbers())


class _Between:
    """A grid that passes messages on and keeps what comes back to itself."""

    def __init__(self, grid: "Grid") -> None:
        self._grid = grid
        self.replies: list[Message] = []

    def send_and_receive(self, messages: Iterable[Message], **settings: Any) -> list[Message]:
        self.replies += self._grid.send_and_receive(messages, **settings)
        return []
