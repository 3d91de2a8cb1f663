"""Make docs/study-file.md: every field of a study's own file, with an example, as the program reads it.

``python docs/study_file.py --check`` exits with 1 if the page is not what the program says today, and ``--write``
writes it.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairgauge.planning.draft_fields import FIELDS

PAGE = Path(__file__).parent / "study-file.md"
HEADS = {
    "": ("The study", "At the top of the file."),
    "metrics": ("What is measured", "Under `[[metrics]]`, once for each metric."),
    "attribute": ("The groups", "Under `[attribute]`."),
    "attribute.cross": ("Attributes that cross", "Under `[[attribute.cross]]`, once for each, instead of `groups`."),
    "plan": ("The plan", "Under `[plan]`; not published."),
    "table": ("Your own table", "Under `[table]`; not published."),
}
BEFORE = """# A study's own file

<!-- Made by docs/study_file.py: edit fairgauge.planning.draft_fields, or the text in docs/study_file.py. -->

A study is one small file that you write, read and keep under version control. It is [TOML](https://toml.io), with the
field names of the {doc}`published document <study-format>`, without its tables:

```toml
title = "Falls found, by sex"
epsilon = 1
planned = 200000

[[metrics]]
name = "recall"
expect = 0.8

[attribute]
name = "sex"
groups = ["female", "male"]
shares = [0.52, 0.48]

[table]
missing = "leave out"

[table.labels.sex]
F = "female"
M = "male"
```

`plan` and `design` read the same, and `simulate` finds `study.toml` beside `study.json`:

```text
fairgauge plan study.toml
fairgauge design study.toml -o study.json
fairgauge simulate study.json people.csv --clients 200000 --seed 3 -o tally.json
```

**What is typed counts instead of what the file says**: `--group` instead of all its groups and their shares, `--metric`
instead of all its metrics with what is expected of them, every other option instead of its own field. Of clients, epsilon
and error a plan takes two: those that are typed, then the file's epsilon, the planned answers and the error. Where a file
has an epsilon alone, the plan is for `aim`, or two hundredths of the metric's range, and says so.

**In Python** `fg.new(frame)` drafts a study from a frame. `fg.Study.draft("study.toml")` reads the file, and takes the same
fields as keywords. `.plans(clients=200_000)` plans, and `.study()` designs. `fg.simulate(study, frame, reading=draft.table)`
reads a frame by the draft's labels: no study knows them, designed or loaded.

**From a table that you have**, `fairgauge new people.csv -o study.toml` writes the file with comments. It looks for columns
that can be groups and metrics, and for labels, shares, ranges, percent signs and missing values. Since the file may go out
into the world, it holds no count, only rounded shares and means, no label that fewer than ten people or one in 200 have, and
no column that looks like a name or an identifier, unless you ask for it (`--group`, `--group-column`, `--metric-column`).

## Tables as people have them

A table is CSV (parted by commas, semicolons or tabs), Parquet or a data frame, with a row for each person, or rows that
count people in a column `count`.

- A **column** has the name of the attribute or the metric, whatever its capitals; `group` and `value` will do where there
  is one of each; `[table.columns]` says where else it is. Other columns are ignored, and named once.
- A **label** is a group's name, whatever its capitals, or what `[table.labels.sex]` says: `F = "female"`. Empty text stands
  for what is missing, and `"*"` for every label that is not listed; of a metric, for every text that is no number.
- A **number** may have a percent sign: `76.5%` is 0.765, or 76.5 where the metric runs beyond 1. With semicolons between
  columns `0,85` is a number.
- **Missing** is what is empty, `n/a`, `na`, `nan`, `none`, `null`, `-` or `?`, unless a group is called so. `missing` says
  what becomes of people who lack a group or a value: they are left out, or abstain. How many they are is said.
- **Everything that is wrong** with a table is said at once: each problem with its first row, how many rows have it, and
  what to do.

`simulate` knows the truth that it draws from, and says it: the table's own gaps, whether the intervals hold them, and
where the study's shares are not the table's.

## Before and after

The same tasks on the command line of before, and with a file; options are counted, file names are not.

| task | before | options | now | options |
|---|---|---:|---|---:|
"""
# Ten usual tasks: what was typed before, and what is typed now.
TASKS = (
    (
        "plan for 200,000 people",
        "fairgauge plan --group female=0.52 --group male=0.48 --metric recall:0:1 --epsilon 1 --expect 0.8 --clients 2e5",
        "fairgauge plan study.toml --clients 2e5",
    ),
    (
        "how many people for ±0.01",
        "fairgauge plan --group female=0.52 --group male=0.48 --metric recall:0:1 --epsilon 1 --expect 0.8 --error 0.01",
        "fairgauge plan study.toml --error 0.01",
    ),
    (
        "the same at epsilon 2",
        "fairgauge plan --group female=0.52 --group male=0.48 --metric recall:0:1 --epsilon 2 --expect 0.8 --error 0.01",
        "fairgauge plan study.toml --epsilon 2 --error 0.01",
    ),
    (
        "design it",
        'fairgauge design --title "Falls found, by sex" --group female=0.52 --group male=0.48 --attribute sex --metric recall:0:1 --epsilon 1 --expect 0.8 --planned 2e5 -o study.json',
        "fairgauge design study.toml -o study.json",
    ),
    (
        "design it for the public",
        'fairgauge design --title "Falls found, by sex" --group female=0.52 --group male=0.48 --attribute sex --metric recall:0:1 --epsilon 1 --operator "Example Clinic" --purpose "To find out." --contact ada@example.org --opens 2027-01-01T00:00:00Z --closes 2027-03-01T00:00:00Z -o study.json',
        "fairgauge design study.toml -o study.json",
    ),
    (
        "two metrics",
        'fairgauge design --title "Recall and errors" --group female --group male --attribute sex --metric recall:0:1 --metric fpr:0:1 --epsilon 1 --expect recall=0.9 --expect fpr=0.1 -o study.json',
        "fairgauge design study.toml -o study.json",
    ),
    (
        "sex by age, against one group",
        'fairgauge design --title "By sex and age" --cross sex=female,male --cross age=18-49,50+ --compare female:male --metric recall:0:1 --epsilon 2 -o study.json',
        "fairgauge design study.toml -o study.json",
    ),
    (
        "simulate with a table of one's own",
        "fairgauge simulate study.json --population people.csv --group-column gender --value-column recall --clients 2e5 --seed 3 -o tally.json",
        "fairgauge simulate study.json people.csv --clients 2e5 --seed 3 -o tally.json",
    ),
    (
        "a table with letters, percent signs and gaps",
        "(a program of one's own first) fairgauge simulate study.json --population clean.csv --group-column gender --value-column recall -o tally.json",
        "fairgauge simulate study.json people.csv -o tally.json",
    ),
    (
        "sites that count",
        'fairgauge design --title "Recall by sex" --group female --group male --attribute sex --outcome confusion --records 1 --person "one patient" --epsilon 1 -o study.json',
        "fairgauge design study.toml -o study.json",
    ),
)


def options(command: str) -> int:
    """Return how many options a command line has.

    >>> options("fairgauge design study.toml -o study.json")
    1
    """
    return sum(word.startswith("-") for word in command.split() if word != "-")


# Measured by python -m bench.usual_commands.
TIMES = """
Processor time of twelve usual commands: then, at commit `cfb3a4e9`, before a study had a file of its own, and now. Both ran
side by side on two busy cores, and the least of the rounds counts (`python -m bench.usual_commands`). `simulate` also
compares its tally with the table now:

| command | then, s | now, s | first line now, s | now / then |
|---|---:|---:|---:|---:|
| plan --help | 0.64 | 0.03 | 0.01 | 0.04 |
| design --help | 0.68 | 0.03 | 0.01 | 0.04 |
| report --help | 0.60 | 0.03 | 0.01 | 0.05 |
| verify --help | 0.66 | 0.03 | 0.02 | 0.04 |
| plan, clients and epsilon | 1.98 | 1.77 | 0.65 | 0.89 |
| plan, an expectation | 2.90 | 2.47 | 0.63 | 0.85 |
| design, two groups | 1.09 | 0.85 | 0.65 | 0.78 |
| design, six cells | 0.94 | 0.79 | 0.58 | 0.84 |
| verify | 0.62 | 0.64 | 0.46 | 1.04 |
| simulate | 0.60 | 0.67 | 0.53 | 1.12 |
| estimate | 0.72 | 0.72 | 0.56 | 0.99 |
| report | 0.75 | 0.73 | 0.59 | 0.97 |
"""


def page() -> str:
    """Return the page."""
    return "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield BEFORE.rstrip()
    for task, before, after in TASKS:
        yield f"| {task} | `{before}` | {options(before)} | `{after}` | {options(after)} |"
    total = [sum(map(options, column)) for column in list(zip(*TASKS, strict=True))[1:]]
    yield f"| in all | | {total[0]} | | {total[1]} |"
    yield TIMES.rstrip()
    for place, (title, where) in HEADS.items():
        yield f"\n## {title}\n\n{where}\n\n| field | example | meaning |\n|---|---|---|"
        for one in FIELDS:
            if one.place == place:
                yield f"| `{one.name}` | `{one.example}` | {one.about} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check or write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="exit 1 if the page is another")
    mode.add_argument("--write", action="store_true", help="write the page")
    if parser.parse_args(arguments).write:
        PAGE.write_text(page(), encoding="utf-8")
    return int(PAGE.read_text(encoding="utf-8") != page())


if __name__ == "__main__":
    sys.exit(main())
