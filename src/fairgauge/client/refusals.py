"""Why a device gives no answer, as far as a server may know.

What a study asks and what a device allows is no secret of a person, and an operator who reads it can help.  The group
and the values decide about no refusal.  What fails when they are read all the same, such as a profile that is none, has
one text for everything.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.client.answer import check_able, check_time, contributor_of
from fairgauge.errors import CannotAnswer, InvalidInput, NotPrivate

if TYPE_CHECKING:
    from fairgauge.client.budget import Limits
    from fairgauge.client.ledger import Ledger
    from fairgauge.study import Study

_TEXT = "fairgauge: this device gives no answer"

# The text of a refusal is one of these and nothing else: no path, no number, no name.
TOLD = {
    "study": "the study cannot be read, or is not private",
    "asked": "the study asks for what this device's own settings do not name",
    "limit": "the study costs more than this device allows",
    "time": "the study is not open by this device's clock",
    "unable": "the study asks for what this device cannot do",
    "ledger": "the device's ledger cannot be used",
    "settings": "the device's own settings cannot be used",
    "agent": "the device's agent does not answer",
}
# What is the same for everything that fails when a profile or records are read.
UNTOLD = "device"


def refusal_text(code: str) -> str:
    """Return what a server may read.

    >>> refusal_text("ledger")
    "fairgauge: this device gives no answer: the device's ledger cannot be used"
    >>> refusal_text(UNTOLD) == _TEXT
    True
    """
    return f"{_TEXT}: {TOLD[code]}" if code in TOLD else _TEXT


@dataclass(frozen=True)
class Refusal:
    """No answer: why, as far as a server may know, and what the device's own log may say besides."""

    code: str
    detail: str = ""

    @property
    def text(self) -> str:
        """What a server may read."""
        return refusal_text(self.code)


def check_person(study: "Study", ledger: "Ledger", limits: "Limits") -> Refusal | None:
    """Return why a device of one person would refuse a study whatever the group and the values are; None if not."""
    for_sites = Refusal("unable", "the study is for sites that hold many people, and this is a device of one person")
    unable: Refusal | None = contributor_of(study).choose(profile=None, records=for_sites)
    return check_whoever(study, ledger, limits) or unable


def check_whoever(study: "Study", ledger: "Ledger", limits: "Limits") -> Refusal | None:
    """Return why a study would be refused whatever it is answered from; None if it would not.

    Args:
        study: The study.
        ledger: What remembers who answered what.
        limits: What may be spent.
    """
    checks: list[tuple[str, Callable[[], object]]] = [  # the code of what each refuses, and what refuses it
        ("unable", lambda: check_able(study, None)),
        ("unable", lambda: _check_terms(study)),
        ("time", lambda: check_time(study)),
        ("study", study.check_privacy),
        ("limit", lambda: ledger.check(study, limit=limits)),
    ]
    for code, run in checks:
        try:
            run()
        except InvalidInput as problem:
            return Refusal("ledger" if code == "limit" else code, str(problem))
        except (CannotAnswer, NotPrivate) as problem:
            return Refusal(code, str(problem))
    return None


def _check_terms(study: "Study") -> None:
    """Refuse terms that only a device which sends its own answer can keep, or only a collector.

    Here somebody else carries the answer, and knows whose it is: an answer must not be given and its terms left out.
    """
    for what, asked in (
        ("asks for a gateway that hides addresses", study.gateway is not None),
        ("asks for answers that wait for an epoch", study.epoch is not None),
        ("promises a release in batches, which a collector keeps", study.release is not None),
    ):
        if asked:
            raise CannotAnswer(f"the study {what}, and this answer would be carried by others")


def refusal_code(text: str) -> str | None:
    """Return the code of a text; None for one that is not ours, which may hold anything."""
    known = {refusal_text(code): code for code in (*TOLD, UNTOLD)}
    return known.get(text)


def summarise(texts: Iterable[str]) -> str:
    """Say in words how many refused or failed, and the most common reason that may be told; "" if nobody did.

    >>> summarise([refusal_text("ledger"), refusal_text("ledger"), "KeyError: 'female'"])
    "3 gave none; most often: the device's ledger cannot be used (2)"
    """
    found = [refusal_code(text) for text in texts]
    if not found:
        return ""
    code, often = Counter(found).most_common(1)[0]
    if code is None:
        words = "an error that is not fairgauge's, whose text is not repeated here"
    else:
        words = TOLD.get(code, "a reason that only the device's own log may tell")
    return f"{len(found)} gave none; most often: {words} ({often})"
