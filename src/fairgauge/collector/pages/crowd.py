"""A study in the crowd on its page: what of its counts is shown."""

from fairgauge.languages import Told


def release_sentence(batch: int, *, shown: int, over: bool) -> str:
    """Return what is shown of the answers, and when more will be.

    >>> release_sentence(1000, shown=0, over=False)
    'No counts are shown yet. They leave in batches of at least 1,000 answers: when 2,000 wait, or the study closes.'
    """
    if over:
        return Told.of("results.released" if shown else "results.too-few", batch=batch)
    if not shown:
        return Told.of("results.not-yet", batch=batch, twice=2 * batch)
    return Told.of("results.some", shown=shown, batch=batch)
