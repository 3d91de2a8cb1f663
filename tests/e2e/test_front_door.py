"""Ten tables that have everything wrong with them: from a clone to a true result in at most five commands.

Nothing is typed about columns, labels or missing values but which columns are meant, and no command is refused.
"""

import json
import random
import re
from pathlib import Path

import pytest

from fairgauge.planning.study_draft import Draft
from fairgauge.simulation import read_people, true_values
from fairgauge.study import Study
from tests.programs import programs


def hospital(drawn: random.Random) -> str:
    """A spreadsheet's export: letters for sexes, percent signs, n/a, empty entries, names and numbers of patients."""
    rows = ["Patient No,Surname,sex,recall,ward"]
    for number in range(4000):
        sex = drawn.choices(["F", "M", "female", "n/a", "", "X"], [50, 44, 3, 1, 1, 0.05])[0]
        value = min(max(drawn.gauss(0.72 if sex in ("F", "female") else 0.80, 0.12), 0), 1)
        told = drawn.choices([f"{100 * value:.1f}%", f"{value:.3f}", "n/a", "", "see Dr. Who"], [70, 26, 2, 2, 0.1])[0]
        rows.append(f'{90_000 + number},"Doe, {number}",{sex},{told},{drawn.choice("ABC")}')
    return "\ufeff" + "\r\n".join(rows) + "\r\n"


def european(drawn: random.Random) -> str:
    """Semicolons, decimal commas, 0 to 100 without a sign beside 0 to 1, labels in two spellings, running numbers."""
    rows = ["Kunde;Geschlecht;Trefferquote;Fehlerquote;Bemerkung"]
    for number in range(3000):
        sex = drawn.choices(["weiblich", "Weiblich", "männlich", "-"], [40, 12, 47, 1])[0]
        value = min(max(drawn.gauss(64 if sex.casefold() == "weiblich" else 70, 10), 0), 100)
        rows.append(f"{number};{sex};{value:.1f};{drawn.random() / 5:.3f}".replace(".", ",") + f";Nr. {number}")
    return "\n".join(rows) + "\n"


def bank(drawn: random.Random) -> str:
    """Counted rows that cross, yes and no, and a label that says nothing."""
    rows = ["sex,age group,approved,count"]
    for sex in ("Female", "Male", "unknown"):
        for age in ("18-39", "40+"):
            for told, part in (("yes", 0.55 if sex == "Female" else 0.65), ("no", 0.4), ("", 0.02)):
                rows.append(f"{sex},{age},{told},{round(part * drawn.randint(900, 1100))}")
    return "\n".join(rows) + "\n"


def registry(drawn: random.Random) -> str:
    """Days as spreadsheets write them, an age that nobody measures, percent signs in a name and in entries, umlauts."""
    rows = ["Nr;Geschlecht;Alter;Treffer in %;Eintritt"]
    for number in range(3000):
        sex = drawn.choices(["F", "M", "f", "#N/A"], [46, 47, 5, 2])[0]
        value = min(max(drawn.gauss(70 if sex in "Ff" else 78, 10), 0), 100)
        told = drawn.choices([f"{value:.1f}%".replace(".", ","), "-"], [97, 3])[0]
        rows.append(
            f"{number};{sex};{drawn.randint(18, 90)};{told};{drawn.randint(10, 28)}.März {drawn.randint(2019, 2024)}"
        )
    return "\r\n".join(rows) + "\r\n"


def school(drawn: random.Random) -> str:
    """UTF-16 without a name twice over, a foreign spelling among three others, decimal commas, blank columns."""
    rows = ["Schüler-Nr; Geschlecht ;Note erkannt;Note erkannt;Klasse ;;"]
    spelled = ["w", "F", "weiblich ", "Weiblich", "m", "M ", "männlich", "nainen", "divers", ""]
    for number in range(2500):
        sex = drawn.choices(spelled, [28, 8, 6, 4, 34, 8, 9, 0.2, 0.2, 1])[0]
        value = min(max(drawn.gauss(0.7 if sex.strip() in ("w", "F", "weiblich", "Weiblich") else 0.78, 0.15), 0), 1)
        told = drawn.choices([f"{100 * value:.1f} %", f"{value:.3f}", "n/a", "k.A."], [60, 37, 2, 1])[0]
        rows.append(f"S{number:05};{sex};{told.replace('.', ',')};{drawn.random():.2f};{drawn.choice(['5a', '5b'])} ;;")
    return "\r\n".join(rows)


def counted(drawn: random.Random) -> str:
    """French, in Latin-1: yes and no, two columns of groups, and a column of counts that is not called so."""
    rows = ["sexe,tranche d'âge,accordé,effectif"]
    for sex in ("Femme", "Homme", "", "N/A"):
        for age in ("18-39", "40-64", "65+"):
            for told, part in (("oui", 0.5 if sex == "Femme" else 0.6), ("non", 0.45), ("", 0.02)):
                people = part * drawn.randint(900, 1100) * (1 if sex.endswith("e") else 0.02)
                rows.append(f"{sex},{age},{told},{round(people)}")
    return "\n".join(rows) + "\n"


def clinic(drawn: random.Random) -> str:
    """A title above the names, tabs, rows of nothing, true and false, a group that one in a thousand has."""
    rows = ["Export of 1 March\t\t\t\t", "id\tGender\tAge group\tfall detected\tstay"]
    spelled = ["F", "M", "Female", "male", "f", "X", "Unknown", " "]
    for number in range(3000):
        sex = drawn.choices(spelled, [40, 40, 6, 6, 4, 0.1, 1, 2])[0]
        told = str(drawn.random() < (0.72 if sex in ("F", "Female", "f") else 0.81))
        rows.append(
            f"{number}\t{sex}\t{drawn.choice(['18-29', '30 – 49', ''])}\t{drawn.choices([told, 'NULL'], [97, 3])[0]}"
            f"\t{drawn.randint(1, 30)} days"
        )
        if number % 500 == 0:
            rows.append("\t\t\t\t")
    return "\n".join(rows) + "\n"


def export(drawn: random.Random) -> str:
    """Three lines above the names, a space before percent signs, days, m and w beside whole words, a sum at the end."""
    rows = ["\ufeffErkennungsrate;;;", "Stand: 12.03.2026;;;", ";;;", "Nr.;Geschlecht;Trefferquote (%);Letzter Test"]
    for number in range(2000):
        sex = drawn.choices(["weiblich", "männlich", "m", "w", "k. A.", "divers"], [40, 38, 10, 9, 2, 0.1])[0]
        value = min(max(drawn.gauss(78 if sex in ("weiblich", "w") else 86, 10), 0), 100)
        told = drawn.choices([f"{value:.1f} %".replace(".", ","), "", "n. v."], [95, 3, 2])[0]
        rows.append(f"K{number:05};{sex};{told};{drawn.randint(1, 28):02}.{drawn.randint(1, 12):02}.2025")
    return "\r\n".join([*rows, "Summe;;;"]) + "\r\n"


def office(drawn: random.Random) -> str:
    """A dozen rows in capitals: tabs, thousands of people in each, some values with percent signs, a blank group."""
    rows = ["REGION\tSEX\tACCURACY\tPEOPLE"]
    for region in ("North", "South"):
        for sex in ("Female", "Male", ""):
            for value, people in (("62.5", 1204), ("80", 2340), ("97.5%", 803)):
                rows.append(f"{region}\t{sex}\t{value}\t{people * drawn.randint(1, 3) if sex else 12:,}")
    return "\n".join(rows) + "\n"


def survey(drawn: random.Random) -> str:
    """Names and addresses, yes and no in four spellings, a question mark, one person of a group."""
    rows = ["name,email,joined,ethnicity,helped"]
    for number in range(1500):
        group = "Tuvaluan" if number == 17 else drawn.choices("ABC", [50, 30, 20])[0]
        yes = drawn.random() < {"A": 0.6, "B": 0.5}.get(group, 0.55)
        told = drawn.choices([("yes", "YES") if yes else ("no", "No"), ("?", "")], [95, 5])[0]
        rows.append(f'"Doe, J",j{number}@x.org,2024-0{drawn.randint(1, 9)}-17,{group},{drawn.choice(told)}')
    return "\n".join(rows) + "\n"


TABLES = {
    "hospital": (hospital, []),
    "european": (european, []),
    "registry": (registry, []),
    "school": (school, []),
    "counted": (counted, []),
    "clinic": (clinic, []),
    "export": (export, []),
    "office": (office, []),
    "survey": (survey, []),
    "bank": (bank, ["--group-column", "sex", "--group-column", "age group", "--metric-column", "approved"]),
}

ENCODINGS = {"registry": "cp1252", "school": "utf-16", "counted": "latin-1"}


@pytest.mark.parametrize("name", list(TABLES))
def test_from_a_messy_table_to_a_true_result(tmp_path: Path, name: str):
    make, columns = TABLES[name]
    (tmp_path / "people.csv").write_bytes(make(random.Random(7)).encode(ENCODINGS.get(name, "utf-8")))
    commands = [
        ["new", "people.csv", *columns, "--clients", "1e6", "-o", "study.toml"],
        ["plan", "study.toml"],
        ["design", "study.toml", "-o", "study.json"],
        ["simulate", "study.json", "people.csv", "--clients", "1e6", "--seed", "3", "-o", "tally.json"],
        ["estimate", "study.json", "tally.json", "--json"],
    ]
    assert len(commands) <= 5
    for command in commands:
        done = programs().fairgauge(*command, folder=tmp_path)
        assert done.returncode == 0, (command, done.stderr)
        if command[0] == "simulate":
            assert re.search("(interval holds|Every interval holds) the table's", done.stdout)
    study = Study.load(tmp_path / "study.json")
    people = read_people(study, tmp_path / "people.csv", Draft.load(tmp_path / "study.toml").table)
    told = json.loads(done.stdout)["questions"]
    for truth, found in zip(true_values(study, people.population), told, strict=True):
        for gap in found["gaps"]:
            assert gap["low"] <= truth.gaps[tuple(gap["groups"])] <= gap["high"]
    published = (tmp_path / "study.toml").read_text() + (tmp_path / "study.json").read_text()
    for secret in (
        "Doe",
        "Surname",
        "Patient",
        "90000",
        '"X"',
        "Bemerkung",
        "unknown",
        "Kunde",
        "Who",
        "nainen",
        "S00",
        "K00",
        "Summe",
        "Tuvaluan",
        "x.org",
    ):
        assert secret not in published
