"""A study in the crowd on its page: what of its counts is shown, and what both promises are."""

from dataclasses import dataclass
from functools import lru_cache

from fairgauge.collector.pages.speaking import ENGLISH
from fairgauge.crowd import Crowd, promised
from fairgauge.crowd.words import factor_of, right_at_most, shown, shown_delta
from fairgauge.languages import Numeral, Told, Voice
from fairgauge.study import Study


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


@dataclass(frozen=True)
class CrowdView:
    """The second promise, for a page."""

    epsilon: str
    batch: str
    factor: str
    guess: str
    promise: str


def crowd_view(study: Study, voice: Voice = ENGLISH) -> CrowdView | None:
    """Return the second promise of a study in the crowd; None for others.  It takes up to some seconds, once."""
    crowd = _promised(study)
    if crowd is None:
        return None
    delta, known = Numeral(shown_delta(crowd.delta)), crowd.batch - crowd.people
    key, more = ("study.crowd-known", {"known": known}) if known else ("study.crowd", {})
    right = Told.of("number.percent", number=Numeral(shown(right_at_most(crowd), 3)))
    epsilon = Numeral(shown(crowd.epsilon, 4))
    return CrowdView(
        epsilon=voice.tell(epsilon),
        batch=voice.number(crowd.batch),
        factor=voice.tell(Told.of("study.factor", factor=Numeral(shown(factor_of(crowd), 3)), delta=delta)),
        guess=voice.tell(Told.of("study.guess", right=right)),
        promise=voice.tell(Told.of(key, epsilon=epsilon, delta=delta, **more)),
    )


@lru_cache(maxsize=64)
def _promised(study: Study) -> Crowd | None:
    return promised(study)
