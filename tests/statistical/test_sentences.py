"""What the commands print, with clients drawn from a population in which nobody differs from anybody.

A verdict that somebody is worse off is then wrong, and so is an interval that does not hold zero.  Wrong ones are at most
binomial, so a number of them that a binomial reaches with probability 1e-6 is a broken promise.
"""

import json
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from scipy.stats import binom

from fairgauge.cli import main
from fairgauge.study import Attribute, Study
from tests.samples import RECALL
from tests.statistical.exact import FALSE_POSITIVE_RATE
from tests.surveys import designed_for

RUNS = 25
PEOPLE = "group,value,count\nfemale,0.9,{}\nmale,0.9,{}\n"


def wrong(
    folder: Path, capsys: pytest.CaptureFixture[str], clients: int, *options: str, split: tuple[int, int] = (1, 1)
) -> int:
    """Count the studies of which the command says that a gap is there; with it, its interval excludes zero."""
    (folder / "people.csv").write_text(PEOPLE.format(*split))

    def run(*typed: object) -> str:
        sys.argv = ["fairgauge", *map(str, typed)]
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
        return capsys.readouterr().out

    found = 0
    study, tally = folder / "study.json", folder / "tally.json"
    for seed in range(RUNS):
        run("simulate", study, "--population", folder / "people.csv", "--clients", clients, "--seed", seed, "-o", tally)
        said = run("estimate", study, tally, "--confidence", "0.95", *options)
        numbers = json.loads(run("estimate", study, tally, "--confidence", "0.95", "--json", *options))
        gap = numbers["questions"][0]["gaps"][0]
        clear = not gap["low"] <= 0 <= gap["high"]
        assert clear == ("points lower" in said.split("do not tell")[0] or "points higher" in said.split("do not tell")[0])
        found += clear
    return found


def broken(missed: int) -> bool:
    return bool(binom.sf(missed - 1, RUNS, 0.05) < FALSE_POSITIVE_RATE)
