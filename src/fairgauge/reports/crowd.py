"""The two promises of a study in the crowd, in words: for its page and for its report."""

from dataclasses import dataclass
from functools import lru_cache

from fairgauge.crowd import Crowd, promised
from fairgauge.crowd.words import factor_of, is_loose, right_at_most, shown, shown_delta
from fairgauge.languages import PLAIN, Numeral, Told, Voice
from fairgauge.study import Study


@dataclass(frozen=True)
class CrowdView:
    """The second promise, for a page or a report."""

    epsilon: str
    batch: str
    factor: str
    guess: str
    promise: str
    loose: str  # what so large a delta would allow; empty for one that is small


def crowd_view(study: Study, voice: Voice = PLAIN) -> CrowdView | None:
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
        loose=voice.say("study.loose", batch=voice.number(crowd.batch)) if is_loose(crowd) else "",
    )


@lru_cache(maxsize=64)
def _promised(study: Study) -> Crowd | None:
    return promised(study)
