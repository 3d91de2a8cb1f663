"""What of a study's sums its page shows, and when: in the crowd closed batches, of sites nothing before the end."""

from fairgauge.languages import Told
from fairgauge.study.noisy_counts import FEWEST


def release_sentence(batch: int, *, shown: int, over: bool) -> str:
    """Return what is shown of the answers, and when more will be.

    >>> release_sentence(1000, shown=0, over=False)
    'No counts are shown yet. They leave in batches of 1,000 answers: when 2,000 wait, or the study closes.'
    """
    if over:
        return Told.of("results.released") if shown else ""
    if not shown:
        return Told.of("results.not-yet", batch=batch, twice=2 * batch)
    return Told.of("results.some", shown=shown, batch=batch)


def sites_sentence(answered: int, *, over: bool) -> str:
    """Return how many sites answered, and when their sum is shown; empty where it is.

    >>> sites_sentence(2, over=False).partition(": ")[0]
    '2 sites have answered. What they counted is summed up and shown when the study closes'
    >>> sites_sentence(3, over=True)
    ''
    """
    if not over:
        told = Told.of("sites.answered", count=answered) if answered else Told.of("sites.none")
        return Told.together([told, Told.of("sites.waiting")])
    if answered >= FEWEST or not answered:
        return ""
    return Told.of("sites.too-few", fewest=FEWEST)
