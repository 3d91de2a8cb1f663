"""Twenty hospitals measure a model that says who will be back within 30 days, and compare with Fairlearn.

    python examples/hospitals/hospitals.py [PICTURE.svg]

The patients are a synthetic twin of the data set "Diabetes 130-US Hospitals" (Strack et al., 2014), which Fairlearn has
among its own: made up here, with its published shares of women and men and of those who came back, and with hospitals
that differ.  Each hospital counts its own patients and sends noisy counts.  Only to compare, Fairlearn sees them all.
"""

import csv
import json
import math
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from fairlearn import metrics as fairlearn
from scipy.stats import norm
from sklearn.metrics import accuracy_score, precision_score

import fairgauge as fg
from fairgauge.client.refusals import Refusal
from fairgauge.client.site_settings import SiteSettings, answer_asked
from fairgauge.study import NoisyCounts, counted
from fairgauge.tallies import Tally

CONFIDENCE = 0.95
# Of 101,766 stays: 53.8 % of women and 46.2 % of men, and 11.2 % who came back within 30 days.
SHARES = {"female": 0.538, "male": 0.462}
BACK = {"female": 0.113, "male": 0.111}
# What each hospital's own file says: what may be counted, and where that stands in its records.
SITE = {
    "attributes": {"sex": list(SHARES)},
    "confusion": True,
    "columns": {"truth": "back", "prediction": "said", "person": "patient"},
}
THEIRS = {
    "selection_rate": fairlearn.selection_rate,
    "accuracy_score": accuracy_score,
    "true_positive_rate": fairlearn.true_positive_rate,
    "false_positive_rate": fairlearn.false_positive_rate,
    "precision_score": precision_score,
}
# How many people a rate is about: everyone, those with truth 1 or 0, or those of whom the model said 1.
ABOUT = {"true_positive_rate": ("truth", 1), "false_positive_rate": ("truth", 0), "precision_score": ("said", 1)}


@dataclass(frozen=True)
class Compared:
    """A gap by Fairlearn on all patients and by the private counts, each with its interval."""

    metric: str
    pooled: fg.Interval
    private: fg.Interval

    @property
    def ratio(self) -> float:
        """How much wider the private interval is."""
        return (self.private.high - self.private.low) / (self.pooled.high - self.pooled.low)


def patients(hospital: int, people: int) -> Iterator[tuple[str, str, int, int]]:
    """Make up the patients of a hospital: who, sex, came back, and what the model said."""
    chance = random.Random(1_000 + hospital)
    older = chance.gauss(0, 0.25)  # hospitals differ in whom they see
    for number in range(people):
        sex = "female" if chance.random() < SHARES["female"] else "male"
        risk = chance.gauss(older, 1)
        back = chance.random() < BACK[sex] * 2 / (1 + math.exp(-1.6 * risk))
        # The model sees the risk with an error, and sees less of it in women.
        score = risk + 1.1 * back + chance.gauss(0, 1.2 if sex == "female" else 0.8)
        yield f"h{hospital}-{number}", sex, int(back), int(score > 0.9)


def answer_as(hospital: int, study: fg.Study, folder: Path, people: int) -> pd.DataFrame:
    """Let one hospital answer from its own file; return its patients, which only the comparison sees."""
    path = folder / f"patients-{hospital}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["patient", "sex", "back", "said"])
        writer.writerows(patients(hospital, people))
    settings = folder / f"site-{hospital}.json"
    settings.write_text(json.dumps(SITE | {"records": path.name, "ledger": f"ledger-{hospital}.sqlite3"}))
    SiteSettings.load(settings).prepare()  # once, before any study is known
    answer = answer_asked(settings, study)
    if isinstance(answer, Refusal):
        raise SystemExit(answer.text)
    answer.save(folder / f"answer-{hospital}.json")
    return pd.read_csv(path)


def compared(hospitals: int = 20, people: int = 1000, epsilon: str = "1") -> list[Compared]:
    """Return the gap of every metric, by Fairlearn on all patients and by fairgauge on noisy counts."""
    study = fg.Study(
        "Back within 30 days",
        counted(NoisyCounts(fg.Attribute("sex", list(SHARES)), "confusion", epsilon, person="a patient")),
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        everyone = pd.concat([answer_as(hospital, study, folder, people) for hospital in range(hospitals)])
        tally = Tally.of(study, (fg.Answer.load(path) for path in sorted(folder.glob("answer-*"))))
    private = fg.estimate(study, tally, confidence=CONFIDENCE)
    frame = fairlearn.MetricFrame(
        metrics=THEIRS, y_true=everyone["back"], y_pred=everyone["said"], sensitive_features=everyone["sex"]
    )
    return [
        Compared(name, _pooled(frame, everyone, name), found.gap("female", "male"))
        for name, found in zip(THEIRS, private.questions, strict=True)
    ]


def _pooled(frame: fairlearn.MetricFrame, everyone: pd.DataFrame, name: str) -> fg.Interval:
    """Return Fairlearn's gap, with the usual interval for two proportions."""
    rates = frame.by_group[name]
    column, value = ABOUT.get(name, (None, None))
    counted = everyone if column is None else everyone[everyone["back" if column == "truth" else column] == value]
    sizes = counted["sex"].value_counts()
    gap = float(rates["female"] - rates["male"])
    half = norm.ppf((1 + CONFIDENCE) / 2) * math.sqrt(sum(rates[s] * (1 - rates[s]) / sizes[s] for s in SHARES))
    return fg.Interval(gap, gap - half, gap + half)


def table(found: list[Compared]) -> str:
    """Return the comparison as a table."""
    lines = [
        "| gap, female − male | Fairlearn, all patients | fairgauge, noisy counts | wider by |",
        "|---|---|---|---|",
    ]
    for one in found:
        numbers = [f"{i.estimate:+.3f} [{i.low:+.3f}, {i.high:+.3f}]" for i in (one.pooled, one.private)]
        lines.append(f"| `{one.metric}` | {' | '.join(numbers)} | {100 * (one.ratio - 1):.0f} % |")
    return "\n".join(lines)


def picture(found: list[Compared], path: Path) -> None:
    """Draw both intervals of every metric."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams.update({"svg.hashsalt": "fairgauge", "svg.fonttype": "none", "font.size": 10})
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.subplots()
    for shift, colour, label, pick in (
        (-0.13, "#8f3b12", "Fairlearn, all patients in one place", "pooled"),
        (0.13, "#14527a", "fairgauge, noisy counts (epsilon 1)", "private"),
    ):
        intervals = [getattr(one, pick) for one in found]
        places = np.arange(len(found)) + shift
        axes.hlines(places, [i.low for i in intervals], [i.high for i in intervals], color=colour, linewidth=3)
        axes.plot([i.estimate for i in intervals], places, "o", color=colour, label=label)
    axes.axvline(0, color="#1b2230", linewidth=1)
    axes.set_yticks(range(len(found)), [one.metric for one in found])
    axes.invert_yaxis()
    axes.set_xlabel("female − male, 95 % confidence")
    axes.legend(frameon=False, loc="best")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Compare, print the table, and draw the picture if a file is named."""
    found = compared()
    print(table(found))
    if sys.argv[1:]:
        picture(found, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
