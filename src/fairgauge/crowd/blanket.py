r"""The blanket of a table: what everybody sends alike, and how far one person's row rises above it.

With :math:`w_j = \min_x P_{xj}`, every row is :math:`w` and a rest.  The collector's secret draws are from
:math:`w`, too, so that whoever sees only how often each symbol came must tell one person's symbol from them.  All that
counts for that is, for each symbol, :math:`w_j` and the ratios :math:`P_{xj} / w_j`; symbols with the same ratios say
the same and are merged.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd

from fairgauge.channel import Row
from fairgauge.errors import NotPrivate


@dataclass(frozen=True, slots=True)
class Blanket:
    """A table's different rows, symbols with equal ratios merged, and the least weight in each column.

    Args:
        rows: Each different row once.
        least: The least weight of each column, all above 0.
    """

    rows: tuple[Row, ...]
    least: Row

    @classmethod
    def of(cls, table: Iterable[Row]) -> "Blanket":
        """Return the blanket of a table.

        Raises:
            NotPrivate: If a symbol excludes an input: nothing hides that, however large the crowd.
        """
        merged: dict[Row, Row] = {}
        for column in zip(*table, strict=True):
            if min(column) == 0:
                if any(column):
                    raise NotPrivate("a symbol excludes an input, and no crowd hides that")
                continue
            scale = gcd(*column)
            ratios = tuple(weight // scale for weight in column)
            before = merged.get(ratios, (0,) * len(column))
            merged[ratios] = tuple(a + b for a, b in zip(before, column, strict=True))
        columns = list(merged.values())
        rows = tuple(dict.fromkeys(zip(*columns, strict=True)))
        return cls(rows, tuple(map(min, columns)))
