"""A short block for a model card, in Markdown for people and in JSON for programs."""

import json
import re
from typing import Any

from fairgauge.errors import InvalidInput
from fairgauge.estimation import Estimate
from fairgauge.reports.display import display_of
from fairgauge.reports.question_view import QuestionView
from fairgauge.reports.units import steady
from fairgauge.study import Study

# A list of plain values, or an object of plain values and such lists; names hold no line break.
_SHORT = re.compile(r"\[\n[^][{}]*?\n +\]|\{\n(?:[^][{}\n]|\[[^][{}\n]*\]|\n)*?\n +\}")


def markdown(study: Study, estimate: Estimate, shown: list[QuestionView]) -> str:
    """Return the block for people."""
    lines = ["## Fairness, measured privately", ""]
    for view in shown:
        lines += [f"**{_plain(view.title)}.** {_plain(view.verdict.text)}", ""]
        if view.numbers:
            lines += ["| | estimate | from | to |", "|---|---:|---:|---:|"]
            lines += [
                f"| {_plain(n.name)}{f' ({n.unit})' if n.unit else ''} | {n.estimate} | {n.low} | {n.high} |"
                for n in view.numbers
            ]
            lines.append("")
    based, private = display_of(study.mechanism).credited(study, [view.answers for view in shown])
    sure = f"Intervals ({estimate.interval}): {estimate.guarantee}."
    lines += [f"{based} “{_plain(study.title)}” (`{study.digest}`). {private} {sure}", ""]
    return "\n".join(lines)


def _document(study: Study, estimate: Estimate) -> dict[str, Any]:
    """Return the block for programs; its numbers are those of the estimate, to ten digits."""
    found = {
        "fairness": {
            "title": study.title,
            "study": study.digest,
            "epsilon": study.epsilon,
            "confidence": estimate.confidence,
            "interval": estimate.interval,
            "guarantee": estimate.guarantee,
            "questions": [
                {
                    "metric": found["metric"],
                    "attribute": found["attribute"],
                    "answers": found["answers"],
                    "gaps": found["gaps"],
                    "means": found["means"],
                    "fit_p_value": found["fit_p_value"],
                }
                for found in estimate.to_dict()["questions"]
            ],
        }
    }
    return {name: _steady(value) for name, value in found.items()}


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _steady(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_steady(one) for one in value]
    return float(steady(value)) if isinstance(value, float) else value


def as_json(study: Study, estimate: Estimate) -> str:
    """Return the block for programs as text."""
    text = json.dumps(_document(study, estimate), indent=2, ensure_ascii=False, allow_nan=False)
    # What holds nothing nested goes on one line, so that a gap is a line and not nine.
    for _ in range(2):
        text = _SHORT.sub(lambda found: re.sub(r"\n +", " ", found[0]).replace("[ ", "[").replace(" ]", "]"), text)
    return text


BEGIN, END = "<!-- fairgauge: begin -->", "<!-- fairgauge: end -->"


def updated(card: str, block: str) -> str:
    """Return a model card with the block put in: where it was before, or else at the end.

    >>> print(updated("# Model", "Fair."))
    # Model
    <BLANKLINE>
    <!-- fairgauge: begin -->
    Fair.
    <!-- fairgauge: end -->
    <BLANKLINE>

    Raises:
        InvalidInput: If the card's marks do not stand once each, in order.
    """
    piece = f"{BEGIN}\n{block.strip()}\n{END}"
    if BEGIN not in card and END not in card:
        return f"{card.rstrip()}\n\n{piece}\n" if card.strip() else f"{piece}\n"
    before, _, rest = card.partition(BEGIN)
    _, _, after = rest.partition(END)
    if card.count(BEGIN) != 1 or card.count(END) != 1 or END in before:
        raise InvalidInput(
            "model-card", f"{card.count(BEGIN)} and {card.count(END)} marks", "must have each once, in order"
        )
    return f"{before}{piece}{after}"


def _plain(text: str) -> str:
    """Return text that means in Markdown what it says: names come from the study's author."""
    return "".join(f"\\{letter}" if letter in r"\`*_{}[]<>#|" else letter for letter in text)
