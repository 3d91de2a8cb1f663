"""The device's part of a Flower app: a mod that replaces an evaluation's metrics by one private answer."""

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from flwr.app import Context, Error, Message

from fairgauge.client import Answer, Limits
from fairgauge.client.budget import LIFETIME_LIMIT, STUDY_LIMIT, read_limit
from fairgauge.client.profile_entries import is_mapping
from fairgauge.client.refusals import Refusal
from fairgauge.errors import CannotAnswer, FairgaugeError, InvalidInput
from fairgauge.federation.guard import Guard, Source, given_by_app, guarded, of_app
from fairgauge.flower.metric_reply import to_content
from fairgauge.flower.paths import app_folder, state_of, study_of
from fairgauge.study import Study

if TYPE_CHECKING:  # the names of types moved between versions of Flower, and nothing else needs them
    from flwr.clientapp.typing import ClientAppCallable, Mod

T = TypeVar("T")
Setting: TypeAlias = T | Callable[[Context], T]

# What a node's owner may set, in `flower-supernode --node-config`, and a run's configuration cannot.  An app's own code
# runs in the node's process: an agent of another user is what holds that.
_OURS = "fairgauge"
_AGENT = "fairgauge-agent"
SETTINGS = "fairgauge-settings"
_SITE = "fairgauge-site"
_APP = "fairgauge-app"
_PLAIN = "fairgauge-plain"
_LIMIT = "fairgauge-limit"
_STUDY_LIMIT_KEY = "fairgauge-study-limit"
_KEYS = (_AGENT, SETTINGS, _SITE, _APP, _PLAIN, _LIMIT, _STUDY_LIMIT_KEY)
# Where the app runs when Flower simulates nodes: they are all the app's own, and have no configuration to say so.
_SIMULATION = "flwr.simulation."

# Flower's MOD_FAILED_PRECONDITION; older versions have no name for it.
_REFUSED = 6

_logger = logging.getLogger(__name__)


def private_metrics(
    *,
    study: Setting[Study | str | Path | bytes],
    group: Setting[Mapping[str, Any]] | None = None,
    ledger: Setting[str | Path] | None = None,
    plain: Sequence[str] = (),
) -> "Mod":
    """Return a mod for ``@app.evaluate(mods=[...])`` that lets one private answer out, and nothing else.

    The evaluation runs on the device as before.  Its metrics whose names the study asks for become one answer; every
    record that it returns is dropped, and so is the text of every exception.  The same study is answered once: later
    rounds and later runs repeat that answer without evaluating again, and the server counts it once.

    Each argument is a value, or a function that takes Flower's ``Context``.  A relative path is one of the app's,
    whichever folder the device's programs were started in; folders are made if need be.

    The server ships the app, so the profile, the ledger, the limits and what may be asked are the node's to say, in
    its own configuration (``flower-supernode --node-config``): ``fairgauge-agent`` is the socket of the device's agent,
    and ``fairgauge-settings`` an agent's file for an agent within this process.  The evaluation then gives the values
    of the metrics that the file names as ``askers_give``, and ``group`` and ``ledger`` are not read.  They are read
    where the node says ``fairgauge-app=true``, within ``fairgauge-limit`` and ``fairgauge-study-limit`` (8 for an
    attribute and 4 for a study unless given), and where Flower simulates nodes.  A node that says none of these refuses
    every study, and so does one with a key that begins with ``fairgauge`` and is none of ours.

    A study for sites that hold many people is answered from the records that the node's own configuration names: the
    file at ``fairgauge-site`` says where they are, how they are read, what may be counted, and how far the site goes.
    The app's evaluation does not run then, for code that sees all records could put any one of them into every count.

    Where a group is missing or not one that the study lists, and where the evaluation fails or measures nothing, the
    device answers all the same: by the study's row for those who abstain, or where there is none by one of all rows,
    each as likely as any other.  A metric outside of its range counts as the range's nearest end.

    Guarantee: exact; whatever the evaluation returns or raises, the content of the reply but for plain metrics is
    epsilon-differentially private for the study's exact epsilon, and whether there is an answer depends on study and
    settings alone, if the evaluation ends and the study is open by then: the server sees how long it took.

    Args:
        study: A file, an address, the document itself, or a loaded study.  Nothing is read before it is needed.
        group: For nodes that leave it to the app: the device's group for each attribute's name, each a value or a
            function of the context as well.  None, and a function that fails, is a group that is missing.
        ledger: For nodes that leave it to the app: one file for each device, which outlives runs.
        plain: For nodes that leave it to the app: metrics that leave as they are, beside the answer.  Others say so
            with ``fairgauge-plain="eval_loss num-examples"``.  The evaluation then runs in every round.  What such a
            metric tells of a person is not bounded by anything; one that the study asks for is refused.
    """
    app = app_folder()

    def answer(context: Context, measured: Callable[[], Mapping[str, Any]], open_names: list[str]) -> Answer | Refusal:
        try:
            limits = _own_settings(context)
        except InvalidInput as problem:
            return Refusal("settings", str(problem))
        source = _setting(study, context)
        try:
            found = study_of(app, source)
        except FairgaugeError as problem:
            return Refusal("study", str(problem))
        open_names += _open_names(context, plain if limits is not None else ())
        if {question.metric.name for question in found.questions} & set(open_names):
            return Refusal("settings", f"a metric that the study asks for must not be in {_PLAIN}")
        by_the_node = _source(context.node_config).answer(found, partial(given_by_app, measured))
        if by_the_node is not None:
            return by_the_node
        if limits is None:
            rule = f"one of {_AGENT}, {SETTINGS} or, to leave group and ledger to the app, {_APP}=true"
            return Refusal("settings", f"this node's configuration must have {rule}")
        if group is None or ledger is None:
            return Refusal("settings", "the node leaves group and ledger to the app, which does not give them")
        path = state_of(app, _setting(ledger, context))
        _log_once(found.digest, path)
        # Flower does not say whether a reply arrived, so the answer stays pending in the ledger.
        return Guard(path, limits).answer(found, partial(_groups, group, context), measured)

    def mod(message: Message, context: Context, call_next: "ClientAppCallable") -> Message:
        measured = cache(partial(_measure, call_next, message, context))
        open_names: list[str] = []
        found = guarded(lambda: answer(context, measured, open_names))
        if isinstance(found, Refusal):
            return Message(Error(_REFUSED, found.text), reply_to=message)
        left_open = given_by_app(measured) if open_names else {}
        numbers = {name: left_open.get(name) for name in open_names}
        plainly = {name: number for name, number in numbers.items() if isinstance(number, int | float)}
        return Message(to_content(found, plainly), reply_to=message)

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
    named = _own(group, context)
    return {attribute: _own(setting, context) for attribute, setting in named.items()} if is_mapping(named) else {}


def _own(setting: Any, context: Context) -> Any:
    """Return a group that may be missing, such as from a node's configuration that does not have it.

    That it is missing is in no log of anybody's node: whoever may fetch the log would know it.
    """
    try:
        return _setting(setting, context)
    except CannotAnswer as problem:
        if _is_simulated():
            _logger.warning("%s; the group counts as missing", problem)
    return None


def _source(own: Mapping[str, Any]) -> Source:
    """Return where answers come from by the node's own configuration."""
    agent, settings, records = (str(own[key]) if key in own else None for key in (_AGENT, SETTINGS, _SITE))
    return Source(agent, settings, records, lacks=f"this node's configuration has no {_SITE}")


def _own_settings(context: Context) -> Limits | None:
    """Read the node's own configuration; return its limits if it leaves group and ledger to the app, else None.

    Raises:
        InvalidInput: For a key that is none of ours and looks like one, and for keys that contradict each other.
    """
    own = {key: value for key, value in context.node_config.items() if key.lower().startswith(_OURS)}
    for key, value in own.items():
        if key not in _KEYS:
            raise InvalidInput(key, value, f"must be one of {', '.join(_KEYS)}")
    if own.get(_APP, True) is not True:
        raise InvalidInput(_APP, own[_APP], "must be true, or not be there")
    sources = [key for key in (_AGENT, SETTINGS, _APP) if key in own]
    if len(sources) > 1:
        raise InvalidInput(sources[1], own[sources[1]], f"must not stand beside {sources[0]}")
    limits = {_LIMIT: LIFETIME_LIMIT, _STUDY_LIMIT_KEY: STUDY_LIMIT}
    for key in limits:
        if key in own:
            if sources not in ([], [_APP]):
                raise InvalidInput(key, own[key], f"must be in the file of {sources[0]}, which has limits of its own")
            limits[key] = read_limit(key, str(own[key]))
    if sources == [_APP] or (not sources and _is_simulated()):
        return Limits(limits[_LIMIT], limits[_STUDY_LIMIT_KEY])
    return None


def _open_names(context: Context, of_app: Sequence[str]) -> list[str]:
    """Return the metrics that leave as they are: as the node says, or the app where the node leaves it to the app."""
    return str(context.node_config[_PLAIN]).split() if _PLAIN in context.node_config else list(of_app)


def _is_simulated() -> bool:
    """Tell whether it is Flower's simulation that runs the app, and no node of anybody's."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and not str(frame.f_globals.get("__name__", "")).startswith(_SIMULATION):
        frame = frame.f_back
    return frame is not None


def _measure(call_next: "ClientAppCallable", message: Message, context: Context) -> Mapping[str, Any]:
    """Evaluate, and return what was measured: nothing, if the evaluation gave an error or not one record of metrics."""
    reply = call_next(message, context)
    records = [] if reply.has_error() else list(reply.content.metric_records.values())
    return records[0] if len(records) == 1 else {}
