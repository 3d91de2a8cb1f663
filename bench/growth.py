"""How costs grow: designs and plans with the groups, simulation with the clients, start-up; and bytes on the wire."""

import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np

from bench.counting import _people, _study
from bench.lines import Line, seconds
from fairgauge.client import answer
from fairgauge.designs import make_channel
from fairgauge.planning.plans import plan_for
from fairgauge.simulation import simulate
from fairgauge.study import Metric
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target


def growth() -> Iterator[Line]:
    """Yield every kind of growth, as a ratio to the smallest of its kind."""
    yield from _groups()
    yield from _clients()
    yield from _starts()


def _groups() -> Iterator[Line]:
    first = 0.0
    for groups in (2, 3, 4, 6, 8):
        scores = Scores(Target((1 / groups,) * groups, kind="means"))
        taken = seconds(partial(make_channel, scores, Decimal(1)), repeat=1)
        first = first or taken
        yield Line(f"design for the means of {groups} groups, epsilon 1", f"{taken:.2f} s", "2 groups", taken / first)
    first = 0.0
    for groups in (2, 4, 6):
        scores = Scores(Target((1 / groups,) * groups, kind="means"))
        value = Metric("value", -1, 1)
        taken = seconds(partial(plan_for, scores, value, epsilon=Decimal(1), error=0.02), repeat=1)
        first = first or taken
        yield Line(f"plan for {groups} groups, all designs", f"{taken:.2f} s", "2 groups", taken / first)


def _clients() -> Iterator[Line]:
    rng, first = np.random.default_rng(1), 0.0
    simulate(_study(), _people(1000), seed=rng)
    for power in (3, 6, 9, 12):
        taken = seconds(partial(simulate, _study(), _people(10**power), seed=rng), repeat=21)
        first = first or taken
        yield Line(f"simulate the tally of 10^{power} clients", f"{taken * 1e3:.1f} ms", "10^3 clients", taken / first)


def _starts() -> Iterator[Line]:
    def started(*arguments: str) -> float:
        command = [sys.executable, *arguments]
        return seconds(lambda: subprocess.run(command, check=True, capture_output=True), repeat=9)

    bare = started("-c", "pass")
    program = Path(sys.executable).with_name("fairgauge")
    cases = {
        "import fairgauge.client": ("-c", "import fairgauge.client"),
        "import fairgauge.tallies": ("-c", "import fairgauge.tallies"),
        "import fairgauge.estimation": ("-c", "import fairgauge.estimation"),
        "fairgauge answer --help": (str(program), "answer", "--help"),
        "fairgauge --help": (str(program), "--help"),
    }
    for what, arguments in cases.items():
        taken = started(*arguments)
        yield Line(f"start: {what}", f"{taken * 1e3:.0f} ms", f"bare Python, {bare * 1e3:.0f} ms", taken / bare)


def wire() -> Iterator[Line]:
    """Yield how many bytes a device sends and fetches."""
    study = _study()
    sent = answer(study, {"group": "female", "values": {"recall": 0.83}}).to_bytes()
    head = f"POST /studies/{study.digest}/answers HTTP/1.1\r\nHost: gauge.example.org\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\nUser-Agent: fairgauge\r\n\r\n"
    yield Line(
        "bytes of an answer's body", f"{len(sent)}", "a digest, an id and a symbol in binary, 50", len(sent) / 50
    )
    whole = len(head) + len(sent)
    yield Line("bytes of an answer with its request's head", f"{whole}", f"its body, {len(sent)}", whole / len(sent))
    document = len(study.to_bytes())
    yield Line(
        "bytes of the study that each device fetches once",
        f"{document:,}",
        f"an answer's body, {len(sent)}",
        document / len(sent),
    )
