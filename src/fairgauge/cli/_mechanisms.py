"""What commands do otherwise where another mechanism than a channel answers: one object for each mechanism.

A command's own functions are for devices.  A method of the same name, without the underscore, stands in for one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar, cast

import typer
from rich.text import Text

from fairgauge.cli._console import out, show_table
from fairgauge.cli._files import naming, write_bytes
from fairgauge.cli._formats import Form, show_as
from fairgauge.cli._option_rules import refuse
from fairgauge.cli._progress import waiting
from fairgauge.errors import InvalidInput
from fairgauge.planning.contributors import Sites
from fairgauge.study import NoisyCounts, Question, Study, Table
from fairgauge.study.mechanism import Registry
from fairgauge.study.numbers import as_count

if TYPE_CHECKING:
    from fairgauge.cli.simulate import SimulationRequest
    from fairgauge.cli.tally import TallyRequest
    from fairgauge.planning.counted_questions import CountedQuestions
    from fairgauge.planning.plans import Plans
    from fairgauge.simulation import SitePopulation

TOLD, SHARE = ("the gap", "each group's mean", "the overall mean"), "each group's share"
_Usual = TypeVar("_Usual", bound=Callable[..., Any])


# Why sites that count many people have no use for what is for devices; plan and design each have some of these.
_Reasons = dict[str, tuple[str, ...]]
_NOT_FOR_SITES: _Reasons = {
    "sites count everyone they hold": ("answering", "abstain", "abstaining"),
    "the counts tell the groups' shares": ("share_error", "share_source"),
    "the counts tell every two groups' gap and each group's mean": ("compare", "against", "weigh", "target", "aim"),
    "sites send counts with noise, and all metrics are told by the same": (
        "design",
        "budgets",
        "symbols",
        "metric_weight",
    ),
}
_DESIGN_FOR_SITES: _Reasons = {"noise is the same whatever is expected": ("expect", "spread")}
_PLAN_FOR_SITES: _Reasons = {
    "a plan for sites takes two of --sites, --epsilon and --error, and --people": ("clients", "detect", "plot"),
    "a plan for sites is about the people that sites see": ("interval",),
    "a site's counts are sent as they are": ("crowd_epsilon", "delta", "local_limit"),
    "fairgauge design writes studies for sites": ("output", "title"),
}


class _Sites:
    """Where sites answer that hold many people."""

    def audit(self, document: Study, *, samples: int | None, confidence: float, form: Form) -> None:
        from fairgauge.audit import audit_site

        if samples is not None:
            rule = "must not be given in a study for sites, which are audited by how often each noise is met"
            raise InvalidInput("samples", samples, rule)
        with waiting("Answering"):
            found = audit_site(document, confidence=confidence)
        if form != "people":
            said = {"study": document.digest, "confidence": confidence, "runs": found.runs, "p_value": found.p_value}
            said["caught"] = found.caught
            show_as(form, said, [said])
        else:
            promised = "what the study promises"
            told = f"is not {promised}" if found.caught else f"is {promised}, as far as an audit can see"
            out.print(
                f"The noise of {found.runs:,} answers {told} (p = {found.p_value:.2g}). Confidence {confidence:g}."
            )
        if found.caught:
            raise typer.Exit(1)

    def tally(self, document: Study, wanted: "TallyRequest", form: Form) -> None:
        from fairgauge.tallies.site_files import from_site_files

        alone = {"engine": wanted.engine, "symbol-column": wanted.symbol_column, "id-column": wanted.id_column}
        for name, typed in alone.items():
            if typed is not None:
                raise InvalidInput(name, typed, "must not be given in a study for sites, which are few")
        if wanted.deduplicate:
            rule = "must not be given in a study for sites: each id counts once there"
            raise InvalidInput("deduplicate", "given", rule)
        counts = from_site_files(document, wanted.answers)
        write_bytes("output", wanted.output, counts.to_bytes())
        if form != "people":
            told = {"study": counts.study, "answers": counts.contributors, "repeated": 0}
            show_as(form, told, [told])
        else:
            out.print(f"{wanted.output}: {counts.contributors:,} sites answered {document.title}")

    def simulate(self, document: Study, wanted: "SimulationRequest", form: Form) -> None:
        from fairgauge.simulation import simulate_sites, simulate_sites_exactly

        for name, typed in (("clients", wanted.clients), ("answers", wanted.answers)):
            if typed is not None:
                raise InvalidInput(name, typed, "must not be given in a study of sites; --sites says how many answer")
        people = _read_sites(document.questions[0].counts, wanted)
        sites = None if wanted.sites is None else as_count("sites", wanted.sites)
        if wanted.exactly and sites is not None:
            raise InvalidInput("sites", sites, "must not be given with --exactly: then sites are those of the file")
        with waiting("Sites answer", total=len(people.names) if sites is None else sites) as bar:
            if wanted.exactly:
                tally = simulate_sites_exactly(document, people, seed=wanted.seed, progress=bar.advance)
            else:
                tally = simulate_sites(document, people, sites=sites, seed=wanted.seed, progress=bar.advance)
        write_bytes("output", wanted.output, tally.to_bytes())
        if form != "people":
            told = {"study": tally.study, "answers": tally.contributors}
            show_as(form, told, [told])
        else:
            out.print(f"{wanted.output}: {tally.contributors:,} sites answered {document.title}")

    def design(self, study: Study, design: str) -> None:
        from fairgauge.reports.site_sentences import protection_sentence

        del design
        site = study.questions[0].counts
        told = ", ".join(metric.name for metric in site.metrics)
        out.print(f"  Each site sends {site.size} noisy counts. They tell: {told}; for each group, with the gaps.")
        out.print(f"  {protection_sentence(site)}")

    def designed(self, study: Study, question: Question) -> dict[str, Any]:
        del study
        site = question.counts
        return {
            "metric": question.metric.name,
            "design": question.design,
            "epsilon_exact": site.epsilon,
            "symbols": site.size,
            "levels": None if site.levels is None else len(site.levels),
            "answers": [*TOLD, SHARE],
            "cannot_answer": [],
            "pairs": [],
            "means": [],
            "records": site.records,
            "outcome": site.outcome,
        }

    def verified(self, question: Question) -> dict[str, Any]:
        site = question.counts
        outcome = {"outcome": site.outcome, "decay": str(site.decay)}
        return outcome | {"records": site.records, "cells": site.size}

    def verify(self, table: Table) -> None:
        from fairgauge.reports.site_sentences import noise_sentence, protection_sentence

        site = table[0].counts
        told = f". Exact epsilon {float(site.loss):.6g} for each person, declared {site.declared}."
        out.print(Text.assemble(f"Counts of sites by {site.attribute.name}: ", ("private", "green"), told))
        out.print(f"  {noise_sentence(site)}")
        out.print(f"  In plain words: {protection_sentence(site).removeprefix('Privacy: ')}")

    def check_draws(self, field: str, typed: str) -> None:
        raise InvalidInput(field, typed, "is for counts of devices: what sites send has noise of its own")

    def check_design(self, context: typer.Context) -> None:
        _refuse_each(context, _NOT_FOR_SITES | _DESIGN_FOR_SITES)

    def check_plan(self, context: typer.Context, *, metrics: int, clients_alone: bool) -> None:
        del metrics, clients_alone
        _refuse_each(context, _NOT_FOR_SITES | _PLAN_FOR_SITES)

    def expected_people(self, metrics: Sequence[object], expect: Sequence[str] | None) -> dict[str, str]:
        """Return how often a model is expected to be right, where what is expected is of no metric."""
        if metrics or not expect:
            return {}
        if len(expect) > 1:
            raise InvalidInput("expect", ", ".join(expect), "must be one number in a plan for confusion")
        return {"right": expect[0]}

    def check_enough(self, **given: str | None) -> None:
        names = [name for name, value in given.items() if value is not None]
        if len(names) != 2:
            rule = "give exactly two of --sites, --epsilon and --error: the plan finds the third"
            told = ", ".join("sites" if name == "clients" else name for name in names)
            raise InvalidInput("given", told or "nothing", rule)

    def first_lines(self, form: str, questions: "CountedQuestions", asked: Mapping[str, Any]) -> dict[str, Any]:
        del form, questions, asked  # all is known at once
        return {}

    def show_first(self, plans: "Plans", *, begun: bool) -> None:
        del plans, begun

    def show_missed(self, context: typer.Context, questions: "CountedQuestions", plans: "Plans") -> None:
        del context, questions, plans  # what else could be done is for devices

    def plan(self, questions: "CountedQuestions", plans: "Plans") -> None:
        from fairgauge.reports.site_sentences import protection_sentence

        people, rows = questions.people, [plan.rows[0] for plan in plans]
        # One of a metric's own, or that of all rates.
        never, scales = "impossible", {question.metric.scale for question in questions}
        solved = plans.solved_for

        def told(error: float | None) -> str:
            return "-" if error is None else "cannot be told" if error >= 2 * max(scales) else f"{error:.4g}"

        found = [
            {
                "clients": [f"{row.clients:,}" if row.clients else never],
                "epsilon": [f"{row.epsilon:.4g}" if row.epsilon else never],
            }.get(solved, [])
            for row in rows
        ]
        show_table(
            "gap of", *([] if solved == "error" else ["sites" if solved == "clients" else solved]), "error ±",
            "without privacy ±",
            rows=[
                [name, *more, told(row.error), told(row.error_without_privacy)]
                for name, more, row in zip(plans.metrics, found, rows, strict=True)
            ],
        )  # fmt: skip
        for sentence in plans.sentences():
            out.print(sentence)
        about = f"about the people that sites see, at {plans[0].confidence:.4g} confidence"
        sites = "Sites" if rows[0].clients is None or solved == "clients" else f"{rows[0].clients:,} sites"
        if people is not None:
            assumed = people.sentence(questions.metric)
            out.print(f"{sites} with {people.each:,} people each, {assumed}: {about}.")
        if (epsilon := plans.enough if solved == "epsilon" else rows[0].epsilon) is not None:
            out.print(protection_sentence(questions.mechanism(Decimal(str(epsilon)))))


def _read_sites(site: NoisyCounts, wanted: "SimulationRequest") -> "SitePopulation":
    """Read who comes to which site; columns of the other outcome are refused."""
    from fairgauge.simulation import SitePopulation

    outcome = {"truth": wanted.truth_column, "prediction": wanted.prediction_column}
    typed = {name: column for name, column in outcome.items() if column is not None}
    if site.metric is not None:
        for name, column in typed.items():
            raise InvalidInput(f"{name}-column", column, f"must not be given: the study counts {site.metric.name}")
    with naming(wanted.table):
        how = replace(wanted.how, columns={**wanted.how.columns, **typed})
        return SitePopulation.read(site, wanted.table, how, where=wanted.site_column or "site")


def _refuse_each(context: typer.Context, reasons: _Reasons) -> None:
    for reason, names in reasons.items():
        refuse(context, f"must not be given with --outcome: {reason}", names)


SITES = _Sites()
_OWN: Registry[object] = Registry({object: object(), NoisyCounts: SITES, Sites: SITES})


def own(mechanism: object, usual: _Usual) -> _Usual:
    """Return what a mechanism, or whoever will answer by one, has in place of a command's own function, or that."""
    return cast("_Usual", getattr(_OWN[mechanism], usual.__name__.lstrip("_"), usual))
