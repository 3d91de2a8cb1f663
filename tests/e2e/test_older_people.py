"""The example on real data: what it says about clients drawn from the trials holds, over many seeds."""

import math
import subprocess
import zipfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import measure
import model
import paper_model
import runs
import trials
from tests.statistical.exact import FALSE_POSITIVE_RATE

CLIENTS = Path(__file__).parents[2] / "docs/older-people/clients.csv"
SEEDS = 100
COUNT = 10**6


def findings() -> list[measure.Finding]:
    """What the study finds about the clients that each seed draws from the trials."""
    study, clients = measure.make_study(), measure.read_clients(CLIENTS)
    found = []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        population = measure.resample(clients, COUNT, rng)
        found.append(measure.measure(study, population, rng, confidence=0.9, interval="normal"))
    return found


def test_the_gap_is_within_its_interval_at_about_the_nominal_rate() -> None:
    found = findings()
    for metric in measure.METRICS:
        gaps = [finding.gap(metric) for finding in found]
        missed = sum(not low <= true <= high for true, _, low, high in gaps)
        assert binom.sf(missed - 1, SEEDS, 0.1) >= FALSE_POSITIVE_RATE / 2
        assert binom.cdf(missed, SEEDS, 0.1) >= FALSE_POSITIVE_RATE / 2
    # The mutant twin: women taken for men.
    missed = sum(not low <= -true <= high for true, _, low, high in (finding.gap("tpr") for finding in found))
    assert binom.sf(missed - 1, SEEDS, 0.1) < FALSE_POSITIVE_RATE


def test_the_pages_clients_are_the_archives_trials() -> None:
    clients = measure.read_clients(CLIENTS)
    assert [client.sex for client in clients].count("male") == trials.MEN
    assert [client.sex for client in clients].count("female") == trials.WOMEN
    assert any(math.isnan(client.tpr) for client in clients)


def test_clients_survive_their_file(tmp_path: Path) -> None:
    clients = [measure.Client("female", 0.25, math.nan), measure.Client("male", 1.0, 0.0)]
    measure.write_clients(clients, tmp_path / "clients.csv", source="a test")
    assert str(measure.read_clients(tmp_path / "clients.csv")) == str(clients)


def test_resampling_keeps_clients_whole() -> None:
    clients = [measure.Client("female", 0.25, math.nan), measure.Client("male", 1.0, 0.0)]
    drawn = measure.resample(clients, 1000, np.random.default_rng(0))
    assert drawn.clients == 1000
    tpr, fpr = drawn.cells_of("tpr"), drawn.cells_of("fpr")
    assert [cell.count for cell in tpr] == [cell.count for cell in fpr]
    assert [str(cell.value) for cell in (*tpr, *fpr)] == ["0.2500", "1.0000", "None", "0.0000"]


def test_an_archive_is_read_as_uci_publishes_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("S1_Dataset/d1p01M", "0,0.5,0.9,0.1,4,-50,6.28,925,3\n1,0.5,0.9,0.1,1,-70,0,920,1\n")
        archive.writestr("S1_Dataset/README.txt", "not a trial")
        archive.writestr("S2_Dataset/d2p02F", "0,0.5,0.9,0.1,4,-50,6.28,925,2\n")
    man, woman = trials.load(tmp_path / "archive.zip")
    assert (man.sex, woman.sex) == ("male", "female")
    assert man.lying.tolist() == [True, False]
    assert man.features[0].tolist() == pytest.approx([0.5, 0.9, 0.1, 1, 1, 1, 1])
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("something", "else")
    with pytest.raises(SystemExit, match="no trial was found"):
        trials.load(tmp_path / "other.zip")


def test_invented_trials_have_the_same_shape() -> None:
    invented = trials.load(None)
    assert [trial.sex for trial in invented].count("male") == trials.MEN
    assert len(invented) == 87
    assert {trial.features.shape[1] for trial in invented} == {7}


def test_the_model_learns_and_tells_nothing_where_there_is_nothing() -> None:
    trial = next(trial for trial in trials.load(None) if trial.sex == "male" and 0.3 < trial.lying.mean() < 0.9)
    training, test = trial.split(0)
    assert len(training.lying) + len(test.lying) == len(trial.lying)
    found = model.rates(model.train(np.zeros(model.SIZE), training), test)
    assert found["tpr"] > 0.8
    assert found["fpr"] < 0.2
    nobody_lies = trials.Trial("male", test.readings[~test.lying], test.lying[~test.lying])
    assert math.isnan(model.rates(np.zeros(model.SIZE), nobody_lies)["tpr"])


def test_the_papers_model_is_better_than_the_same_cut_short() -> None:
    parts = [trial.split(number) for number, trial in enumerate(trials.load(None)[::6])]
    old, new = paper_model.train_both(training for training, _ in parts)
    assert old.shape == new.shape == (9,)

    def right(weights: trials.Matrix) -> float:
        rates = [paper_model.rates(weights, test) for _, test in parts]
        return float(np.nanmean([rate["tpr"] - rate["fpr"] for rate in rates]))

    assert right(new) > right(old)
    both = [paper_model.differences(old, new, test)[measure.CHANGE] for _, test in parts]
    assert np.nanmax(np.abs(both)) <= 1
    same = paper_model.differences(new, new, parts[0][1])
    assert {value for value in same.values() if value == value} <= {0.0}  # noqa: PLR0124 - NaN is not itself


def test_a_comparison_is_planned_in_the_units_of_its_metric() -> None:
    (row,) = measure.plan_comparison(4176).rows
    (pair,) = row.pairs
    assert pair.groups == measure.GROUPS
    assert pair.error is not None
    assert 0 < pair.error < 0.2
    assert measure.make_comparison().questions[0].design == row.design


@pytest.mark.parametrize(("status", "shown"), [(1, "no such app"), (0, "Exit Code: 700\nRay did not start")])
def test_a_run_that_failed_says_why(status: int, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_superlink", lambda *_, **__: nullcontext())
    ended = subprocess.CompletedProcess([], status, stdout=shown)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(SystemExit, match=shown):
        runs.run_app(tmp_path, tmp_path, nodes=1)
    ended.returncode, ended.stdout = 0, "all is well"
    assert runs.run_app(tmp_path, tmp_path, nodes=1) == "all is well"
