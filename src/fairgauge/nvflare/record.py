"""How a study and an answer travel in NVFlare: as text, in a ``Shareable`` that holds nothing else."""

from functools import partial
from typing import Any

import numpy as np
from nvflare.apis.dxo import DXO, DataKind, MetaKey, from_shareable
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.shareable import Shareable, make_reply

from fairgauge.client import Answer
from fairgauge.client.refusals import UNTOLD, Refusal, refusal_code
from fairgauge.client.site import SiteAnswer
from fairgauge.errors import InvalidInput
from fairgauge.federation.guard import given_by_app

STUDY = "fairgauge.study"
ANSWER = "fairgauge.answer"
REFUSAL = "fairgauge.refusal"

# What a model is made of; everything else that training returns is dropped.
_WEIGHTS = (DataKind.WEIGHTS, DataKind.WEIGHT_DIFF)


def to_result(found: Answer | SiteAnswer | Refusal) -> Shareable:
    """Return the whole result of a task: the answer or the refusal, and nothing else.

    A refusal is a result like any other: an error would end some workflows.
    """
    result = make_reply(ReturnCode.OK)
    if isinstance(found, Refusal):
        result[REFUSAL] = found.text
    else:
        result[ANSWER] = found.to_bytes().decode()
    return result


def from_result(result: Shareable) -> Answer | SiteAnswer | str:
    """Read an answer, or the text of a refusal that is one of ours, from what may come from anyone.

    Raises:
        InvalidInput: If it is neither.
    """
    text = result.get(REFUSAL)
    if isinstance(text, str) and refusal_code(text) is not None:
        return text
    answer = result.get(ANSWER)
    if not isinstance(answer, str):
        raise InvalidInput(ANSWER, type(answer).__name__, "must be text")
    data = answer.encode()
    return SiteAnswer.from_bytes(data) if '"counts"' in answer else Answer.from_bytes(data)


def is_ours(result: Shareable) -> bool:
    """Tell whether a result has an answer, or a refusal of ours, whatever else was put into it."""
    try:
        from_result(result)
    except InvalidInput:
        return False
    return True


def clean(result: Shareable) -> Shareable:
    """Return a result of ours without whatever else was put into it."""
    found = from_result(result)
    return to_result(Refusal(refusal_code(found) or UNTOLD) if isinstance(found, str) else found)


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
    except Exception:  # noqa: BLE001 - whatever it was, it does not leave
        fine = False
    return kept if fine else make_reply(ReturnCode.EXECUTION_RESULT_ERROR)
