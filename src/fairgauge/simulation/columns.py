"""Which columns of people's own tables hold the group, the value and the count."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairgauge.errors import InvalidInput

COUNT = "count"


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of columns, where a table has its own.

    Args:
        group: The column with each person's group; ``group`` unless given.
        value: The column with each person's value; ``value`` unless given.
        count: The column that says how many people a row stands for.  Unless given it is ``count`` if there is one, and
            else each row is one person.
    """

    group: str | None = None
    value: str | None = None
    count: str | None = None

    @property
    def given(self) -> bool:
        """Whether any was named."""
        return any(name is not None for name in (self.group, self.value, self.count))

    def picked(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return group, value and count of a row, under these names.

        >>> Columns("sex", "recall").picked({"sex": "female", "recall": 0.8, "name": "Ada"})
        {'group': 'female', 'value': 0.8, 'count': 1}

        Raises:
            InvalidInput: If there is no column of that name.
        """
        found = {"group": _of(row, self.group or "group"), "value": _of(row, self.value or "value")}
        if self.count is None and COUNT not in row:
            return found | {COUNT: 1}
        return found | {COUNT: _of(row, self.count or COUNT)}


def _of(row: Mapping[str, Any], name: str) -> Any:
    if name not in row:
        raise InvalidInput("column", name, f"must be there; the rows have {', '.join(map(str, row)) or 'none'}")
    return row[name]
