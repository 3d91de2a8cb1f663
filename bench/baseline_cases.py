"""The cases of the baseline: studies of every kind with tallies, and questions; drawn with fixed seeds."""

import json
import math
from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement, cycle, product
from typing import Any

import numpy as np

from bench.baseline import Plain, Today, progress
from fairgauge import Attribute, Question, Study, design
from fairgauge.channel import LEVEL_UNIT
from fairgauge.study import NoisyCounts

SEED = 20261116
PAIRS, QUESTIONS = 300, 200
RECALL = {"name": "recall", "low": "0", "high": "1"}
DELAY = {"name": "delay", "low": "-0.5", "high": "2"}
ALARMS = {"name": "false alarms", "low": "0", "high": "1"}
TRUST = {"name": "trust", "low": "1", "high": "7"}
SIMPLE, LAPLACE, UNCENTRED, CENTRED = "randomized-response", "laplace", "uncentred", "centred"
# How many answer: from nobody to ten million.
SIZES = (300, 10_000, 1_000_000, 0, 1_000, 100_000, 10, 3_000, 10_000_000, 30_000)
CONFIDENCES = (0.99, 0.99, 0.95, 0.9, 0.999)


def make(part: str) -> Plain:
    """Return one part of the baseline, as fairgauge is now."""
    return make_pairs() if part == "estimates" else make_questions()


# ------------------------------------------------------------------------------------------ attributes


def attribute(groups: int, answering: str = "any", **more: Any) -> Plain:
    """Return an attribute of so many groups, whose shares are not equal; ``answering`` none has no shares."""
    parts = [groups + 2 * place for place in range(groups)]
    shares = [part * 1000 // sum(parts) for part in parts]
    shares[-1] += 1000 - sum(shares)
    stated = None if answering == "none" else [f"{share / 1000:g}" for share in shares]
    names = [f"g{number}" for number in range(groups)]
    said = "any" if answering == "none" else answering
    return {"name": "group", "groups": names, "shares": stated, "answering": said, **more}


def crossed(sizes: tuple[int, ...], answering: str, comparisons: list[Plain] | None = None) -> Plain:
    """Return crossed attributes, whose cells have equal shares but for the first and the last."""
    factors = [
        {"name": f"f{place}", "groups": [f"{'abcd'[place]}{number}" for number in range(size)]}
        for place, size in enumerate(sizes)
    ]
    cells = [", ".join(cell) for cell in product(*(factor["groups"] for factor in factors))]
    shares = [1000 // len(cells)] * len(cells)
    shares[0] -= 20
    shares[-1] += 1000 - sum(shares)
    own = {"groups": cells, "shares": [f"{share / 1000:g}" for share in shares], "answering": answering}
    return {"name": "cells", **own, "cross": factors, "comparisons": comparisons}


def weighed(cells: list[str]) -> list[Plain]:
    """Return planned comparisons: of two halves, which matters most, of two cells, and of a cell with two others."""
    half = len(cells) // 2
    return [
        {"of": cells[:half], "against": cells[half:], "weight": "3"},
        {"of": cells[:1], "against": cells[half : half + 1], "weight": None},
        {"of": cells[1:2], "against": [cells[0], cells[-1]], "weight": "0.5"},
    ]


# --------------------------------------------------------------------------------------------- studies


def studies() -> Iterator[tuple[str, Plain]]:
    """Yield studies of every kind, described."""
    yield from _two_groups()
    yield from _several_groups()
    yield from _crossed()
    yield from _several_metrics()
    yield from _abstaining()
    yield from _sites()


def asked(metrics: list[Plain], groups: Plain, **options: Any) -> list[Question]:
    """Return the questions that ``design`` makes."""
    return list(design([Today.metric(each) for each in metrics], Today.attribute(groups), **options))


def _two_groups() -> Iterator[tuple[str, Plain]]:
    # A table for the means at a large epsilon has hundreds of rows.
    epsilons = {SIMPLE: cycle(_WIDE), CENTRED: cycle(_WIDE), UNCENTRED: cycle(("0.1", "0.5", "1", "2"))}
    options: list[Plain] = [
        {},
        {"expect": "0.8"},
        {"target": "means"},
        {"expect": "0.9", "spread": "0.1"},
        {"spread": "max"},
        {"target": "means", "expect": "0.3"},
    ]
    for answering in ("any", "alike", "none"):
        for name in (SIMPLE, UNCENTRED, CENTRED):
            for more in options[: 3 if answering == "none" else 6]:
                known = dict(more)
                if name == CENTRED:  # which is for gaps, and where shares are estimated for a mean that is expected
                    known.pop("target", None)
                    known |= {} if answering == "alike" else {"expect": known.get("expect", "0.6")}
                loss = next(epsilons[name])
                made = asked([RECALL], attribute(2, answering), epsilon=loss, design=name, **known)
                yield f"two groups, {answering}", described([made])
    for epsilon in ("0.5", "2"):
        made = asked([DELAY], attribute(2, "alike"), epsilon=epsilon, design=LAPLACE)
        yield "two groups, laplace", described([made])
    for error, name, epsilon in (
        ("0.01", CENTRED, "1"),
        ("0.05", UNCENTRED, "2"),
        ("0.02", SIMPLE, "0.5"),
        ("0.001", CENTRED, "4"),
    ):
        groups = attribute(2, "alike", share_error=error)
        for more in ({}, {"expect": "1.5"}):
            made = asked([DELAY], groups, epsilon=epsilon, design=name, **more)
            yield "two groups, share_error", described([made], planned=50_000 if more else None)
    made = asked([RECALL], attribute(2, "alike"), epsilon="1", design=CENTRED)
    yield "two groups, waves", described([made], order="waves")


def _several_groups() -> Iterator[tuple[str, Plain]]:
    epsilons = cycle(("1", "2", "0.5", "4"))
    for groups in range(3, 9):
        for answering, target in (("any", "gap"), ("alike", "means"), ("alike", "gap")):
            made = asked(
                [TRUST], attribute(groups, answering), epsilon=next(epsilons), design=SIMPLE, target=target, expect="5"
            )
            yield f"{groups} groups, {answering}", described([made])
    for answering, more in (("alike", {}), ("alike", {"target": "means"}), ("any", {"expect": "0.7"})):
        made = asked([RECALL], attribute(3, answering), epsilon="1", design=UNCENTRED, **more)
        yield f"3 groups, {answering}", described([made])
    made = asked([RECALL], attribute(3, "alike", share_error="0.01"), epsilon="2", design=UNCENTRED)
    yield "3 groups, share_error", described([made])
    made = asked([RECALL], attribute(3, "alike"), epsilon="1", design=CENTRED, expect="0.8")
    yield "3 groups, alike", described([made])
    for answering in ("alike", "any"):
        made = asked([RECALL], attribute(20, answering), epsilon="3", design=SIMPLE)
        yield f"20 groups, {answering}", described([made])


def _crossed() -> Iterator[tuple[str, Plain]]:
    for sizes, answering, epsilon in (((2, 2), "alike", "1"), ((2, 3), "any", "2"), ((2, 2, 2), "alike", "3")):
        plain = crossed(sizes, answering)
        for comparisons in (None, weighed(plain["groups"])):
            groups = {**plain, "comparisons": comparisons}
            made = asked([RECALL], groups, epsilon=epsilon, design=SIMPLE)
            yield "crossed" if comparisons is None else "crossed, comparisons", described([made])
    groups = crossed((2, 2), "alike", weighed(crossed((2, 2), "alike")["groups"])) | {"share_error": "0.01"}
    made = asked([DELAY], groups, epsilon="2", design=SIMPLE, expect="1")
    yield "crossed, comparisons", described([made])


def _several_metrics() -> Iterator[tuple[str, Plain]]:
    alike, any_ = attribute(2, "alike"), attribute(2, "any")
    even, other = {**alike, "shares": ["0.5", "0.5"]}, {**attribute(3, "any"), "name": "region"}
    four = [RECALL, ALARMS, DELAY, TRUST]
    found = [
        described([asked([RECALL, ALARMS], alike, epsilon="1")]),
        described([asked([RECALL, ALARMS], alike, epsilon="3")]),
        described([asked([RECALL, ALARMS], even, epsilon="1", expect={"recall": "0.8", "false alarms": "0.3"})]),
        described([asked([RECALL, ALARMS], even, epsilon="3", expect="0.5")]),
        described([asked([RECALL, DELAY], alike, epsilon="1", weights={"recall": "3", "delay": "1"})]),
        described([asked([RECALL, ALARMS], even, epsilon="1", design=UNCENTRED)]),
        described([asked([RECALL, DELAY], any_, epsilon="1", design=SIMPLE)]),
        described([asked([RECALL, DELAY], alike, epsilon="1", design=SIMPLE)]),
        described([asked(four, alike, epsilon="1")]),
        described([asked(four, even, epsilon="2")]),
        described([asked(four, any_, epsilon="2", design=SIMPLE)]),
    ]
    for study in found:
        asked_for = [len(table["questions"]) for table in study["tables"]]
        yield f"{sum(asked_for)} metrics, {'joint' if max(asked_for) > 1 else 'coin'}", study
    parts = [asked([RECALL], alike, epsilon="1", design=CENTRED), asked([RECALL], other, epsilon="1", design=SIMPLE)]
    yield "two attributes, coin", described(parts, planned=20_000)


def _abstaining() -> Iterator[tuple[str, Plain]]:
    for answering, name, epsilon in product(("any", "alike"), (SIMPLE, UNCENTRED), ("1", "3")):
        made = asked([RECALL], attribute(2, answering), epsilon=epsilon, design=name, abstain=True)
        yield "abstaining", described([made])
    made = asked([RECALL], attribute(3, "any"), epsilon="1", design=SIMPLE, abstaining="0.3", target="means")
    yield "abstaining", described([made])
    made = asked([DELAY, RECALL], attribute(2, "alike"), epsilon="2", design=SIMPLE, abstain=True)
    yield "abstaining, two metrics", described([made])


def _sites() -> Iterator[tuple[str, Plain]]:
    levels = [-LEVEL_UNIT, -LEVEL_UNIT // 2, LEVEL_UNIT // 4, LEVEL_UNIT]
    for groups, epsilon, records in ((2, "1", 1), (2, "0.2", 1), (3, "2", 2), (2, "4", 3)):
        for outcome in ("confusion", "levels"):
            site: Plain = {"attribute": attribute(groups), "outcome": outcome, "epsilon": epsilon, "records": records}
            if outcome == "levels":
                site |= {"metric": TRUST, "levels": levels}
            yield f"sites, {outcome}", {"title": "Baseline", "site": site}
    four = {"attribute": crossed((2, 2), "any"), "outcome": "confusion", "epsilon": "1", "records": 1}
    yield "sites, crossed", {"title": "Baseline", "site": four}


def described(parts: Iterable[list[Question]], **terms: Any) -> Plain:
    """Return the description of a study of these questions."""
    study = Study("Baseline", [question for part in parts for question in part])
    return {"title": study.title, **terms, "tables": [_table(questions) for questions in study.tables]}


def _table(questions: tuple[Question, ...]) -> Plain:
    first = questions[0]
    return {
        "design": first.design,
        "epsilon": first.epsilon,
        "attribute": _attribute(first.attribute),
        "abstain": first.mechanism.abstain,
        "questions": [
            {
                "metric": {"name": each.metric.name, "low": each.metric.low, "high": each.metric.high},
                "target": each.target,
                "levels": each.levels,
                "expect": each.expect,
                "spread": each.spread,
                "weight": each.weight,
            }
            for each in questions
        ],
        "table": first.channel.table,
    }


def _attribute(groups: Attribute) -> Plain:
    compared = [{"of": one.of, "against": one.against, "weight": one.weight} for one in groups.comparisons or ()]
    names = ("name", "groups", "shares", "answering", "share_error")
    return {
        **{name: getattr(groups, name) for name in names},
        "cross": [{"name": factor.name, "groups": factor.groups} for factor in groups.cross],
        "comparisons": compared or None,
    }


# --------------------------------------------------------------------------------------------- tallies


def tally(study: Study, chance: np.random.Generator, answers: int, *, honest: bool) -> Plain:
    """Draw a tally: groups as often as their shares say, each with values of its own; or one that no clients give."""
    if isinstance(study.mechanism, NoisyCounts):
        return _sites_tally(study.mechanism, chance, answers)
    split = chance.multinomial(answers, [1 / len(study.tables)] * len(study.tables))
    counts: list[int] = []
    for table, number in zip(study.tables, split.tolist(), strict=True):
        channel, shares = table[0].channel, table[0].attribute.reckoned_shares
        size = math.prod(map(len, channel.axes))
        inputs = [share * part for share in shares for part in chance.dirichlet([0.7] * size)]
        inputs = [*(0.9 * part for part in inputs), 0.1] if channel.abstain else inputs
        law = np.array(inputs) @ (np.array(channel.table) / 2**53)
        if not honest:  # most say the same
            law = 0.1 * law + 0.9 * np.eye(channel.symbols)[int(chance.integers(channel.symbols))]
        counts += chance.multinomial(number, law / law.sum()).tolist()
    return {"counts": counts}


def _sites_tally(site: NoisyCounts, chance: np.random.Generator, people: int) -> Plain:
    number, cells = int(chance.choice([1, 3, 6, 30])), site.size
    law, decay = chance.dirichlet([2.0] * cells), math.exp(-float(site.decay))
    counts = [
        (chance.multinomial(people // number, law) + chance.geometric(1 - decay, cells)
         - chance.geometric(1 - decay, cells)).tolist()
        for _ in range(number)
    ]  # fmt: skip
    products = [[a * b for a, b in combinations_with_replacement(own, 2)] for own in counts]
    return {"counts": [sum(each) for each in zip(*counts, strict=True)], "sites": number,
            "products": [sum(each) for each in zip(*products, strict=True)]}  # fmt: skip


def make_pairs() -> Plain:
    """Return studies, and tallies of them with their estimates."""
    chance, held = np.random.default_rng(SEED), list[Plain]()
    pairs: list[Plain] = []
    found = list(studies())
    progress("studies", len(found), len(found))
    for kind, description in found:
        plain = json.loads(json.dumps(description))
        study = Today.study(plain)
        document = study.to_bytes().decode()
        held.append({"kind": kind, "digest": study.digest, "document": document, "description": plain})
    for number in range(PAIRS):
        # Study by study, so that those who come first have one tally more.
        place = number % len(held)
        entry, turn = held[place], number // len(held)
        study = Today.study(entry["description"])
        answers = SIZES[(3 * turn + place) % len(SIZES)]
        drawn = tally(study, chance, answers, honest=(place + turn) % 9 != 4)
        estimates = [
            (asked_for, Today.estimate(study, Today.tally(study, drawn), asked_for, study.digest))
            for asked_for in _readings(entry["kind"], number, sites=isinstance(study.mechanism, NoisyCounts))
        ]
        pairs.append({"study": place, "tally": drawn, "estimates": estimates})
        progress("pairs", number + 1, PAIRS)
    return {"studies": held, "pairs": pairs}


def _readings(kind: str, number: int, *, sites: bool) -> Iterator[Plain]:
    """Yield how a pair is read: by the quick kinds always, and by the slow ones in turn."""
    many, few = kind.startswith(("5", "6", "7", "8", "20", "crossed")), kind.startswith("two groups, alike")
    if sites:
        kinds = ["people", "records", "sites"] if number % 4 == 0 else ["people", "records", "sites"][number % 3 :][:1]
    else:
        slow = number % (12 if many else 1 if few else 2) == 0 and not kind.startswith("20")
        kinds = [*(["population"] if slow else []), *(["anytime"] if number % 2 or not many else []), "normal"]
    confidence = CONFIDENCES[number % len(CONFIDENCES)]
    for name in kinds:
        given: Plain = {"confidence": confidence, "interval": name}
        if not sites and number % 3 == 0:
            given["tolerance"] = 0.05
        yield given


# ------------------------------------------------------------------------------------------- questions


def make_questions() -> Plain:
    """Return questions, and what is chosen for each."""
    held: list[Plain] = []
    every = list(questions())
    for number, (kind, question) in enumerate(every, start=1):
        plain = json.loads(json.dumps(question))
        held.append({"kind": kind, "question": plain, "chosen": Today.choose(plain)})
        progress("questions", number, len(every))
    return {"questions": held}


def questions() -> Iterator[tuple[str, Plain]]:
    """Yield questions of every kind."""
    yield from _questions_of_two_groups()
    yield from _questions_of_more_groups()
    yield from _questions_of_several()
    for number, people, epsilon in product((5, 100), (50, 500), ("0.2", "1", "3")):
        site = {"attribute": attribute(2), "outcome": "confusion", "epsilon": epsilon, "records": 1}
        expected = {"sites": number, "people": people, "positives": 0.3}
        yield "sites", {"site": site, "expected": expected, "confidence": 0.95}
    yield "refused", question(attribute(2), "1", design="nonsense")
    yield "refused", question(attribute(2), "20")
    yield "refused", question(attribute(2, "alike"), "1", spread="2")
    yield "refused", question(attribute(3), "1", design=CENTRED)


_WIDE = ("0.1", "0.5", "1", "2", "4", "8")
_OPTIONS: dict[str, Plain] = {
    "": {},
    ", expect": {"expect": "0.8"},
    ", expect, spread": {"expect": "0.9", "spread": "0.1"},
    ", spread": {"spread": "max"},
    ", means": {"target": "means"},
}


def _questions_of_two_groups() -> Iterator[tuple[str, Plain]]:
    for epsilon, (name, options) in product(("0.25", "0.5", "0.7", "1", "1.5", "2", "3", "4", "6"), _OPTIONS.items()):
        if (epsilon, name) == ("6", ", means"):
            continue  # takes a minute, for a table of hundreds of rows
        yield f"two groups, alike{name}", question(attribute(2, "alike"), epsilon, **options)
    for epsilon, error in product(("0.5", "1", "2", "3"), ("0.005", "0.01", "0.03")):
        groups = attribute(2, "alike", share_error=error)
        yield "two groups, share_error", question(groups, epsilon, expect="0.8")
    for epsilon, options in product(("0.5", "1", "2"), ({}, {"expect": "0.8"})):
        for clients in (2_000, 1_000_000):
            yield "two groups, any", question(attribute(2), epsilon, clients=clients, **options)
    for answering, epsilon, name in product(("any", "alike"), ("0.2", "0.6", "1", "2"), (SIMPLE, UNCENTRED, CENTRED)):
        for target in ("gap", "means"):
            if name != CENTRED or target == "gap":
                named: Plain = {"design": name, "target": target}
                named |= {"expect": "0.7"} if name == CENTRED and answering == "any" else {}
                yield f"two groups, {answering}, named", question(attribute(2, answering), epsilon, **named)
    for epsilon, answering in product(("2", "4", "8"), ("any", "alike")):
        yield f"two groups, {answering}, named", question(attribute(2, answering), epsilon, design=SIMPLE, expect="0.6")
    for epsilon in ("0.3", "0.5", "0.8", "1", "1.5", "2", "3", "4", "6"):
        yield "two groups, laplace", question(attribute(2, "alike"), epsilon, design=LAPLACE)
    for epsilon, answering in product(("1", "2"), ("any", "alike")):
        yield "two groups, abstaining", question(attribute(2, answering), epsilon, abstain=True, target="means")
        yield "two groups, abstaining", question(attribute(2, answering), epsilon, abstaining="0.3", design=SIMPLE)


def _questions_of_more_groups() -> Iterator[tuple[str, Plain]]:
    for groups, epsilon in product(range(3, 9), ("1", "3")):
        for answering in ("any", "alike"):
            yield f"{groups} groups, {answering}, named", question(attribute(groups, answering), epsilon, design=SIMPLE)
    for epsilon in ("0.5", "1", "2"):
        yield "3 groups, alike", question(attribute(3, "alike"), epsilon, design=UNCENTRED)
    yield "3 groups, alike", question(attribute(3, "alike"), "1", expect="0.8")
    for sizes, weights in product(((2, 2), (2, 3)), (False, True)):
        cells = crossed(sizes, "alike")
        compared = weighed(cells["groups"]) if weights else None
        yield "crossed", question({**cells, "comparisons": compared}, "2", design=SIMPLE)


def _questions_of_several() -> Iterator[tuple[str, Plain]]:
    alike = attribute(2, "alike")
    even = {**alike, "shares": ["0.5", "0.5"]}
    expect = {"recall": "0.8", "false alarms": "0.1", "delay": "0.5", "trust": "5"}
    for metrics in ([RECALL, ALARMS], [RECALL, DELAY], [RECALL, ALARMS, DELAY], [RECALL, ALARMS, DELAY, TRUST]):
        own = {metric["name"]: expect[metric["name"]] for metric in metrics}
        for epsilon in ("0.5", "2"):
            yield f"{len(metrics)} metrics", question(alike, epsilon, metrics=metrics)
            yield f"{len(metrics)} metrics, expect", question(even, epsilon, metrics=metrics, expect=own)
    for order in ([RECALL, DELAY, ALARMS, TRUST], [TRUST, RECALL, ALARMS, DELAY]):
        yield "4 metrics", question(even, "1", metrics=order)
    # Two means that are expected by groups of unequal shares: no table is found, though each alone has one.
    own = {"recall": "0.8", "false alarms": "0.3"}
    yield "2 metrics, expect", question(alike, "1", metrics=[RECALL, ALARMS], expect=own)
    weights = {"recall": "4", "false alarms": "1"}
    yield "2 metrics, weights", question(alike, "1", metrics=[RECALL, ALARMS], weights=weights)
    yield "2 metrics, any", question(attribute(2), "1", metrics=[RECALL, ALARMS], design=SIMPLE)


def question(groups: Plain, epsilon: str, *, clients: int = 100_000, **options: Any) -> Plain:
    """Return a question about recall, or about other metrics, with the reading that its width is planned for."""
    reading = {"clients": clients, "interval": "normal" if clients == 1_000_000 else "population", "confidence": 0.99}
    return {"metrics": [RECALL], "attribute": groups, "epsilon": epsilon, "reading": reading, **options}
