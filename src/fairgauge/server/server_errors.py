"""Why a collector does not do what it is asked to: each reason is an error of its own.

None of them knows HTTP.  :mod:`fairgauge.server.problems` says how each is told over the wire.
"""

from fairgauge.errors import InvalidInput, Refused


class ComeAgain(Refused):
    """No for now: another try after some seconds may succeed."""

    def __init__(self, text: str, seconds: float) -> None:
        super().__init__(text)
        self.seconds = seconds


class BadAnswer(InvalidInput):
    """An answer breaks its format, or is to another study."""


class BadMediaType(Refused):
    """A body is of a kind that is not read here."""


class TooLarge(Refused):
    """A body is larger than is read; the rest of it is not."""


class BrokenOff(Refused):
    """A connection ended before its request was complete."""


class NoToken(Refused):
    """There is no token, or none that is good."""


class NotAllowed(Refused):
    """The token is good, but not for this."""


class BadTicket(Refused):
    """An answer's id is not a ticket for its study."""


class NoStudy(Refused):
    """No study of this name is published here."""


class NotSealed(Refused):
    """A study has no seal yet."""


class AnswersGone(Refused):
    """A sealed study's answers were removed, so that there is nothing to export."""


class OtherTerms(Refused):
    """A study is published already, on other terms."""


class RecordContradicted(Refused):
    """The record of seals and released batches says otherwise."""


class Conflict(Refused):
    """An id has another answer already."""


class Closed(Refused):
    """A study takes no more answers."""


class TooEarly(ComeAgain):
    """A study is not open yet."""


class TooMany(ComeAgain):
    """More is asked for in a second than the collector is set to take."""


class Busy(ComeAgain):
    """As much as fits is being worked on already."""


class Stopping(ComeAgain):
    """The collector is about to end."""
