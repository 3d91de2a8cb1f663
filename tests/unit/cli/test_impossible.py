"""Counts that honest answers do not give say nothing of the model: no verdict and no number, in no place.

Covers: fairgauge.reports.verdicts, fairgauge.estimation.inference, fairgauge.collector.pages.live_results.
"""

import csv
import io
import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from fairgauge.client import Answer
from fairgauge.collector.pages.live_results import Results, _event_of
from fairgauge.collector.seal import Seal, sealed_document
from fairgauge.errors import CannotEstimate
from fairgauge.estimation import estimate
from fairgauge.estimation.honesty import IMPOSSIBLE
from fairgauge.estimation.metric_frame import PrivateMetricFrame
from fairgauge.federation.counter import NodeCounter
from fairgauge.languages import Voice
from fairgauge.study import Attribute, Question, Study
from fairgauge.tallies import Tally
from tests.samples import RECALL
from tests.surveys import NAMES, expected_tally, people, study, tells_all
from tests.unit.cli.conftest import Run

# What a verdict, a comparison with a tolerance, and the rest of what is said about a gap have in common.
VERDICT = re.compile(
    r"(higher|lower) (for|than)|do not tell (yet )?for whom|too early|Too few answers|largest gap|tolerance of"
    r"|impact ratio: the lowest|sign could turn|times as often|however often each group|Forging 1|could move",
    re.IGNORECASE,
)
WORDS = "not those of honest answers"


def asked_by(answering: str) -> Study:
    groups = Attribute("sex", NAMES[:2], ("0.5", "0.5"), answering=answering)
    table = tells_all(metric=RECALL)
    return study(Question(RECALL, groups, "means", table.design, table.epsilon, table.channel))


def texts_of(places: dict[str, str]) -> dict[str, str]:
    """The places with something in them that is said of a gap."""
    plain = {name: re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)) for name, text in places.items()}
    found = {name: VERDICT.search(text) for name, text in plain.items()}
    return {name: match[0] for name, match in found.items() if match is not None}


@pytest.mark.parametrize("answering", ["any", "alike"])
def test_no_place_has_a_verdict(answering: str, fairgauge: Run, elsewhere: Path):
    asked = asked_by(answering)
    counts = (20_000, *[0] * (asked.symbols - 1))
    tally = Tally(asked.digest, counts)
    found = estimate(asked, tally, tolerance=0.02)
    (told,) = found.questions
    assert told.fit is not None
    assert told.fit < IMPOSSIBLE
    assert list(told.rows()) == []
    (elsewhere / "s.json").write_bytes(asked.to_bytes())
    (elsewhere / "t.json").write_bytes(tally.to_bytes())
    (elsewhere / "card.md").write_text("# Model\n")
    terms = ("s.json", "t.json", "--tolerance", 0.02)
    people_read = fairgauge("estimate", *terms)
    assert people_read.status == 1
    for_json, for_csv = fairgauge("estimate", *terms, "--json"), fairgauge("estimate", *terms, "--csv")
    (question,) = for_json.json["questions"]
    assert question["headline"] == {"kind": "untold"}
    kept = ("metric", "attribute", "answers", "headline", "fit_p_value", "warnings")
    assert {name: value for name, value in question.items() if name not in kept and value} == {}
    assert list(csv.DictReader(io.StringIO(for_csv.out))) == []
    written = fairgauge("report", *terms, "-o", "r.html", "--model-card", "card.md")
    live, ended = (Results(asked, tally, found, [], over, complete=True) for over in (False, True))
    seal = Seal(asked.digest, tally.contributors, sha256(b"").hexdigest(), tally.counts, "2026-11-16T00:00:00Z")
    sealed = json.loads(sealed_document(seal, asked, key="", signature=""))
    assert sealed["estimate"]["questions"][0]["gaps"] == []
    counter = NodeCounter(asked)
    counter.add([(None, Answer(asked.digest, f"{number:032x}", (0,))) for number in range(2_000)])
    assert list(counter.numbers()) == ["answers"]
    places = {
        "command": people_read.out,
        "json": for_json.out,
        "csv": for_csv.out,
        "report command": written.out,
        "report": (elsewhere / "r.html").read_text(encoding="utf-8"),
        "model card": (elsewhere / "card.md").read_text(encoding="utf-8"),
        "notebook": found._repr_html_(),
        "page": _event_of(live, Voice()).decode(),
        "closed page": _event_of(ended, Voice()).decode(),
        "seal": json.dumps(sealed),
        "text": str(found),
        "federation": counter.report(),
    }
    assert texts_of(places) == {}
    for name in ("report command", "report", "model card", "notebook", "page", "closed page"):
        assert WORDS in places[name], name
    for name in ("command", "json", "seal", "text"):
        assert "Nothing is estimated from them" in places[name], name
    assert not found.plot().get_lines()[:-1]  # but the line at zero
    frame = PrivateMetricFrame(asked, tally)
    for ask in (
        lambda: frame.by_group,
        lambda: frame.overall,
        frame.difference,
        frame.ratio,
        frame.group_min,
        frame.group_max,
    ):
        with pytest.raises(CannotEstimate, match="do not give such counts"):
            ask()
    assert texts_of({"frame": frame._repr_html_()}) == {}


def test_the_walk_would_find_a_verdict(fairgauge: Run, elsewhere: Path):
    """The twin: the same places of an honest tally all have one."""
    asked = asked_by("any")
    tally = expected_tally(asked, people(("female", "0.9", 50_000), ("male", "0.5", 50_000)))
    found = estimate(asked, tally)
    (elsewhere / "s.json").write_bytes(asked.to_bytes())
    (elsewhere / "t.json").write_bytes(tally.to_bytes())
    written = fairgauge("report", "s.json", "t.json", "-o", "r.html")
    places = {
        "command": fairgauge("estimate", "s.json", "t.json").out,
        "report command": written.out,
        "report": (elsewhere / "r.html").read_text(encoding="utf-8"),
        "notebook": found._repr_html_(),
        "page": _event_of(Results(asked, tally, found, [], over=False, complete=True), Voice()).decode(),
    }
    assert set(texts_of(places)) == set(places)
    assert not any(WORDS in text for text in places.values())
