"""In what two tallies of one study differ, in words."""

from fairgauge.tallies import Tally
from fairgauge.tallies.sites import SiteTally


def difference(here: Tally | SiteTally, there: Tally | SiteTally, whose: str = "the seal") -> str:
    """Return the first thing in which a tally differs from another one of the same study.

    >>> difference(Tally("a" * 64, (3, 1)), Tally("a" * 64, (3, 2)))
    'it has symbol 1 1 times, and the seal 2 times'
    """
    pairs = enumerate(zip(here.counts, there.counts, strict=True))
    place, one, other = next(((at, *pair) for at, pair in pairs if pair[0] != pair[1]), (0, 0, 0))
    if isinstance(here, SiteTally) and isinstance(there, SiteTally):
        if one != other:
            return f"it has {one:,} in cell {place}, and {whose} {other:,}"
        if here.sites != there.sites:
            return f"it has {here.total:,} sites, and {whose} {there.total:,}" + (
                ", of which some are others" if here.total == there.total else ""
            )
        return "its sums of products are others"
    return f"it has symbol {place} {one:,} times, and {whose} {other:,} times"
