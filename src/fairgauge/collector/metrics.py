"""Numbers for Prometheus: how many and how fast, never who or when."""

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector as Source

disable_created_metrics()  # type: ignore[no-untyped-call]  # the exact time of each first: of an answer, of a refusal

_SIZES = (1, 4, 16, 64, 256, 1024, 4096, 16384)
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class _Plain(Source):
    """A counter by one label that one thread counts: without the lock that costs as much as reading an answer."""

    def __init__(self, name: str, about: str, label: str) -> None:
        self._what = name, about, label
        self.counts: dict[str, int] = {}

    def add(self, value: str, count: int = 1) -> None:
        """Count."""
        self.counts[value] = self.counts.get(value, 0) + count

    def collect(self) -> Iterator[CounterMetricFamily]:
        """Tell Prometheus."""
        name, about, label = self._what
        found = CounterMetricFamily(name, about, labels=[label])
        for value, count in list(self.counts.items()):
            found.add_metric([value], count)
        yield found


class Metrics:
    """Everything that one collector counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = _Plain("fairgauge_requests", "Requests by status.", "status")
        self.answers = _Plain("fairgauge_answers", "Answers by outcome.", "outcome")
        self.answers.counts |= dict.fromkeys(("accepted", "duplicate", "conflict", "closed"), 0)
        for source in (self.requests, self.answers):
            self.registry.register(source)
        self.group = Histogram(
            "fairgauge_commit_answers", "Answers in one commit.", buckets=_SIZES, registry=self.registry
        )
        self.commit = Histogram(
            "fairgauge_commit_seconds", "Time of a commit.", buckets=_SECONDS, registry=self.registry
        )
        self.failures = Counter("fairgauge_commit_failures", "Commits that failed.", ["why"], registry=self.registry)
        self.waiting = Gauge("fairgauge_waiting_answers", "Answers waiting for a commit.", registry=self.registry)
        self.listeners = Gauge("fairgauge_listeners", "Browsers that watch a study.", registry=self.registry)
        self.faults = Counter("fairgauge_faults", "Requests that met a fault.", registry=self.registry)

    def request(self, status: int) -> None:
        """Count a request."""
        self.requests.add(str(status))

    def count(self, outcomes: Iterable[tuple[str, int]]) -> None:
        """Count answers by outcome."""
        for name, number in outcomes:
            self.answers.add(name, number)

    def to_bytes(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self.registry)
