"""Vectors of studies that say little, of numbers and of random bits: what the Python client, the reference, says.

Integers that a JavaScript number cannot hold are in strings.

studies     a document as somebody may write it; its digest, and each table's exact epsilon (as in logs) and loss
bad         a change to the canonical bytes of "base" (one text replaced by another), or other bytes in hexadecimal,
            and the error, its field and its rule
logs        high, low, and an upper bound of ln(high / low): the quotient to 50 digits, rounded up, its logarithm to 50
            digits, and one more in the last place
within      high, low, an epsilon, and whether ln(high / low) is at most that
positions   low, high, a value as a person may type it, v * 2^30 as a fraction or null if it is no number in the range,
            and v * 2^30 of the nearest value in the range or null if it is no number
draws       a study's index, a question, a group's index, a value (both null for someone who has none), two draws of 53
            bits, and the symbol within the question
without     the same for someone who lacks the group or the value, in questions with and without a row to abstain
outside     the same for values outside of the range
answers     an answer and its bytes
deliveries  the status and the body of a collector's reply, and what becomes of the answer: it is "delivered", it is
            "refused" for good, or it is sent "again" later
"""

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from http.client import HTTPMessage
from pathlib import Path
from typing import Any

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel, _log
from fairgauge.client import Answer, Patience
from fairgauge.client.delivery import send
from fairgauge.client.http_client import Response
from fairgauge.client.randomiser import draw_symbol
from fairgauge.designs import make_channel
from fairgauge.errors import AnswerRefused, CannotAnswer, CannotSend, FairgaugeError, InvalidInput
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.golden.test_documents import golden_study
from tests.samples import THREE_LEVELS, sample_question, sample_study, two_questions

FILE = Path(__file__).parent / "simple.json"
SEED = 20261115
Vector = dict[str, Any]


def random_channel(rng: random.Random, groups: int, levels: tuple[int, ...], symbols: int, *, abstain: bool) -> Channel:
    """Rows without any pattern, within a factor of 8."""
    table = []
    for _ in range(groups * len(levels) + abstain):
        rough = [rng.randrange(1, 8) + rng.random() for _ in range(symbols)]
        row = [int(ROW_SUM * part / sum(rough)) for part in rough]
        row[-1] += ROW_SUM - sum(row)
        table.append(tuple(row))
    return Channel(tuple(table), levels, groups, abstain)


def good_studies() -> list[tuple[str, Study]]:
    """Studies, each as somebody wrote it."""
    rng = random.Random(SEED)
    seven = tuple(sorted({-LEVEL_UNIT, LEVEL_UNIT, *(rng.randrange(-LEVEL_UNIT, LEVEL_UNIT) for _ in range(5))}))
    odd = Question(
        Metric("Fehler", "-17.25", "1000000"),
        Attribute("Gruppe", ("a", "b", "c"), ("0.33333", "0.33333", "0.33334"), answering="alike"),
        "means",
        "random",
        "5",
        random_channel(rng, 3, seven, 9, abstain=True),
    )
    name, channel = make_channel(
        Scores(Target(kind="gap", shares=(0.5, 0.5))), Decimal(1), design="randomized-response"
    )
    real = Question(
        Metric("recall", "0", "1"),
        Attribute("sex", ("f", "m"), ("0.5", "0.5"), answering="alike"),
        "gap",
        name,
        "1",
        channel,
    )
    flat = Channel(((ROW_SUM // 2,) * 2,) * 4, (-LEVEL_UNIT, LEVEL_UNIT), 2)
    silent = Question(Metric("m", "0", "1"), Attribute("x", ("a", "b")), "gap", "says nothing", "0.1", flat)
    studies = [
        golden_study(),
        two_questions(),
        sample_study(odd, sample_question(levels=THREE_LEVELS, abstain=True)),
        sample_study(real),
        sample_study(silent),
    ]
    written = [study.to_bytes().decode() for study in studies]
    document = json.loads(written[0])
    written[0] = json.dumps(dict(reversed(document.items())), indent=1)  # escaped, spaced, the other way round
    written[4] = written[4].replace('"format":1', '"contact" :\r\n\t"\\u0041\\/\\"é🎯\\ud83c\\udfaf","format":1')
    return [(text, Study.from_bytes(text.encode())) for text in written]


def bad_changes() -> Iterator[tuple[str, str]]:
    """What to replace in the canonical text of the base study, each by what."""
    text = two_questions().to_bytes().decode()
    row = text[text.index('"table":[') + 9 : text.index("],[") + 1]
    cell = row[1 : row.index(",")]
    yield from [('"format":1', f'"format":{other}') for other in ("2", "true", '"1"', "1.0", "1e0", "-1", "null", "01")]
    yield from [(f'"{field}":', f'"{field}s":') for field in ("format", "tables", "title", "design", "levels", "low")]
    yield from [
        ('"title"', '"colour":"red","title"'),
        ('"low"', '"unit":"% ","low"'),
        ('"format":1', '"format":1,"format":1'),
    ]
    yield from [('"low":"0"', '"low":"0","low":"0"'), ('"title"', '"__proto__":{},"title"')]
    titles = [
        '""',
        '" a"',
        '"a\\u00a0"',
        '"a\\u3000"',
        '"a\\nb"',
        '"a\\u202eb"',
        '"a\\ud800"',
        '"\\udc00a"',
        '"\\u0085a"',
    ]
    titles += [
        "7",
        "null",
        "[]",
        "{}",
        f'"{"x" * 201}"',
        f'"{"🎯" * 201}"',
        '"a\tb"',
        '"a\\x"',
        '"a\\u12"',
        "'a'",
        '"a',
    ]
    yield from [('"title":"Sample"', f'"title":{title}') for title in titles]
    lows = [
        "1e0",
        "+1",
        "01",
        ".5",
        "1.",
        "-0",
        "-0.00",
        "NaN",
        "",
        " 0",
        "0\\n",
        "٣",
        "1_0",
        "0." + "0" * 31,
        "1",
        "2",
    ]
    yield from [('"low":"0"', f'"low":"{low}"') for low in lows]
    yield from [('"low":"0"', f'"low":{low}') for low in ("0", "null", "[]", "0.5", "-Infinity", "NaN")]
    yield from [('"epsilon":"1.1"', f'"epsilon":{e}') for e in ('"0"', '"-1"', "1", '"1.09"', '"0.000001"', '"1e9"')]
    groups = ['["female"]', '["a","a"]', '["a",""]', '["a",1]', '"ab"', "null", json.dumps([str(i) for i in range(65)])]
    yield from [('["female","male"]', group) for group in groups]
    shares = ['["1"]', '["0.6","0.5"]', '["1","0"]', '["1.5","-0.5"]', '["1",0]', '"ab"', '["0.50","0.500001"]']
    yield from [('["0.6","0.4"]', share) for share in shares]
    yield from [('"target":"gap"', f'"target":{target}') for target in ('"Gap"', '["gap"]', "null", '"mean"')]
    yield from [('"abstain":false', f'"abstain":{abstain}') for abstain in ("0", "true", "null", '"false"')]
    levels = [
        "[]",
        "[0,1073741824]",
        "5",
        "[-1073741824]",
        "[-1073741824,null,1073741824]",
        '["0"]',
        "[-1073741824,true]",
    ]
    levels += ["[-1073741824,5,5,1073741824]", "[-1073741824,9,8,1073741824]", "[-1073741824,0,1073741824]"]
    yield from [("[-1073741824,1073741824]", level) for level in levels]
    cells = [
        "7",
        "-1",
        f'"{cell}"',
        "null",
        "true",
        f"{int(cell) + 1}",
        f"{cell}.0",
        "9" * 5000,
        "9" * 4000,
        "0",
        f"-{cell}",
    ]
    yield from [(cell, other) for other in cells]
    yield from [(row, other) for other in ("5", "[]", "[9007199254740992]", f"{row},{row}", "[9007199254740992,0,0,0]")]
    opens = ('"2026-11-15"', '"2026-11-15T00:00:00+00:00"', "5", "null")
    yield from [('"metrics"', f'"opens":{moment},"metrics"') for moment in opens]
    closes = ["2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-15T24:00:00Z", "2026-11-15T00:00:60Z"]
    closes += [
        "0000-01-01T00:00:00Z",
        "2025-02-29T00:00:00Z",
        "2026-11-15T00:00Z",
        "2026-11-15t00:00:00Z",
        "2026-11-15T00:00:00.0Z",
    ]
    yield from [('"format":1', f'"closes":"{moment}","format":1') for moment in closes]
    ends = '"closes":"2026-11-15T00:00:00Z"', '"opens":"2026-11-15T00:00:00Z"'
    yield '"format":1', f'{ends[0]},"format":1,{ends[1]}'
    yield from [('"format":1', f'"contact":{contact},"format":1') for contact in ("7", '""', "null")]
    yield from [('"name":"error"', '"name":5'), (text, '{"format":1,"questions":[],"title":"Of before"}')]
    question = text[text.index('{"abstain"') : text.index(',{"abstain"')]
    yield from [(question, other) for other in ("[]", "null", f"{question},{question}", ",".join([question] * 65))]
    yield from [
        ('"tables":[', '"tables":[[],'),
        ('"questions":[', '"questions":[[],'),
        ('"title":"Sample"}', '"title":"Sample"'),
        ('"title":', '"title"'),
    ]
    yield from [
        ('"title":"Sample"}', '"title":"Sample"} x'),
        ('"title":"Sample"}', '"title":"Sample",}'),
        (text, "[]"),
        (text, "7"),
    ]
    yield from [
        (text, ""),
        (text, "null"),
        (text, "[" * 300),
        (text, '{"a":' * 300),
        (text, "{}"),
        ('"format":1', '"format":1,'),
    ]
    yield from [
        ('"low":"0"', '"low":"0\u00a0"'),
        ('"metric":"recall"', '"metric":["'),
        ('"metric":"recall"', '"metric":null'),
    ]


# Bytes that are no change of the base: not UTF-8, a byte-order mark, UTF-16, an encoded surrogate.
BAD_BYTES = ["7b2261223a22ff227d", "efbbbf7b7d", "fffe7b007d00", "7b2261223a22eda080227d", "00"]


def verdict(data: bytes) -> Vector:
    """Return how a study is refused."""
    try:
        Study.from_bytes(data)
    except InvalidInput as error:
        return {"error": type(error).__name__, "field": error.field, "rule": error.rule.partition(" (")[0]}
    except FairgaugeError as error:
        return {"error": type(error).__name__}
    raise AssertionError(f"this is no bad study: {data[:200]!r}")


def _bad() -> Iterator[Vector]:
    text = two_questions().to_bytes().decode()
    for old, new in bad_changes():
        if old not in text:
            raise AssertionError(f"the base study has no {old}")
        yield {"replace": ["*" if old == text else old, new], **verdict(text.replace(old, new, 1).encode())}
    for data in BAD_BYTES:
        yield {"hex": data, **verdict(bytes.fromhex(data))}


def _ratios(rng: random.Random) -> list[tuple[int, int]]:
    ends = [(1, 1), (3, 1), (2, 1), (ROW_SUM, 1), (ROW_SUM, ROW_SUM - 1), (ROW_SUM - 1, ROW_SUM - 2), (10, 3), (4, 3)]
    drawn = [tuple(sorted((rng.randrange(1, ROW_SUM), rng.randrange(1, ROW_SUM)), reverse=True)) for _ in range(40)]
    near = [(n + rng.randrange(1000), n) for n in (rng.randrange(1, ROW_SUM - 1000) for _ in range(20))]
    return [*ends, *drawn, *near]


def _within(rng: random.Random) -> Iterator[list[object]]:
    for high, low in _ratios(rng):
        bound = _log(Fraction(high, low))
        down, up = (f"{bound.quantize(Decimal('1e-25'), rounding=mode):f}" for mode in ("ROUND_FLOOR", "ROUND_CEILING"))
        yield from ([str(high), str(low), e, bound <= Decimal(e)] for e in (down, up, "0.5", "36.7368005696771"))


TYPED = [
    "0", "1", "0.5", "0.83", ".5", "1.", "+0.25", "-0", " 0.7 ", "1e-1", "5E-3", "0.1e1", "0.333333333333333333333333",
    "1e-400", "1e-401", "1e999999999", "1.0000000000000000000000001", "-0.0000001", "", "abc", "0,5", "1/2", "NaN",
    "Infinity", "0x1", "--1", "1e", "e5", ".", "2", "-0.5", "0." + "3" * 380, "1000000", "-17.25", "999999.75",
]  # fmt: skip


def _positions() -> Iterator[list[object]]:
    for low, high in (("0", "1"), ("-0.5", "2"), ("-17.25", "1000000"), ("0", "100")):
        for value in TYPED:
            metric = Metric("m", low, high)
            found: Fraction | None = None
            with suppress(CannotAnswer):
                found = metric.position(value)
            yield [low, high, value, _parts(found), _parts(metric.nearest(value))]


def _parts(position: Fraction | None) -> list[str] | None:
    return None if position is None else [str(part) for part in position.as_integer_ratio()]


def _draws(rng: random.Random) -> Iterator[Vector]:
    for index, (_, study) in enumerate(good_studies()):
        for number, question in enumerate(study.questions):
            for _ in range(24):
                yield {"study": index, "question": number, **_draw(rng, question)}


def _draw(rng: random.Random, question: Question) -> Vector:
    """One draw, half the time at the very edge of two outcomes."""
    channel, metric = question.channel, question.metric
    group = rng.randrange(channel.groups)
    low, high = Decimal(metric.low), Decimal(metric.high)
    step = rng.choice([Decimal(0), Decimal(1), rng.randrange(10**6) / Decimal(10**6)])
    value = f"{low + step * (high - low):f}"
    silent = channel.abstain and rng.random() < 0.2
    bits = [rng.getrandbits(53), rng.getrandbits(53)]
    if rng.random() < 0.5:
        edges = channel.row(group, rng.randrange(len(channel.levels)))
        bits[1] = (sum(edges[: rng.randrange(1, len(edges))]) - rng.randrange(2)) % ROW_SUM
    given = iter(bits)
    place = None if silent else metric.position(value)
    symbol = draw_symbol(channel, None if silent else group, place, bits=lambda _: next(given))
    shown = {"group": None, "value": None} if silent else {"group": group, "value": value}
    return {**shown, "bits": [str(b) for b in bits], "symbol": symbol}


def _without(rng: random.Random) -> Iterator[Vector]:
    """Draws of people who lack something; half the time where one row ends and the next begins."""
    for index, (_, study) in enumerate(good_studies()):
        for number, question in enumerate(study.questions):
            rows = question.channel.rows
            for group, value in ((None, None), (0, None), (None, question.metric.low), *[(None, None)] * 9):
                bits = [rng.getrandbits(53), rng.getrandbits(53)]
                if rng.random() < 0.5:
                    bits[0] = (-(-ROW_SUM * rng.randrange(rows) // rows) - rng.randrange(2)) % ROW_SUM
                yield {"study": index, "question": number, **_drawn(question, group, value, bits)}


def _outside(rng: random.Random) -> Iterator[Vector]:
    for index, (_, study) in enumerate(good_studies()):
        for number, question in enumerate(study.questions):
            group = rng.randrange(question.mechanism.groups)
            for value in (f"{Decimal(question.metric.low) - 1:f}", f"{Decimal(question.metric.high) + 1:f}", "-1e300"):
                bits = [rng.getrandbits(53), rng.getrandbits(53)]
                yield {"study": index, "question": number, **_drawn(question, group, value, bits)}


def _drawn(question: Question, group: int | None, value: str | None, bits: list[int]) -> Vector:
    given = iter(bits)
    symbol = draw_symbol(question.channel, group, question.metric.nearest(value), bits=lambda _: next(given))
    return {"group": group, "value": value, "bits": [str(b) for b in bits], "symbol": symbol}


class _Replies:
    """Stands where a relay does, and gives one reply."""

    def __init__(self, status: int, body: str) -> None:
        self.reply = Response(status, HTTPMessage(), body.encode())

    def request(self, *_: object, **__: object) -> Response:
        return self.reply


def _deliveries() -> Iterator[list[object]]:
    answer = Answer("0" * 64, "0" * 32, (0,))
    texts = (*(json.dumps({"status": said}) for said in ("accepted", "duplicate", "closed")), "<h1>Welcome</h1>", "[1]")
    for status in (200, 201, 202, 203, 302, 400, 401, 403, 404, 408, 409, 410, 413, 425, 429, 500, 502, 503):
        for text in texts if status < 203 else texts[:1]:
            try:
                send(answer, "https://collector.example", patience=Patience(tries=1), relay=_Replies(status, text))  # type: ignore[arg-type]
                became = "delivered"
            except AnswerRefused:
                became = "refused"
            except CannotSend:
                became = "again"
            yield [status, text, became]


def make() -> Vector:
    """Return all vectors."""
    rng = random.Random(SEED)
    answer = Answer(golden_study().digest, "00112233445566778899aabbccddeeff", (6,))
    return {
        "base": two_questions().to_bytes().decode(),
        "studies": [
            {
                "text": text,
                "canonical": study.to_bytes().decode(),
                "digest": study.digest,
                "epsilon": [f"{question.mechanism.epsilon_bound:f}" for question in study.questions],
                "loss": [
                    [str(n) for n in q.channel.loss.as_integer_ratio()] for q in study.questions if q.channel.loss
                ],
            }
            for text, study in good_studies()
        ],
        "bad": list(_bad()),
        "logs": [[str(high), str(low), f"{_log(Fraction(high, low)):f}"] for high, low in _ratios(rng)],
        "within": list(_within(rng)),
        "positions": list(_positions()),
        "draws": list(_draws(rng)),
        "without": list(_without(rng)),
        "outside": list(_outside(rng)),
        "answers": [{"answer": json.loads(answer.to_bytes()), "bytes": answer.to_bytes().decode()}],
        "deliveries": list(_deliveries()),
    }


def written(vectors: Vector) -> str:
    """Return the file: one vector a line, so that a change can be read."""
    parts = []
    for name, value in vectors.items():
        lines = ",\n".join(json.dumps(one, ensure_ascii=True) for one in value) if isinstance(value, list) else ""
        parts.append(f'"{name}": ' + (f"[\n{lines}\n]" if lines else json.dumps(value)))
    return "{\n" + ",\n".join(parts) + "\n}\n"
