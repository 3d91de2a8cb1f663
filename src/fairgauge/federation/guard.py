"""The guard on a device: what an app's code measured goes in, one answer comes out, or a refusal that says nothing.

First comes all that depends on the study and on the device's own settings; a refusal there may be told.  Then the
group is read and the app's code runs.  From there on every failure is the same failure.
"""

import builtins
import logging
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgauge.client import Answer, Ledger, Limits
from fairgauge.client.disk import make_folder
from fairgauge.client.refusals import UNTOLD, Refusal, check_whoever
from fairgauge.errors import CannotAnswer, FairgaugeError
from fairgauge.study import Study

if TYPE_CHECKING:
    from fairgauge.client.site import SiteAnswer

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Guard:
    """What gives answers on a device that holds its own ledger.

    Args:
        ledger: The device's ledger; its folder is made if need be.
        limits: What the device is willing to spend.
    """

    ledger: Path
    limits: Limits

    def answer(
        self, study: Study, groups: Callable[[], Mapping[str, Any]], values: Callable[[], Mapping[str, Any]]
    ) -> Answer | Refusal:
        """Answer a study, or repeat the answer that it got; the two functions run code of the app by :func:`of_app`.

        Guarantee: exact; whatever the functions return or raise, the answer is epsilon-differentially private for
        the study's exact epsilon, and a refusal is the same whatever they did.
        """
        try:
            make_folder(self.ledger)
            kept = Ledger(self.ledger)
            if kept.state(study.digest) is not None:
                return kept.answer(study, {"group": None, "values": {}})  # the answer that is there, whatever is asked
        except (FairgaugeError, OSError) as problem:
            return Refusal("ledger", _words(problem))
        refused = check_whoever(study, kept, self.limits)
        if refused is not None:
            return refused
        try:
            return kept.answer(study, {"group": groups(), "values": values()}, limit=self.limits)
        except FairgaugeError as problem:
            return Refusal(UNTOLD, str(problem))


def guarded(code: Callable[[], "Answer | SiteAnswer | Refusal"]) -> "Answer | SiteAnswer | Refusal":
    """Run the guard itself, whatever happens in it, and write the device's own log.

    ``KeyboardInterrupt`` and a framework's own are caught as well: a device that says nothing for a round, or an
    exception whose words reach a log, would both tell more than a refusal does.
    """
    try:
        found = code()
    except FairgaugeError as problem:
        found = Refusal(UNTOLD, str(problem))
    except BaseException as problem:  # noqa: BLE001 - its text must not reach the server, whatever it is
        found = Refusal(UNTOLD, f"a mistake in fairgauge: {place(problem)}")
    if isinstance(found, Refusal):
        _logger.warning("no answer: %s", found.detail or found.text)
    return found


def of_app(code: Callable[[], Any]) -> Any:
    """Run code of the app; if it fails, tell where but not what, because its words may hold anything.

    Raises:
        CannotAnswer: Naming the kind of the failure and its place.
    """
    try:
        return code()
    except BaseException as problem:  # noqa: BLE001 - the text of an exit or of an interrupt would travel like any other
        where = place(problem)
    raise CannotAnswer(f"the app's own code failed with {where}")


def place(problem: BaseException) -> str:
    """Return what kind of failure it was and where, in no words that the app could have made up while it ran."""
    kind = type(problem)
    name = kind.__name__ if getattr(builtins, kind.__name__, None) is kind else "an exception of its own"
    frames = traceback.extract_tb(problem.__traceback__)
    last = next((frame for frame in reversed(frames) if _is_file(frame.filename)), None)
    return name if last is None else f"{name} at {last.filename}:{last.lineno}"


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def _words(problem: BaseException) -> str:
    return str(problem) if isinstance(problem, FairgaugeError) else str(getattr(problem, "strerror", "")) or "no folder"
