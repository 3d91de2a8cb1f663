"""The first study as newcomers run it: `make run`."""

import importlib.util
import json
import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, TextIO
from urllib.error import URLError
from urllib.request import Request, urlopen

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from fairgauge import Attribute, Population, Study, Tally, design, estimate
from fairgauge.collector.pages.live_results import _CONFIDENCE
from fairgauge.collector.stores.released_sums import step_of
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.interval_kinds import LIVE
from fairgauge.estimation.interval_readers import AnytimeReader
from fairgauge.simulation import true_values
from fairgauge.simulation.clients import table_input
from tests.programs import Program, programs
from tests.statistical.exact import FALSE_POSITIVE_RATE

Order = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]

RUN = Path(__file__).parents[2] / "examples" / "first-study" / "run.py"


# The script as it stands, but that its picture, whose lines have tests of their own, has one point for each design.
CODE = f"""
import runpy, sys
from decimal import Decimal
from fairgauge.planning import plan_figure
plan_figure._EPSILONS = [Decimal(1)]
sys.path.insert(0, {str(RUN.parent)!r})
runpy.run_path({str(RUN)!r}, run_name="__main__")
"""


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[tuple[Program, TextIO]]:
    """Run the script, and give it with what it says."""
    said, saying = os.pipe()
    with os.fdopen(said, encoding="utf-8") as out, (folder / "errors").open("wb") as errors:
        process = programs().start(CODE, *arguments, folder=folder, out=saying, err=errors.fileno())
        os.close(saying)
        try:
            yield process, out
        finally:
            process.send_signal(signal.SIGTERM)  # it stops its collector


def told(url: str, token: str = "") -> bytes:
    with urlopen(Request(url, headers={"Authorization": f"Bearer {token}"}), timeout=120) as response:
        found: bytes = response.read()
    return found


def test_it_shows_everything_and_stops_its_collector(tmp_path: Path):
    # Of fewer devices than a thousand it may not tell how many women and men are among them, and show no gap.
    with running(tmp_path, "--devices", "1000", "--stay") as (process, out):
        said = ""
        while "Ctrl-C ends it" not in said:
            line = out.readline()
            assert line, said + (tmp_path / "errors").read_text()
            said += line
        (url,) = re.findall(r"^   (http://\S+)$", said, re.MULTILINE)
        (token,) = re.findall(r"Token of its operator: (\S+)", said)
        # The collector is a real one, and what was shown is what it says.
        assert told(url) == (tmp_path / "build/first-study/study.json").read_bytes()
        assert sum(json.loads(told(f"{url}/tally", token))["counts"]) == 1000
        shown = json.loads((tmp_path / "build/first-study/collected.json").read_text())
        assert shown == json.loads(told(f"{url}/estimate?confidence=0.99", token))
        gap = shown["questions"][0]["headline"]
        assert f"{gap['low']:+.4f} to {gap['high']:+.4f}" in said
        assert "1,000 answers are counted" in said
        assert said.count("true gap (female - male)") == 2
        assert said.count("times as many") == 2
        report = (tmp_path / "build/first-study/report.html").read_text(encoding="utf-8")
        assert "lower for female than for male" in report
        # A browser gets the page, with results for everyone.
        page = Request(url, headers={"Accept": "text/html"})
        with urlopen(page, timeout=120) as response:
            assert "1,000 answers" in response.read().decode()
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    with pytest.raises(URLError):
        told(url)


SEEDS, DEVICES = 200, 3000
# At these numbers of answers a collector keeps a look, and the last one is now.
LOOKS = [n for n in range(2, DEVICES) if step_of(n) != step_of(n - 1)] + [DEVICES]


# What the demo's page shows while answers come: does it hold the truth at every look?
@pytest.fixture(scope="module")
def demo() -> Iterator[ModuleType]:
    """The script as a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(RUN.parent))
        spec = importlib.util.spec_from_file_location("first_study", RUN)
        assert spec is not None
        assert spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
        yield found


@pytest.fixture(scope="module")
def study(demo: ModuleType) -> Study:
    # With known shares one bet serves all studies, and what is asked here is about the order of devices.
    sex = Attribute("sex", demo.SEX.groups, demo.SEX.shares, answering="alike")
    return Study("The demo", design(demo.RECALL, sex, epsilon=demo.EPSILON))


def misses(demo: ModuleType, study: Study, order: Order) -> int:
    """Return in how many of the studies the band ever leaves the truth, at the looks that a collector takes."""
    population = Population.from_csv(RUN.parent / "population.csv")
    (question,) = study.questions
    truth = true_values(study, population)[0].gaps["female", "male"]
    laws: dict[tuple[str | None, Any], NDArray[np.float64]] = {}
    for cell in population.cells:
        mixture = question.channel.mixture(*table_input((question,), cell))
        laws[cell.group, cell.value] = np.cumsum([float(chance) for chance in mixture])
    taken = []
    for seed in range(SEEDS):
        people = order(list(demo.profiles(population, DEVICES, Random(seed))))
        sums = np.array([laws[p["group"]["sex"], p["values"]["recall"]] for p in people])
        dice = np.random.default_rng(seed).random(DEVICES) * sums[:, -1]
        symbols = (dice[:, None] >= sums).sum(axis=1)
        taken += [np.bincount(symbols[:total], minlength=question.channel.symbols) for total in LOOKS]
    value, alpha = truth / question.metric.scale, 1 - _CONFIDENCE
    estimands = estimands_of(question)
    assert estimands.gaps is not None
    reader = AnytimeReader(estimands, np.asarray(taken[0], float), study.planned)
    # The bets look at no answer, so one study's serve all of them.
    money = [bets.log_money(np.transpose(taken)) for bets in reader.test(estimands.gaps[0, 1], alpha).bets(value)]
    held = np.max(money, axis=0) < np.log(2 / alpha)
    for number in (0, 7, len(LOOKS) - 1):  # what is asked here is what the page shows
        tally = Tally(study.digest, tuple(map(int, taken[number])))
        gap = estimate(study, tally, confidence=_CONFIDENCE, interval=LIVE).questions[0].gaps["female", "male"]
        assert (gap.low <= truth <= gap.high) == held[number]
    return int((~held.reshape(SEEDS, len(LOOKS)).all(axis=1)).sum())


def test_it_holds_the_truth_at_every_look_at_the_nominal_rate(demo: ModuleType, study: Study):
    missed = misses(demo, study, lambda people: people)
    assert binom.sf(missed - 1, SEEDS, 1 - _CONFIDENCE) > FALSE_POSITIVE_RATE


def test_in_sorted_order_it_would_not(demo: ModuleType, study: Study):
    """The mutant twin: women first, by value, as the population's file has them."""
    missed = misses(
        demo, study, lambda people: sorted(people, key=lambda p: (p["group"]["sex"], p["values"]["recall"]))
    )
    assert binom.sf(missed - 1, SEEDS, 1 - _CONFIDENCE) < FALSE_POSITIVE_RATE


def test_owners_are_drawn_in_the_population_s_proportions(demo: ModuleType):
    population = Population.from_csv(RUN.parent / "population.csv")
    drawn = Counter(p["group"]["sex"] for p in demo.profiles(population, 20_000, Random(1)))
    women = sum(cell.count for cell in population.cells if cell.group == "female") / population.clients
    tails = binom.cdf(drawn["female"], 20_000, women), binom.sf(drawn["female"] - 1, 20_000, women)
    assert 2 * min(tails) > FALSE_POSITIVE_RATE
