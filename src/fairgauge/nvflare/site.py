"""The site's part: what its own ``privacy.json`` names, and a job that leaves NVFlare's code alone cannot leave out.

NVFlare runs a site's filters before those of a job.  So the guard stands behind all of them, at the door
(:mod:`fairgauge.nvflare.outgoing_guard`), and it also holds events, messages and streams that would go to the server.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from nvflare.apis.filter import Filter
from nvflare.apis.fl_component import FLComponent
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.private.privacy_manager import PrivacyService

from fairgauge.client import Answer
from fairgauge.client.refusals import Refusal
from fairgauge.errors import FairgaugeError, InvalidInput
from fairgauge.federation.guard import Source, guarded
from fairgauge.nvflare.outgoing_guard import ASKED, StudyTask, hold_events, hold_messages, keep_the_door
from fairgauge.nvflare.task_result import measured, not_done, only_weights, study_of, to_result
from fairgauge.study import Study

_SITE = "{site}"


class StudyFilter(Filter):
    """Notes which study a task asks; goes into ``task_data_filters``."""

    def process(self, shareable: Shareable, fl_ctx: FLContext) -> Shareable:
        """Keep the study for the filter of the result, and pass the task on."""
        # The guard may have noted it before, and a job that brings such a filter comes later.
        ASKED.setdefault(fl_ctx, StudyTask(str(fl_ctx.get_identity_name()), study_of(shareable)))
        return shareable


class AnswerFilter(Filter):
    """Replaces a task's result by one answer to the study that it asked; goes into ``task_result_filters``.

    The result of a task that asked no study, such as training, is reduced to the model's arrays.

    Guarantee: exact; whatever the job's code returns, what this filter returns for a task that asks a study is
    epsilon-differentially private for the study's exact epsilon, and whether there is an answer depends on the study
    and on the site's own settings alone: what the code did not measure is answered as by somebody who lacks it.  A
    job's own filters come later: what they make of it is the guard's business.

    Args:
        agent: The socket of the site's agent.
        settings: Or an agent's settings, for an agent within this process: then code of a job runs beside the profile.
        records: For studies of sites that hold many people: the file that says where the site's records are, how they
            are read and how far the site goes.  It may stand beside one of the others.
            In each path, ``{site}`` stands for the site's name: the simulator has one ``privacy.json`` for all.
    """

    def __init__(self, agent: str | None = None, settings: str | None = None, records: str | None = None) -> None:
        super().__init__()
        self._source = _SiteSource(agent, settings, records)

    def process(self, shareable: Shareable, fl_ctx: FLContext) -> Shareable:
        """Return what may leave."""
        return self._source.leaving(shareable, ASKED.get(fl_ctx, StudyTask()))


class SiteGuard(FLComponent):
    """Lets nothing past the filters; goes into ``components`` of ``privacy.json``.

    A job's own filters and handlers of events come after the site's filters, so what they leave is not sent.  What is
    sent is made here once more, for the study that the task asked when it came: by the site's own agent, settings or
    records, which repeat an answer from their ledger.  Events for the server, which is how metrics are streamed, do not
    leave, and nor do auxiliary messages and streams of a job's parts.

    Guarantee: exact; whatever a job's executor, filters, handlers of events, headers, cookies and properties say, the
    reply to a task that asks a study is an answer of the site's own source or a refusal of a few fixed texts, or one of
    two codes with which NVFlare stops a task.  Code of a job that changes NVFlare or this guard in memory is not held.

    NVFlare's simulator leaves out the scopes of ``privacy.json``, and with them the filters.  There the guard does
    their work as well, so it has the same arguments.
    """

    def __init__(self, agent: str | None = None, settings: str | None = None, records: str | None = None) -> None:
        super().__init__()
        self._source = _SiteSource(agent, settings, records)
        keep_the_door(_guard_of_the_site)
        hold_events()
        hold_messages()

    def leaving(self, asked: StudyTask, reply: Shareable) -> Shareable:
        """Return what leaves for a task, whatever a job made of its result."""
        return not_done(reply, asked=asked.study is not None) or self._source.leaving(reply, asked)


def _guard_of_the_site() -> SiteGuard | None:
    """Return the guard that the site's ``privacy.json`` names; a job can have one of its own, with its own settings."""
    manager = PrivacyService.get_manager()
    components = manager.components if manager is not None else None
    return next((one for one in (components or {}).values() if isinstance(one, SiteGuard)), None)


class _SiteSource:
    """Where a site's answers come from, by what its ``privacy.json`` says."""

    def __init__(self, agent: str | None, settings: str | None, records: str | None = None) -> None:
        if (agent is None) == (settings is None) and (agent is not None or records is None):
            raise InvalidInput("agent", agent, "or settings must be given, and not both")
        self._agent = agent
        self._settings = settings
        self._records = records

    def leaving(self, result: Shareable, asked: StudyTask) -> Shareable:
        """Return what may leave of a task's result: an answer, a refusal, or a model's arrays."""
        if asked.study is None:
            return only_weights(result)
        document, values = asked.study.encode(), partial(measured, result)
        return to_result(guarded(lambda: self._answer(document, asked.site, values)))

    def _answer(self, document: bytes, site: str, values: Callable[[], dict[str, Any]]) -> Answer | Refusal:
        try:
            study = Study.from_bytes(document)
        except FairgaugeError as problem:
            return Refusal("study", str(problem))
        own = (self._agent, self._settings, self._records)
        agent, settings, records = (None if one is None else str(one).replace(_SITE, site) for one in own)
        lacks = "privacy.json names neither records nor an agent"
        found = Source(agent, settings, records, lacks).answer(study, values)
        only_records = "the study is for devices of one person each, and privacy.json names records"
        return Refusal("settings", only_records) if found is None else found
