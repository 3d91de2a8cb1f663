"""``fairgauge design``."""

import re
import sys
from pathlib import Path

import pytest

from fairgauge.planning.table_pairing import TOGETHER
from fairgauge.study import Study
from tests.unit.cli.conftest import Run, refused

BASE = ("--title", "Recall by sex", "--attribute", "sex", "--epsilon", "1", "--design", "randomized-response")
KNOWN = ("--group", "female=0.5", "--group", "male=0.5", "--answering", "alike")
RECALL = ("--metric", "recall:0:1")


def test_it_writes_a_private_study(fairgauge: Run, elsewhere: Path):
    done = fairgauge("design", *BASE, *KNOWN, *RECALL, "-o", "study.json", "--json")
    assert done.status == 0
    study = Study.from_bytes((elsewhere / "study.json").read_bytes())
    assert done.json["digest"] == study.digest
    (question,) = study.questions
    assert (study.title, question.metric.name, question.attribute.name) == ("Recall by sex", "recall", "sex")
    assert question.attribute.shares == ("0.5", "0.5")
    assert (question.target, question.design, question.epsilon) == ("gap", "randomized-response", "1")
    (described,) = done.json["questions"]
    (pair,) = described.pop("pairs")
    assert pair["groups"] == ["female", "male"]
    assert [mean["groups"] for mean in described.pop("means")] == [["female"], ["male"]]
    assert described == {
        "metric": "recall",
        "design": "randomized-response",
        "epsilon_exact": question.mechanism.epsilon,
        "symbols": 4,
        "levels": 2,
        "answers": ["the gap", "each group's mean", "the overall mean"],
        "cannot_answer": [],
        "records": None,
        "outcome": None,
    }


def test_what_it_cannot_answer_is_said_now(fairgauge: Run):
    optimal = [part if part != "randomized-response" else "uncentred" for part in BASE]
    done = fairgauge("design", *optimal, *KNOWN, *RECALL, "-o", "study.json")
    assert "It answers: the gap." in done.out
    assert "It cannot answer: each group's mean, the overall mean." in done.out
    assert (
        "Privacy: whoever sees your answer can change their odds about your sex and your recall by at most" in done.out
    )


def test_several_metrics_make_several_questions(fairgauge: Run, elsewhere: Path):
    done = fairgauge("design", *BASE, "--group", "a", "--group", "b", *RECALL, "--metric", "error:-1:3", "-o", "s.json")
    assert done.status == 0
    study = Study.from_bytes((elsewhere / "s.json").read_bytes())
    assert [(q.metric.name, q.metric.low, q.metric.high) for q in study.questions] == [
        ("recall", "0", "1"), ("error", "-1", "3"),
    ]  # fmt: skip
    assert all(q.attribute.shares is None and q.target == "gap" for q in study.questions)
    assert "each group's share" in done.out


def test_what_each_table_gets_of_the_answers_is_said(fairgauge: Run):
    done = fairgauge("design", *BASE, *KNOWN, *RECALL, "--metric", "fpr", "-o", "study.json")
    assert "A device's coin picks one of 2 tables, so each gets about 1/2 of the answers." in done.out


def test_a_table_for_two_is_called_as_in_a_plan(fairgauge: Run):
    asked = ("--title", "T", "--epsilon", "2", *KNOWN, *RECALL, "--metric", "fpr", "-o", "study.json")
    assert {one["design"] for one in fairgauge("design", *asked, "--json").json["questions"]} == {TOGETHER}
    assert "fpr: together (centred), " in fairgauge("design", *asked).out


@pytest.mark.parametrize(
    ("design", "said"),
    [("randomized-response", "takes as many clients as"), ("laplace", r"takes (\d+% to )?\d+% more clients than")],
)
def test_a_design_that_takes_more_clients_than_the_simplest_is_said_to(fairgauge: Run, design: str, said: str):
    named = [design if part == "randomized-response" else part for part in BASE]
    three = ("--group", "a=0.4", "--group", "b=0.4", "--group", "c=0.2")
    done = fairgauge("design", *named, *three, *RECALL, "-o", "study.json")
    assert re.search(f"For the same error each comparison {said} randomized response.", done.out)


def test_dates_contact_and_abstaining_are_kept(fairgauge: Run, elsewhere: Path):
    options = ("--opens", "2027-01-01T00:00:00Z", "--closes", "2027-02-01T00:00:00Z", "--contact", "us@example.org")
    assert fairgauge("design", *BASE, *KNOWN, *RECALL, *options, "--abstain", "-o", "s.json").status == 0
    study = Study.from_bytes((elsewhere / "s.json").read_bytes())
    assert (study.opens, study.closes, study.contact) == (options[1], options[3], options[5])
    assert study.questions[0].mechanism.abstain


def test_a_name_alone_is_a_metric_from_0_to_1(fairgauge: Run, elsewhere: Path):
    fairgauge("design", *BASE, *KNOWN, "--metric", "recall", "-o", "s.json")
    metric = Study.from_bytes((elsewhere / "s.json").read_bytes()).questions[0].metric
    assert (metric.name, metric.low, metric.high) == ("recall", "0", "1")


def test_numbers_are_written_in_full(fairgauge: Run, elsewhere: Path):
    fairgauge("design", *BASE, "--group", "a=25e-2", "--group", "b=.750", "--metric", "x:-1e1:+2.50", "-o", "s.json")
    (question,) = Study.from_bytes((elsewhere / "s.json").read_bytes()).questions
    assert question.attribute.shares == ("0.25", "0.75")
    assert (question.metric.low, question.metric.high) == ("-10", "2.5")


def test_brackets_are_printed_as_they_are(fairgauge: Run):
    named = ("--title", "A [bold]title[/] :heart: [/oops]", "--attribute", "sex [red]", "--epsilon", "1")
    groups = ("--group", "[a]=0.5", "--group", "b[/]=0.5")
    done = fairgauge("design", *named, *groups, "--metric", "r[x]:0:1", "--design", "laplace", "-o", "s[1].json")
    assert done.status == 0
    assert "s[1].json: A [bold]title[/] :heart: [/oops]," in done.out
    assert "your sex [red] and your r[x]" in done.out


def test_the_file_can_be_read_by_others(fairgauge: Run, elsewhere: Path):
    fairgauge("design", *BASE, *KNOWN, *RECALL, "-o", "s.json")
    (elsewhere / "plain").write_bytes(b"")
    assert (elsewhere / "s.json").stat().st_mode == (elsewhere / "plain").stat().st_mode


@pytest.mark.parametrize("output", ["missing/s.json", ".", "x" * 300])
def test_what_cannot_be_written_leaves_nothing_behind(fairgauge: Run, elsewhere: Path, output: str):
    done = fairgauge("design", *BASE, *KNOWN, *RECALL, "-o", output)
    assert refused(done, "cannot be written: ")
    assert list(elsewhere.iterdir()) == []


def test_a_failed_design_keeps_the_old_file(fairgauge: Run, elsewhere: Path):
    (elsewhere / "s.json").write_text("old")
    assert fairgauge("design", *BASE, *KNOWN, "--metric", "recall:1:0", "-o", "s.json").status == 2
    assert [(p.name, p.read_text()) for p in elsewhere.iterdir()] == [("s.json", "old")]


def test_a_device_is_written_to_and_stays_a_device(fairgauge: Run):
    assert fairgauge("design", *BASE, *KNOWN, *RECALL, "-o", "/dev/null").status == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([*BASE, *KNOWN, *RECALL, "--design", "best"], "design=best: must be one of auto, randomized-response"),
        ([*BASE, *KNOWN, *RECALL, "--epsilon", "-1"], "epsilon=-1: must be above 0"),
        ([*BASE, *KNOWN, *RECALL, "--title", ""], "title='': must be text of 1 to 200 characters"),
        ([*BASE, *KNOWN, *RECALL, *RECALL], "metric=recall: must be given once"),
        ([*BASE, *KNOWN, *RECALL, "--opens", "tomorrow"], "opens=tomorrow: must be a moment in UTC"),
        ([*BASE, "--group", "a=0.5", *RECALL], "group=a=0.5: give at least two"),
        ([*BASE, *KNOWN], "metric=none: give at least one, such as recall:0:1"),
        ([*BASE, *KNOWN, *RECALL, "--expect", "nan"], "expect=nan: must be from 0 to 1"),
    ],
)
def test_bad_input_is_refused_with_its_name(fairgauge: Run, elsewhere: Path, arguments: list[str], text: str):
    assert refused(fairgauge("design", *arguments, "-o", "s.json"), text)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("missing", ["--title", "--group", "--epsilon", "-o"])
def test_a_missing_option_is_the_parsers_error(fairgauge: Run, missing: str):
    options = {"--title": "T", "--group": "a", "--metric": "m", "--epsilon": "1", "-o": "s.json"}
    typed = [part for name, value in options.items() if name != missing for part in (name, value)]
    done = fairgauge("design", *typed, "--group", "b")
    assert done.status == 2
    assert missing.strip("-") in done.err


@pytest.mark.usefixtures("solved_anew")
def test_it_says_what_rounding_costs_where_it_costs_much(fairgauge: Run, monkeypatch: pytest.MonkeyPatch):
    def designed(epsilon: str) -> str:
        loud = [{"randomized-response": "uncentred", "1": epsilon}.get(part, part) for part in BASE]
        return fairgauge("design", *loud, *KNOWN, *RECALL, "-o", "study.json").out

    assert "Rounding" not in designed("5")
    monkeypatch.setattr(sys.modules["fairgauge.designs.few_groups"], "_MOST_HARD_ROWS", 40)  # so that levels stop early
    assert re.search(r"Rounding to these levels costs about \d+\.\d% of the variance", designed("5.5"))


def test_who_asks_and_how_long_answers_are_kept_is_in_the_study(fairgauge: Run, elsewhere: Path):
    said = ["--operator", "Example Ltd", "--purpose", "To know.", "--retention", "30", "--model", "falls@2"]
    for aim in ([*RECALL], ["--outcome", "confusion"]):
        words = (
            BASE if aim[0] == "--metric" else [part for part in BASE if part not in ("--design", "randomized-response")]
        )
        done = fairgauge("design", *words, *KNOWN[:4], *aim, *said, "-o", "s.json")
        assert done.status == 0, done.err
        study = Study.load(elsewhere / "s.json")
        assert (study.operator, study.purpose, study.retention) == ("Example Ltd", "To know.", 30)
        assert study.model is not None
        assert (study.model.name, study.model.version) == ("falls", "2")
    refused_ = fairgauge("design", *BASE, *KNOWN, *RECALL, "--retention", "-1", "-o", "t.json")
    assert (refused_.status, "retention" in refused_.err) == (2, True)


def test_a_gap_with_estimated_shares_gets_the_design_that_plan_calls_best(fairgauge: Run, elsewhere: Path):
    """By variance it was centred, which at this size has a wider interval."""
    told = ("--group", "a", "--group", "b", *RECALL, "--target", "gap", "--expect", "0.9", "--epsilon", "1")
    (found,) = fairgauge("plan", *told, "--clients", "1e4", "--json").json["questions"]
    errors = {row["design"]: row["error"] for row in found["designs"]}
    assert found["best"] == "uncentred"
    assert errors["uncentred"] < 0.95 * errors["centred"]
    done = fairgauge("design", "--title", "Recall", *told, "-o", "study.json")
    assert Study.load(elsewhere / "study.json").questions[0].design == found["best"]
    narrowest = "Of all designs uncentred has the narrowest interval for"
    assert f"{narrowest} 10,000 answers, a number that nobody gave: see --planned." in " ".join(done.out.split())
    done = fairgauge("design", "--title", "Recall", *told, "--planned", "2e4", "-o", "study.json")
    assert f"{narrowest} 20,000 answers." in " ".join(done.out.split())


def test_what_is_made_with_the_papers_budgets_is_not_called_made_for_comparisons(fairgauge: Run, elsewhere: Path):
    three = ("--group", "a=0.3", "--group", "b=0.3", "--group", "c=0.4", "--attribute", "age", "--title", "Three")
    typed = (*three, "--metric", "recall:0:1", "--epsilon", "1.4", "--design", "randomized-response(1:1)")
    done = fairgauge("design", *typed, "-o", str(elsewhere / "s.json"))
    assert "exact epsilon 1.37989" in done.out
    assert "It is made for" not in done.out


def test_a_study_that_everyone_may_answer_lets_people_abstain(fairgauge: Run, elsewhere: Path):
    """Among everyone are people who have no group of the study; whoever says otherwise is heard."""
    made = ["design", *BASE, *KNOWN, *RECALL, "--design", "randomized-response", "-o", "s.json"]
    for more, abstain, said in (
        ([], False, True),  # who may answer is the collector's to say, so whoever designs hears of it
        (["--abstain"], True, False),
        (["--admission", "tickets"], False, False),
        (["--admission", "open"], True, False),
        (["--admission", "open", "--no-abstain"], False, False),
    ):
        done = fairgauge(*made, *more)
        assert (done.status, "Will everyone be asked?" in done.out) == (0, said)
        assert Study.load(elsewhere / "s.json").questions[0].mechanism.abstain == abstain
    refused_ = fairgauge(*made, "--no-abstain", "--abstaining", "0.1")
    assert (refused_.status, "abstaining" in refused_.err) == (2, True)


def test_the_terms_of_a_study_say_that_outsiders_answer_too(fairgauge: Run, elsewhere: Path):
    for more, said in (([], True), (["--abstain"], False)):
        fairgauge("design", *BASE, *KNOWN, *RECALL, "--design", "randomized-response", "-o", "s.json", *more)
        done = fairgauge("terms", "s.json", "--admission", "open", "-o", "t.json")
        assert ("Everyone may answer" in done.err) == said
