"""The dataset: reading, filtering, training and measuring, on a small archive made here."""

import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from fairgauge.errors import CannotEstimate, InvalidInput
from fairgauge.paper import dataset


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Six trials of each sex in the layout of the UCI archive, and one of each sex that the filter drops."""
    rng = np.random.default_rng(2)
    path = tmp_path / dataset.SOURCE.archive
    with zipfile.ZipFile(path, "w") as file:
        for number in range(14):
            sex, rows = "MF"[number % 2], 20 if number >= 12 else 80
            activity = rng.integers(1, 5, rows)
            readings = rng.normal(0, 0.4, (rows, 8)) + (activity == 3)[:, None] * np.array([1, 2, 0, 0, 0, 1, 0, 0])
            lines = [",".join([*(f"{x:.4f}" for x in row), str(a)]) for row, a in zip(readings, activity, strict=True)]
            file.writestr(f"S1_Dataset/d1p{number:02}{sex}", "\n".join(lines))
        file.writestr("S1_Dataset/README.txt", "not a trial")
    return path


def test_reading_finds_trials_sexes_and_labels(archive: Path):
    readings = dataset.SensorReadings.read(archive)
    assert readings.sexes == ("male", "female") * 7
    assert readings.features.shape == (12 * 80 + 2 * 20, 8)
    assert 0.1 < readings.lying.mean() < 0.4


def test_the_filter_drops_small_trials_and_renumbers(archive: Path):
    kept = dataset.SensorReadings.read(archive).filtered()
    assert len(kept.sexes) == 12
    assert np.unique(kept.trials).tolist() == list(range(12))
    assert np.bincount(kept.trials).tolist() == [80] * 12


def test_training_gives_rates_of_every_trial(archive: Path):
    pytest.importorskip("sklearn")
    readings = dataset.SensorReadings.read(archive).filtered()
    split = readings.train(seed=0)
    assert split == readings.train(seed=0)
    assert split.accuracy > 0.8
    assert len(split.trials.clients) == 12
    rates = [t.tpr for t in split.trials.clients if t.tpr is not None]
    assert all(0 <= rate <= 1 for rate in rates)
    results = readings.results([split])
    assert results["gap_tpr"] == pytest.approx(abs(split.mean("tpr", "male") - split.mean("tpr", "female")))
    assert results["trials"] == {"male": 6, "female": 6}


def test_without_the_archive_the_message_says_where_to_get_it():
    for path in (None, Path("nowhere.zip")):
        with pytest.raises(CannotEstimate, match=r"Datasets_Healthy_Older_People\.zip.*10\.24432/C5GG6B.*--data"):
            dataset.SensorReadings.read(path)


def test_another_file_is_refused(tmp_path: Path):
    text = tmp_path / "text.zip"
    text.write_text("no archive")
    empty = tmp_path / "empty.zip"
    zipfile.ZipFile(empty, "w").close()
    for path in (text, empty):
        with pytest.raises(InvalidInput, match="data="):
            dataset.SensorReadings.read(path)


def test_trials_survive_their_file(monkeypatch: pytest.MonkeyPatch):
    trials = dataset.Trials.bundled()
    assert trials.to_csv() == (Path(dataset.__file__).parent / "trials.csv").read_text(encoding="utf-8")
    assert dataset.SOURCE.doi in trials.to_csv()


def test_missing_rates_stay_missing():
    trials = dataset.Trials((dataset.Trial("male", None, 0.5),))
    assert trials.to_csv().splitlines()[-1] == "male,,0.5000"
    assert trials.values("tpr", "male") == []


def test_measuring_covers_the_true_gaps():
    found = dataset.Trials.bundled().measure(epsilon=Decimal(2), clients=200_000, rng=np.random.default_rng(1))
    for metric in dataset.METRICS:
        assert found[metric]["low"] < found[metric]["true_gap"] < found[metric]["high"]
        assert found[metric]["high"] - found[metric]["low"] < 0.05
        assert found[metric]["means"] is None
    assert found["tpr"]["true_gap"] == pytest.approx(0.165, abs=0.01)


def test_private_models_find_the_means_and_gaps_of_the_trials():
    trials = dataset.Trials.bundled()
    truth = trials.true_model()
    found = trials.private_models(epsilon=Decimal(1), clients=10**7, rng=np.random.default_rng(1))
    assert truth["gap_tpr"] == pytest.approx(0.165, abs=0.01)
    for model in (found["sound"]["M_R"], found["sound"]["M_L"], found["optimal"]["optimal"]):
        for name, value in truth.items():
            # Ten standard errors of the least precise of them.
            assert model[name] == pytest.approx(value, abs=0.015)
