"""A study for sites on its page: how many answered, and what of their counts is shown when."""

from fairgauge.collector.seal_sites import FEWEST

_WORDS = {0: "No site has", 1: "One site has"}


def sites_sentence(answered: int, *, over: bool) -> str:
    """Return how many sites answered, and when their sum is shown; empty where it is.

    >>> sites_sentence(2, over=False).partition(": ")[0]
    '2 sites have answered. What they counted is summed up and shown when the study closes'
    >>> sites_sentence(3, over=True)
    ''
    """
    if not over:
        told = _WORDS.get(answered, f"{answered:,} sites have")
        return (
            f"{told} answered. What they counted is summed up and shown when the study closes: a sum before and one "
            "after would tell what the site between them counted."
        )
    if answered >= FEWEST or not answered:
        return ""
    return (
        f"Fewer than {FEWEST} sites answered, so nothing is shown: the sum would tell one site's counts to the other."
    )
