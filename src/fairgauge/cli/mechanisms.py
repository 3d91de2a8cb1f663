"""What commands do otherwise where another mechanism than a channel answers: one object for each mechanism.

A command's own functions are for devices.  A method of the same name, without the underscore, stands in for one.
"""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar, cast

import typer
from rich.text import Text

from fairgauge.cli.console import out, show_table
from fairgauge.cli.formats import Form, show_as
from fairgauge.cli.progress import waiting
from fairgauge.cli.read import naming, write_bytes
from fairgauge.errors import InvalidInput
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


class _Sites:
    """Where sites answer that hold many people."""

    def audit(self, document: Study, *, samples: int | None, confidence: float, form: Form) -> None:
        from fairgauge.site_audit import audit_site

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
        from fairgauge.reports.sites import protection_sentence

        del design
        site = study.questions[0].counts
        told = ", ".join(metric.name for metric in site.metrics)
        out.print(f"  Each site sends {site.size} noisy counts. They tell: {told}; for each group, with the gaps.")
        out.print(f"  {protection_sentence(site)}")

    def designed(self, question: Question) -> dict[str, Any]:
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
        from fairgauge.reports.sites import noise_sentence, protection_sentence

        site = table[0].counts
        told = f". Exact epsilon {float(site.loss):.6g} for each person, declared {site.declared}."
        out.print(Text.assemble(f"Counts of sites by {site.attribute.name}: ", ("private", "green"), told))
        out.print(f"  {noise_sentence(site)}")
        out.print(f"  In plain words: {protection_sentence(site).removeprefix('Privacy: ')}")

    def check_draws(self, field: str, typed: str) -> None:
        raise InvalidInput(field, typed, "is for counts of devices: what sites send has noise of its own")

    def plan(self, questions: "CountedQuestions", plans: "Plans") -> None:
        from fairgauge.reports.sites import protection_sentence

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


SITES = _Sites()
OWN: Registry[object] = Registry({object: object(), NoisyCounts: SITES})


def own(mechanism: object, usual: _Usual) -> _Usual:
    """Return what a mechanism has in place of a command's own function, or that."""
    return cast("_Usual", getattr(OWN[mechanism], usual.__name__.lstrip("_"), usual))
