"""The one gap to speak of, and what can be said of it: for the command, the report, the page and the JSON alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fairgauge.estimation.values import Interval

Kind = Literal["clear", "open", "early", "untold"]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Headline:
    """The gap that people hear of first.

    Args:
        kind: ``clear``: one group is served better.  ``open``: the interval holds zero.  ``early``: the interval is
            as wide as all gaps that there can be, or there is no answer yet.  ``untold``: the study cannot tell.
        groups: Whose gap: the first group's mean less the second's.
        interval: The gap.
        largest: Whether the intervals show that no other two groups differ as much.
        p_value: That the gap is within the tolerance, if one was given.
    """

    kind: Kind
    groups: Pair | None = None
    interval: Interval | None = None
    largest: bool = False
    p_value: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the headline for JSON."""
        if self.groups is None or self.interval is None:
            return {"kind": self.kind}
        found = {"kind": self.kind, "groups": list(self.groups), **self.interval.to_dict(), "largest": self.largest}
        return found if self.p_value is None else found | {"p_value": self.p_value}


def headline_of(
    gaps: Mapping[Pair, Interval], p_values: Mapping[Pair, float], *, answers: int, untold: int = 0
) -> Headline:
    r"""Return the headline: the largest of the gaps that are clear, else the largest.

    It is said to be the largest gap only where that is known:

    .. math:: \mathrm{low}\,|g_{ab}| > \max_{(c, d) \neq (a, b)} \mathrm{high}\,|g_{cd}|

    A gap that is not told could be any.

    Guarantee: the intervals of all gaps hold together, so where ``largest`` is said it is true with their confidence.
    """
    if not gaps:
        return Headline("untold" if answers else "early")
    known = {pair: gap for pair, gap in gaps.items() if gap.clear} or gaps
    main = max(known, key=lambda pair: abs(known[pair].estimate))
    gap = gaps[main]
    others = [other.size.high for pair, other in gaps.items() if pair != main]
    least, most = gap.bounds
    kind: Kind = "early" if gap.high - gap.low >= most - least else "clear" if gap.clear else "open"
    largest = not untold and all(gap.size.low > other for other in others)
    return Headline(kind, main, gap, largest, p_values.get(main))
