"""Numbers for Prometheus: how many and how fast, never who or when."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

disable_created_metrics()  # type: ignore[no-untyped-call]  # the exact time of each first: of an answer, of a refusal

SIZES = (1, 4, 16, 64, 256, 1024, 4096, 16384)
SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class Metrics:
    """Everything that one collector counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("fairgauge_requests", "Requests by status.", ["status"], registry=self.registry)
        self._by_status: dict[int, Counter] = {}
        self.answers = Counter("fairgauge_answers", "Answers by outcome.", ["outcome"], registry=self.registry)
        self.outcomes = {name: self.answers.labels(name) for name in ("accepted", "duplicate", "conflict", "closed")}
        self.group = Histogram(
            "fairgauge_commit_answers", "Answers in one commit.", buckets=SIZES, registry=self.registry
        )
        self.commit = Histogram(
            "fairgauge_commit_seconds", "Time of a commit.", buckets=SECONDS, registry=self.registry
        )
        self.failures = Counter("fairgauge_commit_failures", "Commits that failed.", ["why"], registry=self.registry)
        self.waiting = Gauge("fairgauge_waiting_answers", "Answers waiting for a commit.", registry=self.registry)
        self.listeners = Gauge("fairgauge_listeners", "Browsers that watch a study.", registry=self.registry)
        self.faults = Counter("fairgauge_faults", "Requests that met a fault.", registry=self.registry)

    def request(self, status: int) -> None:
        """Count a request."""
        child = self._by_status.get(status)
        if child is None:
            child = self._by_status[status] = self.requests.labels(str(status))
        child.inc()

    def count(self, outcomes: Iterable[tuple[str, int]]) -> None:
        """Count answers by outcome."""
        for name, number in outcomes:
            if number:
                self.outcomes[name].inc(number)

    def to_bytes(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self.registry)
