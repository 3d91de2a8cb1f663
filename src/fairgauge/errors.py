"""Everything that fairgauge raises, as one tree.

::

    FairgaugeError
    ├── InvalidInput      field, value, rule: "epsilon=-1: must be above 0"        (also a ValueError)
    │   ├── BadTable      a channel's table; the field names row and column: "table[3][2]"
    │   ├── BadRecords    rows of a table of people; .problems has each thing that is wrong
    │   ├── BadStudy      a study document; the field is a path: "questions[0].attribute.shares"
    │   ├── BadTally      a tally that is malformed, or of another study
    │   ├── BadLedger     a device's ledger that cannot be trusted; it is left as it is
    │   └── BadAnswer     an answer that is malformed, or to another study
    ├── NotPrivate        a table spends more privacy than declared, or than the device allows
    ├── CannotAnswer      the device refuses to answer
    ├── CannotSend        the answer was not delivered; the same bytes may be sent again
    │   └── AnswerRefused the collector said no for good
    ├── CannotEstimate    these counts, or this study, cannot tell
    │   └── Contradicted  the answers contradict what the study says of how often groups answer
    ├── Impossible        no design or epsilon reaches what was asked
    ├── MissingExtra      an optional dependency is not installed                  (also an ImportError)
    ├── NotSigned         a signature is not by the holder of the key
    ├── SealBroken        what was sealed is not what is there
    ├── StoreError        a collector's store cannot do its work
    │   ├── StoreFull     there is no room left
    │   ├── StoreDamaged  what is stored contradicts itself, or cannot be read
    │   └── StoreAway     it does not answer now
    └── Refused           a collector says no; the reasons are in fairgauge.server.server_errors
        ├── BadMediaType, TooLarge, BrokenOff, NoToken, NotAllowed, BadTicket, NoStudy, NotSealed, AnswersGone,
        │   OtherTerms, RecordContradicted, Conflict, Closed
        └── ComeAgain     no for now: TooEarly, TooMany, Busy, Stopping

The command line exits with status 2 for ``InvalidInput`` and with 1 for the others.  Texts may travel to a
server or into a log, so none of them ever holds a person's group or value.
"""

# ruff: noqa: N818 - each name says what went wrong, and "Error" would not add to it

_LONGEST_VALUE = 60
# What was made before the first version of a format is refused with this, wherever it is met.
OF_BEFORE = "is of before the first release; commit 8336ba5 of fairgauge is the last that can export it"


class FairgaugeError(Exception):
    """The root: catch this to catch everything that fairgauge raises on purpose."""


class InvalidInput(FairgaugeError, ValueError):
    """An input breaks a rule.

    >>> print(InvalidInput("epsilon", -1, "must be above 0"))
    epsilon=-1: must be above 0
    """

    def __init__(self, field: str, value: object, rule: str) -> None:
        super().__init__(field, value, rule)
        self.field = field
        self.value = value
        self.rule = rule

    def __str__(self) -> str:
        return f"{self.field}={_shown(self.value)}: {self.rule}"


class BadTable(InvalidInput):
    """A channel's table is malformed."""


class BadStudy(InvalidInput):
    """A study document is malformed."""


class BadTally(InvalidInput):
    """A tally is malformed, or belongs to another study."""


class BadLedger(InvalidInput):
    """A device's ledger is damaged, foreign or out of reach; it is left as it is."""


class BadRecords(InvalidInput):
    """Rows of a table of people cannot be used; everything that is wrong, each on a line of its own.

    >>> another = InvalidInput("row 9: recall", "?", "must be known")
    >>> print(BadRecords("row 3: sex", "x", "must be female or male", another))
    row 3: sex=x: must be female or male
    row 9: recall=?: must be known
    """

    def __init__(self, field: str, value: object, rule: str, *others: InvalidInput) -> None:
        super().__init__(field, value, rule)
        self.args = (field, value, rule, *others)
        self.problems = (InvalidInput(field, value, rule), *others)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class NotPrivate(FairgaugeError):
    """A study's table spends more privacy than it declares, or than the device allows."""


class CannotAnswer(FairgaugeError):
    """The device refuses to answer; the text never holds the group or the value."""


class CannotSend(FairgaugeError):
    """The answer was not delivered; a ledger keeps it, and the same bytes may be sent again."""


class AnswerRefused(CannotSend):
    """The collector refused the answer for good: sending it again would not help."""


class CannotEstimate(FairgaugeError):
    """These counts, or this study, cannot give the number that was asked for."""


class Impossible(FairgaugeError):
    """No design or epsilon reaches what was asked."""


class MissingExtra(FairgaugeError, ImportError):
    """An optional dependency is not installed.

    The line works although fairgauge is on no registry: whoever reads it has fairgauge, pip sees that, and fetches
    only what the extra names.

    >>> print(MissingExtra("drawing plots needs matplotlib", "lab"))
    drawing plots needs matplotlib: pip install 'fairgauge[lab]'
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(what, extra)
        self.what = what
        self.extra = extra

    def __str__(self) -> str:
        return f"{self.what}: pip install 'fairgauge[{self.extra}]'"


class NotSigned(FairgaugeError):
    """A signature is not by the holder of the key."""


class SealBroken(FairgaugeError):
    """The answers, the tally, the study or the signature are not the ones that were sealed."""


class StoreError(FairgaugeError):
    """A collector's store cannot do its work."""


class StoreFull(StoreError):
    """There is no room left; nothing was stored."""


class StoreDamaged(StoreError):
    """What is stored contradicts itself, or its pages cannot be read."""


class StoreAway(StoreError):
    """The store does not answer now; what was sent may or may not be stored, and may be sent again."""


class Refused(FairgaugeError):
    """A collector says no; each reason is a class of its own in ``fairgauge.server.server_errors``."""


def _shown(value: object) -> str:
    """Return the value on one short printable line: documents come from strangers, and go to a terminal."""
    try:
        text = str(value)
    except ValueError:  # Python does not write out integers of more than 4300 digits
        text = f"{type(value).__name__} too long to show"
    if not text or not text.isprintable():
        text = ascii(text)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."
