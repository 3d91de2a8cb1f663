"""Options that several commands share, so that the same word means the same everywhere."""

from pathlib import Path
from typing import Annotated

import typer

from fairgauge.estimation.interval_kinds import KINDS

# What a study's own file says, too: --help lists what people type for a first look, and the manual everything.
RARE = True

Group = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        help="A group, once for each: female, or female=0.5 with its share of the people whom the study is about.",
    ),
]
Answering = Annotated[
    str | None,
    typer.Option(
        help="How often groups answer beside each other: any, so that their shares of the answers are estimated; a "
        "ratio such as 1.1, if none answers more than that many times as often as another; or alike, so that the "
        "stated shares are taken for those of the answers. Then every result says IF.",
    ),
]
Cross = Annotated[
    list[str] | None,
    typer.Option(
        "--cross",
        help="Instead of groups: an attribute and its groups, once for each that crosses: sex=female,male or, with "
        "shares taken as independent, sex=female:0.5,male:0.5.",
        hidden=RARE,
    ),
]
Shares = Annotated[
    Path | None,
    typer.Option(
        "--shares",
        help="CSV with the cells' shares: a column for each crossed attribute, and share or count.",
        hidden=RARE,
    ),
]
Compare = Annotated[
    list[str] | None,
    typer.Option(
        "--compare",
        help="What to compare, once for each: female:male; cells for every two groups. Fewer are sharper together.",
        hidden=RARE,
    ),
]
Against = Annotated[
    str | None,
    typer.Option("--against", help="A reference group: every other group is compared with it alone.", hidden=RARE),
]
Weigh = Annotated[
    list[str] | None,
    typer.Option(
        "--weigh", help="How much a comparison matters, once for each: women:nonbinary=3; 1 unless given.", hidden=RARE
    ),
]
Symbols = Annotated[
    int | None,
    typer.Option(
        "--symbols", help="The most symbols of a channel for seven and more groups: 400 unless given.", hidden=RARE
    ),
]
Outcome = Annotated[
    str | None,
    typer.Option(
        "--outcome",
        help="For sites that hold many people: what they count, confusion (truth and prediction) or levels (a metric).",
    ),
]
Records = Annotated[
    int | None, typer.Option("--records", help="For sites: how many records of one person count at most.", hidden=RARE)
]
MaybeEpsilon = Annotated[
    str | None, typer.Option("--epsilon", help="Privacy loss of one answer; the smaller the more private.")
]
DraftFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]",
        help="A study's own file (TOML), with all that options say and more; what is typed beside it counts instead.",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        help="gap, which is the default: the comparisons, each as good as it can be beside the others. means: the "
        "worst group's mean.",
        hidden=RARE,
    ),
]
Abstaining = Annotated[
    float | None,
    typer.Option(
        help="The part of devices that will have nothing to say, such as no positives: 0.3. Lets them abstain.",
        hidden=RARE,
    ),
]
MetricWeight = Annotated[
    list[str] | None, typer.Option(help="How much a metric matters beside the others, such as recall=2.", hidden=RARE)
]
Expect = Annotated[
    list[str] | None,
    typer.Option(
        help="The overall metric to expect, such as 0.9, or recall=0.9 for one of several. A wrong guess costs only "
        "precision."
    ),
]
ShareError = Annotated[
    str | None,
    typer.Option(
        help="With --answering alike or a ratio: by how much each share may be off, such as 0.02; intervals pay.",
        hidden=RARE,
    ),
]
Spread = Annotated[
    list[str] | None,
    typer.Option(
        help="How far values spread about it, as a standard deviation, or recall=0.1 for one of several; max for any "
        "values.",
        hidden=RARE,
    ),
]
Confidence = Annotated[float, typer.Option(help="How often the interval is to hold the truth.")]
IntervalName = Annotated[
    str, typer.Option("--interval", help=f"What the interval is about and promises: {', '.join(KINDS)}.")
]
Tolerance = Annotated[float | None, typer.Option(help="A gap that would be acceptable: adds a p-value.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="A study document.", show_default=False)]
TallyFile = Annotated[Path, typer.Argument(metavar="TALLY", help="The counts of its symbols.", show_default=False)]
Secrets = Annotated[Path, typer.Option("--secrets", help="The collector's folder with tokens and keys.")]
