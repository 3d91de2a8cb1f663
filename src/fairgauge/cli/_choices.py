"""What a plan prints that was asked for no epsilon: a row for each, and which of them we would take."""

import math
from collections.abc import Sequence

from rich.text import Text

from fairgauge.cli._console import out, show_table
from fairgauge.cli._show import MEAN, show_parts
from fairgauge.planning.choose_epsilon import Choice, Choices, EpsilonChoices
from fairgauge.study import Metric

_TOLD = "odds factor and guess right: what seeing one answer tells about a person, at most (50 % is a blind guess).\n"


def show_choices(found: EpsilonChoices) -> None:
    """Print what each epsilon gives of the questions of a study, which share the answers."""
    if len(found.each) > 1:
        _show_several(found)
    else:
        _show_one(found.each[0])


def _show_one(found: Choices) -> None:
    several = len(found.rows[0].parts) > 1
    rows: list[list[str | Text]] = [
        [
            _epsilon(row, found.recommended),
            *(_told(error, found.metric) for error in ((row.error, row.least) if several else (row.error,))),
            *_cost(row),
            _clients(row.clients),
        ]
        for row in found.rows
    ]
    _show_head(found)
    errors = ("worst error", "least error") if several else ("error",)
    show_table("epsilon", *errors, "odds factor", "guess right", f"clients for ±{found.good:.3g}", rows=rows)
    out.print(_TOLD)
    _show_parts_at(found.recommended or 1, [found])
    _show_sentences(found.sentences())


def _show_several(found: EpsilonChoices) -> None:
    rows: list[list[str | Text]] = [
        [
            _epsilon(row[0], found.recommended),
            *(_told(one.error, asked.metric) for one, asked in zip(row, found.each, strict=True)),
            *_cost(row[0]),
            _clients(found.clients(row)),
        ]
        for row in found.rows
    ]
    _show_head(found.each[0])
    several = any(len(one.parts) > 1 for one in found.rows[0])
    errors = [f"{asked.metric.name}, {'worst error' if several else 'error'}" for asked in found.each]
    goods = {f"±{asked.good:.3g}" for asked in found.each}
    enough = f"clients for {goods.pop()}" if len(goods) == 1 else "clients for 2 % of each range"
    show_table("epsilon", *errors, "odds factor", "guess right", enough, rows=rows)
    out.print(_TOLD)
    _show_parts_at(found.recommended or 1, found.each)
    _show_sentences(found.sentences())


def _show_head(found: Choices) -> None:
    about = f"{found.clients:,} clients, {found.confidence:.4g} confidence, {found.interval} interval, best design"
    out.print(f"{about}, {found.condition}:" if found.condition else f"{about}:")


def _show_parts_at(epsilon: float, asked: Sequence[Choices]) -> None:
    """Print every comparison or mean at an epsilon, where there are several."""
    for found in asked:
        shown = next(row for row in found.rows if row.epsilon == epsilon)
        if len(shown.parts) < 2:
            continue
        out.print(f"At epsilon {epsilon:g}:" if len(asked) == 1 else f"{found.metric.name} at epsilon {epsilon:g}:")
        show_parts(shown.parts, what="" if found.target == "gap" else MEAN)
        out.print()


def _show_sentences(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        out.print(sentence)


def _epsilon(row: Choice, recommended: float | None) -> Text:
    return Text(f"{row.epsilon:g}", "bold" if row.epsilon == recommended else "")


def _cost(row: Choice) -> tuple[str, str]:
    return f"{row.odds:.2f}", f"{math.ceil(1000 * row.guess) / 10:.1f} %"


def _clients(count: int | None) -> str:
    return "never" if count is None else f"{count:,}"


def _told(error: float, metric: Metric) -> str:
    return f"±{error:.3g}" if error < 2 * metric.scale else "tells nothing"
