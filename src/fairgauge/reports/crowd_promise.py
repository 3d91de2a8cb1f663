"""The two promises of a study in the crowd, in words: for its page and for its report."""

from dataclasses import dataclass
from functools import lru_cache

from fairgauge.crowd import Crowd, promised
from fairgauge.crowd.sentences import factor_of, is_loose, one_in, right_at_most, shown
from fairgauge.languages import PLAIN, Numeral, Sentence, Voice
from fairgauge.study import Study


@dataclass(frozen=True)
class _CrowdView:
    """The second promise, for a page or a report."""

    epsilon: str
    draws: str
    factor: str
    guess: str
    promise: str
    loose: str  # what so large a delta would allow; empty for one that is small


def crowd_view(study: Study, voice: Voice = PLAIN) -> _CrowdView | None:
    """Return the second promise of a study in the crowd; None for others.  It takes up to some seconds, once."""
    crowd = _promised(study)
    if crowd is None:
        return None
    delta = Numeral(shown(crowd.delta, 3))
    right = Sentence.of("number.percent", number=Numeral(shown(right_at_most(crowd), 3)))
    epsilon = Numeral(shown(crowd.epsilon, 4))
    return _CrowdView(
        epsilon=voice.tell(epsilon),
        draws=voice.number(crowd.draws),
        factor=voice.tell(Sentence.of("study.factor", factor=Numeral(shown(factor_of(crowd), 3)), delta=delta)),
        guess=voice.tell(Sentence.of("study.guess", right=right)),
        promise=voice.tell(Sentence.of("study.crowd", epsilon=epsilon, delta=delta)),
        loose=voice.say("study.loose", batch=voice.number(one_in(crowd))) if is_loose(crowd) else "",
    )


@lru_cache(maxsize=64)
def _promised(study: Study) -> Crowd | None:
    return promised(study)
