"""Real answers and simulated tallies against the law that the published table promises.

The law is computed here from the document's integers by plain interpolation, sharing no code with the client.
Answers go through the real client, with nothing replaced but the operating system's random bytes.  Values lie
on levels, between them and at both ends; some clients abstain; some studies ask two questions.

A mutant is a table with a mistake in it: whoever answers or simulates with it must be caught.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from fairgauge.channel import ROW_SUM, Channel
from fairgauge.client import answer
from fairgauge.simulation import Cell, Population, simulate, simulate_exactly
from fairgauge.simulation.answers import answers
from fairgauge.simulation.clients import Clients
from fairgauge.study import Metric, Question, Study
from fairgauge.tallies import Tally
from tests.samples import THREE_LEVELS, sample_question, sample_study
from tests.statistical.exact import FALSE_POSITIVE_RATE, p_value

SEED = 20261115
ONE = sample_study(sample_question(levels=THREE_LEVELS))
ABSTAIN = sample_study(sample_question(levels=THREE_LEVELS, abstain=True))
TWO = sample_study(
    sample_question(levels=THREE_LEVELS, abstain=True),
    sample_question(Metric("error", "-1", "3"), abstain=True),
)
Path = Callable[[Study, Population], Tally]

STUDIES = {"one": ONE, "abstain": ABSTAIN, "two": TWO}

ANSWERING = (
    Cell("female", Decimal(0), 2000),
    Cell("female", Decimal("0.4"), 4000),
    Cell("male", Decimal("0.83"), 4000),
    Cell("male", Decimal(1), 1000),
)
MISSING = (Cell(None, None, 600), Cell("male", None, 600), Cell(None, Decimal("0.5"), 300))
POPULATIONS = {
    "one": Population(ANSWERING),
    "abstain": Population(ANSWERING + MISSING),
    "two": Population(ANSWERING + MISSING),
}


def promised(study: Study, cell: Cell) -> NDArray[np.float64]:
    """Return the law of an answer, from the table's integers."""
    laws = []
    for question in study.questions:
        channel, metric, groups = question.channel, question.metric, question.attribute.groups
        table = np.array(channel.table, dtype=np.float64) / 2**53
        if cell.group is None or cell.value is None:
            laws.append(table[-1])
        else:
            v = 2 * (float(cell.value) - float(metric.low)) / (float(metric.high) - float(metric.low)) - 1
            rows = table[: len(groups) * len(channel.levels)].reshape(len(groups), len(channel.levels), -1)
            columns = rows[groups.index(cell.group)].T
            laws.append(np.array([np.interp(v * 2**30, channel.levels, column) for column in columns]))
    return np.concatenate(laws) / len(study.questions)


def answered(study: Study, population: Population) -> Tally:
    """Count the real answers of every client."""
    names = [question.metric.name for question in study.questions]
    profiles = [
        {"group": cell.group, "values": dict.fromkeys(names, cell.value)}
        for cell in population.cells
        for _ in range(cell.count)
    ]
    return Tally.of(study, (answer(study, profile) for profile in profiles))


def simulated(study: Study, population: Population) -> Tally:
    return simulate_exactly(study, population, seed=SEED)


def drawn(study: Study, population: Population) -> Tally:
    """Count the answers that are drawn in blocks."""
    return _counted(study, Clients.of(study, population))


def _counted(study: Study, clients: Clients) -> Tally:
    blocks = answers(study, clients, random=random.Random(SEED).randbytes)
    return Tally(study.digest, tuple(np.bincount(np.concatenate(list(blocks)), minlength=study.symbols).tolist()))


def is_honest(path: Path, answering: Study, published: Study, population: Population) -> bool:
    """Tell whether tallies agree with the published study: of each cell alone, then of all at once."""
    parts = [Population((cell,)) for cell in population.cells] if len(population.cells) > 1 else []
    looked_at = [*parts, population]
    # The first that does not agree is enough: the rest of a mutant's answers need not be drawn.
    return all(
        p_value(path(answering, part).counts, [(cell.count, promised(published, cell)) for cell in part.cells])
        >= FALSE_POSITIVE_RATE / len(looked_at)
        for part in looked_at
    )


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the operating system's random bytes, and nothing else, by a fixed stream."""
    monkeypatch.setattr("random._urandom", random.Random(SEED).randbytes)


PATHS = pytest.mark.parametrize("path", [answered, simulated, drawn])


@PATHS
@pytest.mark.parametrize("name", STUDIES)
def test_answers_follow_the_table(path: Path, name: str) -> None:
    assert is_honest(path, STUDIES[name], STUDIES[name], POPULATIONS[name])


def test_the_seed_decides_every_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    few = Population((Cell("female", Decimal("0.4"), 100),))
    first = answered(ONE, few)
    assert answered(ONE, few) != first
    monkeypatch.setattr("random._urandom", random.Random(SEED).randbytes)
    assert answered(ONE, few) == first


@pytest.mark.parametrize("name", STUDIES)
def test_the_exact_mixture_is_the_promised_law(name: str) -> None:
    study = STUDIES[name]
    for cell in POPULATIONS[name].cells:
        exact = [
            p / len(study.questions)
            for question in study.questions
            for p in question.channel.mixture(
                None if cell.group is None else question.attribute.groups.index(cell.group),
                None if cell.value is None else question.metric.position(cell.value),
            )
        ]
        assert np.array(exact, dtype=np.float64) == pytest.approx(promised(study, cell), abs=1e-14)


def swap_groups(channel: Channel) -> Channel:
    size = len(channel.levels)
    table = channel.table
    return replace(channel, table=table[size : 2 * size] + table[:size] + table[2 * size :])


def take_the_level_above(channel: Channel) -> Channel:
    size = len(channel.levels)
    table = tuple(
        channel.row(group, min(level + 1, size - 1)) for group in range(channel.groups) for level in range(size)
    )
    return replace(channel, table=table + channel.table[len(table) :])


def mirror_the_levels(channel: Channel) -> Channel:
    """Wrong between levels only: the rows are right, but the middle level is at the wrong place."""
    return replace(channel, levels=tuple(-level for level in reversed(channel.levels)))


def number_symbols_from_one(channel: Channel) -> Channel:
    return replace(channel, table=tuple(row[-1:] + row[:-1] for row in channel.table))


def count_the_silent_as_the_first_group(channel: Channel) -> Channel:
    return replace(channel, table=(*channel.table[:-1], channel.table[0]))


def send_the_truth_more_often(channel: Channel) -> Channel:
    """Spend more than declared: a fifth of the weight moves to each row's own symbol."""
    table = [[weight - weight // 5 for weight in row] for row in channel.table]
    for own, row in enumerate(table):
        row[own] += ROW_SUM - sum(row)
    return replace(channel, table=tuple(map(tuple, table)))


@PATHS
@pytest.mark.parametrize(
    ("mutate", "name"),
    [
        (swap_groups, "one"),
        (swap_groups, "two"),
        (take_the_level_above, "one"),
        (mirror_the_levels, "one"),
        (mirror_the_levels, "two"),
        (number_symbols_from_one, "one"),
        (count_the_silent_as_the_first_group, "abstain"),
        (send_the_truth_more_often, "one"),
    ],
)
def test_mutant_tables_are_caught(path: Path, mutate: Callable[[Channel], Channel], name: str) -> None:
    study = STUDIES[name]
    first = study.questions[0]
    broken = replace(first, mechanism=mutate(first.channel), epsilon="2")
    mutant = replace(study, questions=(broken, *study.questions[1:]))
    assert not is_honest(path, mutant, study, POPULATIONS[name])


def test_a_coin_with_modulo_bias_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    coin = random.Random(SEED)
    monkeypatch.setattr("secrets.randbelow", lambda count: coin.randrange(3) % count)
    assert not is_honest(answered, TWO, TWO, POPULATIONS["two"])


def test_random_bytes_with_a_stuck_bit_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = random.Random(SEED)
    monkeypatch.setattr("random._urandom", lambda size: bytes(byte & 0xDF for byte in stream.randbytes(size)))
    assert not is_honest(answered, ONE, ONE, POPULATIONS["one"])


def test_a_billion_simulated_clients_follow_the_table() -> None:
    assert is_honest(simulated, ONE, ONE, Population((Cell("female", Decimal("0.4"), 10**9),)))


def test_a_law_that_is_off_by_a_thousandth_is_caught_among_a_billion() -> None:
    cell = Cell("female", Decimal("0.4"), 10**9)
    bent = promised(ONE, cell) * (1 + 1e-3 * np.array([1, -1, 0, 0, 0, 0]))
    assert p_value(simulated(ONE, Population((cell,))).counts, [(cell.count, bent)]) < FALSE_POSITIVE_RATE


# Clients who are drawn: each one's answer follows the average law, so counts are multinomial.


def sampled(study: Study, population: Population) -> Tally:
    return simulate(study, population, seed=SEED)


def one_by_one(study: Study, population: Population, *, clients: int, seed: np.random.Generator) -> Tally:
    return _counted(study, Clients.of(study, population).drawn(clients, seed=seed))


def sampled_one_by_one(study: Study, population: Population) -> Tally:
    return one_by_one(study, population, clients=population.clients, seed=np.random.default_rng(SEED))


def average_law(study: Study, population: Population) -> NDArray[np.float64]:
    total: NDArray[np.float64] = np.sum([cell.count * promised(study, cell) for cell in population.cells], axis=0)
    return total / population.clients


SAMPLED = pytest.mark.parametrize("path", [sampled, sampled_one_by_one])


@SAMPLED
@pytest.mark.parametrize("name", STUDIES)
def test_answers_of_drawn_clients_follow_the_average_law(path: Path, name: str) -> None:
    study, population = STUDIES[name], POPULATIONS[name]
    law = average_law(study, population)
    assert p_value(path(study, population).counts, [(population.clients, law)]) >= FALSE_POSITIVE_RATE
    # The twin: people are counted for the other group.
    swapped = average_law(replace(study, questions=tuple(map(_swapped, study.questions))), population)
    assert p_value(path(study, population).counts, [(population.clients, swapped)]) < FALSE_POSITIVE_RATE


def _swapped(question: Question) -> Question:
    return replace(question, mechanism=swap_groups(question.channel))


def bare_study() -> Study:
    """A study that hides next to nothing: the symbol is the group."""
    sure, never = ROW_SUM - 1, 1
    rows = ((sure, never), (sure, never), (never, sure), (never, sure))
    channel = Channel(rows, ONE.questions[0].channel.levels[::2], 2)
    return sample_study(replace(ONE.questions[0], mechanism=channel, epsilon="37"))


@pytest.mark.parametrize(("path", "as_in_life"), [(simulate, True), (one_by_one, True), (simulate_exactly, False)])
def test_who_comes_is_as_random_as_in_life(path: Callable[..., Tally], as_in_life: bool) -> None:
    """Half of the people are in each group; of 20 who are drawn, a binomial number is.  The twin's split exactly."""
    study, rng, runs = bare_study(), np.random.default_rng(SEED), 1000
    population = Population((Cell("female", Decimal(0), 1), Cell("male", Decimal(0), 1)))
    firsts = [path(study, population, clients=20, seed=rng).counts[0] for _ in range(runs)]
    often = np.bincount(firsts, minlength=21).tolist()
    assert (p_value(often, [(runs, binom.pmf(np.arange(21), 20, 0.5))]) >= FALSE_POSITIVE_RATE) == as_in_life
