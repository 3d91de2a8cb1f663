"""A job that measures a model at every site, and nothing else: a recipe for NVFlare's environments."""

from pathlib import Path

from nvflare.app_common.workflows.broadcast_and_process import BroadcastAndProcess
from nvflare.job_config.api import FedJob
from nvflare.job_config.script_runner import FrameworkType, ScriptRunner
from nvflare.recipe.spec import Recipe

from fairgauge.nvflare.answer_collector import AnswerCollector
from fairgauge.study import Study

_TASK = "validate"


class PrivateMetricsRecipe(Recipe):
    """Ask every site one study about a model.

    The script is one for NVFlare's client interface: it receives a model, measures it, and sends
    ``FLModel(metrics={...})``.  At a site whose ``privacy.json`` names fairgauge's filters, one answer leaves.

    Args:
        study: The study.
        script: What measures the model at each site.
        answers: The file on the server that keeps the answers.
        model: A file of arrays (``.npz``) on the server.
        min_clients: How many sites must take part.
    """

    def __init__(
        self, study: Study, script: str | Path, *, answers: str | Path, model: str | None = None, min_clients: int = 1
    ) -> None:
        job = FedJob(name="private-metrics", min_clients=min_clients)
        collector = AnswerCollector(study.to_bytes().decode(), str(answers), model)
        job.to_server(collector, id="answers")
        job.to_server(BroadcastAndProcess(processor="answers", task_name=_TASK, timeout=600))
        job.to_clients(ScriptRunner(script=str(script), framework=FrameworkType.NUMPY), tasks=[_TASK])
        super().__init__(job)
