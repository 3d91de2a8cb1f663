"""How a study and an answer travel in NVFlare: as text, in a ``Shareable`` that holds nothing else."""

from functools import partial
from typing import Any

import numpy as np
from nvflare.apis.dxo import DXO, DataKind, MetaKey, from_shareable
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.shareable import Shareable, make_reply

from fairgauge.client import Answer
from fairgauge.client.refusals import Refusal, refusal_code
from fairgauge.errors import InvalidInput
from fairgauge.federation.guard import given_by_app

STUDY = "fairgauge.study"
_ANSWER = "fairgauge.answer"
_REFUSAL = "fairgauge.refusal"

# What a model is made of; everything else that training returns is dropped.
_WEIGHTS = (DataKind.WEIGHTS, DataKind.WEIGHT_DIFF)
# NVFlare's codes for what failed, ours by identity: a job's string may equal one and be something else.
_CODES = {code: code for name, code in vars(ReturnCode).items() if name.isupper() and code != ReturnCode.OK}
# With these a site's own filters stop a job, and the server a task: the site gives no answer then.
_STOPPED = {code: code for code in (ReturnCode.UNSAFE_JOB, ReturnCode.TASK_ABORTED)}


def to_result(found: Answer | Refusal) -> Shareable:
    """Return the whole result of a task: the answer or the refusal, and nothing else.

    A refusal is a result like any other: an error would end some workflows.
    """
    result = make_reply(ReturnCode.OK)
    if isinstance(found, Refusal):
        result[_REFUSAL] = found.text
    else:
        result[_ANSWER] = found.to_bytes().decode()
    return result


def from_result(result: Shareable) -> Answer | str:
    """Read an answer, or the text of a refusal that is one of ours, from what may come from anyone.

    Raises:
        InvalidInput: If it is neither.
    """
    text = result.get(_REFUSAL)
    if isinstance(text, str) and refusal_code(text) is not None:
        return text
    answer = result.get(_ANSWER)
    if not isinstance(answer, str):
        raise InvalidInput(_ANSWER, type(answer).__name__, "must be text")
    data = answer.encode()
    return Answer.from_bytes(data)


def study_of(task: Any) -> str | None:
    """Return the document of the study that a task asks, or None."""
    document = task.get(STUDY) if isinstance(task, Shareable) else None
    return document if isinstance(document, str) else None


def not_done(result: Shareable, *, asked: bool) -> "Shareable | None":
    """Return NVFlare's word for a task that was not done, and nothing else of the result; None if there is none.

    Args:
        result: What the task's result became.
        asked: Whether the task asked a study.  Then a failure of the job's code is no word of NVFlare's: it would tell
            more than a refusal.
    """
    codes = _STOPPED if asked else _CODES
    try:
        code = codes.get(result.get_return_code())
    except BaseException:  # noqa: BLE001 - a job's code may return anything, and an exit would be a reply less
        return None
    return None if code is None else make_reply(code)


def measured(result: Shareable) -> dict[str, Any]:
    """Return the metrics that a job's code measured: none if it failed or returned none, which tells nobody so."""
    return given_by_app(partial(_metrics, result))


def _metrics(result: Shareable) -> dict[str, Any]:
    kind, data = (dxo := from_shareable(result)).data_kind, dxo.data
    metrics = data if kind == DataKind.METRICS else dxo.get_meta_prop("initial_metrics", None)
    return metrics if isinstance(metrics, dict) and result.get_return_code() == ReturnCode.OK else {}


def only_weights(result: Shareable) -> Shareable:
    """Return a training's result with the model's arrays alone: no metric, no count of examples, no other word."""
    try:
        dxo = from_shareable(result)
        arrays = {str(name): np.asarray(array, dtype=float) for name, array in dxo.data.items()}
        kept = DXO(dxo.data_kind, data=arrays, meta={MetaKey.NUM_STEPS_CURRENT_ROUND: 1}).to_shareable()
        fine = dxo.data_kind in _WEIGHTS and result.get_return_code() == ReturnCode.OK
    except BaseException:  # noqa: BLE001 - whatever it was, it does not leave
        fine = False
    return kept if fine else make_reply(ReturnCode.EXECUTION_RESULT_ERROR)
