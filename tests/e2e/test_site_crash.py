"""A site that is killed at any point draws its noise once, charges it once, and delivers in the end."""

import signal
from collections import defaultdict
from pathlib import Path
from typing import Any

from fairgauge.client import Answer
from fairgauge.client.site_records import CountedRecords, Records
from tests.e2e.test_crash import EVERY, drive, folder, lose_the_first_reply, server
from tests.recorder import Recorder
from tests.sites import SEX, confusion_study

__all__ = ["folder", "server"]  # fixtures

STUDY = confusion_study()


def kill(server: Recorder, folder: Path, **plan: Any) -> tuple[list[dict[str, Any]], dict[int, set[Answer]]]:
    """Kill sites one after the other; return what each came to, and what each sent."""
    table = {"sex": ["female", "male", "female"], "truth": [1, 0, 0], "prediction": [1, 1, 0]}
    records = folder / "patients.records"
    Records.read(table, CountedRecords((SEX,), confusion=True)).save(records)
    lose_the_first_reply(server)
    reports = drive(server, folder, asked=STUDY, how="send", points="lines", records=str(records), **plan)
    sent = defaultdict(set)
    for heard in server.heard:
        if heard.method == "POST":
            sent[int(heard.path.split("/")[1])].add(Answer.from_bytes(heard.body))
    return reports, sent


def test_killed_anywhere_a_site_draws_once(server: Recorder, folder: Path) -> None:
    reports, sent = kill(server, folder, stride=1 if EVERY else 13)
    assert len(reports) > 20, "or the points were not where the work is"
    assert [report["killed"] for report in reports[:-1]] == [-signal.SIGKILL] * (len(reports) - 1)
    for report in reports:
        assert (report["again"], report["state"], report["spent"]) == (0, "delivered", {"sex": "1"}), report
    assert sorted(sent) == list(range(len(reports))), "everyone delivered"
    assert {len(answers) for answers in sent.values()} == {1}


def test_a_site_that_draws_again_is_caught(server: Recorder, folder: Path) -> None:
    _, sent = kill(server, folder, stride=61, client="counts again")
    assert max(len(answers) for answers in sent.values()) > 1
