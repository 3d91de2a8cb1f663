"""What the commands print, with clients drawn from a population in which nobody differs from anybody.

A verdict that somebody is worse off is then wrong.  Wrong ones are at most binomial, so a number of them that a
binomial reaches with probability 1e-6 is a broken promise.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy.stats import binom

from fairgauge import Population, Study, simulate
from fairgauge.cli import main
from fairgauge.estimation.interval_readers import NormalReader
from tests.statistical.exact import FALSE_POSITIVE_RATE
from tests.statistical.test_coverage import forgets_who_came

RUNS = 15
ASKED = (
    "--title",
    "Falls",
    "--group",
    "female=0.5",
    "--group",
    "male=0.5",
    "--answering",
    "alike",
    "--metric",
    "recall:0:1",
    "--epsilon",
    "4",
)
Wrong = Callable[..., int]


@pytest.fixture
def wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Wrong:
    """Design a study, let drawn clients answer it many times, and count the false verdicts that are printed."""

    def run(*typed: object) -> str:
        monkeypatch.setattr(sys, "argv", ["fairgauge", *map(str, typed)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
        return capsys.readouterr().out

    def count(*designed: object, women: int, men: int, read: tuple[object, ...] = ()) -> int:
        monkeypatch.chdir(tmp_path)
        Path("people.csv").write_text(f"group,value,count\nfemale,0.9,{women}\nmale,0.9,{men}\n")
        run("design", *ASKED, *designed, "-o", "study.json")
        found = 0
        study, people = Study.load("study.json"), Population.from_csv("people.csv")
        run("simulate", "study.json", "people.csv", "--clients", "1e5", "--seed", 0, "-o", "tally.json")
        assert Path("tally.json").read_bytes() == simulate(study, people, clients=10**5, seed=0).to_bytes()
        for seed in range(RUNS):  # the command would estimate each of them, too
            Path("tally.json").write_bytes(simulate(study, people, clients=10**5, seed=seed).to_bytes())
            said = run("estimate", "study.json", "tally.json", "--confidence", "0.95", *read)
            assert "(95 % confidence)" in said
            found += "for female than for male" in said
        told = json.loads(run("estimate", "study.json", "tally.json", "--confidence", "0.95", *read, "--json"))
        gap = told["questions"][0]["gaps"][0]
        # What is printed last and what programs get are one and the same verdict.
        assert ("for female than for male" in said) == (not gap["low"] <= 0 <= gap["high"])
        return found

    return count


def broken(missed: int) -> bool:
    return bool(binom.sf(missed - 1, RUNS, 0.05) < FALSE_POSITIVE_RATE)


@pytest.mark.parametrize("design", ["auto", "uncentred"])
def test_no_gap_is_found_where_there_is_none(wrong: Wrong, design: str):
    assert not broken(wrong("--design", design, women=1, men=1))


def test_the_twin_that_forgets_who_came_is_caught(wrong: Wrong, monkeypatch: pytest.MonkeyPatch):
    """The interval about these clients, split exactly as the shares say: drawn clients do not."""
    monkeypatch.setattr(NormalReader, "width", forgets_who_came)
    assert broken(wrong("--design", "uncentred", women=1, men=1, read=("--interval", "normal")))


def test_shares_that_may_be_wrong_are_paid_for(wrong: Wrong):
    assert not broken(wrong("--design", "uncentred", "--share-error", "0.05", women=45, men=55))


def test_the_twin_that_forgets_that_shares_are_wrong_is_caught(wrong: Wrong):
    assert broken(wrong("--design", "uncentred", women=45, men=55))
