"""Widths of the gaps that noisy counts of sites give, as ratios to Fairlearn's on the records of all sites together."""

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from fairlearn import metrics as fairlearn
from scipy.special import ndtri
from sklearn.metrics import accuracy_score, precision_score

from bench.lines import Line
from fairgauge import plan
from fairgauge.planning.counted_questions import CountedQuestions, SitePeople
from fairgauge.study import Attribute

CONFIDENCE, PEOPLE = 0.95, 500
SEX = Attribute("sex", ("female", "male"))
THEIRS = {
    "selection rate": fairlearn.selection_rate,
    "accuracy": accuracy_score,
    "true positive rate": fairlearn.true_positive_rate,
    "false positive rate": fairlearn.false_positive_rate,
    "precision": precision_score,
}


def sites() -> Iterator[Line]:
    """Sites of 500 people, 30 % with truth 1, a model that is right for 80 %, at 95 % confidence."""
    for number in (5, 20, 100):
        pooled = without_privacy(number)
        for epsilon in ("0.1", "0.5", "1", "3"):
            terms: dict[str, Any] = {"people": PEOPLE, "positives": 0.3, "confidence": CONFIDENCE}
            plans = plan(None, SEX, outcome="confusion", clients=number, epsilon=epsilon, **terms)
            for metric, found in zip(plans.metrics, plans, strict=True):
                what = f"width of the gap, {metric}, {number} sites, epsilon {epsilon}"
                error = found.rows[0].error or 1.0
                if error >= 1:
                    continue  # too few people to tell them from the noise
                against = f"Fairlearn, all records in one place, ± {pooled[metric]:.4f}"
                yield Line(what, f"± {error:.4f}", against, error / pooled[metric])


def without_privacy(number: int) -> dict[str, float]:
    """Return half of the width of the normal interval of each gap, of Fairlearn's rates on all records together."""
    site = CountedQuestions(SEX, "confusion").mechanism(Decimal(1))
    counts = np.round(number * SitePeople(PEOPLE, positives=0.3).counts(site)).astype(int)
    cells = pd.DataFrame(
        [(sex, truth, said) for sex in ("female", "male") for truth in (0, 1) for said in (0, 1)],
        columns=["sex", "truth", "said"],
    )
    everyone = cells.loc[cells.index.repeat(counts)]
    frame = fairlearn.MetricFrame(
        metrics=THEIRS, y_true=everyone["truth"], y_pred=everyone["said"], sensitive_features=everyone["sex"]
    )
    about = {
        "true positive rate": everyone["truth"] == 1,
        "false positive rate": everyone["truth"] == 0,
        "precision": everyone["said"] == 1,
    }
    found = {}
    for name in THEIRS:
        sizes = everyone[about.get(name, everyone["truth"] >= 0)]["sex"].value_counts()
        rates = frame.by_group[name]
        variance = sum(rates[sex] * (1 - rates[sex]) / sizes[sex] for sex in ("female", "male"))
        found[name] = -float(ndtri((1 - CONFIDENCE) / 2)) * math.sqrt(variance)
    return found
