"""What a simulation knows and a study does not: the table's own gaps, beside what its people's answers say of them."""

from collections.abc import Sequence
from typing import Any

from fairgauge.cli._console import out, show_table
from fairgauge.errors import CannotEstimate
from fairgauge.estimation import QuestionEstimate, estimate
from fairgauge.reports.small_multiples import shown_gaps
from fairgauge.simulation.truth import Truth
from fairgauge.study import Question, Study
from fairgauge.study.attribute import ALIKE, ANY
from fairgauge.tallies import Tally

# Shares that are off by less are those of the table, rounded.
_ROUNDED = 0.01
_ALPHA = "one study in a hundred"


def compare(study: Study, tally: Tally, truths: Sequence[Truth]) -> list[dict[str, Any]]:
    """Return each gap of the table with its estimate and whether the interval holds it; nothing if none can be told."""
    try:
        found = estimate(study, tally)
    except CannotEstimate:
        return []
    return [row for one, truth in zip(found.questions, truths, strict=True) for row in _rows(one, truth)]


def _rows(found: QuestionEstimate, truth: Truth) -> list[dict[str, Any]]:
    rows = []
    for pair, gap in shown_gaps(found):
        if pair in truth.gaps:
            true = truth.gaps[pair]
            rows.append(
                {
                    "metric": found.metric, "first": pair[0], "second": pair[1], "truth": true,
                    "estimate": gap.estimate, "low": gap.low, "high": gap.high, "holds": gap.low <= true <= gap.high,
                }
            )  # fmt: skip
    return rows


def show_truth(study: Study, rows: Sequence[dict[str, Any]], truths: Sequence[Truth]) -> None:
    """Print the table's own gaps beside the estimates, and what of the study is not so in the table."""
    several = len({row["metric"] for row in rows}) > 1
    if rows:
        shown = [
            [
                f"{row['metric'] + ': ' if several else ''}{row['first']} - {row['second']}",
                *(f"{row[name]:.4f}" for name in ("truth", "estimate", "low", "high")),
                "yes" if row["holds"] else "no",
            ]
            for row in rows
        ]
        show_table("", "in the table", "estimate", "low", "high", "holds it", rows=shown)
    pairs = zip(study.questions, truths, strict=True)
    # All questions are about the same people: what is said of one's shares is said of all.
    off, said = next(((q, text) for q, truth in pairs if (text := share_sentence(q, truth))), (None, None))
    if rows:
        chance = off is None or off.attribute.answering == ANY
        out.print(_verdict([row["holds"] for row in rows], chance=chance))
        gaps = sum(len(truth.gaps) for truth in truths)
        if len(rows) < gaps:
            out.print(
                f"{gaps - len(rows)} of the table's {gaps} gaps are not in this list: too few answers to tell them, or "
                "others are larger."
            )
    else:
        out.print("So few answers tell no gap.")
    if said is not None:
        out.print(said)


def _verdict(holds: Sequence[bool], *, chance: bool) -> str:
    """Return whether intervals hold the truth; chance is named only where what the study assumes is so."""
    if all(holds):
        return "The interval holds the table's own gap." if len(holds) == 1 else "Every interval holds the table's gap."
    missed = "The interval misses" if len(holds) == 1 else f"{holds.count(False)} of {len(holds)} intervals miss"
    why = f" By chance that happens to at most {_ALPHA}: try another --seed." if chance else ""
    return f"{missed} the table's own gap.{why}"


def share_sentence(question: Question, truth: Truth) -> str | None:
    """Return that the stated shares are not those of the table, and what follows; None where they are."""
    attribute = question.attribute
    if attribute.shares is None or not truth.shares:
        return None
    stated = dict(zip(attribute.groups, map(float, attribute.shares), strict=True))
    off = {group: truth.shares.get(group, 0.0) - share for group, share in stated.items()}
    worst = max(off, key=lambda group: abs(off[group]))
    allowed = 0.0 if attribute.share_error is None else float(attribute.share_error)
    alike = attribute.answering == ALIKE
    if abs(off[worst]) <= max(allowed, _ROUNDED / 5 if alike else _ROUNDED):
        return None
    there = f"of those who answer in the table {truth.shares.get(worst, 0.0):.1%} are"
    said = f"The study says that {stated[worst]:.1%} are {worst}; {there}."
    if attribute.answering == ANY:
        return f"{said} No gap rests on that; how often groups answered does."
    rests = "Its gaps rest on that, and may be wrong" if alike else "Its gaps rest on that within its ratio"
    shares = ", ".join(f"{truth.shares.get(group, 0.0):.3f}" for group in attribute.groups)
    return f'{said} {rests}: say shares = [{shares}], or answering = "any", which assumes nothing of it.'
