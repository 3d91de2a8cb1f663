r"""The paper's estimators on the tally of a study: of M_R and M_L with the budgets that the study's design names.

.. math::

    \hat m{}_G = \frac{1}{a (2b-1)\, n_G} \sum_{g' = G} v' \;\text{(M_R)}, \qquad
    \hat m{}_G = \frac{1}{a\, n_G} \sum_{g' = G} v' \;\text{(M_L)}

The sizes :math:`n_G` are taken for known, as the paper does: the stated shares of the answers.

A study of M_L has one symbol for all reports beyond an end of [-1, 1].  How far beyond a report lies is memoryless: it
depends on nobody's group or value.  So it is drawn here, and what is then estimated is the paper's estimator with noise
on the study's lattice, whose variance is the paper's to one part in a thousand.  Our own estimate leaves out what tells
nothing.
"""

from dataclasses import dataclass
from itertools import combinations
from math import exp

import numpy as np

from fairgauge.designs.classical_designs import LAPLACE, RESPONSE, Budgets
from fairgauge.errors import CannotEstimate
from fairgauge.paper.bounds import CONFIDENCE, chebyshev_error
from fairgauge.paper.mechanisms import LaplaceMechanism, Published, ResponseMechanism, Values, sound_laplace
from fairgauge.study import Question, Study
from fairgauge.tallies import Tally
from fairgauge.targets.channel_inputs import Inputs
from fairgauge.targets.scores import Scores

# A table of integers differs from the mechanism's law by far less than this.
_SAME = 1e-9


@dataclass(frozen=True)
class _PublishedEstimate:
    """What the paper's estimator says: each group's mean, and each gap with Chebyshev's half-width for worst values.

    Args:
        mechanism: The mechanism, with the budgets of the study.
        means: By group, in the metric's units.
        gaps: By pair of groups: the gap and its half-width.
    """

    mechanism: Published
    means: dict[str, float]
    gaps: dict[tuple[str, str], tuple[float, float]]


def mechanism_of(question: Question) -> Published:
    """Return the paper's mechanism whose table a question has.

    Raises:
        CannotEstimate: If it has another.
    """
    budgets = Budgets.read(question.design)
    if budgets is None:
        rule = f"names no budgets of the paper: make the study with --design {RESPONSE} or {LAPLACE} and --budgets"
        raise CannotEstimate(f"design {question.design} {rule}")
    channel, inputs = question.channel, budgets.inputs(question.channel.groups)
    law = budgets.rows(inputs)
    table = np.array(channel.table, dtype=np.float64) / sum(channel.table[0])
    same = table.shape == law.shape and np.array_equal(Inputs.of(channel).levels, inputs.levels)
    if not same or np.abs(table - law).max() > _SAME:
        raise CannotEstimate(f"the table is not that of {budgets.name}, whatever the study calls it")
    kind = LaplaceMechanism if budgets.design == LAPLACE else ResponseMechanism
    return kind(float(budgets.group), float(budgets.value), inputs.groups)


def published_estimate(
    study: Study, tally: Tally, rng: np.random.Generator, *, confidence: float = CONFIDENCE
) -> _PublishedEstimate:
    """Return what the paper's estimator makes of the tally of a study with one question.

    Guarantee: Chebyshev's; the gap is within its half-width with the confidence given, if the shares of those who
    answered are exactly the stated ones.

    Raises:
        CannotEstimate: If the study is not of a mechanism of the paper, states no shares, or has no answers.
    """
    if len(study.questions) != 1:
        raise CannotEstimate("the paper's estimator is for studies with one question")
    (question,) = study.questions
    mechanism, metric, groups = mechanism_of(question), question.metric, question.attribute.groups
    if question.attribute.shares is None:
        raise CannotEstimate("the paper's estimator needs the groups' sizes: state shares, as in --group female=0.5")
    clients, shares = tally.contributors, [float(share) for share in question.attribute.shares]
    if clients == 0:
        raise CannotEstimate("there are no answers")
    sums = report_sums(mechanism, np.array(tally.counts), Inputs.of(question.channel).levels, rng)
    means = sums / (mechanism.attenuation * clients * np.array(shares))
    gaps = {}
    for a, b in combinations(range(len(groups)), 2):
        variance = mechanism.gap_variance((shares[a], shares[b]))
        half = metric.scale * chebyshev_error(variance, clients, confidence=confidence)
        gaps[groups[a], groups[b]] = metric.scale * float(means[a] - means[b]), half
    named = {group: metric.to_metric(float(mean)) for group, mean in zip(groups, means, strict=True)}
    return _PublishedEstimate(mechanism, named, gaps)


def report_sums(mechanism: Published, counts: Values, levels: Values, rng: np.random.Generator) -> Values:
    """Return the sum of the paper's v' over those who report each group, from the counts of symbols."""
    by_group = counts.reshape(-1, len(levels))
    sums: Values = by_group @ levels
    if isinstance(mechanism, LaplaceMechanism):
        step = float(levels[1] - levels[0])
        # A sum of so many geometric numbers of steps beyond an end is one negative binomial number.
        stop = 1 - exp(-step / mechanism.kept_scale)
        above, below = (_beyond(by_group[:, end], stop, rng) for end in (-1, 0))
        sums = sums + step * (above - below)
    return sums


def _beyond(counts: Values, stop: float, rng: np.random.Generator) -> Values:
    return np.array([rng.negative_binomial(n, stop) if n else 0 for n in counts], dtype=np.float64)


def laplace_sentence(question: Question) -> str | None:
    """Return what is to be known where Laplace noise is chosen: it is read more sharply than the paper reads M_L."""
    channel = question.channel
    if question.design.partition("(")[0] != LAPLACE or channel.groups != 2 or channel.abstain:
        return None
    scores = Scores.of(question).asking(kind="gap", shares_known=True, share_error=0.0)
    budgets = Budgets.read(question.design)
    paper = mechanism_of(question) if budgets is not None else sound_laplace(float(question.epsilon))
    first, second = scores.target.shares
    ours, theirs = scores.privacy_variance(channel), paper.gap_variance((first, second))
    return (
        "One symbol stands for all noise beyond each end, which tells nothing more. With group sizes known, K·Var of "
        f"the gap is {ours:,.1f}, and {theirs:,.1f} by the source paper's estimator of M_L."
    )
