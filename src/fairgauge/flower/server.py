"""The server's part of a Flower app: count each answer once, and say what they tell so far."""

from collections.abc import Iterable
from logging import INFO
from pathlib import Path

from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.common.logger import log
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Strategy

from fairgauge.client import Answer, send
from fairgauge.client.answer_file import append_all
from fairgauge.errors import InvalidInput
from fairgauge.estimation import Estimate, Interval, QuestionEstimate, estimate
from fairgauge.estimation.kinds import LIVE
from fairgauge.flower.record import from_content
from fairgauge.study import Study
from fairgauge.tallies import Tally


class AnswerCounter:
    """What the devices of a federation answered, each counted once, over all rounds.

    Its :meth:`aggregate` is an ``evaluate_metrics_aggr_fn`` for the strategies that take one.

    Args:
        study: The study that the devices answer.
        confidence: How often all intervals of all rounds are to hold the truth together.
        path: A file that keeps the answers, one a line.  A later run that is given the same file goes on from there.
    """

    def __init__(self, study: Study, *, confidence: float = 0.99, path: str | Path | None = None) -> None:
        self.study = study
        self.confidence = confidence
        self.path = None if path is None else Path(path)
        self._symbols: dict[str, int] = {}
        if self.path is not None and self.path.exists():
            with self.path.open("rb") as file:  # whose last line may have been cut off by a crash
                self._count(Answer.from_bytes(line) for line in file if line.endswith(b"\n"))

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Every answer, in the order in which they came."""
        return tuple(Answer(self.study.digest, name, symbol) for name, symbol in self._symbols.items())

    @property
    def tally(self) -> Tally:
        """The count of every symbol."""
        return Tally.of(self.study, self.answers)

    def add(self, contents: Iterable[RecordDict]) -> int:
        """Count what came back from devices, and return how many answers are new.

        What is no answer to this study is left out, and so is a second answer with the same id.
        """
        new = self._count(_read(contents))
        if self.path is not None and new:
            append_all(new, self.path)
        return len(new)

    def aggregate(self, contents: list[RecordDict], _weighted_by_key: str) -> MetricRecord:
        """Count what came back, and return what is known so far; the signature is Flower's."""
        self.add(contents)
        return self.metrics()

    def estimate(self) -> Estimate:
        """Return what the answers say so far, with intervals that hold at every look together."""
        return estimate(self.study, self.tally, confidence=self.confidence, interval=LIVE)

    def metrics(self) -> MetricRecord:
        """Return what is known so far as numbers.

        ``answers`` is how many there are.  For each metric and pair of groups, ``recall female - male`` is the gap,
        with ``... low`` and ``... high`` around it.  Where the answers do not tell yet, these three are missing.
        """
        found = MetricRecord({"answers": len(self._symbols)})
        for name, gap in self._gaps():
            if gap is not None:
                found[name], found[f"{name} low"], found[f"{name} high"] = _numbers(gap)
        return found

    def report(self) -> str:
        """Return what is known so far in words, one line for each gap."""
        lines = []
        for name, gap in self._gaps():
            known = "not yet" if gap is None else "{:.4f} [{:.4f}, {:.4f}]".format(*_numbers(gap))
            lines.append(f"{name}: {known}")
        return "\n".join([f"{len(self._symbols):,} answers", *lines])

    def forward(self, url: str) -> None:
        """Send every answer to a collector, which counts each once, however often it is sent."""
        for answer in self.answers:
            send(answer, url)

    def _count(self, answers: Iterable[Answer]) -> list[Answer]:
        new = []
        for answer in answers:
            known = answer.id in self._symbols
            if not known and answer.study == self.study.digest and answer.symbol < self.study.symbols:
                self._symbols[answer.id] = answer.symbol
                new.append(answer)
        return new

    def _gaps(self) -> Iterable[tuple[str, Interval | None]]:
        """Yield every gap's name with the gap, or with None where the answers do not tell yet."""
        metrics = [question.metric.name for question in self.study.questions]
        for question, found in zip(self.study.questions, self.estimate().questions, strict=True):
            name = question.metric.name
            if metrics.count(name) > 1:
                name = f"{name} by {question.attribute.name}"
            groups = question.attribute.groups
            for pair in ((a, b) for i, a in enumerate(groups) for b in groups[i + 1 :]):
                yield f"{name} {pair[0]} - {pair[1]}", _told(found, pair, 2 * question.metric.scale)


def _told(found: QuestionEstimate, pair: tuple[str, str], largest: float) -> Interval | None:
    """Return a gap whose interval is within what any two groups could have; a wider one says nothing."""
    gap = found.gaps.get(pair)
    return gap if gap is not None and -largest <= gap.low and gap.high <= largest else None


def _numbers(gap: Interval) -> tuple[float, float, float]:
    return gap.estimate, gap.low, gap.high


def _read(contents: Iterable[RecordDict]) -> Iterable[Answer]:
    for content in contents:
        try:
            yield from_content(content)
        except InvalidInput:
            continue  # a stranger's reply must not end a round


class PrivateMetrics(Strategy):
    """Any strategy, with its evaluation replaced by counting private answers.

    Training is the wrapped strategy's.  So is the choice of devices to evaluate on; what comes back are answers, which
    are counted, and the strategy has no metrics left to aggregate.

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
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Let the wrapped strategy do it."""
        return self.strategy.configure_train(server_round, arrays, config, grid)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> "tuple[ArrayRecord | None, MetricRecord | None]":
        """Let the wrapped strategy do it."""
        return self.strategy.aggregate_train(server_round, replies)

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
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
        new = self.counter.add(reply.content for reply in replies if not reply.has_error())
        log(INFO, "private metrics: %d replies, %d new answers", len(replies), new)
        for line in self.counter.report().splitlines():
            log(INFO, "\t%s", line)
        return self.counter.metrics()

    def summary(self) -> None:
        """Log the study, and what the wrapped strategy has to say."""
        log(INFO, "\t├──> Private metrics: %s, epsilon %.4g", self.counter.study.title, self.counter.study.epsilon)
        self.strategy.summary()
