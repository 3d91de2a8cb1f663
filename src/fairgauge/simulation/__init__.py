"""Simulate a study: from a histogram of a population to the tally that its devices would send."""

from fairgauge.simulation.cells import Cell
from fairgauge.simulation.drawing import simulate, simulate_exactly
from fairgauge.simulation.population import Population
from fairgauge.simulation.truth import Truth, true_values

__all__ = ["Cell", "Population", "Truth", "simulate", "simulate_exactly", "true_values"]
