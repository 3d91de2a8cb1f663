"""``fairgauge estimate``.

Covers: fairgauge.cli._console, fairgauge.cli._files, fairgauge.cli._show.
"""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairgauge import design
from fairgauge.errors import CannotEstimate
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.metric_frame import PrivateMetricFrame
from fairgauge.study import Attribute, Question, Stratum, Study
from fairgauge.tallies import Tally
from tests.samples import RECALL, sample_channel
from tests.surveys import coin_question, expected_tally, people, study, tells_all
from tests.unit.cli.conftest import Run, refused

Files = tuple[Path, Path]


def test_json_is_as_promised(fairgauge: Run, files: Files):
    done = fairgauge("estimate", *files, "--confidence", 0.9, "--interval", "normal", "--json")
    assert done.status == 0
    document = done.json
    assert {"study", "confidence", "interval", "questions"} <= set(document)
    assert document["study"] == Study.from_bytes(files[0].read_bytes()).digest
    assert (document["confidence"], document["interval"]) == (0.9, "normal")
    (question,) = document["questions"]
    assert {"metric", "attribute", "answers", "headline", "gaps", "means", "overall", "warnings"} <= set(question)
    assert (question["metric"], question["attribute"], question["answers"]) == ("recall", "sex", 100_000)
    (gap,) = question["gaps"]
    assert gap["groups"] == ["female", "male"]
    assert gap["estimate"] == pytest.approx(0.2, abs=1e-3)
    assert gap["low"] < 0.2 < gap["high"]
    assert question["headline"] == gap | {"kind": "clear", "largest": True}
    assert set(question["means"]) == {"female", "male"}
    assert set(question["means"]["male"]) == {"estimate", "low", "high", "shown"}
    assert question["overall"]["estimate"] == pytest.approx(0.66, abs=1e-3)
    assert question["warnings"] == []


def test_people_get_a_table_and_sentences(fairgauge: Run, files: Files):
    done = fairgauge("estimate", *files, "--tolerance", 0.05)
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0] == "recall by sex: 100,000 answers"
    assert lines[1].split() == ["estimate", "low", "high"]
    assert [line.split()[0] for line in lines[2:6]] == ["female", "female", "male", "overall"]
    assert re.search(
        r"IF both answered equally often: The model's recall is between 1\d\.\d and 2\d\.\d points higher for female",
        done.out,
    )
    assert "IF both answered equally often: The gap is beyond the tolerance of ±5 points." in done.out
    assert "IF both answered equally often: That the gap is within ±0.05 has p-value" in done.out
    assert "Shares that are each wrong by up to 0.01 could move the gap between female and male by up to 1." in done.out
    assert "Forging 1 % of the answers could move the gap between female and male by up to 10" in done.out
    assert lines[-1] == (
        "Intervals: 0.99 confidence; "
        "holds for the population that clients are drawn from, however many answered, at one look; "
        "IF all groups answered equally often; as if nobody outside the study answered, which is not known."
    )


def write(elsewhere: Path, asked: Study, tally: Tally) -> tuple[str, str]:
    (elsewhere / "s.json").write_bytes(asked.to_bytes())
    (elsewhere / "t.json").write_bytes(tally.to_bytes())
    return "s.json", "t.json"


def test_a_gap_below_zero_is_lower_and_one_about_zero_is_not_told(fairgauge: Run, elsewhere: Path):
    asked = study(tells_all("0.5", "0.5", metric=RECALL))
    lower = expected_tally(asked, people(("female", "0.5", 50_000), ("male", "0.9", 50_000)))
    assert (
        "points lower for female than for male (99 % confidence)."
        in fairgauge("estimate", *write(elsewhere, asked, lower)).out
    )
    same = expected_tally(asked, people(("female", "0.5", 5000), ("male", "0.5", 5000)))
    words = "The answers do not tell for whom the model's recall is higher: for female it is between"
    assert words in fairgauge("estimate", *write(elsewhere, asked, same)).out


def test_strata_are_weighed_with_what_the_number_is_about(fairgauge: Run, elsewhere: Path):
    files = []
    for name, mean, count in (("north", "0.82", 70_000), ("south", "0.86", 30_000)):
        asked = replace(study(tells_all("0.5", "0.5", metric=RECALL)), stratum=Stratum("region", name, "0.5"))
        tally = expected_tally(asked, people(("female", mean, count // 2), ("male", "0.8", count // 2)))
        for kind, written in (("study", asked.to_bytes()), ("tally", tally.to_bytes())):
            files.append(f"{name}-{kind}.json")
            (elsewhere / files[-1]).write_bytes(written)
    done = fairgauge("estimate", *files, "--interval", "normal")
    assert re.search(r"female - male +0\.0400", done.out)
    assert re.search(r"IF .+ answered equally often: The model's recall is between", done.out)
    assert (
        "note This is the gap within each region, weighed by its share of all people (north 0.5, south 0.5)" in done.out
    )
    assert "note The design effect of weighing is 1.19" in done.out
    assert "tally=nothing after south-study.json: must be given with its study" in fairgauge("estimate", *files[:3]).err
    assert "tolerance=0.1: must not be given where strata" in fairgauge("estimate", *files, "--tolerance", 0.1).err


def test_where_no_gap_can_be_told_it_exits_with_1(fairgauge: Run, elsewhere: Path):
    asked = study(tells_all(metric=RECALL))
    tally = expected_tally(asked, people(("female", "0.5", 1), ("male", "0.5", 100)))
    done = fairgauge("estimate", *write(elsewhere, asked, tally))
    assert done.status == 1
    assert "note The gap between female and male cannot be estimated: the share of female is not" in done.out
    done = fairgauge("estimate", *write(elsewhere, asked, Tally.empty(asked)), "--json")
    assert done.status == 1
    assert done.json["questions"][0]["headline"] == {"kind": "early"}
    assert done.json["questions"][0]["warnings"] == ["There are no answers yet."]


def test_only_the_possible_is_printed(fairgauge: Run, elsewhere: Path):
    asked = study(tells_all("0.3", "0.7", metric=RECALL, abstain=True))
    files = write(elsewhere, asked, Tally(asked.digest, (10, 40, 25, 25, 0)))
    done = fairgauge("estimate", *files)
    rows = {line.split("  ")[0]: line.split() for line in done.out.splitlines()}
    assert rows["answered"][-1] == rows["female"][-1] == "1.0000*"
    assert "* Cut to what this number can be." in done.out
    numbers = [float(word.rstrip("*")) for name in ("answered", "female", "male", "overall") for word in rows[name][1:]]
    assert all(0 <= number <= 1 for number in numbers)
    document = fairgauge("estimate", *files, "--json").json["questions"][0]
    assert document["answered"]["high"] > 1
    assert document["answered"]["shown"]["high"] == 1


def test_an_estimate_that_the_answers_rule_out_is_not_shown_outside_its_interval(fairgauge: Run, elsewhere: Path):
    """A table that is made for gaps tells levels badly: how much scores vary then tells more than their average."""
    groups = Attribute("gender", {"women": "0.49", "men": "0.49", "nonbinary": "0.02"}, answering="alike")
    asked = study(*design(RECALL, groups, epsilon=1))
    everyone = people(("women", "0.79", 98_000), ("men", "0.87", 98_000), ("nonbinary", "0.7", 4_000))
    counts = np.array(expected_tally(asked, everyone).counts, dtype=float)
    overall = estimands_of(asked.questions[0]).overall
    assert overall is not None
    # Chance may move counts so that the average is 0.09 too high: three standard deviations.
    moved = counts * (1 + 0.18 * overall.over / (overall.over**2 @ counts / counts.sum()))
    files = write(elsewhere, asked, Tally(asked.digest, tuple(np.round(moved).astype(int).tolist())))
    told = fairgauge("estimate", *files, "--json").json["questions"][0]["overall"]
    assert told["low"] <= told["estimate"] == told["high"] < told["average"]
    assert told["shown"]["estimate"] == told["estimate"]
    (line,) = [line for line in fairgauge("estimate", *files, "--csv").out.splitlines() if ",overall," in line]
    assert line.split(",")[3] == str(told["high"])
    out = fairgauge("estimate", *files).out
    row = next(line.split() for line in out.splitlines() if line.startswith("overall"))
    assert row[1] == f"{told['high']:.4f}*"
    assert "note The overall mean: how the answers vary rules out what their average alone would give." in out


def test_forgers_without_limit_are_said_to_be(fairgauge: Run, elsewhere: Path):
    asked = study(tells_all(metric=RECALL))
    tally = expected_tally(asked, people(("female", "0.5", 10_000), ("male", "0.5", 990_000)))
    done = fairgauge("estimate", *write(elsewhere, asked, tally))
    assert "Forging 1 % of the answers could move the gap between female and male without limit." in done.out


def test_a_bound_is_said_to_be_one(fairgauge: Run, elsewhere: Path):
    asked = study(coin_question())
    done = fairgauge("estimate", *write(elsewhere, asked, Tally(asked.digest, (400, 600))))
    assert (
        "Shares that are each wrong by up to 0.01 could move the gap between female and male by up to 0.04." in done.out
    )


def test_names_are_printed_as_they_are_and_in_full(fairgauge: Run, elsewhere: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "40")
    names = ("[bold]women[/] " + "x" * 120, ":heart: [/nobody]")
    question = Question(
        RECALL, Attribute("[red]sex", names, ("0.5", "0.5"), answering="alike"), "means", "s", "1.1", sample_channel()
    )
    asked = study(question)
    tally = expected_tally(asked, people((names[0], "0.5", 5000), (names[1], "0.9", 5000)))
    done = fairgauge("estimate", *write(elsewhere, asked, tally))
    assert done.status == 0
    assert "recall by [red]sex" in done.out
    row = next(line for line in done.out.splitlines() if line.startswith(f"{names[0]} - {names[1]}"))
    assert len(row.rsplit(maxsplit=3)[1:]) == 3
    assert all(float(number) for number in row.rsplit(maxsplit=3)[1:])
    assert f"for {names[0]} than for {names[1]} (99 % confidence)." in done.out
    document = fairgauge("estimate", "s.json", "t.json", "--json").json
    assert document["questions"][0]["headline"]["groups"] == list(names)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--interval", "exact"], "interval=exact: must be one of population, anytime, normal"),
        (["--confidence", "1.5"], "confidence=1.5: must be from 0.5 to below 1"),
        (["--confidence", "nan"], "confidence=nan: must be from 0.5 to below 1"),
        (["--tolerance", "-1"], "tolerance=-1.0: must be 0 or above"),
        (["--tolerance", "inf"], "tolerance=inf: must be 0 or above"),
    ],
)
def test_bad_options_are_refused(fairgauge: Run, files: Files, options: list[str], text: str):
    assert refused(fairgauge("estimate", *files, *options), text)


def test_the_tally_of_another_study_is_refused_and_named(fairgauge: Run, files: Files, elsewhere: Path):
    other = study(coin_question())
    (elsewhere / "other.json").write_bytes(Tally.empty(other).to_bytes())
    done = fairgauge("estimate", files[0], "other.json")
    assert refused(done, f"other.json: study={other.digest[:20]}")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("{", "bad.json: document="),
        ('{"study": 1, "counts": [], "contributors": 0}', "bad.json: study=1: must be the digest of a study"),
        ('{"study": "x"}', "bad.json: counts="),
        ('{"study": "x", "counts": ["1"], "contributors": 1}', "bad.json: counts[0]=1: must be an integer from"),
        ('{"study": "x", "counts": [1], "counts": [2]}', "bad.json: "),
    ],
)
def test_a_bad_tally_is_refused_and_named(fairgauge: Run, files: Files, elsewhere: Path, content: str, text: str):
    (elsewhere / "bad.json").write_text(content)
    assert refused(fairgauge("estimate", files[0], "bad.json"), text)


def test_too_few_counts_are_refused(fairgauge: Run, files: Files, elsewhere: Path):
    digest = Study.from_bytes(files[0].read_bytes()).digest
    (elsewhere / "bad.json").write_text(json.dumps({"study": digest, "counts": [1, 2], "contributors": 3}))
    assert refused(
        fairgauge("estimate", files[0], "bad.json"), "bad.json: counts=2 counts: must be 4, as the study has"
    )


def test_missing_files_are_named(fairgauge: Run, files: Files):
    assert refused(fairgauge("estimate", files[0], "nowhere.json"), "tally=nowhere.json: cannot be read: No such file")
    assert refused(fairgauge("estimate", "nowhere.json", files[1]), "study=nowhere.json: cannot be read: No such file")


def test_of_very_many_gaps_the_largest_are_shown_first(fairgauge: Run, elsewhere: Path):
    towns = [f"t{n}" for n in range(8)]
    attribute = Attribute("town", dict.fromkeys(towns, "0.125"), answering="alike")
    asked = study(Question(RECALL, attribute, "means", "sample", "1.1", sample_channel(groups=8)))
    asked.save("s.json")
    expected_tally(asked, people(*((town, f"{0.1 * n:.1f}", 10**6) for n, town in enumerate(towns)))).save("t.json")
    out = fairgauge("estimate", "s.json", "t.json", "--interval", "normal").out
    assert out.splitlines()[2].startswith("t0 - t7")
    assert "The 24 largest of 28 gaps are shown. The other 4, 4 of them clear, are in the JSON." in out
    assert "IF all groups answered equally often: The 28 gaps hold together with 99 % confidence, every mean" in out


def test_a_tolerance_that_no_gap_can_exceed_is_refused(fairgauge: Run, files: tuple[Path, Path]):
    said = "tolerance=20.0: must be below 1, in the units of recall: no gap can be larger"
    for command in (["estimate"], ["report", "-o", "r.html"]):
        assert refused(fairgauge(command[0], *files, *command[1:], "--tolerance", 20), said)
    assert fairgauge("estimate", *files, "--tolerance", "0.2").status == 0


def test_means_that_contradict_the_gap_are_withheld_wherever_they_would_stand(fairgauge: Run, elsewhere: Path):
    """Women answer 1.36 times as often as is stated: a gap of -.038, and means of .887 and .817."""
    (elsewhere / "people.csv").write_text("group,value,count\nfemale,0.836,576000\nmale,0.874,424000\n")
    groups = ("--attribute", "sex", "--group", "female=0.5", "--group", "male=0.5", "--answering", "alike")
    asked = ("--metric", "recall:0:1", "--epsilon", 4, "--expect", 0.89, "--design", "centred")
    assert fairgauge("design", "--title", "T", *groups, *asked, "-o", "study.json").status == 0
    drawn = ("people.csv", "--seed", 1, "-o", "tally.json")
    assert fairgauge("simulate", "study.json", *drawn).status == 0
    files = (elsewhere / "study.json", elsewhere / "tally.json")
    asked_for, counts = Study.load(files[0]), Tally.load(files[1])
    estimands, law = estimands_of(asked_for.questions[0]), np.array(counts.counts) / counts.contributors
    read = [mean.value(law) / 2 + 0.5 for mean in estimands.means or ()]
    assert read == pytest.approx([0.887, 0.817], abs=0.015)
    told = fairgauge("estimate", *files, "--json").json["questions"][0]
    assert told["gaps"][0]["estimate"] == pytest.approx(-0.038, abs=0.003)
    assert (told["means"], told["impact_ratio"]) == (None, None)
    said = fairgauge("estimate", *files).out
    rows = [line.split()[0] for line in said.splitlines()[2:5]]
    assert rows == ["female", "overall", "response"]  # the gap, and no mean of a group
    noticed = "The means of the groups contradict the gap, so they are not shown"
    assert noticed in said
    assert fairgauge("report", *files, "-o", "r.html").status == 0
    page = (elsewhere / "r.html").read_text(encoding="utf-8")
    assert noticed in page
    csv = fairgauge("estimate", *files, "--csv").out
    for text in (said, page, csv):
        assert not any(f"{mean:.3f}" in text for mean in read)
    with pytest.raises(CannotEstimate, match=noticed):
        PrivateMetricFrame(asked_for, counts).by_group  # noqa: B018 - what asks is what is tested
