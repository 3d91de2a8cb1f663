"""fairgauge-client.js in Chromium: it is the Python client's twin, and its draws follow the table."""

import json
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route

from fairgauge import __version__
from fairgauge.client import Answer
from fairgauge.client.randomiser import draw_symbol
from fairgauge.collector.pages.take_part import ASSETS
from fairgauge.simulation import Cell
from fairgauge.study import Metric, Study
from tests.browser.conftest import PATIENCE, Collecting, OpenVisitor
from tests.recorder import Reply, recorder
from tests.samples import THREE_LEVELS, sample_question, sample_study
from tests.silence import NOT_LISTED, PEOPLE, hostile_studies
from tests.statistical.exact import FALSE_POSITIVE_RATE, p_value
from tests.statistical.test_answers import promised
from tests.vectors import crowd, full, limits
from tests.vectors.simple import FILE, SEED

Change = tuple[str, str]
OpenClient = Callable[..., Page]

# The browser's random bytes, and nothing else, replaced by a fixed stream (sfc32).
SEEDED = """(seed) => {
    let [a, b, c, d] = [seed, 0x9e3779b9, 0x243f6a88, 1];
    const next = () => {
        const t = (((a + b) | 0) + d) | 0;
        d = (d + 1) | 0;
        a = b ^ (b >>> 9);
        b = (c + (c << 3)) | 0;
        c = (((c << 21) | (c >>> 11)) + t) | 0;
        return t >>> 0;
    };
    for (let i = 0; i < 20; i += 1) next();
    crypto.getRandomValues = (array) => array.map(() => next() >>> 24);
}"""


def serve(source: str, route: Route) -> None:
    route.fulfill(body=source, content_type="text/javascript")


# What an earlier test has left: a document is new with every visit, and databases are not.
FORGET = """async () => {
    for (const { name } of await indexedDB.databases()) {
        await new Promise((done, failed) => {
            const gone = indexedDB.deleteDatabase(name);
            gone.onsuccess = done;
            gone.onerror = failed;
        });
    }
    return (await indexedDB.databases()).length;
}"""


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    """One tab for all of them: a new one takes longer than most of what is asked of it."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


@pytest.fixture
def client(collector: Collecting, tab: Page) -> Iterator[OpenClient]:
    """Give a page that can import the client, honest or with one change to its source."""

    def new(change: Change | None = None, module: str = "fairgauge-client.js") -> Page:
        if change is not None:
            source = ASSETS[module]().decode()
            assert change[0] in source, "a mutant whose place is gone is none"
            tab.route(f"**/{module}", partial(serve, source.replace(*change)))
        for name in ("check.js", "limits.js", "crowd.js"):
            tab.route(f"**/{name}", partial(serve, FILE.with_name(name).read_text(encoding="utf-8")))
        tab.route(
            "**/empty",
            lambda route: route.fulfill(body="<!doctype html><title>Empty</title>", content_type="text/html"),
        )
        tab.goto(f"{collector.url}/empty")
        assert tab.evaluate(FORGET) == 0
        return tab

    yield new
    tab.unroute_all()


def missed(page: Page, script: str = "check.js", file: Path = FILE, *, without: str = "") -> list[str]:
    """Return the vectors that the JavaScript client does not meet, but for a kind of them."""
    vectors = json.loads(file.read_text(encoding="utf-8"))
    vectors |= {without: []} if without else {}
    found: list[str] = page.evaluate(
        """async ([script, text]) => {
            const [client, { check }] = [await import("/static/fairgauge-client.js"), await import(`/${script}`)];
            return check(client, JSON.parse(text));
        }""",
        [script, json.dumps(vectors)],
    )
    return found


@pytest.mark.parametrize("file", [FILE, full.FILE], ids=["simple", "full"])
def test_what_python_says_javascript_says(client: OpenClient, file: Path) -> None:
    assert missed(client(), file=file) == []


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (("return row * levels.length + above", "return row * 2 + above"), "draw"),
        (("before * length + places[i]", "before + places[i]"), "answer"),
        (("study.admission) && ticket === null", "study.admission) && false"), "refusal"),
        (("listed ? cell : null", "Math.max(cell, 0)"), "answer"),
        (("if (names !== wanted) throw new BadStudy", "if (false) throw new BadStudy"), "bad"),
        (('"null", "must be left out', '"null", "may be left out'), "bad"),
        (("canonical(Object.fromEntries(value))", "canonical([...value])"), "canonical"),
        (("Object.hasOwn(known, left)", "Object.hasOwn(known, tag)"), "spoken"),
    ],
    ids=["rows", "cells", "promises", "not listed", "two ways", "null", "canonical", "languages"],
)
def test_a_client_with_a_mistake_misses_a_vector_of_full_studies(client: OpenClient, change: Change, name: str) -> None:
    assert [line for line in missed(client(change), file=full.FILE) if name in line]


@pytest.mark.parametrize(
    ("opens", "closes", "text"),
    [
        ("2999-01-01T00:00:00Z", None, "the study opens at 2999-01-01T00:00:00Z, and this device's clock says 20"),
        (None, "2001-01-01T00:00:00Z", "the study closed at 2001-01-01T00:00:00Z, and this device's clock says 20"),
        ("2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z", "a symbol"),
    ],
)
def test_a_study_is_answered_while_it_is_open(
    client: OpenClient, opens: str | None, closes: str | None, text: str
) -> None:
    study = Study("Timed", [sample_question()], opens=opens, closes=closes)
    found = client().evaluate(
        """async (text) => {
            const client = await import("/static/fairgauge-client.js");
            const study = await client.parseStudy(new TextEncoder().encode(text));
            try {
                client.answer(study, { group: "female", values: { recall: "0.5" } });
            } catch (error) {
                return error.message;
            }
            return "a symbol";
        }""",
        study.to_bytes().decode(),
    )
    assert found.startswith(text)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (("drawn[i] >= threshold", "drawn[i] < threshold"), "draw"),
        (("(sum += weight) > last", "(sum += weight) >= last"), "draw"),
        (("return toFraction({ c: below.c + 1n, e: below.e })", "return toFraction(below)"), "log"),
        (("const keys = Object.keys(value).sort()", "const keys = Object.keys(value)"), "canonical"),
        (('throw new BadStudy(key, item, "must be given once")', "void 0"), "bad"),
        (("(drawn[0] * BigInt(rows)) / ROW_SUM", "drawn[0] % BigInt(rows)"), "draw"),
        (("compare(given, b) > 0n ? b : given", "compare(given, b) > 0n ? a : given"), "nearest"),
    ],
    ids=["rounding", "edge", "epsilon", "canonical", "duplicates", "any row", "nearest"],
)
def test_a_client_with_a_mistake_misses_a_vector(client: OpenClient, change: Change, name: str) -> None:
    assert [line for line in missed(client(change)) if name in line]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (None, ""),
        (('study: "4"', 'study: "5"'), "defaults"),
        (('lifetime: "8"', 'lifetime: "9"'), "lifetimes"),
        (("question.channel.within(limit)) return;", "true) return;"), "studies"),
        (("past.filter(([name]) => name === account)", "past"), "lifetimes"),
        (("if (!atMost(sum, limit)) {", "if (!atMost(total(met), limit)) {"), "lifetimes"),
    ],
    ids=["honest", "study", "lifetime", "above", "names", "before"],
)
def test_limits_bite_alike(client: OpenClient, change: Change | None, name: str) -> None:
    found = missed(client(change), "limits.js", limits.FILE)
    assert [line for line in found if name in line] if change else found == []


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (None, ""),
        (("expDown(1n, 1n) * tn", "expDown(2n, 1n) * tn"), "bound"),
        (("const ROW_SUM = 1n << 53n", "const ROW_SUM = 1n << 54n"), "bound"),
        (("BigInt(blankets.length) * ROW_SUM", "BigInt(blankets.length + 1) * ROW_SUM"), "bound"),
        (("powerUp(mean, n)", "powerUp(mean, n - 1n)"), "bound"),
        (("tn * n * delta.n", "tn * (n + 1n) * delta.n"), "bound"),
        (("weight * bound * td", "bound * td"), "bound"),
        (("const factor = expDown(en, ed)", "const factor = expUp(en, ed) + (ONE >> 30n)"), "bound"),
        (('{ delta = "1e-8" }', '{ delta = "1e-6" }'), "crowd"),
    ],
    ids=["honest", "e", "row sum", "questions", "power", "draws", "part", "factor", "delta"],
)
def test_the_crowds_number_is_the_same(client: OpenClient, change: Change | None, name: str) -> None:
    # With a wrong bound an epsilon is looked for until its last digit.
    without = "crowds" if name == "bound" else ""
    found = missed(client(change, "fairgauge-crowd.js"), "crowd.js", crowd.FILE, without=without)
    assert [line for line in found if name in line] if change else found == []


def replayed(bits: list[str]) -> Callable[[int], int]:
    given = iter(bits)
    return lambda _: int(next(given))


def test_what_javascript_says_python_says(client: OpenClient) -> None:
    """JavaScript makes up studies, draws and answers; Python, which knows nothing of how, checks each of them."""
    made: list[dict[str, Any]] = client().evaluate(
        """async (seed) => {
            const client = await import("/static/fairgauge-client.js");
            let state = BigInt(seed);
            const below = (limit) => {
                state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
                return (state >> 11n) % BigInt(limit);
            };
            const row = (symbols) => {
                const rough = Array.from({ length: symbols }, () => 1000n + below(9000));
                const whole = rough.reduce((a, b) => a + b);
                const found = rough.map((part) => (part << 53n) / whole);
                found[0] += (1n << 53n) - found.reduce((a, b) => a + b);
                return found;
            };
            const made = [];
            for (let n = 0; n < 12; n += 1) {
                const names = Array.from("äß🎯é∞", (letter) => `Gruppe ${letter}`);
                const groups = names.slice(0, 2 + Number(below(4)));
                const inner = Array.from({ length: Number(below(4)) }, () => below(2n ** 31n) - 2n ** 30n);
                const levels = [...new Set([-(2n ** 30n), ...inner, 2n ** 30n])].sort((a, b) => (a < b ? -1 : 1));
                const abstain = below(2) === 1n;
                const symbols = 2 + Number(below(7));
                const length = groups.length * levels.length + Number(abstain);
                const rows = Array.from({ length }, () => row(symbols));
                const numbers = (list) => `[${list.join(",")}]`;
                const text = `{"title":"n\\u00b0 ${n}","format":1,
                    "metrics":[{"name":"m","low":"-${n}.5","high":"${n + 1}"}],
                    "attributes":[{"name":"a","groups":${JSON.stringify(groups)}}],
                    "tables":[{"attribute":"a","design":"made up","epsilon":"3","abstain":${abstain},
                     "questions":[{"metric":"m","target":"means","levels":${numbers(levels)}}],
                     "table":[${rows.map(numbers).join(",")}]}]}`;
                const study = await client.parseStudy(new TextEncoder().encode(text));
                const [{ channel, metric }] = study.questions;
                const draws = Array.from({ length: 20 }, (_, i) => {
                    const group = Number(below(groups.length));
                    const value = abstain && i === 0 ? null : `${n}.${below(10n ** 9n)}`;
                    const bits = [below(2n ** 53n), below(2n ** 53n)];
                    const given = [...bits];
                    const place = value === null ? null : client.position(metric, value);
                    const symbol = channel.draw(group, [place], () => given.shift());
                    return { group, value, bits: bits.map(String), symbol };
                });
                const answer = client.answer(study, { group: groups[0], values: { m: 0 } });
                const sent = new TextDecoder().decode(client.answerBytes(answer));
                const epsilon = client.plain(channel.epsilon);
                const bytes = new TextDecoder().decode(study.bytes);
                made.push({ text, bytes, digest: study.digest, epsilon, draws, sent });
            }
            return made;
        }""",
        SEED,
    )
    assert len(made) == 12
    for one in made:
        study = Study.from_bytes(one["text"].encode())
        assert study.to_bytes().decode() == one["bytes"]
        assert study.digest == one["digest"]
        question = study.questions[0]
        assert question.mechanism.epsilon_bound == Decimal(one["epsilon"])
        for draw in one["draws"]:
            position = None if draw["value"] is None else question.metric.position(draw["value"])
            assert draw_symbol(question.channel, draw["group"], position, bits=replayed(draw["bits"])) == draw["symbol"]
        answer = Answer.from_bytes(one["sent"].encode())
        assert answer.to_bytes().decode() == one["sent"]
        assert answer.study == study.digest
        assert answer.payload[0] < study.symbols


def test_random_studies_with_random_damage_get_the_same_verdict(client: OpenClient) -> None:
    """Bytes changed at random, most of them into something that is no study: both clients must agree on each."""
    rng = random.Random(SEED)
    base = sample_study().to_bytes().decode()
    texts = []
    for _ in range(400):
        text = base
        for _ in range(rng.randrange(1, 3)):
            at = rng.randrange(len(text))
            text = (
                text[:at]
                + rng.choice(['"', "{", "}", "[", "]", ",", ":", "0", "1", "-", ".", "e", " ", "\\", "é"])
                + text[at + rng.randrange(3) :]
            )
        texts.append(text)
    found = client().evaluate(
        """async (texts) => {
            const client = await import("/static/fairgauge-client.js");
            const verdict = (text) => client.parseStudy(new TextEncoder().encode(text)).then(
                (study) => study.digest, (error) => [error.name, error.field ?? ""]);
            return Promise.all(texts.map(verdict));
        }""",
        texts,
    )
    expected = [_verdict(text) for text in texts]
    assert [(text, a, b) for text, a, b in zip(texts, found, expected, strict=True) if a != b] == []
    assert any(isinstance(verdict, str) for verdict in expected)


def _verdict(text: str) -> str | list[str]:
    try:
        return Study.from_bytes(text.encode()).digest
    except Exception as error:  # noqa: BLE001 - whatever Python says
        return [type(error).__name__, getattr(error, "field", "")]


# ---------------------------------------------------------------------------------------------- randomness
TWO = sample_study(
    sample_question(levels=THREE_LEVELS, abstain=True),
    sample_question(Metric("error", "-1", "3"), abstain=True),
)
CELLS = (
    Cell("female", Decimal("0.4"), 40_000),
    Cell("male", Decimal("0.83"), 40_000),
    Cell("male", Decimal(1), 10_000),
    Cell(None, None, 10_000),
)


def drawn(page: Page, study: Study, cell: Cell) -> list[int]:
    """Let the browser answer for as many people, and count the symbols."""
    values = {question.metric.name: None if cell.value is None else str(cell.value) for question in study.questions}
    counts: list[int] = page.evaluate(
        """async ([text, profile, people, symbols]) => {
            const client = await import("/static/fairgauge-client.js");
            const study = await client.parseStudy(new TextEncoder().encode(text));
            const counts = Array(symbols).fill(0);
            for (let n = 0; n < people; n += 1) counts[client.answer(study, profile).symbol] += 1;
            return counts;
        }""",
        [study.to_bytes().decode(), {"group": cell.group, "values": values}, cell.count, study.symbols],
    )
    return counts


def is_honest(page: Page, *, share: Fraction = Fraction(1)) -> bool:
    """Tell whether the browser's answers agree with the study: those of each kind of people, at once 10^5 in all."""
    page.evaluate(SEEDED, SEED)
    p_values = []
    for cell in CELLS:
        part = Cell(cell.group, cell.value, int(cell.count * share))
        p_values.append(p_value(drawn(page, TWO, part), [(part.count, promised(TWO, cell))]))
    return min(p_values) >= FALSE_POSITIVE_RATE / len(p_values)


def test_a_hundred_thousand_draws_follow_the_table(client: OpenClient) -> None:
    assert is_honest(client())


@pytest.mark.parametrize(
    "change",
    [
        ("drawn[i] >= threshold", "drawn[i] < threshold"),
        ("number >> BigInt(8 * bytes.length - count)", "(number >> BigInt(8 * bytes.length - count)) & ~(1n << 51n)"),
        ("const size = limit.toString(2).length;", "const size = 1; return 0;"),
        ("study.offsets[picked] + study.tables[picked]", "study.offsets[picked] + study.tables[0]"),
    ],
    ids=["other level", "stuck bit", "coin always 0", "always the first question's table"],
)
def test_a_randomiser_with_a_mistake_is_caught(client: OpenClient, change: Change) -> None:
    # One tenth of the people is enough to catch these.
    assert not is_honest(client(change), share=Fraction(1, 10))


def is_fair(page: Page) -> bool:
    """Tell whether the coin is even among three, where one that folds what is left over is not."""
    page.evaluate(SEEDED, SEED)
    counts = page.evaluate(
        """async () => {
            const client = await import("/static/fairgauge-client.js");
            const counts = [0, 0, 0];
            for (let n = 0; n < 10000; n += 1) counts[client.secureBelow(3)] += 1;
            return counts;
        }"""
    )
    return p_value(counts, [(10_000, np.full(3, 1 / 3))]) >= FALSE_POSITIVE_RATE


def test_the_coin_is_fair_among_three(client: OpenClient) -> None:
    assert is_fair(client())


def test_a_folded_coin_is_caught(client: OpenClient) -> None:
    assert not is_fair(client(("if (number < limit) return number;", "return number % limit;")))


# --------------------------------------------------------------------------------------------------- ledger
def test_a_client_that_forgets_to_look_still_draws_no_second_answer(client: OpenClient) -> None:
    """The ledger takes one answer for each study, whatever the code before it does."""
    first, second, kept = client(("if (found) return answerIn(found);", "")).evaluate(
        """async (text) => {
            const client = await import("/static/fairgauge-client.js");
            const study = await client.parseStudy(new TextEncoder().encode(text));
            const ledger = new client.Ledger();
            const profile = { group: "female", values: { recall: "0.5", error: "0" } };
            const first = await ledger.answer(study, profile);
            const second = await ledger.answer(study, profile).catch((error) => error.name);
            return [first, second, await ledger.pending()];
        }""",
        TWO.to_bytes().decode(),
    )
    assert second == "CannotAnswer"
    assert kept == [first]


# ------------------------------------------------------------------------------------------------ elsewhere
def test_another_site_can_import_the_module(collector: Collecting, visitor: OpenVisitor) -> None:
    """A web app on its own address imports the module from the collector and answers a study that it holds."""
    with recorder() as site:
        site.script(Reply(200, b"<!doctype html><title>App</title>", {"Content-Type": "text/html"}))
        person = visitor(site.url)
        page = person.open("/app")
        answer = page.evaluate(
            """async ([url, text]) => {
                const { Ledger, loadStudy } = await import(`${url}/static/fairgauge-client.js`);
                const study = await loadStudy(new TextEncoder().encode(text));
                return new Ledger().answer(study, { group: "female", values: { recall: 0.83, error: 1n } });
            }""",
            [collector.url, TWO.to_bytes().decode()],
        )
        assert Answer.from_bytes(json.dumps(answer).encode()).study == TWO.digest
        assert person.complaints == []


def test_the_module_asks_nothing_of_anyone(client: OpenClient) -> None:
    """It imports nothing, uses no insecure randomness, and evaluates no text; its version is the package's."""
    source = client().evaluate("fetch('/static/fairgauge-client.js').then((response) => response.text())")
    code = "\n".join(line for line in source.splitlines() if not line.strip().startswith(("*", "/*", "//")))
    for word in ("import ", "Math.random", "eval(", "Function(", "innerHTML", "localStorage", "cookie"):
        assert word not in code
    assert f"Version {__version__}." in source


@pytest.mark.parametrize(
    ("change", "refusing"),
    [
        (None, False),
        (("nearest(metric, own(values, metric.name))", "position(metric, own(values, metric.name))"), True),
        (("listed ? cell : null", "listed ? cell : factorsOf(null)"), True),
    ],
    ids=["honest", "a value refused", "a group refused"],
)
def test_everyone_answers_every_study(client: OpenClient, change: Change | None, refusing: bool) -> None:
    """Whoever picks the study learns nothing from who answers, and the ledger charges everyone alike."""
    people = [{name: _plain(part) for name, part in who.items()} for who in PEOPLE.values()]
    studies = hostile_studies()
    found = client(change).evaluate(
        """async ([texts, people]) => {
            const client = await import("/static/fairgauge-client.js");
            const studies = [];
            for (const text of texts) studies.push(await client.parseStudy(new TextEncoder().encode(text)));
            const limits = { study: null, lifetime: null };
            const found = [];
            for (const [i, person] of people.entries()) {
                const ledger = new client.Ledger(`person ${i}`);
                for (const study of studies) {
                    const sent = await ledger.answer(study, person, { limits }).catch((error) => String(error));
                    const kept = await ledger.recall(study.digest);
                    found.push([sent.study ?? sent, JSON.stringify(kept?.charges ?? null)]);
                }
            }
            return found;
        }""",
        [[study.to_bytes().decode() for study in studies], people],
    )
    each = len(studies)
    everyone = [found[i : i + each] for i in range(0, len(found), each)]
    assert (all(one == everyone[0] for one in everyone) is False) == refusing
    if not refusing:
        assert [study for study, _ in everyone[0]] == [study.digest for study in studies]
    assert NOT_LISTED not in str(found)


def _plain(part: dict[str, Any]) -> dict[str, Any]:
    """What JSON has no way to say, JavaScript reads as text."""
    return {name: str(value) if isinstance(value, float) else value for name, value in part.items()}


def test_texts_of_errors_hold_neither_group_nor_value(client: OpenClient) -> None:
    texts = client().evaluate(
        """async (text) => {
            const client = await import("/static/fairgauge-client.js");
            const study = await client.parseStudy(new TextEncoder().encode(text));
            const profiles = [
                { group: "female", values: "zz-quokka" },
                { group: "zz-quokka", values: {}, value: 7731902 },
                "zz-quokka",
            ];
            const refused = (work) => {
                try { work(); } catch (error) { return String(error.stack); }
                return "answered";
            };
            const [{ metric }] = study.questions;
            const values = ["zz-quokka", 7731902].map((value) => refused(() => client.position(metric, value)));
            return [...values, ...profiles.map((profile) => refused(() => client.answer(study, profile)))];
        }""",
        TWO.to_bytes().decode(),
    )
    assert [text for text in texts if not text.startswith("CannotAnswer: ")] == []
    assert [text for text in texts if "quokka" in text or "7731902" in text] == []


def test_json_integers_are_never_rounded(client: OpenClient) -> None:
    """2^53 + 1 is a number that JavaScript's own parser would round to 2^53, which is a row that sums up."""
    document = json.loads(sample_study().to_bytes())
    document["tables"][0]["table"][0] = [2**53 - 1, 1, 0, 0]
    document["tables"][0]["table"][1] = [2**53 + 1, 0, 0, 0]
    found = client().evaluate(
        """async (text) => {
            const client = await import("/static/fairgauge-client.js");
            return client.parseStudy(new TextEncoder().encode(text)).catch((error) => error.message);
        }""",
        json.dumps(document),
    )
    assert found == "tables[0].table[1]=9007199254740993: must sum to exactly 2^53"


@pytest.mark.parametrize(
    "change", [None, ("if (kept?.relayed && !patience.relay)", "if (false)")], ids=["honest", "mutant"]
)
def test_an_answer_that_wants_a_relay_does_not_leave_without_one(client: OpenClient, change: Change | None) -> None:
    told = client(change).evaluate(
        """async () => {
            const { deliver } = await import("/static/fairgauge-client.js");
            const ledger = { recall: async () => ({ relayed: true }), token: async () => null };
            const drawn = { study: "a".repeat(64), id: "0".repeat(32), symbol: 1 };
            const one = (more) => deliver(ledger, drawn, "http://127.0.0.1:1", { tries: 1, timeout: 1, ...more });
            return Promise.all([{}, { straight: true }].map((more) => one(more).catch(({ message }) => message)));
        }"""
    )
    assert ["sent through a relay" in message for message in told] == [change is None, False]
