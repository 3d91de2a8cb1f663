"""What counts tell of each number, in units of [-1, 1]; where they do not, a sentence says why."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from fairgauge.errors import CannotEstimate
from fairgauge.estimation.estimands import Ratio
from fairgauge.estimation.one_score import Contradicted
from fairgauge.estimation.reader import Reader
from fairgauge.estimation.values import Interval
from fairgauge.languages import Told
from fairgauge.targets.comparisons import Pair, Side


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
        self.contradicted = False

    def means(self) -> dict[str, Interval]:
        """Return the groups' means."""
        estimands = self._reader.estimands
        if estimands.means is None:
            self.warnings.append(Told.of("caution.neither" if estimands.gaps is None else "caution.gap-only"))
            return {}
        return self._means_of(dict(zip(self._names, range(len(self._names)), strict=True)))

    def margins(self) -> dict[str, Interval]:
        """Return the means of groups that are taken together, where attributes cross."""
        return {} if self._reader.estimands.means is None else self._means_of(self._reader.estimands.margins)

    def _means_of(self, sides: Mapping[str, Side]) -> dict[str, Interval]:
        found = {
            name: self._told(Told.of("caution.mean", group=name), partial(self._reader.mean, side))
            for name, side in sides.items()
        }
        return {name: mean for name, mean in found.items() if mean is not None}

    def gaps(self, names: Mapping[Pair, tuple[str, str]]) -> dict[Pair, Interval]:
        """Return the gaps of all comparisons, which have these names; of all that are compared they hold together."""
        gaps = {}
        for pair in self._reader.estimands.compared:
            try:
                gaps[pair] = self._reader.gap(pair, self._alpha)
            except CannotEstimate as reason:
                self.contradicted |= isinstance(reason, Contradicted)
                first, second = names[pair]
                self.warnings.append(_untold(Told.of("caution.gap", first=first, second=second), reason))
        return gaps

    def overall(self) -> Interval | None:
        """Return the mean over everyone who answered."""
        return self._one(Told.of("caution.overall"), self._reader.estimands.overall)

    def shares(self) -> dict[str, Interval]:
        """Return the groups' shares, where they are estimated."""
        ratios = self._reader.estimands.group_shares
        return {} if ratios is None else self._shares(ratios)

    def answered(self) -> Interval | None:
        """Return the part of people who did not abstain, where they may."""
        return self._one(Told.of("caution.answered"), self._reader.estimands.answered)

    def _shares(self, ratios: Sequence[Ratio]) -> dict[str, Interval]:
        named = zip(self._names, ratios, strict=True)
        found = {name: self._one(Told.of("caution.share", group=name), ratio) for name, ratio in named}
        return {name: interval for name, interval in found.items() if interval is not None}

    def _one(self, what: str, ratio: Ratio | None) -> Interval | None:
        return None if ratio is None else self._told(what, partial(self._reader.ratio, ratio))

    def _told(self, what: str, ask: Callable[[float], Interval]) -> Interval | None:
        try:
            return ask(self._alpha)
        except CannotEstimate as reason:
            self.warnings.append(_untold(what, reason))
            return None


def _untold(what: str, reason: CannotEstimate) -> str:
    return Told.of("caution.untold", what=what, reason=reason.args[0])
