"""Whoever picks the study must learn nothing from who stays silent: people, studies to tell them apart, the attack.

Each way in (device, ledger, agent, guard, ...) is given as ``Ask``: a fresh device of one person, which is asked
studies, and says of each whether it gave an answer.

Or it is given as ``Way``, and then everything that the asker could see is recorded and compared between people: what
was said, byte for byte but for what was drawn; how many random bytes were drawn for it; logs, whoever may fetch them;
and names and sizes of files.  Draws come from the same stream for everyone, so that people whom a table must treat
alike get the very same answer.
"""

import logging
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pytest

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.client import site_counts as site
from fairgauge.errors import CannotAnswer
from fairgauge.study import Attribute, Metric, NoisyCounts, Question, Study
from tests.samples import ENDS, RECALL, SEX, joint_questions, sample_question, sample_study, two_questions

Patch = pytest.MonkeyPatch
Person = dict[str, Any]
Ask = Callable[[Person], Callable[[Study], bool]]

NOT_LISTED = "platypus"
NEAREST = Metric.nearest  # also where a test switches it off


def person(sex: Any = "female", recall: Any = "0.8125390625") -> Person:
    """Return somebody; an ellipsis leaves a part out."""
    return {
        "group": {} if sex is ... else {"sex": sex},
        "values": {} if recall is ... else {"recall": recall},
    }


# They differ only in group, only in value, or only in whether they have either.
PEOPLE = {
    "female": person(),
    "male": person("male"),
    "another group": person(NOT_LISTED),
    "a group that is no text": person(7),
    "no group": person(None),
    "no attribute": person(...),
    "no value": person(recall=None),
    "no metric": person(recall=...),
    "nothing": person(None, None),
    "above": person(recall=76),
    "below": person(recall="-0.5"),
    "far above": person(recall="1e300"),
    "not a number": person(recall=float("nan")),
    "infinite": person(recall=float("inf")),
    "words": person(recall=NOT_LISTED),
}

# Profiles that lack a whole part.
LACKING: list[Any] = [{}, {"group": None}, {"values": None}, {"group": {"sex": "female"}}, {"values": {"recall": 1}}]


def narrowed(low: Any = 0, high: Any = 1, *groups: str, abstain: bool = False) -> Study:
    """Ask for recall in a range of one's own, of groups of one's own."""
    attribute = Attribute("sex", groups) if groups else SEX
    return sample_study(sample_question(Metric("recall", low, high), attribute, abstain=abstain))


def hostile_studies() -> list[Study]:
    """Return studies that some can answer and others cannot, each with and without a row to abstain."""
    one_by_one = [
        narrowed(*asked, abstain=abstain)
        for asked in ((0, 1, "female", "zzz"), (0, "0.5"), ("0.8125", "0.8126"))
        for abstain in (False, True)
    ]
    creed = sample_study(sample_question(RECALL, Attribute("creed", ("one", "another"))))
    weight = sample_study(sample_question(Metric("weight", 0, 200)))
    return [*one_by_one, creed, weight, two_questions(), Study("Joint", joint_questions())]


# A fresh device of one person in a folder of its own: a document in, and everything that is said to the asker.
Way = Callable[[Person, Path], Callable[[bytes], str]]
HERE = "HERE"
_DRAWN = r'("symbol":|payload\W+)(\d+)'


def documents() -> list[bytes]:
    """Return what may be asked: hostile studies, one that costs nothing, and what is none or breaks the format."""
    free = Channel(((ROW_SUM // 4,) * 4,) * 4, ENDS, 2)
    nothing = sample_study(Question(RECALL, SEX, "gap", "sample", "0.1", free))
    asked = [study.to_bytes() for study in (*hostile_studies(), nothing)]
    one_level = asked[0].replace(str(list(ENDS)).replace(" ", "").encode(), b"[%d]" % LEVEL_UNIT)
    return [*asked, one_level, asked[0][:-1], b"{}"]


class Seen(NamedTuple):
    """What the asker could see of one question, but for what was drawn."""

    said: str
    drawn: object
    log: tuple[str, ...]
    files: tuple[tuple[str, int], ...]


@contextmanager
def _logged() -> Iterator[list[str]]:
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    root, keep = logging.getLogger(), Keep(logging.DEBUG)
    before = root.level
    root.addHandler(keep)
    root.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        root.removeHandler(keep)
        root.setLevel(before)


# Reading what a person gave takes its time; from there on nothing branches.
_READING = ("numbers.py", "entries.py")


def steps_of(run: Callable[[], object]) -> int:
    """Return how many instructions of ours run, but for those that read a number or an entry."""
    ours, found = str(Path(site.__file__).parents[1]), 0

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal found
        name = frame.f_code.co_filename
        if not name.startswith(ours) or name.endswith(_READING):
            return None
        frame.f_trace_opcodes = True
        found += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return found


@contextmanager
def quick_folder(otherwise: Path) -> Iterator[Path]:
    """Give a folder in memory where there is one: what is asked here waits for the disk most of the time."""
    memory = Path("/dev/shm")
    if not (memory.is_dir() and os.access(memory, os.W_OK)):
        yield otherwise
        return
    with TemporaryDirectory(dir=memory) as name:
        yield Path(name)


def observed(way: Way, who: Person, folder: Path, asked: Sequence[bytes], *, own: Sequence[str] = ()) -> list[Seen]:
    """Ask a fresh device, and return everything that can be seen.

    Args:
        way: The way in.
        who: The person.
        folder: The device's own.
        asked: The documents.
        own: Files whose sizes are the device's own business, such as the profile.
    """
    folder.mkdir(parents=True)
    stream: Any = os.urandom  # of the tests: the same for everyone
    with _logged() as lines:
        ask, found = way(who, folder), []
        for index, document in enumerate(asked):
            stream._stream.seed(f"silence {index}")
            lines.clear()
            said = ask(document).replace(str(folder), HERE)
            files = tuple(
                (str(path.relative_to(folder)), path.stat().st_size if path.name not in own else 0)
                for path in sorted(folder.rglob("*"))
            )
            log = tuple(line.replace(str(folder), HERE) for line in lines)
            found.append(Seen(_without_draws(said), hash(stream._stream.getstate()), log, files))
    return found


def _without_draws(said: str) -> str:
    """Leave out a symbol, as a document and as a reply of Flower's have it; the id stays."""
    return re.sub(_DRAWN, r"\1N", said)


# Of these the first is inside of the studies below, and the others are outside.
LAW_PEOPLE = ["female", "male", "no group", "nothing"]


def law_studies(count: int = 120) -> list[Study]:
    """Return studies with one table, of epsilon just below 3: a device answers each once, so each gives one draw.

    So many that whoever is inside of them is seen to be: of 60 draws one set in a hundred looks like those outside.
    """
    other = ROW_SUM // 23
    rows = tuple(tuple(ROW_SUM - 3 * other if x == j else other for j in range(4)) for x in range(4))
    question = Question(RECALL, Attribute("sex", ("female", "zzz")), "gap", "sample", "3", Channel(rows, ENDS, 2))
    return [Study(f"Law {number}", (question,)) for number in range(count)]


def outsiders_law(said: Sequence[str]) -> float:
    """Return how likely symbols as odd as these are by the law of those outside; whoever is silent has another."""
    from tests.statistical.exact import p_value

    found = Counter(int(symbol[2]) for one in said if (symbol := re.search(_DRAWN, one)) is not None)
    law = [float(part) for part in law_studies(1)[0].questions[0].channel.mixture(None, Fraction(1, 2))]
    return p_value([found[symbol] for symbol in range(4)], [(len(said), np.array(law))])


def of_another_law(way: Way, folder: Path) -> list[str]:
    """Return whose draws do not follow the law of those outside: her who is inside, and by the rule nobody else.

    Guarantee: an honest way shows somebody else at most three times in a million runs.
    """
    odd = []
    for name in LAW_PEOPLE:
        (folder / name).mkdir(parents=True)
        ask = way(PEOPLE[name], folder / name)
        odd += [name] if outsiders_law([ask(study.to_bytes()) for study in law_studies()]) < 1e-6 else []
    return odd


def told_apart(way: Way, folder: Path, asked: Sequence[bytes] | None = None, *, own: Sequence[str] = ()) -> list[str]:
    """Return in what somebody differs from the first person, by study and by what differs; nothing is the rule."""
    asked = documents() if asked is None else asked
    observed(way, PEOPLE["female"], folder / "first of the process", asked[:1], own=own)  # some logs have a line once
    first, found = None, []
    for number, (name, who) in enumerate(PEOPLE.items()):
        seen = observed(way, who, folder / str(number), asked, own=own)
        first = first or seen
        for index, (one, other) in enumerate(zip(first, seen, strict=True)):
            found += [
                f"{name}, document {index}: {field}"
                for field in Seen._fields
                if getattr(one, field) != getattr(other, field)
            ]
    return found


@dataclass(frozen=True)
class Reading:
    """What an asker of many small studies knows of somebody's group in the end.

    Args:
        certain: Whether something but what was drawn differs between the groups: then the group is known.
        odds: The logarithm of the factor by which the asker's odds changed, for a woman and for a man.
        spent: What the ledgers say.
    """

    certain: bool
    odds: tuple[float, float]
    spent: tuple[float, float]


def small_studies(count: int, epsilon: float = 2e-4) -> list[Study]:
    """Return studies that each cost little, with lists of groups and ranges that leave somebody out."""
    other = math.ceil(ROW_SUM / (4 + math.expm1(epsilon * 0.99)))
    rows = tuple(tuple(ROW_SUM - 3 * other if x == j else other for j in range(4)) for x in range(4))
    channel, found = Channel(rows, ENDS, 2), []
    for number in range(count):
        groups = (("female", "male"), ("female", "zzz"), ("male", "zzz"))[number % 3]
        high = ("1", "0.5", "0.8125")[number // 3 % 3]
        question = Question(Metric("recall", 0, high), Attribute("sex", groups), "gap", "sample", str(epsilon), channel)
        found.append(Study(f"Small {number}", (question,)))
    return found


def read_group(
    ask: Callable[[str, Study], tuple[str, int | None]], spent: Callable[[str], float], count: int
) -> Reading:
    """The attack: ask a woman and a man who differ in nothing else the same small studies, and work out the odds.

    Args:
        ask: Gives to a person ("female" or "male") and a study what is said, without the symbol, and the symbol.
        spent: Gives what the person's ledger says in the end.
        count: How many studies are asked.
    """
    certain, odds = False, {"female": 0.0, "male": 0.0}
    for study in small_studies(count):
        question = study.questions[0]
        groups = question.attribute.groups
        position = NEAREST(question.metric, "0.8125390625")
        laws = {
            who: question.mechanism.mixture(groups.index(who) if who in groups else None, position)  # type: ignore[attr-defined]
            for who in odds
        }
        said = {}
        for who in odds:
            said[who], symbol = ask(who, study)
            if symbol is not None:
                odds[who] += math.log(laws["female"][symbol] / laws["male"][symbol])
        certain = certain or said["female"] != said["male"]
    return Reading(certain, (odds["female"], odds["male"]), (spent("female"), spent("male")))


def silent(ask: Ask) -> list[str]:
    """Return who gave no answer to which study; the rule is that nobody is ever silent."""
    found = []
    for name, who in PEOPLE.items():
        answers = ask(who)
        found += [f"{name}, study {index}" for index, study in enumerate(hostile_studies()) if not answers(study)]
    return found


def groups_read(answers: Callable[[Study], bool]) -> list[str]:
    """The attack: list one true group beside one that nobody has, and see who answers."""
    return [group for group in ("female", "male") if answers(narrowed(0, 1, group, "zzz"))]


def value_read(answers: Callable[[Study], bool], questions: int = 30) -> float:
    """The attack on a value: halve the range, and see who answers."""
    low, high = 0.0, 1.0
    for _ in range(questions):
        middle = (low + high) / 2
        low, high = (low, middle) if answers(narrowed(low, middle)) else (middle, high)
    return (low + high) / 2


# Each defence switched off.


def refuses_a_foreign_group(patch: Patch) -> None:
    def refused(attribute: Attribute, group: Any) -> int:
        if group not in attribute.groups:
            raise CannotAnswer(f"{attribute.name} must be one of {', '.join(attribute.groups)}")
        return attribute.groups.index(group)

    # The package has a function of the module's name.
    patch.setattr(sys.modules["fairgauge.client.randomiser"], "group_index", refused)


def refuses_a_value_out_of_range(patch: Patch) -> None:
    patch.setattr(Metric, "nearest", Metric.position)


def answers_as_one_row(patch: Patch) -> None:
    """Whoever is outside answers by the first row, not by one of all."""
    patch.setattr(Channel, "row_without", lambda channel, _: channel.table[0])


def refuses_a_missing_record(patch: Patch) -> None:
    count_records = site.count_records

    def refused(asked: NoisyCounts, records: Any) -> list[int]:
        if site.left_out(asked, records):
            raise CannotAnswer("a record lacks a group or an outcome")
        return count_records(asked, records)

    patch.setattr(site, "count_records", refused)


MUTANTS = {
    "a foreign group is refused": refuses_a_foreign_group,
    "so is a value out of range": refuses_a_value_out_of_range,
}
