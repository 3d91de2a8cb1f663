"""The guard on a device: what an app's code measured goes in, and one answer comes out.

First comes all that depends on the study and on the device's own settings; a refusal there may be told.  Then the
group is read and the app's code runs.  From there on there is an answer whatever they give: what fails, what is missing
and what the study does not list is answered as by somebody who lacks it, and charged as any answer is.
"""

import builtins
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from fairgauge.client import Answer, Ledger, Limits
from fairgauge.client.agent import Agent
from fairgauge.client.agent_settings import AgentSettings
from fairgauge.client.agent_socket import ask_agent
from fairgauge.client.answer import contributor_of
from fairgauge.client.durable_files import make_folder
from fairgauge.client.profile_entries import entry_of, entry_text
from fairgauge.client.refusals import UNTOLD, Refusal, check_person
from fairgauge.client.site_settings import answer_asked
from fairgauge.errors import CannotAnswer, FairgaugeError
from fairgauge.study import Study
from fairgauge.study.numbers import exact

_logger = logging.getLogger(__name__)
# What a float can hold is beyond every range, as this is.
_MOST = Fraction(10**300)

# As Python reads them, whatever a class of the app's own has under these names.
_name_of: Callable[[type], str] = vars(type)["__name__"].__get__
_traceback_of: Callable[[BaseException], TracebackType | None] = vars(BaseException)["__traceback__"].__get__


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
        """Answer a study, or repeat the answer that it got; the two functions run code of the app.

        Guarantee: exact; whatever the functions return or raise, there is an answer if there would be one for anybody,
        and it is epsilon-differentially private for the study's exact epsilon.  They must end, before the study closes:
        how long an app's code takes is not held back.
        """
        try:
            make_folder(self.ledger)
            kept = Ledger(self.ledger)
            if kept.state(study.digest) is not None:
                return kept.answer(study, {"group": None, "values": {}})  # the answer that is there, whatever is asked
        except (FairgaugeError, OSError) as problem:
            return Refusal("ledger", _words(problem))
        refused = check_person(study, kept, self.limits)
        if refused is not None:
            return refused
        profile = {"group": given_by_app(groups), "values": given_by_app(values)}
        try:
            # Whether it fits is in no log: a node's can be fetched, and whoever picks the study would read the group.
            return kept.answer(study, profile, limit=self.limits)
        except FairgaugeError as problem:  # another process was quicker, or the study has just closed
            return Refusal(UNTOLD, str(problem))


@dataclass(frozen=True)
class Source:
    """Where a node's answers come from, as its own configuration names it.

    Args:
        agent: The socket of an agent.
        settings: The file of an agent that answers within this process.
        records: The own file of a site, which holds many people.
        lacks: What a configuration that names none of them lacks for a study of sites.
    """

    agent: str | None
    settings: str | None
    records: str | None
    lacks: str

    def answer(self, study: Study, values: Callable[[], Mapping[str, Any]]) -> Answer | Refusal | None:
        """Answer a study; None if nothing is named that could."""
        own: Callable[[], Answer | Refusal] | None = None
        if self.agent is not None:
            own = partial(ask_agent, self.agent, study, values)
        elif self.settings is not None:
            own = partial(_answer_within, self.settings, study, values)
        counted = own or partial(Refusal, "settings", f"the study is for sites, and {self.lacks}")
        if self.records is not None:
            counted = partial(answer_asked, self.records, study)
        chosen = contributor_of(study).choose(profile=own, records=counted)
        return None if chosen is None else chosen()


def _answer_within(settings: str | Path, study: Study, values: Callable[[], Mapping[str, Any]]) -> Answer | Refusal:
    """Answer by an agent within this process, as its own file says: code of the app runs beside the profile then.

    Args:
        settings: The agent's own file.
        study: The study.
        values: Gives the values of those metrics that the agent takes from who asks; not called where it takes none,
            or has answered before.
    """
    try:
        agent = Agent(AgentSettings.load(settings))
    except FairgaugeError as problem:
        return Refusal("settings", str(problem))
    checked = agent.check(study.to_bytes())
    if isinstance(checked, Refusal):
        return checked
    wanted = [] if agent.answered(checked) else agent.wanted(checked)
    found = values() if wanted else {}
    numbers = {name: entry_text(entry_of(found, name)) for name in wanted}
    return agent.answer(checked, {name: number for name, number in numbers.items() if number is not None})


def guarded(code: Callable[[], Answer | Refusal]) -> Answer | Refusal:
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


def given_by_app(code: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """Return what code of the app gives by name, as plain texts and numbers; nothing if it fails, however it does."""
    try:
        found: Mapping[Any, Any] = code()
        return {str.__str__(name): _plain(entry) for name, entry in found.items() if isinstance(name, str)}
    except BaseException as problem:  # noqa: BLE001 - one that gets away would be an answer less
        _logger.warning("the app's own code failed with %s; what it was to give counts as missing", place(problem))
    return {}


def _plain(entry: Any) -> str | int | float | None:
    """Return an entry without whatever a class of the app's own could do where it is read; None if it is neither."""
    match entry:
        case bool():
            return None
        case str():
            return str.__str__(entry)
        case int():
            return int.__index__(entry)
        case float():
            return float.__float__(entry)
    number = exact(entry)  # such as NumPy's
    return None if number is None else float(max(-_MOST, min(number, _MOST)))


def place(problem: BaseException) -> str:
    """Return what kind of failure it was and where, in no words that the app could have made up while it ran.

    Nothing here runs code of the app: its exceptions, their classes, its modules and the names of its files can have
    some.  So it reads with Python's own descriptors, and no line of source.
    """
    kind = type(problem)
    called = str.__str__(_name_of(kind))
    name = called if vars(builtins).get(called) is kind else "an exception of its own"
    last, step = "", _traceback_of(problem)
    while step is not None:
        file = str.__str__(step.tb_frame.f_code.co_filename)
        last, step = (f" at {file}:{step.tb_lineno}" if _is_file(file) else last), step.tb_next
    return name + last


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def _words(problem: BaseException) -> str:
    return str(problem) if isinstance(problem, FairgaugeError) else str(getattr(problem, "strerror", "")) or "no folder"
