"""``fairgauge tally``."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from fairgauge.collector import result_endpoints
from fairgauge.collector.load_limits import Lane
from fairgauge.collector.query_parameters import FORMATS as EXPORTS
from fairgauge.study import Release
from fairgauge.tallies import Tally
from tests.answers import FORMATS, STUDY, Answers
from tests.unit.cli.conftest import Run, refused

ANSWERS = Answers.drawn(500, twice=100)


@pytest.fixture(autouse=True)
def study(elsewhere: Path) -> None:
    (elsewhere / "study.json").write_bytes(STUDY.to_bytes())


@pytest.mark.parametrize("suffix", FORMATS)
def test_it_writes_the_tally(fairgauge: Run, elsewhere: Path, suffix: str):
    ANSWERS.write(elsewhere / f"answers.{suffix}")
    done = fairgauge("tally", "study.json", f"*.{suffix}", "-o", "tally.json")
    twice = "100 of them have an id that came before, and were counted again; --deduplicate counts each id once."
    assert (done.status, done.out, done.err) == (0, f"tally.json: 500 answers to Sample\n{twice}\n", "")
    assert Tally.from_bytes((elsewhere / "tally.json").read_bytes()) == ANSWERS.tally(once=False)


def test_json_an_engine_and_every_answer_once(fairgauge: Run, elsewhere: Path):
    ANSWERS.write(elsewhere / "answers.csv")
    options = ("--engine", "duckdb", "--deduplicate", "--json")
    done = fairgauge("tally", "study.json", "answers.csv", *options, "-o", "tally.json")
    assert done.json == {"study": STUDY.digest, "answers": 400, "repeated": 0}
    assert Tally.from_bytes((elsewhere / "tally.json").read_bytes()) == ANSWERS.tally(once=True)


def test_a_refusal_leaves_no_tally(fairgauge: Run, elsewhere: Path):
    Answers(ANSWERS.ids[:2], [1, 99]).write(elsewhere / "answers.csv")
    done = fairgauge("tally", "study.json", "answers.csv", "-o", "tally.json")
    assert refused(done, "symbol=99: must be an integer from 0 to 13; wrong among 2 answers: 1 with no such symbol")
    assert refused(fairgauge("tally", "study.json", "no.csv", "-o", "tally.json"), "answers=no.csv: must name a file")
    done = fairgauge("tally", "study.json", "answers.csv", "--engine", "abacus", "-o", "tally.json")
    assert refused(done, "engine=abacus: must be one of")
    assert not (elsewhere / "tally.json").exists()


@pytest.mark.parametrize("kind", EXPORTS)
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_what_a_collector_exports_can_be_counted(fairgauge: Run, elsewhere: Path, kind: str, engine: str):
    rows = list(zip(ANSWERS.ids, map(str, ANSWERS.symbols), strict=True))

    async def pages() -> AsyncIterator[list[tuple[bytes, str]]]:
        yield rows[:300]
        yield rows[300:]

    async def exported() -> bytes:
        return b"".join([part async for part in getattr(result_endpoints, f"_{kind}")(STUDY.digest, pages(), Lane())])

    (elsewhere / f"export.{kind}").write_bytes(asyncio.run(exported()))
    done = fairgauge("tally", "study.json", f"export.{kind}", "--engine", engine, "-o", "tally.json")
    assert done.status == 0
    assert Tally.from_bytes((elsewhere / "tally.json").read_bytes()) == ANSWERS.tally(once=False)


def test_ids_that_came_twice_are_told(fairgauge: Run, elsewhere: Path):
    (elsewhere / "a.csv").write_text("sent,id\n0,x\n1,y\n1,y\n")
    done = fairgauge("tally", "study.json", "a.csv", "--symbol-column", "sent", "-o", "t.json")
    assert done.out.splitlines()[1] == (
        "1 of them has an id that came before, and was counted again; --deduplicate counts each id once."
    )
    done = fairgauge(
        "tally", "study.json", "a.csv", "--symbol-column", "sent", "--deduplicate", "-o", "t.json", "--json"
    )
    assert done.json == {"study": STUDY.digest, "answers": 2, "repeated": 0}


def test_counts_that_a_study_promises_to_hold_back_are_not_to_be_shown(fairgauge: Run, elsewhere: Path):
    (elsewhere / "crowd.json").write_bytes(replace(STUDY, release=Release(501, "0.001", 9)).to_bytes())
    (elsewhere / "answers.csv").write_text("symbol\n" + "1\n" * 500)
    done = fairgauge("tally", "crowd.json", "answers.csv", "--json", "-o", "tally.json")
    assert (done.status, done.json["answers"]) == (0, 500)
    assert "promises that counts are shown with secret draws among them, and tally.json has none" in " ".join(
        done.err.split()
    )
