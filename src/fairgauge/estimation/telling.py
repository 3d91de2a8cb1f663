"""What counts tell of each number, in units of [-1, 1]; where they do not, a sentence says why."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from fairgauge.errors import CannotEstimate
from fairgauge.estimation.estimands import Ratio
from fairgauge.estimation.reader import Reader
from fairgauge.estimation.values import Interval
from fairgauge.goals.sides import Pair, Side


class Teller:
    """Asks counts for numbers, and collects the sentences about those that they do not tell.

    Args:
        reader: The counts.
        names: The groups.
        alpha: How often an interval may miss the truth.
    """

    def __init__(self, reader: Reader, names: Sequence[str], alpha: float) -> None:
        self._reader, self._names, self._alpha = reader, names, alpha
        self.warnings: list[str] = []

    def means(self) -> dict[str, Interval]:
        """Return the groups' means."""
        estimands = self._reader.estimands
        if estimands.means is None:
            gap = "neither the gap nor" if estimands.gaps is None else "the gap, not"
            self.warnings.append(f"This study can estimate {gap} the means of the groups.")
            return {}
        return self._means_of(dict(zip(self._names, range(len(self._names)), strict=True)))

    def margins(self) -> dict[str, Interval]:
        """Return the means of groups that are taken together, where attributes cross."""
        return {} if self._reader.estimands.means is None else self._means_of(self._reader.estimands.margins)

    def _means_of(self, sides: Mapping[str, Side]) -> dict[str, Interval]:
        found = {
            name: self._told(f"The mean of {name}", partial(self._reader.mean, side)) for name, side in sides.items()
        }
        return {name: mean for name, mean in found.items() if mean is not None}

    def gaps(self, names: Mapping[Pair, tuple[str, str]]) -> dict[Pair, Interval]:
        """Return the gaps of all comparisons, which have these names; of all that are compared they hold together."""
        gaps = {}
        for pair in self._reader.estimands.compared:
            try:
                gaps[pair] = self._reader.gap(pair, self._alpha)
            except CannotEstimate as reason:
                between = " and ".join(names[pair])
                self.warnings.append(f"The gap between {between} cannot be estimated: {reason}.")
        return gaps

    def overall(self) -> Interval | None:
        """Return the mean over everyone who answered."""
        return self._one("The overall mean", self._reader.estimands.overall)

    def shares(self) -> dict[str, Interval]:
        """Return the groups' shares, where they are estimated."""
        ratios = self._reader.estimands.group_shares
        return {} if ratios is None else self._named("The share", ratios)

    def answered(self) -> Interval | None:
        """Return the part of people who did not abstain, where they may."""
        return self._one("The part of people who answered", self._reader.estimands.answered)

    def _named(self, what: str, ratios: Sequence[Ratio]) -> dict[str, Interval]:
        found = {n: self._one(f"{what} of {n}", ratio) for n, ratio in zip(self._names, ratios, strict=True)}
        return {name: interval for name, interval in found.items() if interval is not None}

    def _one(self, what: str, ratio: Ratio | None) -> Interval | None:
        return None if ratio is None else self._told(what, partial(self._reader.ratio, ratio))

    def _told(self, what: str, ask: Callable[[float], Interval]) -> Interval | None:
        try:
            return ask(self._alpha)
        except CannotEstimate as reason:
            self.warnings.append(f"{what} cannot be estimated: {reason}.")
            return None
