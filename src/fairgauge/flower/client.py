"""The device's part of a Flower app: a mod that replaces an evaluation's metrics by one private answer."""

import logging
from collections.abc import Callable, Mapping
from functools import lru_cache, partial, singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from flwr.app import Context, Error, Message

from fairgauge.channel import Channel
from fairgauge.client import Answer, Limits
from fairgauge.client.asking import ask_agent
from fairgauge.client.limits import LIFETIME_LIMIT, STUDY_LIMIT, read_limit
from fairgauge.client.refusals import Refusal
from fairgauge.client.site_asked import answer_asked
from fairgauge.errors import CannotAnswer, FairgaugeError, InvalidInput
from fairgauge.federation.guard import Guard, given_by_app, guarded, of_app
from fairgauge.flower.paths import app_folder, state_of, study_of
from fairgauge.flower.record import to_content
from fairgauge.study import Mechanism, NoisyCounts, Study

if TYPE_CHECKING:  # the names of types moved between versions of Flower, and nothing else needs them
    from flwr.clientapp.typing import ClientAppCallable, Mod

T = TypeVar("T")
Setting: TypeAlias = T | Callable[[Context], T]

# What a node's owner may set, in `flower-supernode --node-config`: code that the server ships cannot.
LIMIT = "fairgauge-limit"
STUDY_LIMIT_KEY = "fairgauge-study-limit"
AGENT = "fairgauge-agent"
SITE = "fairgauge-site"

# Flower's MOD_FAILED_PRECONDITION; older versions have no name for it.
REFUSED = 6

_logger = logging.getLogger(__name__)


def private_metrics(
    *,
    study: Setting[Study | str | Path | bytes],
    group: Setting[Mapping[str, Any]] | None = None,
    ledger: Setting[str | Path] | None = None,
) -> "Mod":
    """Return a mod for ``@app.evaluate(mods=[...])`` that lets one private answer out, and nothing else.

    The evaluation runs on the device as before.  Its metrics whose names the study asks for become one answer; every
    record that it returns is dropped, and so is the text of every exception.  The same study is answered once: later
    rounds and later runs repeat that answer without evaluating again, and the server counts it once.

    Each argument is a value, or a function that takes Flower's ``Context``.  A relative path is one of the app's,
    whichever folder the device's programs were started in; folders are made if need be.

    What the device spends at most is not the app's to say: ``fairgauge-limit`` and ``fairgauge-study-limit`` in the
    node's own configuration do, and without them epsilon 8 for an attribute and 4 for a study.  Where that
    configuration names a ``fairgauge-agent``, the agent at that socket answers from a profile of its own, within limits
    of its own; ``group`` and ``ledger`` are not read then.

    A study for sites that hold many people is answered from the records that the node's own configuration names: the
    file at ``fairgauge-site`` says where they are, how they are read, and how far the site goes.  The app's evaluation
    does not run then, for code that sees all records could put any one of them into every count.

    Where a group is missing or not one that the study lists, and where the evaluation fails or measures nothing, the
    device answers all the same: by the study's row for those who abstain, or where there is none by one of all rows,
    each as likely as any other.  A metric outside of its range counts as the range's nearest end.

    Guarantee: exact; whatever the evaluation returns or raises, the content of the reply is epsilon-differentially
    private for the study's exact epsilon, and whether there is an answer depends on study and settings alone.

    Args:
        study: A file, an address, the document itself, or a loaded study.  Nothing is read before it is needed.
        group: The device's group for each attribute's name, each a value or a function of the context as well.  None,
            and a function that fails, is a group that is missing.  A site has none.
        ledger: The device's ledger: one file for each device, which outlives runs.  A site's own file names its own.
    """
    app = app_folder()

    def answer(message: Message, context: Context, call_next: "ClientAppCallable") -> Answer | Refusal:
        try:
            limits = _limits(context)
        except InvalidInput as problem:
            return Refusal("settings", str(problem))
        source = _setting(study, context)
        try:
            found = study_of(app, source)
        except FairgaugeError as problem:
            return Refusal("study", str(problem))
        counted = _from_records(found.mechanism, found, context)
        if counted is not None:
            return counted
        if group is None or ledger is None:
            return Refusal("settings", "a device needs a group and a ledger")
        measured = partial(_measure, call_next, message, context)
        if AGENT in context.node_config:
            return ask_agent(str(context.node_config[AGENT]), found, partial(given_by_app, measured))
        path = state_of(app, _setting(ledger, context))
        _log_once(found.digest, path)
        # Flower does not say whether a reply arrived, so the answer stays pending in the ledger.
        return Guard(path, limits).answer(found, partial(_groups, group, context), measured)

    def mod(message: Message, context: Context, call_next: "ClientAppCallable") -> Message:
        found = guarded(lambda: answer(message, context, call_next))
        if isinstance(found, Refusal):
            return Message(Error(REFUSED, found.text), reply_to=message)
        return Message(to_content(found), reply_to=message)

    return mod


def node_config(key: str) -> Callable[[Context], Any]:
    """Return a setting that is read from the device's own configuration (``flower-supernode --node-config``)."""
    return lambda context: context.node_config[key]


def run_config(key: str) -> Callable[[Context], Any]:
    """Return a setting that is read from the run's configuration (``[tool.flwr.app.config]``)."""
    return lambda context: context.run_config[key]


def _setting(setting: Any, context: Context) -> Any:
    return of_app(lambda: setting(context)) if callable(setting) else setting


@lru_cache(maxsize=64)
def _log_once(digest: str, path: Path) -> None:
    _logger.info("study %s, ledger %s", digest, path)


def _groups(group: Any, context: Context) -> dict[str, Any]:
    named = group(context) if callable(group) else group
    return {attribute: _own(setting, context) for attribute, setting in named.items()}


def _own(setting: Any, context: Context) -> Any:
    """Return a group that may be missing, such as from a node's configuration that does not have it."""
    try:
        return _setting(setting, context)
    except CannotAnswer as problem:
        _logger.warning("%s; the group counts as missing", problem)
    return None


def _limits(context: Context) -> Limits:
    limits = {LIMIT: LIFETIME_LIMIT, STUDY_LIMIT_KEY: STUDY_LIMIT}
    for key in limits:
        if key in context.node_config:
            limits[key] = read_limit(key, str(context.node_config[key]))
    return Limits(limits[LIMIT], limits[STUDY_LIMIT_KEY])


@singledispatch
def _from_records(mechanism: Mechanism, study: Study, context: Context) -> Answer | Refusal | None:
    """Answer from the records that the node's own configuration names; None where one person answers."""
    raise NotImplementedError


@_from_records.register
def _(_: Channel, _study: Study, _context: Context) -> None:
    return None


@_from_records.register
def _(_: NoisyCounts, study: Study, context: Context) -> Answer | Refusal:
    if SITE in context.node_config:
        return answer_asked(str(context.node_config[SITE]), study)
    if AGENT in context.node_config:
        return ask_agent(str(context.node_config[AGENT]), study)
    return Refusal("settings", f"the study is for sites, and this node's configuration has neither {SITE} nor {AGENT}")


def _measure(call_next: "ClientAppCallable", message: Message, context: Context) -> Mapping[str, Any]:
    """Evaluate, and return what was measured: nothing, if the evaluation gave an error or not one record of metrics."""
    reply = call_next(message, context)
    records = [] if reply.has_error() else list(reply.content.metric_records.values())
    return records[0] if len(records) == 1 else {}
