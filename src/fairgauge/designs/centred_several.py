"""The design of least total error about a population, for the gaps of three and more groups.

The largest ratio of a gap's total to what it is measured by is least, and no gap's total is above that of randomized
response.  All scores share one constant, so that gaps add up.  For seven and more groups it is the best of signed
subsets, symbols that ask one group at a time, and randomized response, each with the best constant; for five and six
that differ the second is tried too.
"""

from dataclasses import replace
from decimal import Decimal

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.levelled import Measures, basis_of, solved_once
from fairgauge.designs.levels import even_levels, levels_about
from fairgauge.designs.many import many
from fairgauge.designs.minimax import Objective, Problem
from fairgauge.designs.one_at_a_time import one_at_a_time
from fairgauge.designs.randomized_response import randomized_response
from fairgauge.designs.references import total_measures
from fairgauge.goals.goal import FEW, Goal
from fairgauge.goals.inputs import Inputs, at_constant_value

_LEVELS, _MORE_LEVELS = {1: 5, 2: 7}, 9
# Programs of many groups that differ are large: they have so many levels at most, and above this epsilon, where a
# minute of solving finds next to nothing that is better than one group at a time, none is solved.
_LARGE, _LEVELS_OF_LARGE, _SOLVED = 4, 5, 2.5
# What is aimed at beside randomized response, until it holds: scores by the table alone cost a little.
_SAFELY = (0.985, 0.95, 0.9)
_SPREAD = 1e-2
# Where nothing is expected: levels to reckon with, if gaps are few enough for so many rows.
_FAR, _SEVERAL = (-0.8, 0.0, 0.8), 6


def centred_several(goal: Goal, epsilon: Decimal) -> Channel:
    """Make the channel whose gaps have the least totals for what each is measured by."""
    goal = goal.by("centred")
    simple = np.array(goal.by("randomized-response").totals(randomized_response(goal, epsilon)))
    units = total_measures(goal, epsilon)
    channels = [randomized_response(goal, epsilon)]
    if goal.groups > FEW or _large(goal):
        found = one_at_a_time(goal, epsilon)
        channels += [] if found is None else [found]
    if goal.groups > FEW:
        channels.append(many(goal.by("uncentred"), epsilon))
    weights = np.array([contrast.weight for contrast in goal.contrasts])

    def worth(channel: Channel) -> tuple[bool, float]:
        totals = np.array(goal.totals(channel))
        return bool(np.any(totals > simple * (1 + 1e-9))), float((totals * weights / units).max())

    if goal.groups <= FEW and not (_large(goal) and epsilon > _SOLVED):
        for part in _SAFELY:
            channels.append(_minimax(goal, epsilon, Measures(units, part * simple)))
            if not worth(channels[-1])[0]:
                break
    return min(channels, key=worth)


def _large(goal: Goal) -> bool:
    return goal.groups > _LARGE and len(set(goal.shares)) > 1


def _minimax(goal: Goal, epsilon: Decimal, measures: Measures) -> Channel:
    aim = goal.aim
    if aim.any_values:
        levels = even_levels(2)
    else:
        count = next((count for most, count in _LEVELS.items() if epsilon <= most), _MORE_LEVELS)
        count = min(count, _LEVELS_OF_LARGE) if _large(goal) else count
        levels = even_levels(count) if goal.expect is None else levels_about(aim.mean, aim.widest, count)
    inputs = Inputs(goal.groups, levels)
    basis = basis_of(goal, inputs)
    unit = float(np.sqrt(measures.units.max()))
    shift = np.array([at_constant_value(inputs, functional) for functional in basis.T]).T
    wanted = goal.wanted(inputs)
    reckonings = [aim]
    if goal.expect is None and len(wanted) <= _SEVERAL:
        # What it will be judged by: the worst level.
        reckonings = [replace(goal.reckonings[0], mean=mean) for mean in _FAR]
    objectives = []
    for each, measure, cap in zip(wanted, *measures, strict=True):
        combination = np.linalg.lstsq(basis, each.functional, rcond=1e-10)[0].astype(np.float64)
        combination = np.where(np.abs(combination) < 1e-9, 0.0, combination)
        scale = float(f"{unit * np.sqrt(each.weight / measure):.12g}")
        most = float(f"{cap * each.weight / measure:.12g}")
        part = _SPREAD / len(wanted)
        objectives += [
            Objective(combination * scale, None, peak=True, weight=part, cap=most, reckoning=reckoning)
            for reckoning in reckonings
        ]
    problem = Problem(inputs, goal.shares, basis / unit, tuple(objectives), float(epsilon), shift / unit)
    return solved_once(goal, problem, unit, epsilon)
