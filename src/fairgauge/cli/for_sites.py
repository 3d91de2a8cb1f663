"""What the commands do where a study is for sites that hold many people."""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from fairgauge.cli.console import out, show_table
from fairgauge.cli.drafts import Wanted
from fairgauge.cli.formats import Form, show_as
from fairgauge.cli.progress import waiting
from fairgauge.cli.read import naming, write_bytes
from fairgauge.errors import InvalidInput
from fairgauge.goals.goal import Goal
from fairgauge.goals.reckoning import Reckoning
from fairgauge.planning.draft import Draft
from fairgauge.planning.sites import Expected, plan_sites
from fairgauge.reports.sites import protection_sentence
from fairgauge.simulation.people import Reading
from fairgauge.simulation.sites import SitePopulation, simulate_sites, simulate_sites_exactly
from fairgauge.site_audit import audit_site
from fairgauge.study import NoisyCounts, Question, Study
from fairgauge.study.numbers import as_count, as_number
from fairgauge.tallies import Tally
from fairgauge.tallies.site_files import from_site_files


def design_for_sites(study: Study, site: NoisyCounts, output: Path, form: Form) -> None:
    """Write a study for sites, and say what it is."""
    write_bytes("output", output, study.to_bytes())
    if form != "people":
        said = _described(site)
        row = {"digest": study.digest} | said | {"metrics": ", ".join(said["metrics"])}
        show_as(form, {"digest": study.digest, "site": said}, [row])
        return
    size = f", {len(study.to_bytes()):,} bytes, digest {study.digest}"
    out.print(Text.assemble(f"{output}: ", (study.title, "bold"), size))
    told = ", ".join(metric.name for metric in site.metrics)
    out.print(f"  Each site sends {site.size} noisy counts. They tell: {told}; for each group, with the gaps.")
    out.print(f"  {protection_sentence(site)}")


def _described(site: NoisyCounts) -> dict[str, Any]:
    return {
        "outcome": site.outcome,
        "epsilon": site.declared,
        "records": site.records,
        "cells": site.size,
        "metrics": [metric.name for metric in site.metrics],
    }


def plan_for_sites(site: NoisyCounts, expected: Expected, *, confidence: float, form: Form) -> None:
    """Print how wide intervals will be, with noise and without."""
    with waiting("Working out widths"):
        rows = plan_sites(site, expected, confidence=confidence)
    if form != "people":
        document = {"interval": "people", "confidence": confidence, "sites": expected.sites, "people": expected.people}
        told = [row.to_dict() for row in rows]
        show_as(form, document | {"metrics": told}, told)
        return
    show_table(
        "gap of", "error ±", "without privacy ±",
        rows=[[row.metric, _error(row.error), _error(row.error_without_privacy)] for row in rows],
    )  # fmt: skip
    about = f"about the people that sites see, at {confidence:.4g} confidence"
    out.print(f"{expected.sites:,} sites with {expected.people:,} people each, {_reckoned(site, expected)}: {about}.")
    out.print(protection_sentence(site))


def _reckoned(site: NoisyCounts, expected: Expected) -> str:
    if site.metric is None:
        right = f"a model that is right for {expected.right:.0%} of either"
        return f"{expected.positives:.0%} of whom have truth 1, and {right}"
    mean, spread = site.metric.to_metric(expected.values.mean), site.metric.scale * expected.values.widest
    return f"whose {site.metric.name} has a mean of {mean:.4g} and a standard deviation of {spread:.4g}"


def read_expected(draft: Draft, wanted: Wanted) -> Expected:
    """Read what a plan for sites reckons with."""
    for field in ("sites", "people"):
        if getattr(wanted, field) is None:
            raise InvalidInput(field, "nothing", "must be given in a plan for sites")
    site = draft.counts()
    stated = site.attribute.shares
    shares = None if stated is None else tuple(float(Fraction(share)) for share in stated)
    sites, people = as_count("sites", wanted.sites or ""), as_count("people", wanted.people or "")
    found = Expected(sites, people, 0.5 if wanted.positives is None else float(wanted.positives), shares=shares)
    if site.metric is None:
        return found if wanted.right is None else replace(found, right=as_number("expect", wanted.right))
    mean, spread = (known.get(site.metric.name) for known in (draft.expect, draft.spread))
    asked = Goal.of(Question(site.metric, site.attribute, expect=mean, spread=spread))
    return replace(found, values=Reckoning(asked.expect or 0.0, asked.spread))


@dataclass(frozen=True)
class Simulated:
    """What is asked for on the command line: people who answer for themselves, or who come to sites."""

    table: Path
    how: Reading
    sites: str | None
    site_column: str | None
    truth_column: str | None
    prediction_column: str | None
    clients: str | None
    answers: Path | None
    seed: int | None
    exactly: bool
    output: Path

    def read(self, site: NoisyCounts) -> SitePopulation:
        """Read who comes to which site."""
        outcome = {"truth": self.truth_column, "prediction": self.prediction_column}
        columns = {**self.how.columns, **{name: typed for name, typed in outcome.items() if typed is not None}}
        with naming(self.table):
            how = replace(self.how, columns=columns)
            return SitePopulation.read(site, self.table, how, where=self.site_column or "site")


def simulate_for_sites(study: Study, site: NoisyCounts, wanted: Simulated, form: Form) -> None:
    """Draw who comes to the sites and their noise, and write the tally."""
    people = wanted.read(site)
    sites = None if wanted.sites is None else as_count("sites", wanted.sites)
    if wanted.exactly and sites is not None:
        raise InvalidInput("sites", sites, "must not be given with --exactly: then sites are those of the file")
    with waiting("Sites answer", total=len(people.names) if sites is None else sites) as bar:
        if wanted.exactly:
            found = simulate_sites_exactly(study, people, seed=wanted.seed, progress=bar.advance)
        else:
            found = simulate_sites(study, people, sites=sites, seed=wanted.seed, progress=bar.advance)
    _write_tally(study, found, wanted.output, form)


def tally_for_sites(study: Study, paths: list[str], output: Path, form: Form) -> None:
    """Add up the answers of sites, and say how many there are."""
    found = from_site_files(study, paths)
    _write_tally(study, found, output, form)


def _write_tally(study: Study, found: Tally, output: Path, form: Form) -> None:
    write_bytes("output", output, found.to_bytes())
    if form != "people":
        told = {"study": found.study, "sites": found.contributors}
        show_as(form, told, [told])
    else:
        out.print(f"{output}: {found.contributors:,} sites answered {study.title}")


def audit_for_sites(study: Study, *, confidence: float, form: Form) -> None:
    """Let a site answer many times, and say whether its noise is what the study promises."""
    with waiting("Answering"):
        found = audit_site(study, confidence=confidence)
    if form != "people":
        said = {"study": study.digest, "confidence": confidence, "runs": found.runs, "p_value": found.p_value}
        said["caught"] = found.caught
        show_as(form, said, [said])
    else:
        promised = "what the study promises"
        told = f"is not {promised}" if found.caught else f"is {promised}, as far as an audit can see"
        out.print(f"The noise of {found.runs:,} answers {told} (p = {found.p_value:.2g}). Confidence {confidence:g}.")
    if found.caught:
        raise typer.Exit(1)


def _error(error: float | None) -> str:
    return "cannot be told" if error is None else f"{error:.4g}"
