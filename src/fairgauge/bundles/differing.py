"""In what two tallies of one study differ, in words."""

from fairgauge.tallies import Tally


def difference(here: Tally, there: Tally, whose: str = "the seal") -> str:
    """Return the first thing in which a tally differs from another one of the same study.

    >>> difference(Tally("a" * 64, (3, 1)), Tally("a" * 64, (3, 2)))
    'it has 1 at place 1 of its counts, and the seal 2'
    """
    pairs = enumerate(zip(here.counts, there.counts, strict=True))
    place, one, other = next(((at, *pair) for at, pair in pairs if pair[0] != pair[1]), (0, 0, 0))
    if one != other:
        return f"it has {one:,} at place {place} of its counts, and {whose} {other:,}"
    if here.contributors != there.contributors:
        return f"it has {here.contributors:,} answers, and {whose} {there.contributors:,}"
    return "its sums of products are others"
