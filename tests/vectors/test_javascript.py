"""What the RFCs print comes out of the JavaScript modules too; and a module with a mistake is caught.

Browsers check the client's vectors too (``tests/browser``); Node does it in a second.
"""

import json
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest

from fairgauge.crowd import crowd_of
from fairgauge.crowd.crowd_epsilon import Blanket, certify
from fairgauge.errors import BadStudy
from fairgauge.study import Attribute, Metric, Release, Study
from tests.samples import sample_question, sample_study, two_questions
from tests.vectors.node import Change, client_misses, missed, needs_node, run_client


@needs_node
@pytest.mark.parametrize(
    ("change", "line"),
    [
        (None, ""),
        (("const TRAILER = 0xbc", "const TRAILER = 0xbd"), "encoded"),
        (("(code * power(r, e, n)) % n", "code % n"), "blinded"),
        (("if (await verify(key, message, signature, salt.length)) return signature", "return signature"), "wrong"),
        (("key.id.subarray(-1)", "key.id.subarray(0, 1)"), "request"),
    ],
    ids=["honest", "trailer", "blinding", "unchecked", "key"],
)
def test_the_vectors_of_blind_tickets(tmp_path: Path, change: Change | None, line: str):
    found = missed(tmp_path, "passes", change)
    assert [one for one in found if line in one] if change else found == []


@needs_node
@pytest.mark.parametrize(
    ("change", "line"),
    [
        (None, ""),
        (('"message/bhttp request"', '"message/bhttp response"'), "sealed request"),
        (("join(context.enc, nonce)", "join(nonce, context.enc)"), "stopped"),
        (("if (data.subarray(at).some(Boolean)) throw bad()", ""), "refused"),
        (("new Uint8Array(size - data.length)", "[]"), "written"),
    ],
    ids=["honest", "info", "salt", "tail", "padding"],
)
def test_the_vectors_of_envelopes(tmp_path: Path, change: Change | None, line: str):
    found = missed(tmp_path, "envelopes", change)
    assert [one for one in found if line in one] if change else found == []


@needs_node
@pytest.mark.parametrize(
    ("script", "file"),
    [
        ("check.js", "simple.json"),
        ("check.js", "full.json"),
        ("limits.js", "limits.json"),
        ("crowd.js", "crowd.json"),
    ],
    ids=["simple", "full", "limits", "crowds"],
)
def test_what_python_says_the_client_says(tmp_path: Path, script: str, file: str):
    assert client_misses(tmp_path, script, file) == []


@needs_node
def test_random_bits_are_the_first_ones_and_what_is_above_a_limit_is_drawn_again(tmp_path: Path):
    found = run_client(
        tmp_path,
        """
        const bytes = [0xff, 0x80, 0, 0, 0, 0, 0x1f, 0xa0, 0xff];
        crypto.getRandomValues = (array) => array.map(() => bytes.shift());
        const found = [client.secureBits(53), client.secureBits(3), client.secureBits(8)].map(String);
        const drawn = [6n, 7n, 5n, 4n, 3n];
        const sizes = [];
        const bits = (size) => { sizes.push(size); return drawn.shift(); };
        console.log(JSON.stringify([found, [client.secureBelow(5, bits), client.secureBelow(5, bits)], sizes]));
        """,
    )
    assert found == [[str(0xFF80000000001F >> 3), "5", "255"], [4, 3], [3, 3, 3, 3, 3]]


@needs_node
def test_a_value_beyond_the_levels_is_drawn_for_and_a_zero_costs_everything(tmp_path: Path):
    found = run_client(
        tmp_path,
        """
        const [whole, unit] = [1n << 53n, 1n << 30n];
        const rows = [[whole / 2n, whole / 2n, 0n], [whole / 2n, whole / 4n, whole / 4n]];
        const zero = new client.Channel([...rows, ...rows], [-unit, unit], 2, false);
        const fair = [[whole / 2n, whole / 2n], [whole / 4n, (3n * whole) / 4n]];
        const coin = new client.Channel(fair, [-unit, unit], 1, false);
        const drawn = [[unit, 1n], [2n * unit + 1n, 2n], [-2n * unit - 1n, 2n]].map(([n, d]) => {
          try {
            return typeof coin.draw(0, [{ n, d }]);
          } catch (error) {
            return error.name;
          }
        });
        console.log(JSON.stringify([zero.epsilon, zero.within("100"), drawn]));
        """,
    )
    assert found == [None, False, ["number", "number", "number"]]


@needs_node
def test_a_symbol_that_nobody_sends_is_refused_and_one_that_few_send_is_not(tmp_path: Path):
    found = run_client(
        tmp_path,
        """
        const [whole, unit] = [1n << 53n, 1n << 30n];
        const made = (weight) => {
          const row = [whole - weight, weight];
          try {
            return new client.Channel([row, row], [-unit, unit], 1, false).symbols;
          } catch (error) {
            return error.message;
          }
        };
        console.log(JSON.stringify([made(0n), made(1n)]));
        """,
    )
    assert found == ["table[0..1][1]=0: must not be 0 in every row: leave the symbol out", 2]


def asked(*losses: int) -> str:
    """Questions about two sexes whose tables cost the logarithms of these, as the text of a study."""
    metrics = [Metric(f"metric {number}", 0, 1) for number in range(len(losses))]
    questions = [sample_question(m, loss=loss, epsilon="5") for m, loss in zip(metrics, losses, strict=True)]
    return json.dumps(sample_study(*questions).to_bytes().decode())


def values(count: int) -> str:
    return json.dumps({f"metric {number}": "0.5" for number in range(count)})


FAR = ["1e300", "1e400", "-1e400", "1e-400", "0e999", "1" + "0" * 399, " 0.5 ", ".5", "5.", "+1", "0." + "1" * 398]
NO_NUMBER = ["1.1e400", "1e401", "9e-401", "0." + "1" * 399, "9" * 401, "1_0", "٣", "0x1", "", ".", "e5", "NaN", "--1"]


@needs_node
def test_what_is_a_number_is_the_same_in_both_languages(tmp_path: Path):
    texts = [*FAR, *NO_NUMBER]
    found = run_client(
        tmp_path,
        f"""
        const metric = {{ name: "recall", low: "0", high: "1" }};
        const integers = [10n ** 400n, 10n ** 400n + 1n, -(10n ** 500n)];
        const places = [...{json.dumps(texts)}, ...integers].map((value) => client.nearest(metric, value));
        console.log(JSON.stringify(places.map((place) => place && [`${{place.n}}`, `${{place.d}}`])));
        """,
    )
    values = [*texts, 10**400, 10**400 + 1, -(10**500)]
    wanted = [Metric("recall", 0, 1).nearest(value) for value in values]
    assert [None if place is None else Fraction(int(place[0]), int(place[1])) for place in found] == wanted
    assert [place is None for place in wanted] == [*[False] * len(FAR), *[True] * len(NO_NUMBER), False, True, True]


@needs_node
def test_no_entry_of_a_person_keeps_the_client_from_answering(tmp_path: Path):
    found = run_client(
        tmp_path,
        f"""
        const study = await client.parseStudy(new TextEncoder().encode({asked(3)}));
        const fail = () => {{ throw new Error("platypus"); }};
        const traps = new Proxy({{}}, {{ getOwnPropertyDescriptor: fail, get: fail, getPrototypeOf: fail }});
        const gone = Proxy.revocable({{}}, {{}});
        gone.revoke();
        const Ratio = client.ratio(1, 2).constructor;
        const getter = (name) => Object.defineProperty({{}}, name, {{ get: fail, enumerable: true }});
        const forged = [Object.create(Ratio.prototype), new Ratio("a", 0n), new Ratio(1n, 0n)];
        const strange = [traps, gone.proxy, {{ toString: fail, valueOf: fail }}, Symbol("x"), ...forged];
        const profiles = [
          ...strange.flatMap((entry) => [
            {{ group: {{ sex: entry }}, values: {{ "metric 0": entry }} }},
            {{ group: entry, values: {{}} }},
          ]),
          {{ group: getter("sex"), values: getter("metric 0") }},
          {{ group: traps, values: traps }},
          Object.assign(getter("group"), {{ values: {{}} }}),
        ];
        let answered = 0;
        for (const [i, profile] of profiles.entries()) {{
          const ledger = new client.Ledger(`ledger ${{i}}`);
          await ledger.answer(study, profile);
          answered += (await ledger.recall(study.digest)).charges.length;
        }}
        console.log(JSON.stringify(answered === profiles.length));
        """,
    )
    assert found


@needs_node
def test_what_the_client_charges_depends_on_the_study_alone(tmp_path: Path):
    """As in Python: not on the group, nor on the form in which it is given."""
    found = run_client(
        tmp_path,
        f"""
        const study = await client.parseStudy(new TextEncoder().encode({asked(3)}));
        const forms = [null, "female", "platypus", 7, ["female"], {{}}, ...[null, "female"].map((sex) => ({{ sex }}))];
        const found = [];
        for (const [i, group] of forms.entries()) {{
          const ledger = new client.Ledger(`ledger ${{i}}`);
          await ledger.answer(study, {{ group, values: {{}} }});
          found.push((await ledger.recall(study.digest)).charges.map(([name]) => name));
        }}
        console.log(JSON.stringify(found));
        """,
    )
    assert found == [["sex"]] * 8


@needs_node
def test_a_new_name_is_no_new_budget_in_javascript_either(tmp_path: Path):
    """The attack: each study makes up a name for the person's one group."""
    found = run_client(
        tmp_path,
        f"""
        const text = {asked(3)};
        const study = (name) => client.parseStudy(new TextEncoder().encode(text.replaceAll('"sex"', `"${{name}}"`)));
        const found = [];
        for (const group of [(name) => "female", (name) => null, (name) => ({{ [name]: "female" }})]) {{
          const ledger = new client.Ledger(`ledger ${{found.length}}`);
          let answered = 0;
          for (const name of ["sex", "yyy", "zzz"]) {{
            const profile = {{ group: group(name), values: {{}} }};
            await ledger.answer(await study(name), profile, {{ limits: {{ lifetime: "2.5" }} }}).then(
              () => (answered += 1),
              (error) => client.plain ?? error,
            );
          }}
          found.push(answered);
        }}
        console.log(JSON.stringify(found));
        """,
    )
    assert found == [2, 2, 3]


@needs_node
def test_both_forms_together_are_within_one_limit_in_javascript_either(tmp_path: Path):
    """An answer without a name counts against each attribute; so does one whose names are the study's."""
    found = run_client(
        tmp_path,
        f"""
        const text = {asked(3)};
        const study = (name) => client.parseStudy(new TextEncoder().encode(text.replaceAll('"sex"', `"${{name}}"`)));
        const forms = {{
          unnamed: () => [{{ group: "female", values: {{}} }}, {{}}],
          picked: (name) => [{{ group: {{ [name]: "female" }}, values: {{}} }}, {{ named: false }}],
          named: (name) => [{{ group: {{ [name]: "female" }}, values: {{}} }}, {{}}],
        }};
        const found = [];
        for (const order of [["unnamed", "named"], ["picked", "named"], ["named", "picked"], ["named", "named"]]) {{
          const ledger = new client.Ledger(`ledger ${{order}}`);
          const said = [];
          for (const [i, name] of ["yyy", "sex", "zzz"].entries()) {{
            const [profile, how] = forms[order[Math.min(i, 1)]](name);
            const drawn = ledger.answer(await study(name), profile, {{ limits: {{ lifetime: "1.5" }}, ...how }});
            said.push(await drawn.then(() => true, () => false));
          }}
          found.push([...said, client.roundedUp(await ledger.spent(), 3)]);
        }}
        console.log(JSON.stringify(found));
        """,
    )
    one = "1.099"
    assert found == [[True, False, False, one]] * 3 + [[True, True, True, one]]


@needs_node
@pytest.mark.parametrize("losses", list(permutations((3, 9, 5))))
def test_the_dearest_question_is_what_a_ledger_charges(tmp_path: Path, losses: tuple[int, ...]):
    spent, readers, again = run_client(
        tmp_path,
        f"""
        const study = await client.parseStudy(new TextEncoder().encode({asked(*losses)}));
        const ledger = new client.Ledger();
        const profile = {{ group: {{ sex: "female" }}, values: {values(3)} }};
        const first = await ledger.answer(study, profile);
        const towards = (await ledger.spentTowardsReaders()).epsilon;
        const costs = [await ledger.spent(), towards].map((cost) => client.plain(cost));
        const second = await ledger.answer(study, profile);
        const later = client.plain(await ledger.spent());
        console.log(JSON.stringify([...costs, JSON.stringify(first) === JSON.stringify(second) && later === costs[0]]));
        """,
    )
    assert float(spent) == pytest.approx(math.log(9))
    assert readers == spent
    assert again


@needs_node
@pytest.mark.parametrize("losses", [(100, 3), (3, 100)])
def test_every_question_is_within_the_limit_and_what_a_person_allows_can_only_fall(
    tmp_path: Path, losses: tuple[int, int]
):
    said = run_client(
        tmp_path,
        f"""
        const study = await client.parseStudy(new TextEncoder().encode({asked(*losses)}));
        const ledger = new client.Ledger();
        const tries = [
          () => client.checkStudyLimit(study),
          () => ledger.answer(study, {{ group: {{ sex: "female" }}, values: {values(2)} }}),
          () => ledger.lower({{ study: "4.01" }}),
          () => ledger.lower({{ lifetime: "8.01" }}),
          () => ledger.lower({{ study: null }}),
          () => ledger.lower({{ study: "3.99" }}),
        ];
        const said = [];
        for (const run of tries) said.push(await (async () => run())().then(() => "fine", (error) => error.name));
        console.log(JSON.stringify([...said, await ledger.limits()]));
        """,
    )
    refused = ["NotPrivate", "NotPrivate", "InvalidInput", "InvalidInput", "InvalidInput"]
    assert said == [*refused, "fine", {"study": "3.99", "lifetime": "8"}]


@needs_node
def test_an_answer_goes_alone_and_nowhere_else(tmp_path: Path):
    """No cookie, no address of the page, no cached copy, and no other place that somebody sends it to."""
    (asked,) = run_client(
        tmp_path,
        """
        const asked = [];
        globalThis.fetch = async (url, { method, credentials, referrerPolicy, cache, redirect, headers, body }) => {
          asked.push([url, method, credentials, referrerPolicy, cache, redirect, Object.keys(headers).sort(), body]);
          return new Response('{"status":"accepted"}');
        };
        const drawn = { study: "a".repeat(64), id: "b".repeat(32), symbol: 3 };
        await client.send(drawn, "https://collector.example", { tries: 1 });
        console.log(JSON.stringify(asked));
        """,
    )
    place = f"https://collector.example/studies/{'a' * 64}/answers"
    assert asked[:-1] == [place, "POST", "omit", "no-referrer", "no-store", "error", ["Accept", "Content-Type"]]


@needs_node
def test_names_that_cannot_be_told_apart_are_refused_as_python_does(tmp_path: Path):
    """Each name beside ``female``; Python says the same of all of them."""
    names = [
        "male",
        "Female",
        "fem\u0430le",
        "\uff46emale",
        "fe\u200bmale",
        "f\u00e9male",
        "fe\u0301male",
        "\u0434\u0430",
        "\xadx",
    ]
    document = json.loads(sample_study().to_bytes())
    text, told = json.dumps(document), []
    for name in names:
        try:
            Attribute("sex", ["female", name])
            told.append("")
        except BadStudy as error:
            told.append(error.rule)
    said = run_client(
        tmp_path,
        f"""
        const said = [];
        for (const name of {json.dumps(names)}) {{
          const document = JSON.parse({json.dumps(text)});
          document.attributes[0].groups[1] = name;
          document.attributes[0].groups[0] = "female";
          const bytes = new TextEncoder().encode(JSON.stringify(document));
          said.push(await client.parseStudy(bytes).then(() => "", (error) => error.rule ?? String(error)));
        }}
        console.log(JSON.stringify(said));
        """,
    )
    assert [bool(rule) for rule in told] == [False, *[True] * 4, False, True, False, True]
    assert said == told


@needs_node
def test_javascript_takes_no_ticket_for_an_id_in_the_crowd(tmp_path: Path):
    release = Release(100, "0.00000001", 50)
    texts = [
        replace(sample_study(), release=release, admission=admission).to_bytes().decode()
        for admission in (None, "open")
    ]
    said = run_client(
        tmp_path,
        f"""
        const said = [];
        const profile = {{ group: "female", values: {{ recall: "0.5" }} }};
        const read = {json.dumps(texts)}.map((text) => new TextEncoder().encode(text));
        // The last asks for tickets by its collector alone: a document that does is refused.
        const studies = [await client.parseStudy(read[0]), await client.parseStudy(read[1])];
        studies.push(await client.parseStudy(read[0], "tickets"));
        for (const study of studies) {{
          for (const ticket of ["0123456789abcdef".repeat(2), null]) {{
            try {{
              said.push(client.answer(study, profile, {{ ticket }}).id !== ticket);
            }} catch (error) {{
              said.push(error.message);
            }}
          }}
        }}
        console.log(JSON.stringify(said));
        """,
    )
    refused = "the study hides answers in a crowd, and who gave out this ticket could read the answer"
    assert said == [refused, True, refused, True, refused, "the study takes answers with a ticket only"]


@needs_node
def test_no_study_asks_for_tickets_and_releases_counts_in_batches(tmp_path: Path):
    batches = json.loads(replace(sample_study(), release=Release(100, "0.00000001", 50)).to_bytes())
    text = json.dumps(batches | {"admission": "tickets"})
    with pytest.raises(BadStudy, match="must not be tickets where counts leave in batches") as told:
        Study.from_bytes(text.encode())
    said = run_client(
        tmp_path,
        f"""
        const bytes = new TextEncoder().encode({json.dumps(text)});
        console.log(JSON.stringify(await client.parseStudy(bytes).then(() => "", (error) => error.message)));
        """,
    )
    assert said == str(told.value)


@needs_node
def test_few_draws_give_the_number_that_python_gives(tmp_path: Path):
    """With few draws the bound is evaluated at a t so large that no part of an exponential can be written down."""
    studies = [sample_study(), two_questions(), sample_study(sample_question(epsilon="3", loss=20))]
    cases = [
        (study, draws, delta) for study in studies for draws in (1, 3, 40) for delta in ("0.00000001", "0.001", "0.05")
    ]
    texts = [(study.to_bytes().decode(), draws, delta) for study, draws, delta in cases]
    found = run_client(
        tmp_path,
        f"""
        import {{ crowdOf }} from "./fairgauge-crowd.js";
        const found = [];
        for (const [text, draws, delta] of {json.dumps(texts)}) {{
          found.push(crowdOf(await client.parseStudy(new TextEncoder().encode(text)), draws, {{ delta }}).epsilon);
        }}
        console.log(JSON.stringify(found));
        """,
    )
    assert found == [crowd_of(study, draws, delta=Decimal(delta)).number for study, draws, delta in cases]


@needs_node
def test_a_certificate_at_a_large_t_is_the_one_of_python(tmp_path: Path):
    """Within a part in a million on either side, where exponents are taken whole and where they are taken in parts."""
    study = two_questions()
    blankets = [Blanket.of(channel.table) for channel in study.channels]
    cases = []
    for draws, t in ((1, "50"), (3, "200"), (2, "5"), (2, "13")):
        bound, _ = certify(blankets, draws, Decimal("1.09375"), Decimal(t))
        cases += [(draws, float(t), f"{bound * part:.20f}") for part in (Decimal("1.000001"), Decimal("0.999999"))]
    found = run_client(
        tmp_path,
        f"""
        import {{ isCertified }} from "./fairgauge-crowd.js";
        const study = await client.parseStudy(new TextEncoder().encode({json.dumps(study.to_bytes().decode())}));
        const found = {json.dumps(cases)}.map(([draws, t, delta]) => isCertified(study, draws, 1.09375, t, delta));
        console.log(JSON.stringify(found));
        """,
    )
    assert found == [True, False] * 4
