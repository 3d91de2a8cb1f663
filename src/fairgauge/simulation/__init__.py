"""Simulate a study: from a histogram of a population to the tally that its devices or sites would send."""

from fairgauge.simulation.drawing import simulate, simulate_exactly
from fairgauge.simulation.people import People, Reading, read_people
from fairgauge.simulation.population import Cell, Population
from fairgauge.simulation.sites import SitePopulation, simulate_sites, simulate_sites_exactly
from fairgauge.simulation.truth import Truth, true_values

__all__ = [
    "Cell",
    "People",
    "Population",
    "Reading",
    "SitePopulation",
    "Truth",
    "read_people",
    "simulate",
    "simulate_exactly",
    "simulate_sites",
    "simulate_sites_exactly",
    "true_values",
]
