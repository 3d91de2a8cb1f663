"""The model and the clients of the paper's appendix "Empirical Evaluation", from the UCI archive.

87 trials of older people who wore a sensor, each trial taken for one client, with the sex of the participant at the end
of the file's name.  A logistic regression tells from one reading whether the person lies down.  Its true and false
positive rates on each trial are the clients' values.
"""

import csv
import io
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.designs import make_channel
from fairgauge.errors import CannotEstimate, InvalidInput, MissingExtra
from fairgauge.estimation import estimate
from fairgauge.paper.bounds import SOUND
from fairgauge.paper.runs import RunClients, estimated_means
from fairgauge.simulation import Cell, Population, simulate_exactly, true_values
from fairgauge.study import Attribute, Metric, Question, Study, TargetName
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

SEXES = {"M": "male", "F": "female"}
METRICS = ("tpr", "fpr")
_PASSES = 1000
# The paper does not mention it, but its group means need it: trials with fewer readings of a class than this are left
# out, as they are in the authors' notebook.
_LEAST_ROWS, _LEAST_OF_A_CLASS = 50, 6
_LYING = 3
_FEATURES = 8


@dataclass(frozen=True)
class _Source:
    """Where readings are from, and which of the trials count."""

    archive: str
    doi: str
    licence: str
    row_filter: str

    @property
    def cited(self) -> str:
        """How its licence wants it named."""
        return f"{self.archive}, UCI Machine Learning Repository, doi {self.doi}, {self.licence}"


SOURCE = _Source(
    archive="Datasets_Healthy_Older_People.zip",
    doi="10.24432/C5GG6B",
    licence="CC BY 4.0",
    row_filter=f"trials with at least {_LEAST_ROWS} readings and at least {_LEAST_OF_A_CLASS} of either class",
)


@dataclass(frozen=True)
class Trial:
    """One client: a sex, and the model's rates on that trial (None where the test rows have no such class)."""

    sex: str
    tpr: float | None
    fpr: float | None


@dataclass(frozen=True)
class Trials:
    """Clients, and what is measured of them."""

    clients: tuple[Trial, ...]

    @classmethod
    def bundled(cls) -> "Trials":
        """Return the rates of the first split, kept with the package so that Table 2 needs no download."""
        text = files(__package__).joinpath("trials.csv").read_text(encoding="utf-8")
        rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
        return cls(
            tuple(
                Trial(row["sex"], *(float(row[metric]) if row[metric] else None for metric in METRICS)) for row in rows
            )
        )

    def values(self, metric: str, sex: str) -> list[float]:
        """Return a rate of every trial of one sex that has one."""
        return [value for t in self.clients if t.sex == sex and (value := getattr(t, metric)) is not None]

    def to_csv(self) -> str:
        """Return them as the text of a CSV file."""
        lines = [f"# Derived from {SOURCE.cited}: {SOURCE.row_filter}.", "sex," + ",".join(METRICS)]
        for trial in self.clients:
            shown = ["" if (value := getattr(trial, m)) is None else f"{value:.4f}" for m in METRICS]
            lines.append(",".join([trial.sex, *shown]))
        return "\n".join([*lines, ""])

    def true_model(self) -> dict[str, Any]:
        """Return the group means and gaps of the trials themselves, from which clients are drawn."""
        return _means_and_gaps({m: {s: float(np.mean(self.values(m, s))) for s in SEXES.values()} for m in METRICS})

    def measure(
        self, *, epsilon: Decimal, clients: int, rng: np.random.Generator, target: TargetName = "gap"
    ) -> dict[str, Any]:
        """Measure both metrics privately on clients drawn from the trials, each of whom answers one of two questions.

        Group means are None unless they are the target.
        """
        name, channel = make_channel(Scores(Target((0.5, 0.5), kind=target)), epsilon, design="uncentred")
        sex = Attribute("sex", tuple(SEXES.values()), ("0.5", "0.5"), answering="alike")
        study = Study(
            "Lying down, by sex",
            tuple(Question(Metric(m, "0", "1"), sex, target, name, str(epsilon), channel) for m in METRICS),
        )
        cells = [cell for m in METRICS for s in SEXES.values() for cell in self._cells(m, s, clients // 2, rng)]
        population = Population(tuple(cells))
        estimates = estimate(study, simulate_exactly(study, population, seed=rng))
        found: dict[str, Any] = {"epsilon": float(epsilon), "clients": clients, "design": name}
        for question, truth in zip(estimates.questions, true_values(study, population), strict=True):
            gap = question.gap(*sex.groups)
            found[question.metric] = {
                "true_gap": truth.gaps[sex.groups[0], sex.groups[1]],
                "estimate": gap.estimate,
                "low": gap.low,
                "high": gap.high,
                "means": {group: mean.estimate for group, mean in question.means.items()} or None,
            }
        return found

    def private_models(self, *, epsilon: Decimal, clients: int, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return what one private measurement says of the model: with sound M_R and M_L, and with the optimal design.

        The layout is that of the model's own group means and gaps.
        """
        half = clients // 2
        about = {
            "unit": "one private measurement of clients drawn from the trials; half of them answer for each metric",
            "epsilon": float(epsilon),
            "clients": clients,
        }
        sound = {}
        for name, allocation in SOUND.items():
            means = {}
            for metric in METRICS:
                values = [2 * np.array(self.values(metric, sex)) - 1 for sex in SEXES.values()]
                drawn = RunClients.resampled(values, half // 2, 1, rng)
                found = (1 + estimated_means(allocation(float(epsilon)), drawn, rng)[0]) / 2
                means[metric] = dict(zip(SEXES.values(), map(float, found), strict=True))
            sound[name] = _means_and_gaps(means)
        measured = self.measure(epsilon=epsilon, clients=clients, rng=rng, target="means")
        optimal = _means_and_gaps({metric: measured[metric]["means"] for metric in METRICS})
        return {"sound": about | sound, "optimal": about | {"optimal": optimal}}

    def _cells(self, metric: str, sex: str, clients: int, rng: np.random.Generator) -> Iterable[Cell]:
        values, often = np.unique(np.round(self.values(metric, sex), 4), return_counts=True)
        for value, count in zip(values, rng.multinomial(clients, often / often.sum()), strict=True):
            yield Cell(sex, Decimal(f"{value:.4f}"), int(count), metric)


def _means_and_gaps(means: dict[str, dict[str, float]]) -> dict[str, Any]:
    gaps = {f"gap_{metric}": abs(found["male"] - found["female"]) for metric, found in means.items()}
    return {f"mean_{metric}": found for metric, found in means.items()} | gaps


@dataclass(frozen=True)
class Training:
    """One training and what came of it."""

    accuracy: float
    tpr: float
    fpr: float
    trials: Trials

    def mean(self, metric: str, sex: str) -> float:
        """Return the mean of a rate over the trials of one sex."""
        return float(np.mean(self.trials.values(metric, sex)))


@dataclass(frozen=True)
class SensorReadings:
    """All readings: features, whether the person lies down, and which trial each belongs to."""

    features: NDArray[np.float64]
    lying: NDArray[np.bool_]
    trials: NDArray[np.int64]
    sexes: tuple[str, ...]

    @classmethod
    def read(cls, path: Path | None) -> "SensorReadings":
        """Read the UCI archive.

        Raises:
            CannotEstimate: If there is no archive; the text says where to get it.
            InvalidInput: If the file is not that archive.
        """
        if path is None or not path.is_file():
            raise CannotEstimate(
                f"the dataset needs {SOURCE.archive} from the UCI Machine Learning Repository (doi {SOURCE.doi}, "
                f"{SOURCE.licence}): download it and give it with --data"
            )
        try:
            with zipfile.ZipFile(path) as archive:
                names = sorted(n for n in archive.namelist() if _is_trial(n))
                tables = [np.loadtxt(io.BytesIO(archive.read(name)), delimiter=",", ndmin=2) for name in names]
        except (zipfile.BadZipFile, ValueError) as problem:
            raise InvalidInput("data", path, f"must be {SOURCE.archive} as UCI publishes it ({problem})") from None
        if not tables:
            raise InvalidInput("data", path, f"must be {SOURCE.archive} as UCI publishes it: no trial was found in it")
        rows = np.vstack(tables)
        trials = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
        return cls(rows[:, :_FEATURES], rows[:, _FEATURES] == _LYING, trials, tuple(SEXES[n[-1]] for n in names))

    def filtered(self) -> "SensorReadings":
        """Leave out the trials that are too small to measure both rates."""
        rows = np.bincount(self.trials)
        lying = np.bincount(self.trials, self.lying)
        kept = (rows >= _LEAST_ROWS) & (lying >= _LEAST_OF_A_CLASS) & (rows - lying >= _LEAST_OF_A_CLASS)
        here = kept[self.trials]
        numbers = np.cumsum(kept) - 1
        sexes = tuple(sex for sex, keep in zip(self.sexes, kept, strict=True) if keep)
        return SensorReadings(self.features[here], self.lying[here], numbers[self.trials[here]], sexes)

    def train(self, *, seed: int) -> Training:
        """Train the paper's model on 70 % of the readings of each trial and test it on the rest.

        Raises:
            MissingExtra: If scikit-learn is not installed.
        """
        try:
            from sklearn.model_selection import train_test_split
            from sklearn.preprocessing import normalize
        except ImportError:
            raise MissingExtra("the paper's model needs scikit-learn", "paper") from None
        training, test = train_test_split(
            np.arange(len(self.features)), test_size=0.3, stratify=self.trials, random_state=seed
        )
        model = fit(self.features[training], self.lying[training], seed=seed)
        features = normalize(self.features)
        called = model.predict(features[test]).astype(bool)
        lying, trials = self.lying[test], self.trials[test]

        def rate(here: NDArray[np.bool_]) -> float | None:
            return float(called[here].mean()) if here.any() else None

        return Training(
            accuracy=float((called == lying).mean()),
            tpr=float(called[lying].mean()),
            fpr=float(called[~lying].mean()),
            trials=Trials(
                tuple(
                    Trial(sex, rate((trials == i) & lying), rate((trials == i) & ~lying))
                    for i, sex in enumerate(self.sexes)
                )
            ),
        )

    def results(self, splits: Sequence[Training]) -> dict[str, Any]:
        """Return the figures of the appendix, averaged over splits, in the layout of ``published.json``."""

        def average(of: Callable[[Training], float]) -> float:
            return float(np.mean([of(split) for split in splits]))

        def spread(of: Callable[[Training], float]) -> float:
            return float(np.std([of(split) for split in splits]))

        means = {
            f"mean_{m}": {sex: average(lambda s, m=m, sex=sex: s.mean(m, sex)) for sex in SEXES.values()}  # type: ignore[misc]
            for m in METRICS
        }
        spreads = {
            f"mean_{m}_sd": {sex: spread(lambda s, m=m, sex=sex: s.mean(m, sex)) for sex in SEXES.values()}  # type: ignore[misc]
            for m in METRICS
        }
        return {
            "trials": {sex: self.sexes.count(sex) for sex in SEXES.values()},
            "mean_samples_per_client": len(self.trials) / len(self.sexes),
            "accuracy": average(lambda s: s.accuracy),
            "fpr": average(lambda s: s.fpr),
            "tpr": average(lambda s: s.tpr),
            **means,
            **spreads,
            **{f"gap_{m}": abs(means[f"mean_{m}"]["male"] - means[f"mean_{m}"]["female"]) for m in METRICS},
            "splits": len(splits),
        }


def _is_trial(name: str) -> bool:
    file = name.rpartition("/")[2]
    return file.startswith("d") and file[-1:] in SEXES and "." not in file


def fit(features: NDArray[np.float64], lying: NDArray[np.bool_], *, seed: int, passes: int = _PASSES) -> Any:
    """Return the paper's model, fitted to rows of all eight features: it scales them to unit length.

    Elastic net with 0.99 of L1, SAGA, balanced classes.

    Args:
        features: The readings.
        lying: Whether the person lies down at each.
        seed: For the order in which SAGA takes them.
        passes: After how many passes over the readings it stops at the latest.

    Raises:
        MissingExtra: If scikit-learn is not installed.
    """
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import normalize
    except ImportError:
        raise MissingExtra("the paper's model needs scikit-learn", "paper") from None
    model = LogisticRegression(
        class_weight="balanced", solver="saga", l1_ratio=0.99, max_iter=passes, random_state=seed
    )
    return model.fit(normalize(features), lying)
