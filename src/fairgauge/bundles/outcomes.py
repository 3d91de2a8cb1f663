"""What a check found, what all of them found, and what signatures are checked with."""

from dataclasses import dataclass
from typing import Literal

from fairgauge.bundles.files import Piece

Outcome = Literal["holds", "broken", "open"]


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Args:
        about: What it is about: ``study``, ``signature``, ``tally``, ``seal``, ``record``, ``export``, ``report``, or
            ``words`` for the words of a report.
        outcome: ``holds``, ``broken``, or ``open`` if it was not, or could not be checked.
        sentence: What was found, for people.
    """

    about: str
    outcome: Outcome
    sentence: str

    def to_dict(self) -> dict[str, str]:
        """Return it for JSON."""
        return {"about": self.about, "outcome": self.outcome, "sentence": self.sentence}


@dataclass(frozen=True)
class Signatures:
    """What signatures are checked with.

    Args:
        keys: The collector's public keys, as whoever checks knows them: one, or several where it changed its key in
            between.  Without any, the files' own word is taken.
        study: The signature of the study, if it was given by hand.
        strict: Whether numbers that no seal covers are broken; with a key they always are.
        record: The collector's record of its seals, if it was given.
    """

    keys: tuple[str, ...] = ()
    study: str | None = None
    strict: bool = False
    record: Piece | None = None


@dataclass(frozen=True)
class Verification:
    """What was found about the files of a study.

    Args:
        checks: Everything that was looked at.
        sealed: Whether a seal with a good signature covers the numbers; None if there are no numbers to cover.
        by: Who sealed them, in words.
    """

    checks: tuple[Check, ...]
    sealed: bool | None = None
    by: str = ""

    @property
    def broken(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome == "broken")

    @property
    def unread(self) -> tuple[Check, ...]:
        """What was not compared though a reader goes by it: a report's words.

        Whoever forges a report also writes which version made it, so that is no reason to let it pass.
        """
        return tuple(check for check in self.checks if check.about == "words" and check.outcome == "open")
