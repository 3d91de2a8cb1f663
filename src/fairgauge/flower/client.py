"""The device's part of a Flower app: a mod that replaces an evaluation's metrics by one private answer."""

import logging
import traceback
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from flwr.app import Context, Error, Message
from flwr.clientapp.typing import ClientAppCallable, Mod
from flwr.common.constant import ErrorCode

from fairgauge.client import Answer, Ledger, Limits, load_study
from fairgauge.client.limits import read_limit
from fairgauge.errors import CannotAnswer, FairgaugeError, InvalidInput
from fairgauge.flower.record import to_content
from fairgauge.study import Study

T = TypeVar("T")
Setting: TypeAlias = T | Callable[[Context], T]

# The same whatever went wrong: why a device cannot answer may depend on its group or its data.
REASON = "fairgauge: this device gives no answer"

_logger = logging.getLogger(__name__)


def private_metrics(
    *,
    study: Setting[Study | str | Path | bytes],
    group: Setting[Mapping[str, Any]],
    ledger: Setting[str | Path],
    limit: Setting[Limits | Decimal | str | int | float],
) -> Mod:
    """Return a mod for ``@app.evaluate(mods=[...])`` that lets one private answer out, and nothing else.

    The evaluation runs on the device as before.  Its metrics whose names the study asks for become one answer; every
    record that it returns is dropped, and so is the text of every exception.  The same study is answered once: later
    rounds and later runs repeat that answer without evaluating again, and the server counts it once.

    Each argument is a value, or a function that takes Flower's ``Context``.

    Guarantee: exact; whatever the evaluation returns or raises, the content of the reply is epsilon-differentially
    private for the study's exact epsilon, but for whether there is an answer at all.

    Args:
        study: A file, an address, the document itself, or a loaded study.  Nothing is read before it is needed.
        group: The device's group for each attribute's name, each a value or a function of the context as well.  None
            abstains.
        ledger: The device's ledger: one file for each device, which outlives runs.
        limit: The most epsilon that the device spends on an attribute in its lifetime.
    """

    def answer(context: Context, evaluate: Callable[[], Message]) -> Answer:
        found, kept = _study(_setting(study, context)), Ledger(_setting(ledger, context))
        if kept.state(found.digest) is not None:
            return kept.answer(found, {"group": None, "values": {}})  # the answer that is there, whatever is asked
        limits = _limits(_setting(limit, context))
        groups = _groups(group, context)
        # Flower does not say whether a reply arrived, so the answer stays pending in the ledger.
        return kept.answer(found, {"group": groups, "values": _metrics(_of_app(evaluate))}, limit=limits)

    def mod(message: Message, context: Context, call_next: ClientAppCallable) -> Message:
        try:
            content = to_content(answer(context, lambda: call_next(message, context)))
        except FairgaugeError as refusal:
            _logger.warning("no answer: %s", refusal)
        except Exception as problem:  # noqa: BLE001 - its text must not reach the server, whatever it is
            _logger.error("no answer, for a mistake in fairgauge: %s", _place(problem))
        else:
            return Message(content, reply_to=message)
        return Message(Error(ErrorCode.MOD_FAILED_PRECONDITION, REASON), reply_to=message)

    return mod


def node_config(key: str) -> Callable[[Context], Any]:
    """Return a setting that is read from the device's own configuration (``flower-supernode --node-config``)."""
    return lambda context: context.node_config[key]


def run_config(key: str) -> Callable[[Context], Any]:
    """Return a setting that is read from the run's configuration (``[tool.flwr.app.config]``)."""
    return lambda context: context.run_config[key]


def _setting(setting: Any, context: Context) -> Any:
    return _of_app(lambda: setting(context)) if callable(setting) else setting


def _of_app(code: Callable[[], Any]) -> Any:
    """Run code of the app; if it fails, tell where but not what, because its words may hold anything."""
    try:
        return code()
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - an exit's text would travel like any other
        place = _place(problem)
    raise CannotAnswer(f"the app's own code failed with {place}")


def _place(problem: BaseException) -> str:
    last = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{type(problem).__name__} at {last.filename}:{last.lineno}, in {last.name}"


def _study(source: Study | str | Path | bytes) -> Study:
    return source if isinstance(source, Study) else _load(source)


# A process that evaluates round after round reads and checks a study once.
_load = lru_cache(maxsize=8)(load_study)


def _groups(group: Any, context: Context) -> dict[str, Any]:
    named = _setting(group, context)
    if not isinstance(named, Mapping):
        raise CannotAnswer('"group" must give a group for each attribute\'s name')
    return {attribute: _setting(own, context) for attribute, own in named.items()}


def _limits(limit: Any) -> Limits:
    return limit if isinstance(limit, Limits) else Limits(read_limit("limit", str(limit)))


def _metrics(reply: Message) -> dict[str, Any]:
    """Return what an evaluation measured; a NaN is how many say that there was nothing to measure."""
    if not isinstance(reply, Message) or reply.has_error():
        raise CannotAnswer("the evaluation gave an error")
    records = list(reply.content.metric_records.values())
    if len(records) != 1:
        raise InvalidInput("MetricRecords", len(records), "must be one: the evaluation's metrics")
    return {name: value for name, value in records[0].items() if value == value}  # noqa: PLR0124 - NaN is not itself
