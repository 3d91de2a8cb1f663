"""A whole study as a scientist types it, in ten lines: verbs are functions, and each number is given once."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SESSION = """
import fairgauge as fg
recall = fg.Metric("recall", 0, 1)
sex = fg.Attribute("sex", {"female": 0.5, "male": 0.5})
fg.plan(recall, sex, clients=200_000, epsilon=1)
study = fg.Study("Falls found, by sex", fg.design(recall, sex, epsilon=1))
study.save("study.json"); study = fg.Study.load("study.json")
tally = fg.simulate(study, population, seed=7)
result = fg.estimate(study, tally)
result["recall"].gap("female", "male")      # an Interval: estimate, low, high
"""


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What the session leaves behind, with a population whose gap is -0.04."""
    import fairgauge as fg

    folder = tmp_path_factory.mktemp("session")
    found: dict[str, object] = {"population": fg.Population.from_csv(ROOT / "examples/first-study/population.csv")}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(SESSION, found)  # the point is to run it as it is written
    return found


def test_it_runs_as_it_is_written(names: dict[str, object]):
    import fairgauge as fg

    result = names["result"]
    assert isinstance(result, fg.Estimate)
    gap = result["recall"].gap("female", "male")
    assert isinstance(gap, fg.Interval)
    assert gap.low < gap.estimate < gap.high
    assert gap.low < -0.04 < gap.high


def test_the_plan_is_in_the_metrics_units(names: dict[str, object]):
    """What was planned for so many clients is what comes out, in the same units."""
    import fairgauge as fg

    study, tally, result = names["study"], names["tally"], names["result"]
    assert isinstance(study, fg.Study)
    assert isinstance(tally, fg.Tally)
    assert isinstance(result, fg.Estimate)
    question = study.questions[0]
    (planned,) = fg.plan(
        question.metric, question.attribute, clients=tally.contributors, epsilon=1, designs=[question.design]
    )
    gap = result["recall"].gap("female", "male")
    # The plan reckons with the worst level, and these clients are at another.
    assert planned.rows[0].error == pytest.approx((gap.high - gap.low) / 2, rel=0.15)


def test_it_runs_in_a_fresh_python(tmp_path: Path):
    """Nothing depends on what was imported before, and nothing is printed on the way."""
    path = str(ROOT / "examples/first-study/population.csv")
    code = f"from fairgauge import Population\npopulation = Population.from_csv({path!r})\n{SESSION}"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("fg.simulate(population, study)", "study=a Population: must be a Study: the study comes first"),
        ("fg.simulate(study, 'people.csv')", "table=people.csv: cannot be read: No such file or directory"),
        ("fg.simulate(study, None)", "table=a NoneType: must be the path of a CSV or Parquet file, or a data frame"),
        ("fg.estimate(tally, study)", "study=a Tally: must be a Study: the study comes first, then the tally"),
        ("fg.estimate(study, tally, confidence='high')", "confidence=high: must be from 0.5 to below 1"),
        ("fg.estimate(study, tally, tolerance='small')", "tolerance=small: must be 0 or above"),
        ("fg.PrivateMetricFrame(tally, study)", "study=a Tally: must be a Study: the study comes first"),
        ("fg.answer({'group': 'secret'}, study)", "study=a dict: must be a Study"),
        ("fg.Population.from_csv('nowhere.csv')", "population=nowhere.csv: cannot be read"),
        (
            "fg.plan(sex, recall, clients=10, epsilon=1)",
            "metric=an Attribute: must be a Metric: the metric comes",
        ),
    ],
)
def test_wrong_types_and_swapped_arguments_get_one_line(names: dict[str, object], line: str, said: str):
    import fairgauge as fg

    with pytest.raises(fg.errors.InvalidInput) as caught:
        eval(line, names)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)
