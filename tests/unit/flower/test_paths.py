"""Two apps on one computer: each has its own study, ledgers and answers, wherever programs were started."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from flwr.app import Context, RecordDict

from fairgauge.client import Ledger
from fairgauge.flower.metric_reply import from_content
from fairgauge.flower.paths import app_folder, state_of
from fairgauge.study import Study
from tests.samples import sample_study, two_questions
from tests.unit.flower.messages import asked

CODE = """
from flwr.app import Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from fairgauge.flower import AnswerCounter, private_metrics

app = ClientApp()
groups = {"sex": "female", "age": "old"}
private = private_metrics(study="study.json", group=groups, ledger=lambda _: "ledgers/0.sqlite3")

@app.evaluate(mods=[private])
def evaluate(message, context):
    return Message(RecordDict({"metrics": MetricRecord({"recall": 0.5, "error": 0.5})}), reply_to=message)

def counter():
    return AnswerCounter("study.json", path="answers/all.ndjson")
"""
CONTEXT = Context(run_id=1, node_id=2, node_config={"fairgauge-app": True}, state=RecordDict(), run_config={})


def install(folder: Path, study: Study) -> Any:
    """Put an app into a folder, and load its code as Flower does."""
    (folder / "package").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[tool.flwr.app]\npublisher = 'us'\n")
    (folder / "package" / "code.py").write_text(CODE)
    (folder / "study.json").write_bytes(study.to_bytes())
    spec = importlib.util.spec_from_file_location(folder.name, folder / "package" / "code.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_two_apps_that_run_in_one_folder_do_not_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    studies = {"first": sample_study(), "second": two_questions()}
    for name, study in studies.items():
        app = install(tmp_path / name, study)
        answer = from_content(app.app(asked(), CONTEXT).content)
        assert answer.study == study.digest
        assert app.counter().add([("2", answer)]) == 1
        assert (tmp_path / name / "answers/all.ndjson").read_bytes() == answer.to_bytes() + b"\n"
        assert Ledger(tmp_path / name / "ledgers/0.sqlite3").pending() == [answer]
    assert sorted(path.name for path in Path().iterdir()) == [
        "first",
        "second",
    ]  # and nothing in the folder where it all ran


def test_a_new_version_of_an_app_still_has_the_ledger(tmp_path: Path) -> None:
    study = sample_study()
    old = install(tmp_path / "apps" / "us.demo.1.0.0.0123abcd", study)
    new = install(tmp_path / "apps" / "us.demo.1.0.1.4567abcd", study)
    other = install(tmp_path / "apps" / "us.other.1.0.0.0123abcd", study)
    first = old.app(asked(), CONTEXT).content
    assert new.app(asked(), CONTEXT).content == first
    assert other.app(asked(), CONTEXT).content != first
    assert (tmp_path / "fairgauge/us.demo/ledgers/0.sqlite3").is_file()


def test_absolute_paths_stay() -> None:
    app = Path("/apps/us.demo.1.0.0.0123abcd")
    assert state_of(app, "/ledger") == Path("/ledger")
    assert state_of(app, "ledger") == Path("/fairgauge/us.demo/ledger")


def test_code_without_an_app_has_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _asked_here() == Path(__file__).parent
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {"app_folder": app_folder}
    exec(compile("def ask():\n    return app_folder(0)\nfound = ask()", "<stdin>", "exec"), found)
    assert found["found"] == tmp_path


def _asked_here() -> Path:
    return app_folder(0)
