"""What a notebook shows of a study, a plan, a tally, an estimate or a metric frame: the report's own pictures.

Each function returns a piece of HTML that stands alone: its styles touch nothing else on the page.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from jinja2 import Environment
from markupsafe import Markup

from fairgauge.reports.about import facts
from fairgauge.reports.display import asks, display_of
from fairgauge.reports.figures import moves_figure
from fairgauge.reports.particulars import Particulars
from fairgauge.reports.templating import environment, style
from fairgauge.reports.units import part_of_hundred
from fairgauge.reports.views import privacy_views, question_view

if TYPE_CHECKING:
    from fairgauge.estimation import Estimate
    from fairgauge.estimation.metric_frame import PrivateMetricFrame
    from fairgauge.planning import Plan, Plans
    from fairgauge.study import Study
    from fairgauge.tallies import Tally

_MOST_BARS = 32
# What a piece of a page needs of the style sheet, by how its rules begin.
_NEEDED = (
    "svg", ".figure", ".verdict", ".n ", ".unit", ".meta", "figure", "figcaption", "table", "th", "thead", "tbody",
    ".scroll", ".facts", ".notes", ".unseen", "dt", "dd",
)  # fmt: skip
_RULE = re.compile(r"^([^@{}\s][^{}\n]*)\{([^{}\n]*)\}$", re.MULTILINE)


def study_html(study: "Study") -> str:
    """Return what a study asks, on which terms, and what answering means for one person."""
    return _render(
        "study",
        study=study,
        display=display_of(study.mechanism),
        facts=[fact for fact in facts(study, 0, Particulars()) if fact.name != "Response"],
        asks=[sentence for _, sentence in asks(study.mechanism, study)],
        privacy=privacy_views(study),
    )


def plan_html(plan: "Plan") -> str:
    """Return what each design needs or reaches, as a table and as bars."""
    what = plan.solved_for
    sizes = [(row.design, getattr(row, what)) for row in plan.rows if getattr(row, what) is not None]
    bars = [(design, float(size), f"{size:,}" if isinstance(size, int) else f"{size:.4g}") for design, size in sizes]
    said = "; ".join(f"{design} {size}" for design, _, size in bars)
    picture = moves_figure(bars, description=f"{what} of each design: {said}.") if bars else None
    return _render("plan", plan=plan, picture=picture, what=what, sure=part_of_hundred(plan.confidence))


def plans_html(plans: "Plans") -> str:
    """Return how the questions of a study share the answers, and the plan of each."""
    said = _render("plans", sentences=plans.sentences())
    each = [
        _render("metric", metric=name) + plan_html(plan) for name, plan in zip(plans.metrics, plans.plans, strict=True)
    ]
    return "\n".join([said, *each])


def tally_html(tally: "Tally") -> str:
    """Return how often each symbol was sent."""
    bars = [(f"symbol {symbol}", float(count), f"{count:,}") for symbol, count in enumerate(tally.counts)]
    picture = None
    if len(bars) <= _MOST_BARS and tally.contributors:
        picture = moves_figure(bars, description=f"{tally.contributors:,} answers, by symbol.")
    return _render("tally", tally=tally, picture=picture)


def estimate_html(estimate: "Estimate") -> str:
    """Return the verdict, the pictures and the numbers, as the report has them."""
    shown = [
        question_view(question, found, estimate, over=True)
        for question, found in zip(estimate.asked, estimate.questions, strict=False)
    ]
    counted = display_of(estimate.asked[0].mechanism).counted if estimate.asked else "answers"
    sure = part_of_hundred(estimate.confidence)
    return _render("estimate", estimate=estimate, questions=shown, counted=counted, confidence=sure)


def frame_html(frame: "PrivateMetricFrame") -> str:
    """Return what a metric frame knows, as the report has it."""
    return estimate_html(frame.result)


def _render(part: str, **values: object) -> str:
    text = _templates().get_template("notebook.html").render(part=part, style=Markup(scoped_style()), **values)  # noqa: S704
    return re.sub(r"\n\s*\n+", "\n", text)


@lru_cache(maxsize=1)
def _templates() -> Environment:
    return environment()


@lru_cache(maxsize=1)
def scoped_style() -> str:
    """Return the part of the style sheet that pictures and tables need, for what is inside of one element only."""
    sheet = re.sub(r"/\*.*?\*/", "", style())
    light, dark = re.findall(r":root \{(.*?)\n\s*\}", sheet, re.DOTALL)[:2]
    frame = "font: 100%/1.5 var(--sans); background: var(--paper); color: var(--ink); padding: .8rem 1.2rem"
    rules = [
        f"{', '.join(f'.fairgauge {one.strip()}' for one in selectors.split(','))} {{{body}}}"
        for selectors, body in _RULE.findall(sheet)
        if selectors.startswith(_NEEDED)
    ]
    return "\n".join(
        [
            f".fairgauge {{{light}; {frame}; border-radius: 6px; max-width: 46rem; }}",
            f"@media (prefers-color-scheme: dark) {{ .fairgauge {{{dark} }} }}",
            *rules,
        ]
    )
