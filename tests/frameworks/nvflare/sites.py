"""Jobs and sites of NVFlare on one machine."""

import json
from pathlib import Path
from typing import Any

from nvflare.app_common.logging.job_log_receiver import JobLogReceiver
from nvflare.app_common.logging.job_log_streamer import JobLogStreamer
from nvflare.app_common.widgets.convert_to_fed_event import ConvertToFedEvent
from nvflare.app_common.workflows.broadcast_and_process import BroadcastAndProcess
from nvflare.job_config.api import FedJob
from nvflare.job_config.defs import FilterType

from fairgauge.client.site_settings import SiteSettings
from fairgauge.study import Attribute
from tests.frameworks.nvflare.leaking import GROUP, PRIVATE, LeakingExecutor, LeakingFilter, LeakingHandler
from tests.frameworks.nvflare.recording import Listening, Recording
from tests.samples import sample_question, sample_study
from tests.sites import confusion_study

STUDY = sample_study(
    sample_question(attribute=Attribute("animal", (GROUP, "koala"), ("0.5", "0.5"), answering="alike"))
)
HOSPITALS = confusion_study()
PATIENT = "echidna"
NAMES = ["group", "value", "examples"]


def privacy(**how: str) -> dict[str, Any]:
    """What a site writes into its privacy.json; the directions keep it to clients where a server shares the file."""
    room = "fairgauge.nvflare.site"
    scope = {
        "name": "fairgauge",
        "task_data_filters": [{"path": f"{room}.StudyFilter", "direction": "in"}],
        "task_result_filters": [{"path": f"{room}.AnswerFilter", "args": how, "direction": "out"}],
    }
    components = [{"id": "fairgauge_guard", "path": f"{room}.SiteGuard", "args": how}]
    return {"scopes": [scope], "default_scope": "fairgauge", "components": components}


def settle_site(folder: Path) -> Path:
    """Write a site's own profile and settings."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "profile.json").touch(mode=0o600)
    (folder / "profile.json").write_text(json.dumps({"group": {"animal": GROUP}, "values": {}}))
    (folder / "agent.json").write_text(json.dumps({"askers_give": ["recall"]}))
    return folder / "agent.json"


def settle_hospital(folder: Path) -> Path:
    """Write the records of a site that holds many people, each of them marked, and its own settings."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f"{PATIENT}-{n:03d},{('female', 'male')[n % 2]},{n % 3 // 2},{n % 5 // 4}" for n in range(300)]
    (folder / "patients.csv").write_text("\n".join(["who,sex,truth,prediction", *rows]) + "\n")
    may = {"attributes": {"sex": ["female", "male"]}, "confusion": True}
    (folder / "site.json").write_text(json.dumps({"records": "patients.csv", "columns": {"person": "who"}, **may}))
    SiteSettings.load(folder / "site.json").prepare()
    return folder / "site.json"


def leaking_job(here: Path, *, clients: int, hospitals: bool = False) -> FedJob:
    """A job that lets marked values out by result, by a filter of its own, as metrics, and as logs."""
    study, records = (HOSPITALS, str(here / "{site}" / "patients.csv")) if hospitals else (STUDY, None)
    job = FedJob(name="leaking", min_clients=clients)
    record = str(here / "received")
    job.to_server(Recording(study.to_bytes().decode(), str(here / "answers.ndjson"), record), id="answers")
    job.to_server(Listening(record), id="listening")
    job.to_server(JobLogReceiver(dest_dir=str(here / "streamed")), id="log_receiver")
    job.to_server(BroadcastAndProcess(processor="answers", task_name="validate", timeout=300))
    job.to_clients(LeakingExecutor(study.digest, records), tasks=["validate"])
    job.to_clients(LeakingHandler(study.digest), id="handler")
    job.to_clients(LeakingFilter(study.digest), tasks=["validate"], filter_type=FilterType.TASK_RESULT)
    job.to_clients(ConvertToFedEvent(events_to_convert=["analytix_log_stats"]), id="to_server")
    job.to_clients(JobLogStreamer(log_file_name="log.txt"), id="logs")
    return job


def marks_in(text: str, marks: tuple[str, float, int] = PRIVATE) -> list[str]:
    """Return which of the marks are in a text."""
    return [name for name, mark in zip(NAMES, marks, strict=True) if str(mark) in text]
