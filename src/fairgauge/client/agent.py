"""The agent: it holds a person's profile and ledger, and gives out answers to whoever asks, once for each study.

An app that a server ships asks the agent and, if it runs as another user, sees neither group nor value.  What the agent
says is one line for each line that it hears (``docs/agent.md``)::

    hello                 ok fairgauge-agent 1
    check DOCUMENT        ok ready | ok answered | ok values ["recall"]
    value recall=0.83     ok
    answer DOCUMENT       ok {"id":"...","study":"...","symbol":2} | ok {"counts":[...],"id":"...","study":"..."}
    anything else         no line

and ``no CODE`` where it gives no answer, with a code of :mod:`fairgauge.client.refusals`.
"""

import json
import logging
from pathlib import Path

from fairgauge.client.agent_settings import READ, WRITE, AgentSettings, length_seen, trouble
from fairgauge.client.answer import Answer, contributor_of
from fairgauge.client.durable_files import make_folder
from fairgauge.client.ledger import Ledger
from fairgauge.client.policy import Policy
from fairgauge.client.refusals import UNTOLD, Refusal, check_person
from fairgauge.client.site_settings import SiteSettings, answer_by, refused_by
from fairgauge.errors import FairgaugeError, InvalidInput
from fairgauge.study import Study
from fairgauge.study.numbers import exact

_VERSION = 1
_MOST_VALUES = 64
# A line without a document: a value's name has 200 characters at most, of four bytes each, and its number 400.
_LONGEST_WORDS = 1280

_logger = logging.getLogger(__name__)


class AgentSite:
    """A site's records, behind an agent.

    Guarantee: exact; as for a site that answers by its own file, whatever those say who may only
    ask: as another user.

    Args:
        path: The site's own file (``SiteSettings``); read anew for every study.
        mode: The permissions of the agent's socket: whoever may only ask must not read records or write any file.
    """

    def __init__(self, path: Path, mode: int) -> None:
        self._path, self._mode = path, mode

    def settings(self) -> SiteSettings:
        """Read the site's own file, and look at who may touch what it names.

        Raises:
            InvalidInput: If a file is not safe from whoever may ask, or the file is none.
        """
        own = SiteSettings.load(self._path)
        for field, path, forbidden, owned in (
            ("site", self._path, WRITE, True),
            ("ledger", own.ledger, READ | WRITE, True),
            ("records", own.records, READ | WRITE, False),
            ("prepared", own.prepared, READ | WRITE, True),
        ):
            problem = trouble(path, self._mode, forbidden, owned=owned)
            if problem is not None:
                raise InvalidInput(field, path, f"must be safe from others: {problem}")
        for field, path in (("records", own.records), ("prepared", own.prepared)):
            if (seen := length_seen(path, self._mode)) is not None:
                raise InvalidInput(field, path, f"must be safe from others: {seen}")
        return own

    def check(self, study: Study, policy: Policy) -> Refusal | None:
        """Return why a study is refused whatever the records are; its own file says what may be counted."""
        try:
            return Policy(studies=policy.studies).refused(study) or refused_by(self.settings(), study)
        except FairgaugeError as problem:
            return Refusal("settings", str(problem))

    def answered(self, study: Study) -> bool:
        """Tell whether the study has its answer."""
        return Ledger(self.settings().ledger).state(study.digest) is not None

    def wanted(self, study: Study) -> list[str]:
        """Return nothing: all values come from the records."""
        del study
        return []

    def answer(self, study: Study, given: dict[str, str]) -> Answer | Refusal:
        """Answer a study that was checked, or repeat its answer."""
        del given
        return answer_by(self.settings(), study)


class _AgentPerson:
    """A person's profile and ledger, behind an agent."""

    def __init__(self, settings: AgentSettings) -> None:
        self._settings, self._ledger = settings, Ledger(settings.ledger)

    def check(self, study: Study, policy: Policy) -> Refusal | None:
        """Return why a study is refused whatever the profile says; None if it would be answered, or was."""
        refused = policy.refused(study)
        if refused is not None:
            return refused
        if not self._settings.has_profile:
            return Refusal("unable", "the study is for devices of one person each, and this agent is a site's")
        try:
            make_folder(self._settings.ledger)
            self._settings.check_ledger()
            if self._ledger.state(study.digest) is not None:
                return None
        except (FairgaugeError, OSError) as problem:
            return Refusal("ledger", str(problem))
        return check_person(study, self._ledger, self._settings.limits)

    def answered(self, study: Study) -> bool:
        """Tell whether the study has its answer."""
        return self._ledger.state(study.digest) is not None

    def wanted(self, study: Study) -> list[str]:
        """Return the metrics of a study whose values come from whoever asks."""
        return sorted(_metric_names(study) & self._settings.askers_give)

    def answer(self, study: Study, given: dict[str, str]) -> Answer | Refusal:
        """Answer a study that was checked, or repeat its answer."""
        if self.answered(study):
            return self._ledger.answer(study, {"group": None, "values": {}})
        profile = self._settings.read_profile()
        # By the study's names and not by the profile's, so that everybody takes the same steps.
        sources, theirs = (profile["values"], given), self._settings.askers_give
        values = {name: sources[name in theirs].get(name) for name in _metric_names(study)}
        held = {"group": profile["group"], "values": values}
        return self._ledger.answer(study, held, limit=self._settings.limits)


class Agent:
    """What answers for one person, or for a site that holds many.

    Guarantee: exact; over the ledger's lifetime each study gets one randomisation, every answer is
    epsilon-differentially private for the study's exact epsilon, and their sum for an attribute is within the limit of
    the agent's own file, whatever those say who may only ask: who runs as the agent's user could delete the ledger.
    Whether there is an answer does not depend on the group and the values in the profile: what is missing or not listed
    is answered as :func:`fairgauge.client.answer` says.

    Args:
        settings: The agent's own.
    """

    def __init__(self, settings: AgentSettings) -> None:
        self.settings = settings
        self._person = _AgentPerson(settings)
        self._site = None if settings.site is None else AgentSite(settings.site, settings.mode)

    def conversation(self) -> "_Conversation":
        """Begin with someone who connected."""
        return _Conversation(self)

    def check(self, document: bytes) -> Study | Refusal:
        """Return the study, or why it is refused whatever the profile says."""
        try:
            study = Study.from_bytes(document)
        except FairgaugeError as problem:
            return Refusal("study", str(problem))
        return self._holder(study).check(study, self.settings.policy) or study

    def answered(self, study: Study) -> bool:
        """Tell whether the study has its answer."""
        return self._holder(study).answered(study)

    def wanted(self, study: Study) -> list[str]:
        """Return the metrics of a study whose values come from whoever asks; a site's come from its records."""
        return self._holder(study).wanted(study)

    def answer(self, study: Study, given: dict[str, str]) -> Answer | Refusal:
        """Answer a study that was checked, or repeat its answer."""
        try:
            return self._holder(study).answer(study, given)
        except FairgaugeError as problem:
            return Refusal(UNTOLD, str(problem))

    def _holder(self, study: Study) -> "_AgentPerson | AgentSite":
        """Return what holds what a study asks for."""
        return contributor_of(study).choose(profile=self._person, records=self._site or self._person)


def _metric_names(study: Study) -> set[str]:
    """Return the names of what a study measures."""
    return {question.metric.name for question in study.questions}


class _Conversation:
    """What one who connected said, and what to say to the next line."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._given: dict[str, str] = {}
        self._logged: set[str] = set()

    def reply(self, line: bytes) -> bytes:
        """Return the reply to one line, both without the end of the line; it never raises."""
        try:
            found = self._reply(line)
        except BaseException as problem:  # noqa: BLE001 - its text might hold what a person gave; and engines panic
            _logger.error("a mistake in fairgauge: %s", type(problem).__name__)
            found = Refusal(UNTOLD)
        if isinstance(found, Refusal):
            if found.code not in self._logged:  # once in a connection, so that nobody fills the log with one
                self._logged.add(found.code)
                _logger.warning("no %s: %s", found.code, found.detail or found.text)
            return f"no {found.code}".encode()
        return f"ok {found}".rstrip().encode()

    def _reply(self, line: bytes) -> str | Refusal:
        verb, _, rest = line.partition(b" ")
        if verb not in (b"check", b"answer") and len(line) > _LONGEST_WORDS:
            return Refusal("line", "the line is too long for one without a document")
        match verb:
            case b"hello" if not rest:
                return f"fairgauge-agent {_VERSION}"
            case b"value":
                return self._take(rest)
            case b"check" | b"answer":
                study = self._agent.check(rest)
                if isinstance(study, Refusal):
                    return study
                return self._check(study) if verb == b"check" else self._answer(study)
        return Refusal("line", "the line is no request")

    def _check(self, study: Study) -> str:
        if self._agent.answered(study):
            return "answered"
        wanted = self._agent.wanted(study)
        return f"values {json.dumps(wanted, ensure_ascii=False)}" if wanted else "ready"

    def _answer(self, study: Study) -> str | Refusal:
        given, self._given = self._given, {}
        found = self._agent.answer(study, given)
        if isinstance(found, Refusal):
            return found
        _logger.info("study %s: answered", study.digest)
        return found.to_bytes().decode()

    def _take(self, rest: bytes) -> str | Refusal:
        """Keep a value for the next answer; the text of a refusal never holds it."""
        name, mark, number = rest.decode(errors="replace").rpartition("=")
        if not mark or exact(number) is None or len(self._given) >= _MOST_VALUES:
            return Refusal("line", "a value must be METRIC=X")
        self._given[name] = number
        return ""
