"""What the server does in a job without fairgauge: it asks every site for its metrics, and keeps what each one said."""

import json
from pathlib import Path

import numpy as np
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.workflows.model_controller import ModelController
from nvflare.job_config.api import FedJob
from nvflare.job_config.script_runner import FrameworkType, ScriptRunner
from nvflare.recipe.spec import Recipe

TASK = "validate"


class Metrics(ModelController):
    """Sends a model to every site, and writes down the metrics that come back."""

    def __init__(self, model: str, output: str) -> None:
        super().__init__(persistor_id="")
        self.model = model
        self.output = output

    def run(self) -> None:
        """Ask once."""
        with np.load(self.model) as arrays:
            asked = FLModel(params=dict(arrays), current_round=0, total_rounds=1)
        found = self.send_model_and_wait(task_name=TASK, targets=self.sample_clients(), data=asked)
        said = {result.meta["client_name"]: result.metrics for result in found}
        Path(self.output).write_text(json.dumps(said, indent=1), encoding="utf-8")


class MetricsRecipe(Recipe):
    """Ask every site how well a model serves it."""

    def __init__(self, script: Path, *, output: Path, model: str, min_clients: int) -> None:
        job = FedJob(name="metrics", min_clients=min_clients)
        job.to_server(Metrics(model, str(output)))
        job.to_clients(ScriptRunner(script=str(script), framework=FrameworkType.NUMPY), tasks=[TASK])
        super().__init__(job)
