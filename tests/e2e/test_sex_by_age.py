"""The worked example of cells, margins and two metrics: what the page says is what the files give."""

from pathlib import Path

import pytest

from fairgauge.estimation import estimate
from fairgauge.simulation import Population, simulate, true_values
from fairgauge.study import Study

EXAMPLE = Path(__file__).parents[2] / "examples" / "sex-by-age"


@pytest.fixture(scope="module")
def study() -> Study:
    return Study.load(EXAMPLE / "study.json")


def test_the_truth_is_what_the_page_says_and_is_in_the_intervals(study: Study):
    people = Population.from_csv(EXAMPLE / "population.csv")
    recall, fpr = true_values(study, people)
    assert recall.gaps["female", "male"] == pytest.approx(-0.074)
    assert [recall.gaps[f"female, {age}", f"male, {age}"] for age in ("18-29", "30-49", "50+")] == pytest.approx(
        [-0.02, -0.04, -0.12]
    )
    # Another kind than the page's: this one takes no time.
    found = estimate(study, simulate(study, people, clients=10**6, seed=7), interval="normal")
    for told, truth in zip(found.questions, (recall, fpr), strict=True):
        assert len(told.gaps) == 7
        for pair, gap in told.gaps.items():
            assert gap.low < truth.gaps[pair] < gap.high
        for name, mean in (told.margins | told.means).items():
            assert mean.low < (truth.margins | truth.means)[name] < mean.high


def test_shares_are_those_of_the_file_and_of_the_population(study: Study):
    rows = [line.split(",") for line in (EXAMPLE / "shares.csv").read_text().splitlines()[1:]]
    assert [float(share) for *_, share in rows] == [float(share) for share in study.questions[0].attribute.shares or ()]
    truth = true_values(study, Population.from_csv(EXAMPLE / "population.csv"))[0]
    assert truth.shares == pytest.approx({f"{sex}, {age}": float(share) for sex, age, share in rows})
