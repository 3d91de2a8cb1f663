"""Vectors of studies that say everything; their parts are those of :mod:`tests.vectors.simple`, but for

studies     also the offsets of the tables' symbols, and the texts in each language that is asked for
draws       a study's index, a table, a group's index, a value for each question of the table (all null to abstain), one
            draw of 53 bits for each of them and one for the symbol, and the symbol within the table
profiles    a study's index, a profile, what each draw of bits gives (first the coin's), and the symbol of the answer
refusals    a study's index, a profile, and the error and its text with which a device refuses to answer
"""

import functools
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

from fairgauge.channel import ROW_SUM, Channel
from fairgauge.client import answer
from fairgauge.client.randomiser import channel_input, draw_symbol, groups_by_attribute
from fairgauge.errors import FairgaugeError
from fairgauge.study import Metric, Model, Stratum, Study
from fairgauge.study import Table as Asked
from tests.samples import (
    full_study,
    joint_questions,
    sample_question,
    sample_study,
    site_study,
    two_questions,
    unlinked_study,
)
from tests.vectors.simple import SEED, Vector, random_channel, verdict

FILE = Path(__file__).parent / "full.json"
LANGUAGES: tuple[list[str], ...] = (["de-AT", "fr"], ["fr", "en-GB"], ["fr"], [])


@functools.cache
def good_studies() -> list[tuple[str, Study]]:
    """Studies, each as somebody wrote it."""
    rng = random.Random(SEED)
    expects = replace(sample_question(), expect="0.50", spread="max")
    three = [Metric(name, 0, 1) for name in "abc"]
    rough = random_channel(rng, 8, sample_question().channel.levels, 5, abstain=True)
    question = joint_questions()[0]
    ends = sample_question().channel.levels
    joint = replace(rough, groups=2, further=(ends, ends))
    studies = [
        full_study(),
        unlinked_study(),
        site_study(),
        site_study("levels"),
        Study("Joint", joint_questions()),
        Study(
            "Three at once",
            [
                replace(question, metric=metric, mechanism=joint, epsilon="2.9", axis=axis, abstaining="0.010")
                for axis, metric in enumerate(three)
            ],
        ),
        Study("Expects", [expects, *two_questions().questions[1:]]),
        Study("Übersetzt 🎯", [sample_question()], language="zh-Hant", model=Model("m")),
        replace(sample_study(), planned=1, epoch=None, retention=0),
        Study("Waves", [sample_question()], order="waves", stratum=Stratum("region", "north", "0.40")),
        Study("Crossed", full_study().questions[:2]),
    ]
    texts = [study.to_bytes().decode() for study in studies]
    texts[0] = json.dumps(dict(reversed(json.loads(texts[0]).items())), indent=1)  # spaced, the other way round
    return [(text, Study.from_bytes(text.encode())) for text in texts]


def bad_changes() -> Iterator[tuple[str, str]]:
    """What to replace in the canonical text of the base study, each by what."""
    for field, values in {
        '"admission":"tickets"': ['"admission":"closed"', '"admission":"blind"', '"admission":null', '"admission":1'],
        '"aim":"0.02"': ['"aim":"0"', '"aim":"1"', '"aim":0.02', '"aim":2', '"aim":"1e-2"', '"goal":"0.02"'],
        '"contact":"audit@fairness.example"': ['"contact":null', '"contact":""', '"contact":"a\\nb"'],
        '"hourly":5000': ['"hourly":0', '"hourly":"5000"', '"hourly":true', '"hourly":1000000001'],
        '"language":"en"': [
            *(f'"language":{tag}' for tag in ('"EN"', '"english"', '"en-gb"', '""', '"en_GB"', "7", "null", '"de"')),
            '"purpose2":"x"',
        ],
        '"planned":200000': ['"planned":0', '"planned":-5', '"planned":1e5', '"planned":"200000"', '"planned":[]'],
        '"retention":90': ['"retention":-1', '"retention":36526', '"retention":"90"', '"retention":false'],
        '"operator":"Fairness Office"': [
            '"operator":" "',
            '"operator":{}',
            '"operator":null',
            '"order":"random"',
            '"order":null',
            '"order":1',
            '"stratum":{"name":"north","of":"region","share":"1"}',
            '"stratum":{"name":"north","of":"region","share":0.4}',
            '"stratum":{"name":"","of":"region","share":"0.4"}',
            '"stratum":{"name":"north","share":"0.4"}',
            '"stratum":"north"',
        ],
        '"version":"4.2"': ['"version":4', '"version":""', '"build":"4.2"', '"version":null'],
        '"model":{"name":"assistant","version":"4.2"}': ['"model":"assistant"', '"model":{}', '"model":[]'],
        '"opens":"2026-11-15T00:00:00Z"': ['"opens":null', '"opens":"2026-11-15"', '"opens":"2028-01-01T00:00:00Z"'],
        '"title":"Is everyone understood?"': ['"title":""', '"title":null', '"titles":"x"', '"title":{"en":"x"}'],
        '"metrics":[': ['"metrics":[[],', '"metrics":[{"name":"unused","low":"0","high":"1"},', '"metric":['],
        '"high":"2.5","low":"0","name":"delay"': [
            '"high":"2.5","low":"0","name":"understood"',
            '"high":2,"low":"0","name":"delay"',
            '"high":"0","low":"0","name":"delay"',
            '"high":"2.5","help":"","low":"0","name":"delay"',
            '"high":"2.5","help":null,"low":"0","name":"delay"',
            '"high":"2.5","low":"0"',
        ],
        '"better":"lower"': ['"better":"higher"', '"better":null', '"better":1', '"best":"lower"'],
        '"unit":"s"': ['"unit":""', '"unit":null', '"unit":5', '"unit":" s"', '"units":"s"'],
        '"share_error":"0.01"': ['"share_error":"0"', '"share_error":"1"', '"share_error":0.01', '"share_error":null'],
        '"share_source":"Register of 2025"': ['"share_source":""', '"share_source":5'],
        '"shares":["0.25","0.25","0.3","0.2"]': [
            '"shares":["0.25","0.25","0.5"]',
            '"shares":["0.25","0.25","0.3","0.3"]',
            '"shares":["0.25","0.25","0.5","0"]',
            '"shares":[1,0,0,0]',
            '"shares":null',
            '"share_guess":["0.25","0.25","0.3","0.2"]',
        ],
        '"answering":"alike"': ['"answering":"any"', '"answering":"often"', '"answering":null', '"answering":1'],
        '"answering":{"ratio":"1.5"}': [
            '"answering":"any","share_error":"0.1"',
            '"answers":"any"',
            '"answering":"1.5"',
            '"answering":{"ratio":"1"}',
            '"answering":{"ratio":"100.1"}',
            '"answering":{"ratio":1.5}',
            '"answering":{"ratio":"often"}',
            '"answering":{"rate":"1.5"}',
            '"answering":{"ratio":"1.5","share":"1"}',
            '"answering":{}',
            '"answering":[]',
        ],
        '"shares":["0.5","0.3","0.2"]': ['"shares":["0.5","0.3","0.3"]', '"shares":"even"', '"share_error":"0.1"'],
        '"groups":["north","south","west"]': [
            '"groups":["north","south","south"]',
            '"groups":["north"]',
            '"groups":null',
            '"groups":{}',
            '"cross":[]',
            '"groups":["north","south","west"],"cross":[]',
            '"group":["north","south","west"]',
        ],
        '"name":"region"': ['"name":"sex by age"', '"name":""', '"name":5', '"name":"place"'],
        '"groups":["female","male"],"help":"As in your papers.","name":"sex"': [
            '"groups":["female"],"name":"sex"',
            '"groups":["female","male"],"name":"age"',
            '"groups":["female","male"],"name":"sex","shares":["0.5","0.5"]',
            '"groups":["a","b","c"],"name":"sex"',
            '"name":"sex"',
        ],
        '"of":["female, 18–29","female, 30+"]': [
            '"of":["female, 30+","female, 18–29"]',
            '"of":["female, 18–29","female, 18–29"]',
            '"of":["female"]',
            '"of":[]',
            '"of":"female, 30+"',
            '"of":[0]',
            '"of":["male, 30+"]',
            '"on":["female, 30+"]',
        ],
        '"weight":"3"': ['"weight":"0"', '"weight":3', '"weight":"-1"', '"weight":null'],
        '"against":["male, 18–29"],"of":["female, 18–29"]': [
            '"against":["male, 18–29","male, 30+"],"of":["female, 18–29","female, 30+"]',
            '"against":["female, 18–29"],"of":["female, 18–29"]',
        ],
        '"attribute":"region"': ['"attribute":"regions"', '"attribute":0', '"attribute":"sex by age"'],
        '"design":"sample","epsilon":"1.1","questions":[{"expect"': [
            '"design":"","epsilon":"1.1","questions":[{"expect"',
            '"design":"sample","epsilon":"0","questions":[{"expect"',
            '"design":"sample","epsilon":1,"questions":[{"expect"',
            '"design":"sample","epsilon":"1.09","questions":[{"expect"',
            '"design":"sample","epsilon":"1.1","questions":[],"question":[{"expect"',
        ],
        '"expect":"0.8"': ['"expect":"1.1"', '"expect":"-0.1"', '"expect":0', '"expect":"max"', '"expect":null'],
        '"spread":"0.15"': ['"spread":"0"', '"spread":"0.51"', '"spread":"min"', '"spread":0', '"spread":null'],
        '"spread":"max"': [
            '"abstaining":"1","spread":"max"',
            '"abstaining":"-0.1","spread":"max"',
            '"abstaining":0.1,"spread":"max"',
            '"abstaining":null,"spread":"max"',
        ],
        '"weight":"2"': ['"abstaining":"0.1","weight":"2"', '"weight":"0"', '"weight":2', '"mass":"2"'],
        '"metric":"delay"': ['"metric":"understood"', '"metric":"speed"', '"metric":7'],
        '"levels":[-1073741824,1073741824],"metric":"delay"': [
            '"levels":[-1073741824,0,1073741824],"metric":"delay"',
            '"levels":[-1073741824],"metric":"delay"',
            '"levels":[],"metric":"delay"',
            '"levels":null,"metric":"delay"',
            '"levels":[-1073741824,"1073741824"],"metric":"delay"',
            '"levels":[-1073741824,5,5,1073741824],"metric":"delay"',
            '"metric":"delay"',
        ],
        '"target":"means"': ['"target":"mean"', '"target":null', '"targets":"means"'],
        '"abstain":true': ['"abstain":false', '"abstain":1', '"abstain":null'],
        '"tables":[': ['"tables":[7,', '"tables":{},"table":[', '"site":{},"tables":['],
        '"title":"Werden alle verstanden?"': [
            '"title":""',
            '"title":null',
            '"titel":"Werden alle verstanden?"',
            '"title":"Werden alle verstanden?","contact":"x"',
            '"title":["x"]',
        ],
        '"metrics[1].name":"Verzögerung"': ['"metrics[1].name":" x"', '"metrics[2].name":"Verzögerung"', '"x":"y"'],
        '"attributes[1].groups[1]":"Süden"': [
            '"attributes[1].groups[1]":"Norden"',
            '"attributes[1].groups[1]":5',
            f'"attributes[1].groups[1]":"{"x" * 201}"',
        ],
        '"translations":{"de":': [
            '"translations":{"german":',
            '"translations":{"en":',
            '"translations":{"DE":',
            '"translations":{"fr":{},"de":',
            '"translations":{"fr":[],"de":',
        ],
        '"attributes":[': ['"attributes":[null,', '"attributes":{},"attribute":['],
        '"purpose":"To': ['"purpose":" To', '"purpose":5,"aims":"To'],
    }.items():
        yield from [(field, value) for value in values]
    yield from _other_documents()


def _other_documents() -> Iterator[tuple[str, str]]:
    base, unlinked, levels = (s.to_bytes().decode() for s in (full_study(), unlinked_study(), site_study("levels")))
    plain = '{"attributes":[],"format":1,"metrics":[],"tables":[],"title":"Nothing"}'
    yield from [(base, other) for other in (plain, '{"format":1}', base.replace('"format":1', '"format":2'))]
    document = json.loads(base)
    region = document["attributes"][1]
    for part, field, value in [
        (document, "translations", []),
        (document, "translations", {}),
        (document, "tables", "none"),
        (document, "metrics", None),
        (document, "attributes", "none"),
        (document, "purpose", 5),
        (document, "purpose", "x" * 2001),
        (document["tables"][0], "questions", []),
        (document["tables"][0], "table", [[2**53]]),
        (document["attributes"][0], "cross", document["attributes"][0]["cross"][:1]),
        (document["attributes"][0], "cross", "sex"),
        (document["attributes"][0], "cross", document["attributes"][0]["cross"] * 2),
        (document["attributes"][0], "comparisons", []),
        (document["attributes"][0], "comparisons", [["a", "b"]]),
        (document["attributes"][0], "comparisons", {}),
        (region, "comparisons", [{"of": ["north"], "against": ["south"]}] * 2),
        (json.loads(unlinked), "release", 5),
        (json.loads(unlinked), "issuer", None),
        (json.loads(unlinked), "issuer", []),
        (json.loads(levels), "tables", [{"outcome": "levels"}]),
        (json.loads(levels), "tables", json.loads(levels)["tables"] * 2),
        (json.loads(levels), "tables", []),
        (json.loads(levels), "admission", "open"),
        (json.loads(levels), "gateway", "AQAgMTIz"),
        (json.loads(levels), "epoch", 86400),
        (json.loads(levels), "release", {"batch": 100, "delta": "0.00000001", "draws": 20}),
    ]:
        kept = dict(part)
        part[field] = value
        yield base, json.dumps(part if "format" in part else document, ensure_ascii=False)
        part.clear()
        part.update(kept)
    unlinked_changes = [
        ('"admission":"blind"', '"admission":"open"'),
        ('"admission":"blind",', ""),
        ('"key":"MFkwEwYHKoZIzj0CAQ_-"', '"key":"MFkw=="'),
        ('"key":"MFkwEwYHKoZIzj0CAQ_-"', '"key":""'),
        ('"key":"MFkwEwYHKoZIzj0CAQ_-",', ""),
        ('"name":"issuer.example"', '"name":5'),
        ('"gateway":"AQAgMTIz"', '"gateway":{}'),
        ('"gateway":"AQAgMTIz"', '"gateway":"a b"'),
        ('"epoch":86400', '"epoch":59'),
        ('"epoch":86400', '"epoch":2678401'),
        ('"batch":10000', '"batch":0'),
        ('"batch":10000', '"batch":"10000"'),
        ('"batch":10000,', ""),
        ('"delta":"0.00000001"', '"delta":"0"'),
        ('"delta":"0.00000001"', '"delta":"1"'),
        ('"delta":"0.00000001"', '"delta":"1e-8"'),
        ('"draws":2500', '"draws":0'),
        ('"draws":2500', '"draws":"2500"'),
        ('"draws":2500', '"draws":2500.5'),
        (',"draws":2500', ""),
        ('"draws":2500', '"draws":2500,"observed":"0.5"'),
    ]
    level_changes = [
        ('"outcome":"levels"', '"outcome":"confusion"'),
        ('"outcome":"levels"', '"outcome":"cells"'),
        ('"records":3', '"records":0'),
        ('"records":3', '"records":1001'),
        ('"records":3', '"records":"3"'),
        ('"records":3', '"records":3,"person":""'),
        ('"metric":"score",', ""),
        ('"metric":"score"', '"metric":"scores"'),
        ('"levels":[-1073741824,357913941,1073741824]', '"levels":[0]'),
        ('"levels":[-1073741824,357913941,1073741824],', ""),
        ('"epsilon":"0.5"', '"epsilon":"0"'),
        ('"epsilon":"0.5"', '"epsilon":0'),
        ('"attribute":"sex"', '"attribute":"age"'),
    ]
    for text, changes in ((unlinked, unlinked_changes), (levels, level_changes)):
        for old, new in changes:
            if old not in text:
                raise AssertionError(f"there is no {old}")
            yield base, text.replace(old, new, 1)


def _bad() -> Iterator[Vector]:
    text = full_study().to_bytes().decode()
    for old, new in bad_changes():
        if old not in text:
            raise AssertionError(f"the base study has no {old}")
        yield {"replace": ["*" if old == text else old, new], **verdict(text.replace(old, new, 1).encode())}


def _draws(rng: random.Random) -> Iterator[Vector]:
    for index, (_, study) in enumerate(good_studies()):
        for number, table in enumerate(study.tables if isinstance(study.mechanism, Channel) else ()):
            for _ in range(12):
                yield {"study": index, "table": number, **_draw(rng, table)}


def _draw(rng: random.Random, table: Asked) -> Vector:
    """One draw, half the time at the very edge of two outcomes."""
    channel = table[0].channel
    group = rng.randrange(channel.groups)
    values = []
    for question in table:
        low, high = Decimal(question.metric.low), Decimal(question.metric.high)
        step = rng.choice([Decimal(0), Decimal(1), rng.randrange(10**6) / Decimal(10**6)])
        values.append(f"{low + step * (high - low):f}")
    bits = [rng.getrandbits(53) for _ in range(len(table) + 1)]
    if rng.random() < 0.5:
        edges = channel.row(group, *(rng.randrange(len(levels)) for levels in channel.axes))
        bits[-1] = (sum(edges[: rng.randrange(1, len(edges))]) - rng.randrange(2)) % ROW_SUM
    silent = channel.abstain and rng.random() < 0.3
    given = iter(bits)
    places = [None if silent else q.metric.position(value) for q, value in zip(table, values, strict=True)]
    symbol = draw_symbol(channel, None if silent else group, *places, bits=lambda _: next(given))
    shown = {"group": None, "values": [None] * len(table)} if silent else {"group": group, "values": values}
    return {**shown, "bits": [str(b) for b in bits], "symbol": symbol}


def _profiles() -> Iterator[Vector]:
    """Everyone of a study that crosses two attributes and answers two questions at once, on every level."""
    study = good_studies()[-1][1]
    (table,) = study.tables
    for sex, age, value, delay in product(("female", "male"), ("18–29", "30+"), ("0", "1"), ("0", "2.5")):
        profile = {"group": {"sex": sex, "age": age}, "values": {"understood": value, "delay": delay}}
        group, *positions = channel_input(table, profile["group"], profile["values"])
        row = table[0].channel.row(group or 0, 2 * (value == "1"), int(delay == "2.5"))
        symbol = row.index(max(row))
        # In the middle of the symbol that this row sends most; another row sends another symbol there.
        bits = [0, 5, 6, sum(row[:symbol]) + max(row) // 2]
        drawn = bits[1:]
        assert draw_symbol(table[0].channel, group, *positions, bits=lambda _, drawn=drawn: drawn.pop(0)) == symbol  # type: ignore[misc]
        yield {"study": len(good_studies()) - 1, "profile": profile, "bits": [str(b) for b in bits], "symbol": symbol}


def _unfit() -> Iterator[Vector]:
    """Profiles that lack something of that study, or have something else: with all bits given, each has its symbol."""
    study, rng = good_studies()[-1][1], random.Random(SEED + 1)
    (table,) = study.tables
    groups: list[Any] = [
        None,
        "female",
        7,
        {},
        {"sex": "female"},
        {"sex": "other", "age": "30+"},
        {"sex": 1, "age": None},
    ]
    values: list[Any] = [
        {},
        {"understood": "0.5"},
        {"understood": None, "delay": "1"},
        {"understood": "x", "delay": "1"},
    ]
    values += [
        {"understood": True, "delay": []},
        {"understood": "2", "delay": "-7"},
        {"understood": "-2", "delay": "1e300"},
    ]
    whole = {"group": {"sex": "female", "age": "30+"}, "values": {"understood": "0.5", "delay": "1"}}
    profiles = [{**whole, "group": group} for group in groups] + [{**whole, "values": value} for value in values]
    for profile in profiles:
        bits = [rng.getrandbits(53) for _ in range(3)]
        given = iter(bits)
        inputs = channel_input(table, groups_by_attribute(study, profile["group"]), profile["values"])
        symbol = draw_symbol(table[0].channel, *inputs, bits=lambda _, given=given: next(given))  # type: ignore[misc]
        shown = [str(b) for b in (0, *bits)]
        yield {"study": len(good_studies()) - 1, "profile": profile, "bits": shown, "symbol": symbol}


def _coins() -> Iterator[Vector]:
    """One person of a study with two tables: the coin has two bits, and is thrown again where they say 2 or 3."""
    index = next(place for place, (_, study) in enumerate(good_studies()) if study.title == "Expects")
    study, rng = good_studies()[index][1], random.Random(SEED + 2)
    profile: dict[str, Any] = {"group": {"sex": "male", "age": "old"}, "values": {"recall": "0.25", "error": "1.5"}}
    for coins in ([0], [1], [2, 1], [3, 2, 0]):
        table, drawn = study.tables[coins[-1]], [rng.getrandbits(53), rng.getrandbits(53)]
        bits, inputs = [*coins, *drawn], channel_input(table, profile["group"], profile["values"])
        drawn_bits = iter(drawn)
        symbol = draw_symbol(table[0].channel, *inputs, bits=lambda _, given=drawn_bits: next(given))  # type: ignore[misc]
        symbol += study.offsets[coins[-1]]
        yield {"study": index, "profile": profile, "bits": [str(b) for b in bits], "symbol": symbol}


def _refusals() -> Iterator[Vector]:
    """Studies that devices cannot answer yet, and what is no profile."""
    studies = [study for _, study in good_studies()]
    person: dict[str, Any] = {"group": {"sex": "female"}, "values": {"recall": "0.5", "false alarms": "0"}}
    for index, profile in [
        (1, person),
        (2, person),
        (3, person),
        (4, {**person, "value": "0.5"}),
        (4, {**person, "values": "0.5"}),
    ]:
        try:
            answer(studies[index], profile)
        except FairgaugeError as error:
            yield {"study": index, "profile": profile, "error": type(error).__name__, "text": str(error)}
        else:
            raise AssertionError(f"{profile} is answered")


def make() -> Vector:
    """Return all vectors."""
    return {
        "base": full_study().to_bytes().decode(),
        "studies": [
            {
                "text": text,
                "canonical": study.to_bytes().decode(),
                "digest": study.digest,
                "epsilon": [
                    f"{table[0].mechanism.epsilon_bound:f}"
                    for table in study.tables
                    if isinstance(study.mechanism, Channel)
                ],
                "offsets": study.offsets,
                "spoken": [[wanted, *study.spoken(wanted)] for wanted in LANGUAGES],
            }
            for text, study in good_studies()
        ],
        "bad": list(_bad()),
        "draws": list(_draws(random.Random(SEED))),
        "profiles": [*_profiles(), *_unfit(), *_coins()],
        "refusals": list(_refusals()),
    }
