"""A study for sites on its page: how many answered, and what of their counts is shown when."""

from fairgauge.collector.seal_sites import FEWEST
from fairgauge.languages import Told


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
