"""A draft from somebody's own table: what it finds, and what it leaves out.

Covers: fairgauge.planning.table_summary.
"""

import random
import re
import tomllib
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.errors import InvalidInput
from fairgauge.planning.study_draft import Draft
from fairgauge.planning.table_draft import Wish, draft_text
from fairgauge.planning.table_summary import look
from fairgauge.simulation import read_people


def people(rows: int = 3000, seed: int = 1) -> dict[str, list[Any]]:
    drawn = random.Random(seed)
    sexes = drawn.choices(["F", "female", "Male", "M", "n/a", "", "Klingon"], [30, 22, 25, 20, 1, 1, 0.1], k=rows)
    sexes[7] = "Klingon"  # somebody is the only one, or nearly
    shares = [min(max(drawn.gauss(0.8, 0.1), 0), 1) for _ in range(rows)]
    return {
        "Patient ID": [1000 + index for index in range(rows)],
        "surname": [f"Family {index % 400}" for index in range(rows)],
        "e-mail": [f"{index}@example.org" for index in range(rows)],
        "sex": sexes,
        "age_group": drawn.choices(["18-49", "50+"], k=rows),
        "recall": [f"{100 * share:.1f}%" if index % 2 else f"{share:.3f}" for index, share in enumerate(shares)],
        "wait": [round(100 * share) + 1 for share in shares],
        "approved": drawn.choices(["yes", "no", "No"], k=rows),
        "note": [f"hello {index}" for index in range(rows)],
    }


def drafted(given: Any, **wish: Any) -> tuple[str, Draft]:
    text = draft_text(look(given), Wish(**wish))
    return text, Draft.read(tomllib.loads(text, parse_float=Decimal))


def test_it_finds_groups_labels_shares_ranges_and_percentages():
    text, found = drafted(people())
    assert found.attribute is not None
    assert (found.attribute.name, found.attribute.groups) == ("sex", ("female", "male"))
    assert all(len(share) <= 4 for share in found.attribute.shares or ())
    assert found.table.labels["sex"] == {"F": "female", "M": "male", "*": ""}
    assert [(one.name, one.low, one.high) for one in found.metrics] == [("recall", "0", "1")]
    assert found.expect == {"recall": Decimal("0.8")}
    assert "percent signs: 76.5% is read as 0.765" in text
    assert "# Columns that could be groups, too: age_group, approved" in text
    assert "# Columns that could be metrics, too: approved, wait" in text


def test_a_part_of_a_whole_is_measured_before_a_plain_number():
    given = {"sex": ["f", "m"] * 60, "years": list(range(18, 78)) * 2, "Treffer": [f"{n}%" for n in range(30, 90)] * 2}
    _, found = drafted(given)
    assert [one.name for one in found.metrics] == ["Treffer"]


@pytest.mark.parametrize(
    ("values", "high", "expect"),
    [
        (["80%", "82 %", "81", "100"], "100", "85"),  # with and without a sign: both are parts of a hundred
        (["80%", "120%"], "120", "102"),  # beyond a hundred percent: as they stand
        (["80%", "0.9"], "1", "0.85"),
    ],
)
def test_percent_signs_are_drafted_as_a_table_is_read(values: list[str], high: str, expect: str):
    given = {"sex": ["female", "male"] * 200, "recall": values * (400 // len(values))}
    _, found = drafted(given)
    assert [one.high for one in found.metrics] == [high]
    assert found.expect == {"recall": Decimal(expect)}
    people = read_people(found.study(), given, found.table)  # every value is within the range
    assert sum(cell.count for cell in people.population.cells) == 400


@pytest.mark.parametrize(
    ("labels", "groups", "meant"),
    [
        (
            {"F": 60, "weiblich": 20, "w": 20, "M": 70, "männlich": 30, "divers": 12, "k.A.": 12},
            ("weiblich", "männlich", "divers"),
            {"F": "weiblich", "w": "weiblich", "M": "männlich", "*": ""},
        ),
        ({"Female": 90, "Male": 90, "Non-binary": 12}, ("Female", "Male", "Non-binary"), {}),
        ({"H": 60, "M": 60}, ("H", "M"), {}),  # hombre and mujer, or what not
        (  # one spelling that nobody knows here does not keep the others apart
            {"F": 40, "weiblich": 20, "w": 20, "M": 60, "nainen": 30},
            ("female", "male", "nainen"),
            {"F": "female", "weiblich": "female", "w": "female", "M": "male"},
        ),
        ({"Female": 40, "F": 20, "male": 30, "m": 20}, ("female", "male"), {"F": "female", "m": "male"}),
        ({"F": 40, "M": 40, "naïve": 20, "naive": 30}, ("female", "male", "naive"), {}),
    ],
)
def test_spellings_of_one_sex_are_one_group(labels: dict[str, int], groups: tuple[str, ...], meant: dict[str, str]):
    sexes = [label for label, times in labels.items() for _ in range(times)]
    given = {"sex": sexes, "recall": [0.5 + at % 2 / 4 for at in range(len(sexes))]}
    text, found = drafted(given)
    assert found.attribute is not None
    assert set(found.attribute.groups) == set(groups)
    if meant:
        assert found.table.labels.get("sex", {}) == meant
    proposed = [line for line in text.splitlines() if "if both mean the same" in line]
    assert [line.split(" = ")[0] for line in proposed] == [f"# {one}" for one in groups[2:]]
    # What it proposes is read as it stands.
    asked = read_people(found.study(), given, found.table).population
    assert sum(cell.count for cell in asked.cells) == sum(times for one, times in labels.items() if one != "k.A.")


def test_letters_are_sexes_where_the_column_or_a_word_says_so():
    races = {"race": ["W"] * 60 + ["B"] * 20 + ["M"] * 20, "recall": [0.5, 0.75] * 50}
    _, found = drafted(races)
    assert found.attribute is not None
    assert found.attribute.groups == ("W", "B", "M")
    text, found = drafted(races | {"race": ["18-29"] * 40 + ["18 – 29"] * 30 + ["30+"] * 30})
    assert found.attribute is not None
    assert found.attribute.groups == ("18-29", "30+")
    assert '"18 – 29" = "18-29"' in text


@pytest.mark.parametrize("name", ["effectif", "n", "score"])
def test_a_table_that_counts_people_is_one_whatever_the_column_is_called(name: str):
    cells = [(sex, told) for sex in ("Femme", "Homme", "") for told in ("oui", "non", "")]
    given: dict[str, list[Any]] = {"sexe": [sex for sex, _ in cells], "accordé": [told for _, told in cells]}
    given[name] = [40 * (at + 1) for at in range(len(cells))]
    if name == "score":
        with pytest.raises(InvalidInput, match="group-column"):  # nine people, each with a score
            drafted(given)
        return
    text, found = drafted(given)
    assert f'count = "{name}"' in text
    assert found.table.count == name
    people = read_people(found.study(), given, found.table)
    assert (people.population.clients, people.left_out) == (40 * (1 + 2 + 4 + 5), 40 * (3 + 6 + 7 + 8 + 9))
    several = {column: entries * 6 for column, entries in given.items()}  # rows that repeat are people
    several["sexe"] = ["Femme", "Homme"] * 3 * len(cells)
    text, found = drafted(several)
    assert "count =" not in text
    assert f"# Does {name} say how many people a row stands for?" in text
    assert [one.name for one in found.metrics] == ["accordé"]


def test_yes_and_no_are_read_in_several_languages_and_beside_what_says_nothing():
    given = {"sexe": ["Femme", "Homme"] * 100, "accordé": (["oui"] * 50 + ["Non"] * 45 + ["?", "inconnu", "x"]) * 2}
    given["accordé"] += ["oui"] * 4
    _, found = drafted(given)
    assert found.table.labels["accordé"] == {"oui": "1", "Non": "0", "*": ""}
    assert found.expect == {"accordé": Decimal("0.55")}


def test_a_small_group_has_a_line_that_asks_for_the_others_alone():
    sexes = ["F"] * 200 + ["M"] * 190 + ["X"] * 11
    text, found = drafted({"sex": sexes, "recall": [0.5 + at % 2 / 4 for at in range(len(sexes))]})
    line = '# comparisons = [{ of = "female", against = "male" }]  # gaps with X take many times the people'
    assert line in text.splitlines()
    assert found.attribute is not None
    assert found.attribute.comparisons is None  # left to who reads the file
    asked = Draft.read(tomllib.loads(text.replace("# comparisons", "comparisons"), parse_float=Decimal))
    assert asked.attribute is not None
    assert [(one.of, one.against) for one in asked.attribute.comparisons or ()] == [(("female",), ("male",))]


@pytest.mark.parametrize(
    ("values", "spread"),
    [
        (["yes", "no"], "max"),
        (["0", "1"], "max"),
        (["80%", "82%"], None),
        (["0", "0.5", "1", "0.5"], "0.4"),  # the deviation is 0.354
    ],
)
def test_a_spread_that_is_wider_than_usual_is_written_down(values: list[str], spread: str | None):
    _, found = drafted({"sex": ["female", "male"] * 200, "recall": sorted(values * (400 // len(values)))})
    assert dict(found.spread) == ({} if spread is None else {"recall": spread if spread == "max" else Decimal(spread)})


def test_nothing_that_is_about_few_people_enters_the_file():
    given = people()
    text, _ = drafted(given)
    for secret in ("Klingon", "Patient", "surname", "Family", "e-mail", "hello", "note"):
        assert secret not in text
    for count in (3000, given["sex"].count("F"), given["sex"].count("") + given["sex"].count("n/a")):
        assert not re.search(rf"\b{count}\b", text)
    assert not re.search(rf"\b{max(given['wait'])}\b", text)


def test_a_rare_label_and_an_identifier_enter_if_they_are_asked_for():
    _, found = drafted(people(), groups=["sex"], labels=["F", "Klingon"])
    assert found.attribute is not None
    assert found.attribute.groups == ("F", "Klingon")
    _, found = drafted(people(), groups=["sex"], metrics=["Patient ID"])
    assert [one.name for one in found.metrics] == ["Patient ID"]


def test_several_columns_cross_and_several_are_measured():
    _, found = drafted(people(), groups=["sex", "age_group"], metrics=["recall", "wait", "approved"])
    assert found.attribute is not None
    assert [factor.name for factor in found.attribute.factors] == ["sex", "age_group"]
    assert [(one.name, one.low, one.high) for one in found.metrics] == [
        ("recall", "0", "1"), ("wait", "0", "110"), ("approved", "0", "1"),
    ]  # fmt: skip
    assert found.table.labels["approved"] == {"yes": "1", "no": "0", "No": "0"}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_and_the_wishes_of_python(library: Any):
    found = fg.new(library(people(400)), groups="sex", metrics="recall", title="Mine", epsilon=2, clients="2e5")
    assert (found.title, str(found.epsilon), found.clients) == ("Mine", "2", 200_000)


NO_GROUPS = (
    "group-column=nothing: must be given: no column of sex has two to 12 labels that 10 people and one in 200 have "
    "each. A study compares groups:"
)


@pytest.mark.parametrize(
    ("given", "wish", "said"),
    [
        ({"sex": [], "recall": []}, {}, "table=no rows: must have a row for each person"),
        ({"sex": ["f"], "recall": [1]}, {}, "group-column=nothing: must be given: no column of sex, recall has"),
        ({"sex": ["f"] * 99, "recall": [0, 1, 1] * 33}, {"groups": ["sex"]}, "group-column=sex: must have two labels"),
        ({"sex": ["f", "m"] * 50, "r": [1] * 100}, {"metrics": ["r"]}, "metric-column=r: must have numbers"),
        ({"sex": ["f", "m"] * 50, "recall": ["a"] * 100}, {}, "metric-column=nothing: must be given"),
        ({"sex": ["f", "m"] * 50}, {"groups": ["sxe"]}, "group-column=sxe: must be one of sex"),
        (
            {"sex": ["f", "m"] * 50, "recall": [0, 1] * 50},
            {"groups": ["recall"], "metrics": ["recall"]},
            "metric-column=recall: must be a column of its own",
        ),
        ({"age": [*range(99)], "r": [0, 1, 1] * 33}, {"groups": ["age"]}, "group-column=age: must have two labels"),
        ({"age": [*range(40)] * 30, "r": [0, 1] * 600}, {"groups": ["age"]}, "group-column=age: must have at most 12"),
        (
            {"sex": ["f"] * 40, "recall": [0.5, 0.7] * 20},
            {},
            f"{NO_GROUPS} take a table with people of at least two",
        ),
        (
            {"sex": ["f", "m"] * 4, "recall": [0.5, 0.7, 0.9, 0.8] * 2},
            {},
            f"{NO_GROUPS} name the column, and labels that fewer have",
        ),
        (
            {"sex": ["w", "m"] * 50, "r": [0, 1] * 50},
            {"labels": ["w", "diverse"]},
            "group=diverse: must be a label of the table (sex has male, female)",
        ),
        (
            {"sex": ["w", "m"] * 50, "r": [0, 1] * 50},
            {"labels": ["female", "w"]},
            "group=female, w: must name at least two labels of sex, each once",
        ),
    ],
)  # fmt: skip
def test_what_makes_no_study_is_a_sentence(given: dict[str, list[Any]], wish: dict[str, Any], said: str):
    with pytest.raises(InvalidInput) as caught:
        drafted(given, **wish)
    assert str(caught.value).startswith(said)


def test_columns_are_called_whatever_their_capitals():
    _, found = drafted({"GENDER": ["f", "m"] * 50, "Recall": [0, 1] * 50}, groups=["gender"], metrics=["recall"])
    assert found.attribute is not None
    assert (found.attribute.name, found.metrics[0].name) == ("GENDER", "Recall")


def test_a_group_is_called_as_the_draft_would_call_it_or_by_its_label():
    table = {"sex": ["w"] * 60 + ["W", "M"] * 20 + ["m"] * 40 + ["divers"] * 2, "recall": [0, 1] * 71}
    _, found = drafted(table, labels=["female", "M", "divers"])
    assert found.attribute is not None
    assert (found.attribute.groups, found.attribute.shares) == (("female", "M", "divers"), ("0.55", "0.4", "0.05"))
    assert found.table.labels["sex"] == {"w": "female"}


def test_crossed_columns_keep_their_common_labels_where_none_is_called():
    table = {"sex": ["f", "m"] * 60, "race": ["a", "b", "c"] * 40, "recall": [0, 1] * 60}
    _, found = drafted(table, groups=["sex", "race"], labels=["a", "c"])
    assert found.attribute is not None
    assert [one.groups for one in found.attribute.cross] == [("female", "male"), ("a", "c")]


@pytest.mark.parametrize(("name", "asked"), [("n", True), ("People", True), ("wait", False)])
def test_a_column_that_looks_like_counts_is_asked_about(name: str, asked: bool):
    text, _ = drafted({"sex": ["f", "m"] * 50, "recall": [0.1, 0.7] * 50, name: [3, 40, 7, 11] * 25})
    assert (f"# Does {name} say how many people a row stands for?" in text) is asked


def test_few_people_show_in_no_share_and_no_word():
    few = {"sex": ["f"] * 33 + ["m"] * 27 + [""], "score": [0.5, 1.0, 0.0] * 20 + ["n/a"]}
    text, found = drafted(few)
    assert found.attribute is not None
    assert found.attribute.shares == ("0.55", "0.45")
    assert "missing in a few rows" in text


def test_a_long_column_is_looked_at_in_pieces(tmp_path: Path):
    path = tmp_path / "long.csv"
    drawn = random.Random(3)
    path.write_text("sex,score\n" + "".join(f"{'fm'[n % 2]},{drawn.random() * 7 - 3:.6f}\n" for n in range(70_000)))
    heard: list[tuple[int, int]] = []
    found = look(path, progress=lambda done, whole: heard.append((done, whole)))
    (sex, score) = found.columns
    assert (found.rows, sex.labels["f"], score.many, score.is_metric, score.is_group) == (
        70_000,
        35_000,
        True,
        True,
        False,
    )
    assert tuple(map(int, score.range)) == (-3, 4)
    assert heard
    assert heard[-1][1] == path.stat().st_size


@pytest.mark.parametrize("rows", [500, 5000, 70_000])
def test_running_numbers_are_no_metric_however_many_there_are(rows: int):
    data = {"Kunde": [*range(rows)], "sex": ["f", "m"] * (rows // 2), "Quote": [n % 97 / 97 for n in range(rows)]}
    text, found = drafted(data)
    assert [one.name for one in found.metrics] == ["Quote"]
    assert "Kunde" not in text
    assert [one.name for one in drafted(data, metrics=["Kunde"])[1].metrics] == ["Kunde"]


def test_some_texts_among_numbers_are_missing_and_a_spelling_that_one_person_has_is_not_written_down():
    data = {"sex": ["F", "M"] * 300 + ["f"], "recall": [f"{n / 601:.4f}" for n in range(600)] + ["see Dr. Who"]}
    text, found = drafted(data)
    assert [one.name for one in found.metrics] == ["recall"]
    assert found.table.labels == {"sex": {"F": "female", "M": "male"}, "recall": {"*": ""}}
    assert "Who" not in text
    with pytest.raises(InvalidInput, match=r'labels\.recall\.\*.*must be ""'):
        Draft.read(tomllib.loads(text.replace('"*" = ""', '"*" = 1')))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, dict])
def test_a_frame_is_planned_and_simulated_as_it_is(library: Any):
    data = library({"sex": ["F", "M", "n/a"] * 100, "recall": ["70%", "0.9", ""] * 100})
    (found,) = fg.plan(data, clients=10**6, interval="normal", designs=["randomized-response"])
    assert (found.rows[0].epsilon, found.rows[0].clients) == (1, 10**6)
    assert fg.plan(data, clients=10**6, error=0.1, interval="normal", designs=["laplace"])[0].rows[0].epsilon != 1
    draft = fg.new(data)
    study = fg.Study("Recall", fg.design(list(draft.metrics), draft.attribute, epsilon=4, design="laplace"))  # type: ignore[arg-type]
    tally = fg.simulate(study, data, clients=10**6, seed=1, reading=draft.table)
    assert fg.estimate(study, tally)["recall"].gap().estimate == pytest.approx(-0.2, abs=0.02)
    with pytest.raises(InvalidInput, match="sex=F: must be one of female, male"):
        fg.simulate(study, data)
    people = read_people(study, data, draft.table).population
    with pytest.raises(InvalidInput, match="must be given with a frame or a file"):
        fg.simulate(study, people, reading=draft.table)
    # The draft knows how tables are read; the study does not, whether it was designed just now or loaded.
    drafted_study = replace(draft, design="laplace").study()
    assert b'"M"' not in drafted_study.to_bytes()
    for one in (drafted_study, fg.Study.from_bytes(drafted_study.to_bytes())):
        assert fg.simulate(one, data, clients=10**6, seed=1, reading=draft.table).contributors == 10**6
        with pytest.raises(InvalidInput, match="sex=F: must be one of female, male"):
            fg.simulate(one, data)
    with pytest.raises(InvalidInput, match="attribute=nothing: must be given beside a metric"):
        fg.plan(list(draft.metrics), clients=100, epsilon=1)


def test_thousands_of_people_in_a_row_are_no_fractions():
    data = {
        "SEX": ["Female", "Male"] * 3,
        "ACCURACY": ["62.5", "80", "97.5%"] * 2,
        "PEOPLE": ["1,204", "2,340", "803"] * 2,
    }
    _, found = drafted(data)
    assert (found.table.count, found.attribute and found.attribute.groups) == ("PEOPLE", ("Female", "Male"))


def test_a_table_of_few_rows_is_told_how_rows_count_people():
    data = {"sex": ["f", "m"], "accuracy": [0.8, 0.9], "cases": [100, 200]}
    with pytest.raises(InvalidInput, match='call the column that says how many "count"'):
        drafted(data)
    assert drafted({"count": data.pop("cases"), **data})[1].metrics[0].name == "accuracy"
