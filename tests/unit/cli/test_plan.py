"""``fairgauge plan``.

Covers: fairgauge.cli._crowd.
"""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from fairgauge.cli.plan import _TWO_EQUAL
from fairgauge.errors import Impossible
from fairgauge.planning import plans
from fairgauge.study import Release, Study
from tests.unit.cli.conftest import Run, refused

GROUPS = ("--group", "female=0.5", "--group", "male=0.5", "--answering", "alike")
DESIGNS = ["randomized-response", "laplace", "uncentred", "centred", "estimated"]
TERMS = (*GROUPS, "--metric", "recall:0:1", "--epsilon", 1, "--clients", "1e6")


def test_json_is_as_promised(fairgauge: Run):
    done = fairgauge("plan", *TERMS, "--confidence", 0.99, "--interval", "normal", "--json")
    assert done.status == 0
    assert list(done.json) == ["solved_for", "enough", "sentences", "questions"]
    (document,) = done.json["questions"]
    assert list(document) == [
        "metric", "solved_for", "confidence", "interval", "target", "condition", "best", "designs", "answering",
        "crowd",
    ]  # fmt: skip
    assert [line["answering"] for line in document["answering"]] == ["any", "1.1", "alike"]
    assert document["solved_for"] == "error"
    assert (document["confidence"], document["interval"], document["target"]) == (0.99, "normal", "gap")
    assert document["best"] == "centred"
    assert [row["design"] for row in document["designs"]] == DESIGNS
    members = ["design", "epsilon", "clients", "people", "error", "error_without_privacy"]
    members += ["variance", "privacy_variance", "sampling_variance", "assumes", "symbols", "levels", "pairs", "means"]
    assert all(list(row) == members for row in document["designs"])
    row = document["designs"][0]
    # In the metric's units: half of those of v.
    assert row["error"] == pytest.approx(2.5758 * (44.30 / 10**6) ** 0.5 / 2, rel=1e-3)
    assert (row["epsilon"], row["clients"], row["symbols"], row["levels"]) == (1.0, 10**6, 4, 2)


def test_people_get_a_table_and_a_sentence(fairgauge: Run):
    done = fairgauge("plan", *TERMS)
    assert done.status == 0
    head, *rows = done.out.splitlines()
    assert head.split() == ["design", "epsilon", "clients", "error", "±", "K·Var", "symbols", "levels"]
    assert [row.split()[0] for row in rows[:5]] == DESIGNS
    assert "With centred, 1,000,000 clients at epsilon 1 give the gap to ±0.00" in done.out
    assert "(0.99 confidence, population interval)" in done.out
    assert [row.split()[0] for row in rows[7:11]] == ["--answering", "any", "1.1", "alike"]
    assert rows[5] == (
        "K·Var: the variance times the clients, with values from -1 to 1; it assumes the worst level from 0.1 to 0.9, "
        "the same in every group, with a standard deviation of at most 0.15."
    )


def test_a_design_is_shown_before_the_next_is_worked_out(fairgauge: Run, monkeypatch: pytest.MonkeyPatch):
    whole = fairgauge("plan", *TERMS, "--design", "randomized-response").out.splitlines()[1].split()
    usual = plans._row

    def second_fails(question: Any, *more: Any) -> Any:
        if question.design == "laplace":
            raise Impossible("this one takes too long")
        return usual(question, *more)

    monkeypatch.setattr(plans, "_row", second_fails)
    done = fairgauge("plan", *TERMS)
    assert done.status != 0
    assert [line.split()[0] for line in done.out.splitlines()] == ["design", "randomized-response"]
    assert done.out.splitlines()[1].split() == whole
    assert fairgauge("plan", *TERMS, "--json").out == ""


@pytest.mark.parametrize("asked", [("--clients", 10**6), ("--error", 0.001), ("--clients", 10**6, "--detect", 0.1)])
def test_numbers_stand_below_each_other(fairgauge: Run, asked: tuple[object, ...]):
    done = fairgauge("plan", *GROUPS, "--epsilon", 2, *asked)
    head, *rows = done.out.splitlines()[: 1 + len(DESIGNS)]
    assert {len(row) for row in rows} == {len(head)}
    assert len(head) <= 80 or "power" in head


def test_clients_and_epsilon_can_be_asked_for(fairgauge: Run):
    clients = fairgauge("plan", *GROUPS, "--epsilon", 1, "--error", 0.05, "--json").json
    assert clients["solved_for"] == "clients"
    assert all(row["error"] == 0.05 and row["clients"] > 1000 for row in clients["questions"][0]["designs"])


def test_what_is_impossible_exits_with_1_and_best_null(fairgauge: Run):
    done = fairgauge("plan", *GROUPS, "--epsilon", 1, "--error", "1e-12", "--json")
    assert done.status == 1
    (found,) = done.json["questions"]
    assert found["best"] is None
    assert [row["clients"] for row in found["designs"]] == [None] * 5
    done = fairgauge("plan", *GROUPS, "--epsilon", 1, "--error", "1e-12")
    assert done.status == 1
    assert "impossible" in done.out
    assert "No design reaches this error as it is asked: allow a larger one, or find more clients." in done.out


def test_one_design_and_beside_it_what_the_paper_plans(fairgauge: Run):
    """The paper's number is the cell of its Table 1, with true privacy."""
    asked = (*GROUPS, "--metric", "v:-1:1", "--clients", "1e5")
    done = fairgauge("plan", *asked, "--error", 0.1, "--design", "laplace")
    assert done.status == 0
    assert [line.split()[0] for line in done.out.splitlines()[:2]] == ["design", "laplace"]
    assert "The source paper's own M_L, made private" in done.out
    assert "epsilon 2.46, K·Var 10." in done.out
    done = fairgauge("plan", *asked, "--error", 0.001, "--design", "laplace")
    assert done.status == 1
    assert "No design reaches this error at an epsilon up to 4, all that devices allow by themselves, as" in done.out
    assert "epsilon 178.89, K·Var" in done.out
    done = fairgauge("plan", *GROUPS, "--epsilon", 1, "--error", 0.01, "--design", "randomized-response")
    assert "11,074,964 clients, K·Var 44.3" in done.out
    done = fairgauge("plan", *GROUPS, "--epsilon", 1, "--clients", "1e6", "--design", "uncentred")
    assert "source paper" not in done.out


def test_a_design_that_is_not_one_or_costs_what_its_budgets_say_is_refused(fairgauge: Run):
    asked = (*GROUPS, "--clients", "1e5")
    assert refused(fairgauge("plan", *asked, "--error", 0.1, "--design", "M_L"), "is called laplace here")
    assert refused(fairgauge("plan", *asked, "--error", 0.1, "--design", "laplace(0.5:1)"), "needs --epsilon")
    assert fairgauge("plan", *asked, "--epsilon", 1, "--design", "laplace(0.5:1)").status == 0
    assert refused(fairgauge("plan", *asked, "--design", "laplace"), "needs --epsilon or --error")


def test_detecting_a_gap_adds_its_power(fairgauge: Run):
    rows = fairgauge("plan", *TERMS, "--detect", 0.05, "--json").json["questions"][0]["designs"]
    assert all(0.99 < row["power"] <= 1 for row in rows)
    assert "power" in fairgauge("plan", *TERMS, "--detect", 0.05).out.splitlines()[0]


def test_the_target_is_the_gap_unless_another_is_typed(fairgauge: Run):
    def target(*typed: str) -> str:
        terms = ("--epsilon", 1, "--clients", 1000, "--design", "randomized-response", "--json")
        return str(fairgauge("plan", *typed, *terms).json["questions"][0]["target"])

    assert target(*GROUPS) == target("--group", "a=0.4", "--group", "b=0.6") == target("--group", "a", "--group", "b")
    assert (target(*GROUPS), target(*GROUPS, "--target", "means")) == ("gap", "means")


def test_a_plan_that_rests_on_who_answers_says_if(fairgauge: Run):
    condition = "IF all groups answer equally often"
    terms = ("--group", "a=0.5", "--group", "b=0.5", "--epsilon", 1, "--clients", "1e5", "--interval", "normal")
    alike, any_ = fairgauge("plan", *terms, "--answering", "alike"), fairgauge("plan", *terms)
    assert f"(0.99 confidence, normal interval), {condition}." in alike.out
    assert "IF" not in any_.out
    assert fairgauge("plan", *terms, "--answering", "alike", "--json").json["questions"][0]["condition"] == condition
    assert fairgauge("plan", *terms, "--json").json["questions"][0]["condition"] is None
    table = fairgauge("plan", *GROUPS, "--clients", "1e5", "--interval", "normal").out.splitlines()
    assert table[0].endswith(f"best design, {condition}:")


def test_how_often_groups_answer_is_any_or_alike_and_nothing_for_sites(fairgauge: Run):
    assert refused(fairgauge("plan", *TERMS, "--answering", "often"), "answering=often: must be any, alike or a ratio")
    bare = ("--group", "a", "--group", "b", "--epsilon", 1, "--clients", 10, "--answering", "alike")
    assert refused(
        fairgauge("plan", *bare),
        "answering=alike: must not be given where shares are not: state every group's, or leave it out",
    )
    sites = ("--outcome", "confusion", "--sites", 5, "--people", 100, "--answering", "alike")
    assert refused(fairgauge("plan", *sites), "answering=alike: must not be given with --outcome")


def test_a_plot_is_written_whole_or_not_at_all(fairgauge: Run, elsewhere: Path, monkeypatch: pytest.MonkeyPatch):
    from decimal import Decimal

    monkeypatch.setattr("fairgauge.planning.plan_figure._EPSILONS", [Decimal(1)])
    assert fairgauge("plan", *TERMS, "--plot", "plan.svg").status == 0
    assert (elsewhere / "plan.svg").read_bytes().startswith(b"<?xml")
    assert [path.name for path in elsewhere.iterdir()] == ["plan.svg"]
    done = fairgauge("plan", *TERMS, "--plot", "missing/plan.svg")
    assert done.status == 2
    assert done.err == "fairgauge: plot=missing/plan.svg: cannot be written: No such file or directory\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([*TERMS, "--interval", "wald"], "interval=wald: must be one of population, anytime, normal"),
        ([*TERMS, "--confidence", "1.5"], "confidence=1.5: must be from 0.5 to below 1"),
        ([*TERMS, "--target", "both"], 'target=both: must be "gap" or "means"'),
        ([*TERMS, "--error", "0.01"], "given=epsilon, clients, error: give exactly two of"),
        ([*TERMS, "--detect", "nan"], "detect=nan: must be 0 or above"),
        ([*TERMS, "--plot", "plan.gif"], "plot=plan.gif: must end in .svg, .png, .pdf"),
        ([*TERMS, "--expect", "1.5"], "expect=1.5: must be from 0 to 1"),
        (
            [*GROUPS, "--epsilon", "1"],
            "given=epsilon: give --clients alone for a table of epsilons, or two of",
        ),
        ([*GROUPS, "--epsilon", "1", "--error", "0.1", "--plot", "p.svg"], "plot=p.svg: needs --clients"),
        ([*GROUPS, "--epsilon", "0", "--clients", "10"], "epsilon=0: must be above 0"),
        ([*GROUPS, "--epsilon", "-1", "--clients", "10"], "epsilon=-1: must be above 0"),
        ([*GROUPS, "--epsilon", "abc", "--clients", "10"], "epsilon=abc: must be a number"),
        ([*GROUPS, "--epsilon", "nan", "--clients", "10"], "epsilon=nan: must be a number"),
        ([*GROUPS, "--epsilon", "1e999999999", "--clients", "10"], "epsilon=1e999999999: must be 0, or from 1e-30"),
        ([*GROUPS, "--epsilon", "20", "--clients", "10"], "epsilon=20: must be from 0.001 to 12"),
        ([*GROUPS, "--epsilon", "1", "--clients", "0"], "clients=0: must be a whole number from 1 to 10^15"),
        ([*GROUPS, "--epsilon", "1", "--clients", "1.5"], "clients=1.5: must be a whole number"),
        ([*GROUPS, "--epsilon", "1", "--clients", "1e16"], "clients=1e16: must be a whole number"),
        ([*GROUPS, "--epsilon", "1", "--clients", "many"], "clients=many: must be a number"),
        ([*GROUPS, "--epsilon", "1", "--error", "0"], "error=0.0: must be above 0"),
        ([*GROUPS, "--epsilon", "1", "--error", "small"], "error=small: must be a number"),
        ([*TERMS, "--metric", "recall:0"], "metric=recall:0: must be name:low:high, such as recall:0:1"),
        ([*TERMS, "--metric", "recall:a:b"], "metric=a: must be a number"),
        ([*TERMS, "--metric", "recall:1:1"], "high=1: must be above low, which is 1"),
        ([*TERMS, "--metric", "recall:1:0"], "high=0: must be above low, which is 1"),
        ([*TERMS, "--metric", ":0:1"], "name="),
    ],
)
def test_bad_input_is_refused_with_its_name(fairgauge: Run, arguments: list[object], text: str):
    assert refused(fairgauge("plan", *arguments), text)


@pytest.mark.parametrize(
    ("groups", "text"),
    [
        (["female=0.5"], "group=female=0.5: give at least two"),
        (["a=0.5", "a=0.5"], "groups[1]=a: must be listed once"),
        (["a=0.5", "b=0.6"], "shares=0.5, 0.6: must sum to exactly 1"),
        (["a=0.5", "b"], "group=a=0.5, b: give every group a share"),
        (["a=0.5", "b~0.5"], "group=b~0.5: must have its share behind ="),
        (["a=0", "b=1"], "group a=0: must have a share above 0 and below 1"),
        (["a=-1", "b=2"], "group a=-1: must have a share above 0 and below 1"),
        (["a=x", "b=0.5"], "group a=x: must be a number"),
        (["=0.5", "b=0.5"], "groups[0]="),
    ],
)
def test_bad_groups_are_refused(fairgauge: Run, groups: list[str], text: str):
    options = [part for g in groups for part in ("--group", g)]
    assert refused(fairgauge("plan", *options, "--epsilon", 1, "--clients", 10), text)


def test_without_groups_two_equal_ones_are_reckoned_with_and_that_is_said(fairgauge: Run):
    typed = ["--epsilon", 1, "--error", "0.02", "--interval", "normal"]
    done = fairgauge("plan", *typed)
    named = fairgauge("plan", "--group", "a=0.5", "--group", "b=0.5", *typed)
    assert done.out == f"{_TWO_EQUAL}\n{named.out}"
    quiet = fairgauge("plan", *typed, "--json")
    assert (quiet.err, quiet.json["questions"][0]["target"]) == (f"{_TWO_EQUAL}\n", "gap")


class TestCrowd:
    TERMS = (*GROUPS, "--metric", "recall:0:1", "--clients", "1e4", "--crowd-epsilon", "0.5")

    def test_it_finds_the_local_epsilon_and_says_both(self, fairgauge: Run):
        done = fairgauge("plan", *self.TERMS, "--interval", "normal")
        assert done.status == 0
        (local,) = [line for line in done.out.splitlines() if "who run the collector" in line]
        (crowd,) = [line for line in done.out.splitlines() if "who reads the published counts" in line]
        assert "who see symbols: epsilon 4, the local one. Every device computes it" in local
        assert re.search(r": epsilon 0\.(49\d+|5) at delta 1e-8, the crowd's\. It rests on the collector adding", crowd)
        assert crowd.endswith("before it shows counts, and on nobody publishing symbols.")
        assert "Counts leave when 20,000 answers wait, or when the study closes, however many" in done.out
        (half,) = re.findall(r"if half of them answer, the error is ±([0-9.]+)\.\n", done.out)
        (planned,) = re.findall(r"give the gap to ±([0-9.]+) ", done.out)
        # Sampling and channel grow by the root of 2, and what draws add by 2, since they stay as many.
        assert 2**0.5 < float(half) / float(planned) < 2

    def test_json_and_what_is_typed(self, fairgauge: Run):
        typed = ("--delta", "1e-6", "--local-limit", "1.5")
        (found,) = fairgauge("plan", *self.TERMS, *typed, "--json").json["questions"]
        assert found["crowd"].pop("error_with_half") > found["designs"][0]["error"]
        assert found["crowd"] == {"epsilon": 0.5, "batch": 10_000, "delta": 1e-6, "local_limit": 1.5}
        assert {row["epsilon"] for row in found["designs"]} == {1.5}
        assert all(0.49 < row["crowd_epsilon"] <= 0.5 < row["draws"] for row in found["designs"])

    def test_the_study_says_how_its_counts_are_released(self, fairgauge: Run, tmp_path: Path):
        typed = ("--local-limit", "1", "--title", "Falls", "-o", "planned.json")
        done = fairgauge("plan", *self.TERMS, *typed)
        study = Study.load(tmp_path / "planned.json")
        assert study.release is not None
        draws = study.release.draws
        assert done.out.splitlines()[-1] == (
            f"planned.json: the study. Its counts leave in batches of 10,000 answers, with {draws} secret draws in "
            "each; what is left at closing is a batch of its own."
        )
        assert (study.title, study.planned) == ("Falls", 10_000)
        assert study.release == Release(10_000, "0.00000001", draws)
        told = fairgauge("verify", "planned.json", "--json").json["crowd"]
        assert (told["draws"], told["delta"]) == (draws, 1e-8)
        assert 0.49 < told["epsilon"] <= 0.5
        assert f"Counts with {draws} secret draws, even towards someone" in fairgauge("verify", "planned.json").out

    @pytest.mark.parametrize(
        ("typed", "said"),
        [
            ((*GROUPS, "--crowd-epsilon", "0.5"), "crowd-epsilon=0.5: needs --clients"),
            ((*TERMS, "-o", "x.json"), "title=nothing: must be given with --output"),
            ((*TERMS, "--title", "Falls"), "title=Falls: must be given with --output"),
            ((*GROUPS, "--clients", "9", "-o", "x", "--title", "T"), "output=x: must be given with --crowd-epsilon"),
            ((*TERMS, "--delta", "1e-4"), "delta=0.0001: must be below 1 in 10,000, and better far below"),
            ((*TERMS, "--epsilon", "1"), "crowd-epsilon=0.5: takes the place of epsilon and error"),
            ((*TERMS, "--error", "0.1"), "crowd-epsilon=0.5: takes the place of epsilon and error"),
            ((*GROUPS, "--clients", "9", "--delta", "1e-8"), "delta=1e-8: must be given with --crowd-epsilon"),
            ((*GROUPS, "--clients", "9", "--local-limit", "4"), "local-limit=4: must be given with --crowd-epsilon"),
            ((*GROUPS, "--clients", "9", "--crowd-epsilon", "0"), "crowd-epsilon=0: must be 0.0"),
        ],
    )
    def test_what_makes_no_sense(self, fairgauge: Run, typed: tuple[str, ...], said: str):
        assert refused(fairgauge("plan", *typed), said)


def test_clients_alone_give_a_table_over_epsilons_with_a_recommendation(fairgauge: Run):
    done = fairgauge("plan", "--clients", 200_000, "--interval", "normal")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0] == _TWO_EQUAL
    assert [line.split()[0] for line in lines[3:9]] == ["0.1", "0.25", "0.5", "1", "2", "4"]
    assert lines[11].startswith("We would take epsilon 2: the most private of these that gives the gap to ±0.02")
    assert lines[12].startswith("For one person: somebody who must guess between two groups, 50 to 50 before,")
    assert lines[14].startswith("What else could be done for ±0.02 with 200,000 people, at epsilon 1")
    assert lines[-1].strip() == "fairgauge plan --outcome levels --sites 20 --people 10000 --epsilon 1"


@pytest.mark.parametrize(("metric", "wanted"), [(("--metric", "hits:0:100"), 2), ((), 0.02)])
def test_what_is_proposed_gives_what_it_says_when_it_is_typed(fairgauge: Run, metric: tuple[str, ...], wanted: float):
    """A goal that is missed: every command line that is proposed runs, and gives the error that stands above it."""
    done = fairgauge("plan", "--clients", 8000, "--epsilon", 1, "--interval", "normal", *metric)
    proposed = done.out.partition(f"What else could be done for ±{wanted} with 8,000 people")[2].splitlines()[1:]
    assert len(proposed) == 10
    for said, typed in zip(proposed[::2], proposed[1::2], strict=True):
        error = float(re.findall(r"±([0-9.]+)", said)[0])
        plan = fairgauge(*shlex.split(typed)[1:], "--json").json["questions"][0]
        assert min(row["error"] for row in plan["designs"]) == pytest.approx(error, rel=0.01)
        assert ("enough" in said) == (error <= wanted)


def test_questions_that_share_the_answers_are_proposed_alone(fairgauge: Run):
    typed = ("--metric", "hits:0:100", "--metric", "recall:0:1", "--expect", "recall=0.8", "--interval", "normal")
    done = fairgauge("plan", "--clients", 8000, "--epsilon", 1, *typed)
    proposed = done.out.partition("The questions share the answers. What a question")[2].splitlines()[1:]
    assert len(proposed) == 4
    for said, typed_alone in zip(proposed[::2], proposed[1::2], strict=True):
        error = float(re.findall(r"±([0-9.]+)", said)[0])
        plan = fairgauge(*shlex.split(typed_alone)[1:], "--json").json["questions"][0]
        assert min(row["error"] for row in plan["designs"]) == pytest.approx(error, rel=0.01)
    alone = fairgauge("plan", "--clients", 8000, *typed)
    assert "The questions share the answers. What a question" in alone.out


def test_which_crowd_epsilon_reaches_an_error(fairgauge: Run):
    asked = ("--clients", 8000, "--error", 0.025, "--interval", "normal")
    (found,) = fairgauge("plan", *asked, "--crowd-epsilon", "auto", "--json").json["questions"]
    assert min(row["error"] for row in found["designs"]) <= 0.025
    assert 0.1 < found["crowd"]["epsilon"] < 1
    alone = fairgauge("plan", "--clients", 8000, "--crowd-epsilon", "auto")
    assert (alone.status, "needs clients and an error" in alone.err) == (2, True)


def test_so_few_clients_are_told_that_this_is_no_study(fairgauge: Run):
    done = fairgauge("plan", "--clients", 200, "--epsilon", 1)
    assert "200 clients tell nothing at this epsilon: the error is as large as any gap can be." in done.out
    assert "For ±0.02 it takes about 300,000 clients, or a larger epsilon." in done.out


def test_nothing_given_says_what_can_be(fairgauge: Run):
    done = fairgauge("plan")
    assert (done.status, done.out) == (2, "")
    assert refused(done, "given=nothing: give --clients alone for a table of epsilons, or two of")


def test_few_clients_are_told_the_same_number_as_in_the_table(fairgauge: Run):
    asked = ("plan", "--clients", 200, "--interval", "normal")
    (question,) = fairgauge(*asked, "--json").json["questions"]
    alone = {row["epsilon"]: row for row in question["epsilons"]}
    said = fairgauge(*asked, "--epsilon", 1).out
    assert f"For ±0.02 it takes about {alone[1]['clients']:,} clients, or a larger epsilon." in said


def test_several_metrics_are_planned_for_clients_alone(fairgauge: Run):
    asked = ["plan", *GROUPS, "--metric", "recall", "--metric", "fpr", "--clients", "1e6", "--interval", "normal"]
    done = fairgauge(*asked)
    assert done.status == 0
    head = next(line for line in done.out.splitlines() if line.startswith("epsilon"))
    assert head.split("   ")[1:3] == ["recall, error", "fpr, error"]
    document = fairgauge(*asked, "--json").json
    assert [question["metric"] for question in document["questions"]] == ["recall", "fpr"]
    assert [row["epsilon"] for row in document["questions"][1]["epsilons"]] == [0.1, 0.25, 0.5, 1, 2, 4]
    assert all(sentence in done.out for sentence in document["sentences"])
    assert "gives recall to ±0.02 and fpr to ±0.02 or better, here recall to ±0.0" in done.out


def test_each_metric_may_have_an_expectation_of_its_own(fairgauge: Run):
    asked = [*GROUPS, "--metric", "recall", "--metric", "fpr", "--epsilon", "0.5", "--clients", "1e6"]
    done = fairgauge("plan", *asked, "--expect", "recall=0.9", "--expect", "0.1", "--interval", "normal")
    assumed = [line for line in done.out.splitlines() if line.startswith("K·Var:")]
    assert ["averages 0.9" in assumed[0], "averages 0.1" in assumed[1]] == [True, True]
    speed = fairgauge("plan", *asked, "--expect", "speed=3")
    assert refused(speed, "expect=speed=3: must be a number, or one of recall, fpr")


def test_shares_that_may_be_off_are_paid_for_and_named(fairgauge: Run):
    asked = ["plan", *GROUPS, "--epsilon", 2, "--clients", "1e5", "--interval", "normal"]
    exact, off = (
        {row["design"]: row["error"] for row in fairgauge(*asked, *more, "--json").json["questions"][0]["designs"]}
        for more in ([], ["--share-error", "0.01"])
    )
    assert set(exact) == {*off, "estimated"}
    assert all(off[design] > exact[design] + 0.01 for design in off)
    done = fairgauge(
        "plan", *GROUPS, "--epsilon", 2, "--error", "0.01", "--interval", "normal", "--share-error", "0.01"
    )
    assert done.status == 1
    assert "Shares that may be off leave an error that no number of clients takes away." in done.out
    done = fairgauge(
        "plan", *GROUPS, "--epsilon", 2, "--error", "0.02", "--interval", "normal", "--share-error", "0.01"
    )
    better = "Because shares may be off randomized-response is better here: design takes it with --design"
    assert f"{better} randomized-response." in done.out


def test_a_plan_says_how_many_share_an_epoch(fairgauge: Run, tmp_path: Path):
    (tmp_path / "study.toml").write_text(
        'title = "Epochs"\nepsilon = 1\nepoch = 60\nopens = "2026-11-01T00:00:00Z"\ncloses = "2026-11-15T00:00:00Z"\n'
        '[[metrics]]\nname = "recall"\nlow = 0\nhigh = 1\n[attribute]\nname = "sex"\ngroups = ["female", "male"]\n'
        '[plan]\nclients = 3000\ninterval = "normal"\n',
        encoding="utf-8",
    )
    few = fairgauge("plan", "study.toml")
    assert "86% of answers are alone in theirs: below 20 the moment tells much." in few.err
    many = fairgauge("plan", "study.toml", "--clients", "1e7")
    assert "About 496 others share an epoch with an answer." in many.out


def test_a_plan_for_one_stratum_says_what_it_gives_of_all(fairgauge: Run, tmp_path: Path):
    """The half-width of a part, times the root of its share and what weighing takes of chi-square."""
    (tmp_path / "study.toml").write_text(
        'title = "Falls in the north"\nepsilon = 2\nplanned = 40000\n'
        'stratum = { of = "region", name = "north", share = 0.4 }\n[[metrics]]\nname = "recall"\nexpect = 0.9\n',
        encoding="utf-8",
    )
    said = " ".join(fairgauge("plan", "study.toml", "--design", "randomized-response").out.split())
    alone = float(said.partition("the gap to ±")[2].split(" ")[0])
    told = said.partition("the gap weighed by region is known to about ±")[2]
    assert told.endswith("with three.")
    assert float(told.split(" ")[0]) == pytest.approx(alone * 0.4**0.5 * 9.21034**0.5 / 2.57583, rel=1e-3)
    assert "weighed" not in fairgauge("plan", "--epsilon", 2, "--clients", 40_000).out
