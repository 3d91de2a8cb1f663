"""``fairgauge texts``."""

import json
from dataclasses import replace
from pathlib import Path

from fairgauge.study import Study
from tests.samples import full_study, sample_study
from tests.unit.cli.conftest import Run, refused


def test_a_study_is_explained_and_translated(fairgauge: Run, elsewhere: Path):
    asked = sample_study()
    asked.save("s.json")
    metric, attribute = asked.metrics[0].name, asked.attributes[0].name
    said = [f"--explain={metric}=Of 20 the part found.", f"--explain={attribute}=As in your passport.", "--language=en"]
    done = fairgauge("texts", "s.json", *said, "-o", "told.json")
    assert (done.status, done.out.splitlines()[-1]) == (0, "Languages: en.")
    own = fairgauge("texts", "told.json", "--json").json
    assert own["metrics[0].help"] == "Of 20 the part found."
    assert own["attributes[0].help"] == "As in your passport."
    (elsewhere / "de.json").write_text(json.dumps({place: f"{text} (de)" for place, text in own.items()}))
    done = fairgauge("texts", "told.json", "--translation", "de=de.json", "-o", "both.json")
    assert done.out.splitlines()[-1] == "Languages: en, de."
    found = Study.load("both.json")
    assert found.spoken(["de-AT"])[1]["title"] == f"{asked.title} (de)"
    assert [question.channel for question in found.questions] == [question.channel for question in asked.questions]


def test_crossed_attributes_are_explained_one_by_one(fairgauge: Run):
    asked = replace(full_study(), translations=None)
    asked.save("s.json")
    name = next(attribute for attribute in asked.attributes if attribute.cross).cross[0].name
    done = fairgauge("texts", "s.json", "--explain", f"{name}=Here.", "-o", "t.json")
    assert done.status == 0, done.err
    assert next(attribute for attribute in Study.load("t.json").attributes if attribute.cross).cross[0].help == "Here."


def test_a_text_that_a_translation_lacks_is_named(fairgauge: Run):
    asked = full_study()
    asked.save("s.json")
    name = next(metric.name for metric in asked.metrics if metric.help is None)
    done = fairgauge("texts", "s.json", "--explain", f"{name}=Here.", "-o", "t.json")
    assert refused(done, ".help=nothing: must be given")


def test_what_cannot_be_said(fairgauge: Run, elsewhere: Path):
    sample_study().save("s.json")
    (elsewhere / "bad.json").write_text("[]")
    (elsewhere / "few.json").write_text('{"title": "x"}')
    for typed, text in (
        (["--explain", "nobody=x", "-o", "t.json"], "explain=nobody: must be one of"),
        (["--explain", "x", "-o", "t.json"], "explain=x: must be NAME=..."),
        (["--language", "en"], "output=nothing: must be given"),
        (["-o", "t.json"], "output=t.json: must be given with --explain"),
        (["--language", "en", "--translation", "de=bad.json", "-o", "t.json"], "bad.json: translation"),
        (["--language", "en", "--translation", "de=few.json", "-o", "t.json"], "must be given"),
        (["--language", "en", "--translation", "de=no.json", "-o", "t.json"], "cannot be read"),
    ):
        assert refused(fairgauge("texts", "s.json", *typed), text)
    assert not (elsewhere / "t.json").exists()
