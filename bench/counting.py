"""Tally: 10^8 answers in one Parquet file, counted by us and by the bare engine; 10^7 by every engine.

The answers are drawn as devices draw them.  Ours also refuses what is not an answer; the bare engines only count.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache, partial
from pathlib import Path

from bench.lines import Line
from fairgauge import Attribute, Metric, Population, Question, Study
from fairgauge.designs import make_channel
from fairgauge.simulation.answers import write_parquet
from fairgauge.simulation.clients import Clients
from fairgauge.tallies import Tally, from_files
from fairgauge.tallies.engine_readers import has_java
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

ROOT = Path(__file__).parents[1]
ROUNDS = 7
MANY, SOME = (10**7, 10**6) if "--quick" in sys.argv else (10**8, 10**7)


def tallies() -> Iterator[Line]:
    """Time to count, as a ratio to the bare engine; then every engine on the same answers, each counted once."""
    study = _study()
    with tempfile.TemporaryDirectory(prefix="fairgauge-bench-") as folder:
        file = Path(folder) / "answers.parquet"
        start = time.perf_counter()
        written = write_parquet(study, Clients.of(study, _people(MANY)), file)
        took = time.perf_counter() - start
        size = file.stat().st_size
        yield Line(
            f"simulate and write {MANY:.0e} answers as Parquet", f"{took:.0f} s, {size / 1e9:.2f} GB",
            f"{size / MANY:.1f} bytes an answer, 16 of them the id", size / MANY / 16,
        )  # fmt: skip
        for engine, bare in (("polars", _polars), ("duckdb", _duckdb)):
            found: list[Tally] = []
            ours, theirs = _taking_turns(
                lambda engine=engine, found=found: found.append(from_files(study, [file], engine=engine)),  # type: ignore[misc]
                partial(bare, file),
            )
            assert found[0] == written
            value = f"{ours:.2f} s of CPU, {ours / MANY * 1e9:.1f} ns an answer"
            yield Line(
                f"tally of {MANY:.0e} answers by {engine}",
                value,
                f"bare {engine}, {theirs:.2f} s",
                ours / theirs,
                "at most 1.2",
            )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        yield Line("memory of all this at its peak", f"{peak:.0f} MiB", "the file's size", peak * 2**20 / size)
    with tempfile.TemporaryDirectory(prefix="fairgauge-bench-") as folder:
        file = Path(folder) / "answers.parquet"
        written = write_parquet(study, Clients.of(study, _people(SOME)), file)
        yield from _every_engine(study, file, written)


def _every_engine(study: Study, file: Path, written: Tally) -> Iterator[Line]:
    first = 0.0
    for engine in ("polars", "duckdb", "dask", *(["pyspark"] if has_java() else [])):
        times = []
        for _ in range(2):  # the second time Spark is running already
            start = time.perf_counter()
            assert from_files(study, [file], engine=engine) == written
            times.append(time.perf_counter() - start)
        first = first or min(times)
        start = time.perf_counter()
        assert from_files(study, [file], engine=engine, deduplicate=True) == written
        once = f"; each id once {time.perf_counter() - start:.1f} s"
        what = f"the same {SOME:.0e} answers by {engine}: same tally"
        yield Line(what, f"{min(times):.2f} s{once}", f"polars, {first:.2f} s", min(times) / first)
    if has_java():
        from pyspark.sql import SparkSession

        session = SparkSession.getActiveSession()
        if session is not None:
            session.stop()


def _taking_turns(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Return the least CPU time of each: other programs on the machine change it less than they change the clock's."""
    ours()
    theirs()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for work, taken in zip((ours, theirs), times, strict=True):
            start = time.process_time()
            work()
            taken.append(time.process_time() - start)
    return min(times[0]), min(times[1])


def _polars(file: Path) -> None:
    import polars as pl

    pl.scan_parquet(file).group_by("symbol").len().collect(engine="streaming")


def _duckdb(file: Path) -> None:
    import duckdb

    duckdb.connect().read_parquet(str(file)).aggregate("symbol, count(*)").fetchall()


@cache
def _study() -> Study:
    design, channel = make_channel(Scores(Target((0.5, 0.5))), Decimal(1))
    sex = Attribute("sex", ("female", "male"), ("0.5", "0.5"), answering="alike")
    return Study("bench", (Question(Metric("recall", "0", "1"), sex, "gap", design, "1", channel),))


def _people(clients: int) -> Population:
    return Population.from_csv(ROOT / "examples" / "first-study" / "population.csv").rescaled(clients)
