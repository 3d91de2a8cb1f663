import math
import random
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from fairgauge.client import Answer, answer
from fairgauge.errors import InvalidInput
from fairgauge.estimation import estimate
from fairgauge.federation import NodeCounter
from fairgauge.simulation import Cell, Population, simulate
from fairgauge.study import Attribute, Release, Study
from fairgauge.tallies import Tally
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.recorder import recorder
from tests.samples import sample_question, sample_study, two_questions
from tests.sites import NOBODY, confusion_study, read, records, site_of
from tests.surveys import designed

STUDY = sample_study()


def answers(*symbols: int, study: Study = STUDY, first: int = 0) -> list[Answer]:
    return [Answer(study.digest, f"{number:032x}", (symbol,)) for number, symbol in enumerate(symbols, start=first)]


def unknown(given: list[Answer]) -> list[tuple[None, Answer]]:
    """Answers of which nobody knows the node."""
    return [(None, answer) for answer in given]


def test_only_certain_nodes_count() -> None:
    counter = NodeCounter(STUDY, nodes=["a", "b"])
    named = zip(["a", "c", None], answers(0, 1, 1), strict=True)
    assert counter.add(named) == 1
    assert counter.add([("a", answers(1, first=9)[0]), ("b", answers(1, first=8)[0])]) == 1


def test_each_answer_counts_once_over_all_rounds() -> None:
    counter = NodeCounter(STUDY)
    assert counter.add(unknown(answers(0, 1, 1))) == 3
    assert counter.add(unknown(answers(0, 1, 1, 3))) == 1
    assert counter.tally == Tally(STUDY.digest, (1, 2, 0, 1))
    assert counter.answers == tuple(answers(0, 1, 1, 3))


def test_what_is_no_answer_to_this_study_does_not_count() -> None:
    counter = NodeCounter(STUDY)
    counter.add(unknown(answers(2)))
    other_symbol_for_a_known_id = answers(3)
    outside = answers(4, first=7)
    of_another_study = answers(0, study=two_questions(), first=8)
    assert counter.add(unknown(other_symbol_for_a_known_id + outside + of_another_study)) == 0
    assert counter.tally.counts == (0, 0, 1, 0)


def test_a_later_run_goes_on_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "answers.ndjson"
    NodeCounter(STUDY, path=path).add(unknown(answers(0, 1)))
    with path.open("ab") as file:
        file.write(b'{"id":"00')  # a crash within a line
    later = NodeCounter(STUDY, path=path)
    assert later.tally.contributors == 2
    assert later.add(unknown(answers(0, 1, 2))) == 1
    assert NodeCounter(STUDY, path=path).tally == later.tally
    assert len(path.read_bytes().splitlines()) == 3


def test_a_file_belongs_to_one_study_and_refuses_another(tmp_path: Path) -> None:
    path = tmp_path / "answers.ndjson"
    NodeCounter(two_questions(), path=path).add(unknown(answers(0, 1, study=two_questions())))
    with pytest.raises(InvalidInput, match="holds answers to another study"):
        NodeCounter(STUDY, path=path)
    assert NodeCounter(two_questions(), path=path).tally.contributors == 2


def test_a_node_counts_once_whatever_ids_it_makes_up_and_in_later_runs_too(tmp_path: Path) -> None:
    path = tmp_path / "new" / "answers.ndjson"  # whose folder is made
    counter = NodeCounter(STUDY, path=path)
    first, second, third = answers(0, 1, 2)
    assert counter.add([("site-1", first), ("site-1", second)]) == 1
    assert counter.add([("site-1", second), ("site-2", third)]) == 1
    assert counter.answers == (first, third)
    later = NodeCounter(STUDY, path=path)
    assert later.add([("site-1", second), ("site-2", second)]) == 0
    assert later.add([("site-3", second)]) == 1
    assert NodeCounter(STUDY, path=path).tally.contributors == 3


def test_an_answer_that_is_sent_again_brings_back_a_node_that_a_crash_forgot(tmp_path: Path) -> None:
    path = tmp_path / "answers.ndjson"
    first, second = answers(0, 1)
    NodeCounter(STUDY, path=path).add([("site-1", first)])
    (tmp_path / "answers.ndjson.nodes").unlink()
    later = NodeCounter(STUDY, path=path)
    assert later.add([("site-1", first)]) == 0
    assert later.add([("site-1", second)]) == 0
    assert (tmp_path / "answers.ndjson.nodes").read_text() == "site-1\n"


@pytest.mark.parametrize("count", [0, 1, 2, 20, 200])
def test_few_answers_give_not_yet_and_no_number(count: int) -> None:
    counter = NodeCounter(STUDY)
    counter.add(unknown(answers(*([0] * count))))
    assert counter.numbers() == {"answers": count}
    assert counter.report() == f"{count} answers\nrecall female - male: not yet"


def many(study: Study, clients: int) -> list[Answer]:
    cells = (Cell("female", Decimal("0.6"), clients // 2), Cell("male", Decimal("0.9"), clients // 2))
    tally = simulate(study, Population(cells), seed=3)
    return answers(*(symbol for symbol, count in enumerate(tally.counts) for _ in range(count)), study=study)


def test_many_answers_give_the_gap_with_an_interval_that_holds_at_every_look() -> None:
    study = sample_study(designed(Scores(Target((0.5, 0.5))), "4", design="randomized-response"))
    counter = NodeCounter(study, confidence=0.95)
    counter.add(unknown(many(study, 4000)))
    gap = estimate(study, counter.tally, confidence=0.95, interval="anytime")["recall"].gaps["female", "male"]
    assert counter.numbers() == {
        "answers": 4000,
        "recall female - male": gap.estimate,
        "recall female - male low": gap.low,
        "recall female - male high": gap.high,
    }
    assert gap.low < -0.3 < gap.high
    assert f"[{gap.low:.4f}, {gap.high:.4f}]" in counter.report()


def test_every_question_and_pair_has_a_name_of_its_own() -> None:
    age = Attribute("age", ("young", "old", "very old"), ("0.5", "0.25", "0.25"), answering="alike")
    study = sample_study(sample_question(), sample_question(attribute=age))
    names = [line.partition(":")[0] for line in NodeCounter(study).report().splitlines()]
    assert names == [
        "0 answers",
        "recall by sex female - male",
        "recall by age young - old",
        "recall by age young - very old",
        "recall by age old - very old",
    ]


@pytest.mark.parametrize("symbols", [(0,) * 3000, (0, 1) * 1500, (0, 1, 2, 3) * 500])
def test_numbers_are_finite_and_possible(symbols: tuple[int, ...]) -> None:
    counter = NodeCounter(STUDY)
    counter.add(unknown(answers(*symbols)))
    for name, number in counter.numbers().items():
        assert math.isfinite(number), name
        assert name == "answers" or -1 <= number <= 1, name


def test_forwarding_sends_every_answer() -> None:
    counter = NodeCounter(STUDY)
    counter.add(unknown(answers(0, 1)))
    with recorder() as server:
        counter.forward(server.url)
        assert server.bodies == [answer.to_bytes() for answer in answers(0, 1)]


def test_a_study_whose_counts_are_held_back_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must have no release: a federation shows counts after every round"):
        NodeCounter(replace(STUDY, release=Release(1000, "0.00000001", 250)))


def test_answers_in_waves_are_read_by_what_holds_at_the_end() -> None:
    counter = NodeCounter(Study("Waves", [sample_question()], order="waves"))
    assert counter.estimate().interval == "population"
    assert NodeCounter(STUDY).estimate().interval == "anytime"


def test_sites_that_hold_many_people(tmp_path: Path) -> None:
    study = confusion_study()
    path = tmp_path / "answers.ndjson"
    counter = NodeCounter(study, path=path)
    rng = random.Random(5)
    rates = {"female": (0.6, 0.1), "male": (0.8, 0.1)}
    sites = [answer(study, read(site_of(study), records(rng, 400, rates))) for _ in range(6)]
    assert counter.add((f"hospital-{n}", one) for n, one in enumerate(sites)) == 6
    assert counter.add([("hospital-0", answer(study, NOBODY))]) == 0, "one that lost its ledger"
    of_devices = Answer(study.digest, "0" * 32, (1,))
    of_too_few_cells = Answer(study.digest, "1" * 32, (1, 2))
    assert counter.add([(None, of_devices), (None, of_too_few_cells)]) == 0
    assert counter.tally == Tally.of(study, sites)
    assert counter.estimate().interval == "population"
    found = counter.numbers()
    assert found["answers"] == 6
    assert found["true positive rate female - male low"] < -0.2 < found["true positive rate female - male high"]
    with path.open("ab") as file:
        file.write(b'{"counts":[12,-3')  # a crash within a line
    later = NodeCounter(study, path=path)
    assert later.answers == counter.answers
    assert later.add([(None, answer(study, NOBODY))]) == 1
    assert len(path.read_bytes().splitlines()) == 7
