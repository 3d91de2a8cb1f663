"""What sites' counts tell, under the names that Fairlearn and scikit-learn have for it."""

from collections.abc import Sequence
from dataclasses import replace

from fairgauge.errors import InvalidInput
from fairgauge.estimation.kinds import SITE_KINDS, check_confidence, kind_of
from fairgauge.estimation.result import Estimate
from fairgauge.estimation.sites.rates import metrics_of
from fairgauge.estimation.sites.reading import estimate_sites
from fairgauge.study import Metric, NoisyCounts, Question, Study, counted
from fairgauge.tallies import Tally

# By the names that estimates have.
FAIRLEARN = {
    "selection rate": "selection_rate",
    "accuracy": "accuracy_score",
    "true positive rate": "true_positive_rate",
    "false positive rate": "false_positive_rate",
    "precision": "precision_score",
}


def fairlearn_metrics(site: NoisyCounts, wanted: Sequence[str] | None) -> list[Question]:
    """Return the metrics that are wanted, or all, by Fairlearn's names.

    Raises:
        InvalidInput: If the counts do not tell one of them.
    """
    known = {FAIRLEARN.get(name, name): name for name in metrics_of(site)}
    for name in wanted or ():
        if name not in known:
            raise InvalidInput("metrics", name, f"must be of {', '.join(known)}")
    if site.metric is not None:
        return list(counted(site))
    first = counted(site)[0]
    return [replace(first, metric=Metric(name, 0, 1)) for name in wanted or known]


def estimate_by_names(
    study: Study, tally: Tally, asked: Sequence[Question], *, confidence: float, interval: str
) -> Estimate:
    """Return what :func:`fairgauge.estimate` returns, of these metrics alone and by Fairlearn's names.

    Raises:
        BadTally: If the tally is of another study.
        InvalidInput: If an argument is out of range.
    """
    kind, alpha = kind_of(interval, SITE_KINDS), check_confidence(confidence)
    tally.check(study)
    ours = {theirs: name for name, theirs in FAIRLEARN.items()}
    found = estimate_sites(study, tally, alpha, kind, [ours.get(one.metric.name, one.metric.name) for one in asked])
    renamed = [replace(each, metric=one.metric.name) for one, each in zip(asked, found.questions, strict=True)]
    return replace(found, questions=tuple(renamed), asked=tuple(asked))
