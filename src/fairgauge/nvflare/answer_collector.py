"""The server's part: ask every site, count each once, and write down what they tell."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from nvflare.apis.client import Client
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.abstract.response_processor import ResponseProcessor
from nvflare.app_common.utils.fl_model_utils import FLModelUtils

from fairgauge.client.refusals import summarise
from fairgauge.errors import InvalidInput
from fairgauge.federation.counter import NodeCounter
from fairgauge.nvflare.task_result import STUDY, from_result
from fairgauge.study import Study


class AnswerCollector(ResponseProcessor):
    """Asks sites a study and counts what they answer, each site once; for ``BroadcastAndProcess``.

    When all have replied it logs what they tell, and writes ``report.txt`` and ``numbers.json`` beside the answers.

    Args:
        study: The study's document, as text.
        answers: A file that keeps the answers; a later job that is given the same file goes on from there.
        model: A file of arrays (``.npz``) on the server, which the sites are to measure; none for a model of their own.
        confidence: How often all intervals are to hold the truth together.
    """

    def __init__(self, study: str, answers: str, model: str | None = None, confidence: float = 0.99) -> None:
        super().__init__()
        # NVFlare writes a job's configuration from these, by the arguments' names.
        self.study = study
        self.answers = answers
        self.model = model
        self.confidence = confidence
        Study.from_bytes(study.encode())  # a mistake is better seen where the job is made
        self._counter: NodeCounter | None = None
        self._replies = 0
        self._refused: list[str] = []

    @property
    def counter(self) -> NodeCounter:
        """What counts the answers, made when first needed: its file is on the server, not where the job is made."""
        if self._counter is None:
            study = Study.from_bytes(self.study.encode())
            self._counter = NodeCounter(study, path=self.answers, confidence=self.confidence)
        return self._counter

    def create_task_data(self, task_name: str, fl_ctx: FLContext) -> Shareable:  # noqa: ARG002 - NVFlare's signature
        """Return the task: the model to measure, and the study."""
        arrays: dict[str, Any] = {"none": np.zeros(1)}
        if self.model is not None:
            with np.load(self.model, allow_pickle=False) as found:
                arrays = dict(found)
        task = FLModelUtils.to_shareable(FLModel(params=arrays, current_round=0, total_rounds=1))
        task[STUDY] = self.study
        return task

    def process_client_response(
        self,
        client: Client,
        task_name: str,  # noqa: ARG002 - NVFlare's signature
        response: Shareable,
        fl_ctx: FLContext,  # noqa: ARG002 - NVFlare's
    ) -> bool:
        """Count one site's reply; a stranger's reply does not end the job."""
        self._replies += 1
        try:
            if response.get_return_code() != ReturnCode.OK:
                raise InvalidInput("return code", response.get_return_code(), "must be OK")
            found = from_result(response)
        except InvalidInput:
            self._refused.append("")
            return True
        if isinstance(found, str):
            self._refused.append(found)
        else:
            self.counter.add([(client.name, found)])
        return True

    def final_process(self, fl_ctx: FLContext) -> bool:
        """Say what is known."""
        report, refused = self.counter.report(), summarise(self._refused)
        for line in (f"private metrics: {self._replies} replies", refused, *report.splitlines()):
            if line:
                self.log_info(fl_ctx, line)
        self.log_info(fl_ctx, f"study {self.counter.study.digest}, answers {self.counter.path}")
        folder = Path(self.answers).absolute().parent
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.txt").write_text(report + "\n", encoding="utf-8")
        (folder / "numbers.json").write_text(json.dumps(self.counter.numbers(), indent=1), encoding="utf-8")
        return True
