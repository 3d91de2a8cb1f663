"""Numbers of a metric frame, from the estimates of one question: what is about all groups at once."""

from itertools import combinations

from fairgauge.errors import CannotEstimate, InvalidInput
from fairgauge.estimation.ratios import at_most_one, over
from fairgauge.estimation.result import QuestionEstimate
from fairgauge.estimation.values import Interval
from fairgauge.study import Question


def checked_method(method: str) -> str:
    """Return the method, if it is one of Fairlearn's."""
    if method not in ("between_groups", "to_overall"):
        raise InvalidInput("method", method, "must be between_groups or to_overall")
    return method


def of_groups(found: QuestionEstimate, told: dict[str, Interval], what: str) -> dict[str, Interval]:
    """Return what is told of groups, if it is told of all."""
    if len(told) < len(found.groups):
        raise found.untold(what)
    return told


def means_of(found: QuestionEstimate) -> dict[str, Interval]:
    """Return the mean of every group."""
    return of_groups(found, found.means, "each group's mean")


def overall_of(found: QuestionEstimate) -> Interval:
    """Return the mean over everyone."""
    if found.overall is None:
        raise found.untold("the overall mean")
    return found.overall


def largest_gap(found: QuestionEstimate) -> Interval:
    """Return the largest gap in size; the intervals of all gaps hold together."""
    pairs = list(combinations(found.groups, 2))
    told, planned = ({frozenset(pair) for pair in some} for some in (found.gaps, found.untold_gaps))
    lacking = {frozenset(pair) for pair in pairs} - told
    if found.gaps and not lacking <= planned:
        raise CannotEstimate(
            f"{found.metric}: the study did not plan to compare every two groups, so the largest gap of all has no "
            "interval; a study that compares all of them tells it"
        )
    if lacking:
        raise found.untold("the gap between every two groups")
    return over(max, [found.gap(*pair).size for pair in pairs])


def stated_shares(question: Question) -> dict[str, Interval] | None:
    """Return the shares that the study states, as far as they may be off; None if they are estimated."""
    attribute = question.attribute
    if question.known_shares is None:
        return None
    error = float(attribute.share_error or 0)
    return {
        group: Interval(share, max(share - error, 0.0), min(share + error, 1.0))
        for group, share in zip(attribute.groups, question.known_shares, strict=True)
    }


def gaps_to_overall(shares: dict[str, Interval], found: QuestionEstimate) -> Interval:
    r"""Return the largest difference to everyone where shares are known: each is a weighted sum of gaps.

    .. math:: m_g - \sum_h s_h m_h = \sum_h s_h (m_g - m_h)

    Each product is least and largest at ends of the share's and of the gap's interval.
    """
    largest_gap(found)
    sums = []
    for group in shares:
        gaps = [(share, found.gap(group, other)) for other, share in shares.items() if other != group]
        ends = [[s * d for s in (share.low, share.high) for d in (gap.low, gap.high)] for share, gap in gaps]
        estimate = sum(share.estimate * gap.estimate for share, gap in gaps)
        sums.append(Interval(estimate, sum(map(min, ends)), sum(map(max, ends))))
    return over(max, [each.size for each in sums])


def means_to_overall(found: QuestionEstimate) -> Interval:
    """Return the largest difference to everyone where the means of groups and of everyone hold together."""
    everyone = overall_of(found)
    means = means_of(found).values()
    return over(
        max,
        [Interval(m.estimate - everyone.estimate, m.low - everyone.high, m.high - everyone.low).size for m in means],
    )


def _positive(question: Question, found: QuestionEstimate, interval: Interval) -> Interval:
    """Return the interval of a mean within what the metric can be, for a ratio that makes sense."""
    low, high = float(question.metric.low), float(question.metric.high)
    if low < 0 or min(interval.estimate, interval.high) <= 0:
        raise found.untold("a ratio: a mean is not clearly above zero")
    return Interval(interval.estimate, max(interval.low, low), min(interval.high, high))


def ratio_of_groups(question: Question, found: QuestionEstimate) -> Interval:
    """Return the smallest mean over the largest; all means hold together."""
    means = [_positive(question, found, mean) for mean in means_of(found).values()]
    return at_most_one(over(min, means), over(max, means))


def ratio_to_overall(question: Question, found: QuestionEstimate) -> Interval:
    """Return the smallest ratio of a group and everyone; all means hold together."""
    everyone = _positive(question, found, overall_of(found))
    means = [_positive(question, found, mean) for mean in means_of(found).values()]
    return over(min, [at_most_one(mean, everyone) for mean in means])
