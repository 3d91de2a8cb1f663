"""A study in the crowd on its page: what of its counts is shown, and what both promises are."""

from dataclasses import dataclass
from functools import lru_cache

from fairgauge.crowd import factor_sentence, guess_sentence, promised
from fairgauge.crowd.words import shown, shown_delta
from fairgauge.study import Study


def release_sentence(batch: int, *, shown: int, over: bool) -> str:
    """Return what is shown of the answers, and when more will be.

    >>> release_sentence(1000, shown=0, over=False)
    'No counts are shown yet. They leave in batches of at least 1,000 answers: when 2,000 wait, or the study closes.'
    """
    leave = f"batches of at least {batch:,} answers"
    if over:
        few = f"Fewer than {batch:,} answers came, too few to hide one person among, so their counts are never shown."
        return f"Counts left in {leave}, and all of them are shown now." if shown else few
    if not shown:
        return f"No counts are shown yet. They leave in {leave}: when {2 * batch:,} wait, or the study closes."
    return f"The counts of {shown:,} answers are shown. The others wait, so that counts leave in {leave}."


@dataclass(frozen=True)
class CrowdView:
    """The second promise, for a page."""

    epsilon: str
    delta: str
    batch: str
    known: str
    factor: str
    guess: str


@lru_cache(maxsize=64)
def crowd_view(study: Study) -> CrowdView | None:
    """Return the second promise of a study in the crowd; None for others.  It takes up to some seconds, once."""
    crowd = promised(study)
    if crowd is None:
        return None
    return CrowdView(
        epsilon=shown(crowd.epsilon, 4),
        delta=shown_delta(crowd.delta),
        batch=f"{crowd.batch:,}",
        known=f"{crowd.batch - crowd.people:,}",
        factor=factor_sentence(crowd),
        guess=guess_sentence(crowd),
    )
