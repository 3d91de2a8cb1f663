"""What a plan says: a row for each design, and which of them is best."""

from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from fairgauge.errors import InvalidInput
from fairgauge.lazy import above
from fairgauge.planning.parts import PlanPart
from fairgauge.study import Mechanism, Release, Target

_AS_GOOD = 1.0005


@dataclass(frozen=True)
class PlanRow:
    """What one design needs or reaches; what was asked for is None where no value of it is enough.

    Args:
        design: The design's name.
        epsilon: The privacy loss of one answer.
        clients: How many answers there are.
        error: The half-width of the interval, in the metric's units.
        variance: K·Var, the variance of the estimate times the number of clients, in total: what randomising adds and
            how clients differ.  It is in units of v, which is from -1 to 1 whatever the metric, so that designs can be
            compared across metrics.  Times the square of half the metric's range it is in the metric's units.
        symbols: How many symbols the channel has.
        levels: How many levels values are rounded to.
        power: The chance of noticing the gap that was asked about.
        privacy_variance: The same for clients whose values and split are fixed: what randomising alone adds, whatever
            values they hold.  ``variance`` is for the values that ``assumes`` names, so it can be the smaller one.
        sampling_variance: The same if nothing were randomised.
        assumes: What the total assumes of the clients, in words.
        crowd_epsilon: What a release of all answers costs a person towards those who see only its counts, certified.
        pairs: What every comparison will be known to, the worst first.
        means: The same for every group's mean; empty where the channel cannot tell them.
        people: How many people each of the clients holds, where they are sites.
        error_without_privacy: The half-width if nothing were randomised, where that is known.
        mechanism: What is reckoned with; None where no value is enough.
    """

    design: str
    epsilon: float | None
    clients: int | None
    error: float | None
    variance: float | None
    symbols: int | None
    levels: int | None
    power: float | None = None
    privacy_variance: float | None = None
    sampling_variance: float | None = None
    assumes: str | None = None
    crowd_epsilon: float | None = None
    pairs: tuple[PlanPart, ...] = ()
    means: tuple[PlanPart, ...] = ()
    people: int | None = None
    error_without_privacy: float | None = None
    mechanism: Mechanism | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the row for JSON."""
        variances = ("variance", "privacy_variance", "sampling_variance", "assumes")
        errors = ("error", "error_without_privacy")
        fields = ("design", "epsilon", "clients", "people", *errors, *variances, "symbols", "levels")
        found = {name: getattr(self, name) for name in fields}
        seldom = {"power": self.power, "crowd_epsilon": self.crowd_epsilon}
        parts = {"pairs": [part.to_dict() for part in self.pairs], "means": [part.to_dict() for part in self.means]}
        return found | {name: value for name, value in seldom.items() if value is not None} | parts


@dataclass(frozen=True)
class AnsweringLine:
    """What a plan gives if groups answer in one way.

    Args:
        answering: What ``--answering`` says: any, a ratio or alike.
        design: The best design then.
        error: The half-width for as many clients as the plan has, in the metric's units.
        wanted: The half-width that is wanted, in the metric's units.
        clients: About how many clients give that; None where none do.
    """

    answering: str
    design: str
    error: float
    wanted: float
    clients: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Plan:
    """A row for each design, and which of them is best.

    ``chosen`` is the design that serves several comparisons best as a whole, where one number does not tell,
    ``condition`` what the numbers assume of how often groups answer, and ``answering`` what other ways to answer give.
    """

    solved_for: str
    confidence: float
    interval: str
    target: Target
    rows: tuple[PlanRow, ...]
    crowd: dict[str, float] | None = None
    chosen: str | None = None
    condition: str | None = None
    answering: tuple[AnsweringLine, ...] = ()

    _repr_html_ = above("fairgauge.reports.notebook", "plan_html")
    plot = above("fairgauge.reports.plots", "plot_plan")
    to_frame = above("fairgauge.reports.frames", "plan_frame")

    @property
    def best(self) -> str | None:
        """The design that needs the least, or None where none is enough."""
        # Where a simpler design does as well, it comes first in the list and is the better choice.
        return self.chosen if self.chosen in self._needed else next(iter(self.as_good), None)

    @property
    def as_good(self) -> list[str]:
        """The designs that need the least, or next to nothing more."""
        least = min(self._needed.values(), default=0)
        return [design for design, needs in self._needed.items() if needs <= least * _AS_GOOD]

    @property
    def _needed(self) -> dict[str, float]:
        needed = {row.design: getattr(row, self.solved_for) for row in self.rows}
        return {design: needs for design, needs in needed.items() if needs is not None}

    @property
    def release(self) -> Release | None:
        """What a study says so that its counts leave as planned: one batch of all; None for a plan without a crowd."""
        if self.crowd is None:
            return None
        delta, observed = (format(Decimal(repr(self.crowd[name])).normalize(), "f") for name in ("delta", "observed"))
        return Release(int(self.crowd["batch"]), delta, observed)

    def row(self, design: str) -> PlanRow:
        """Return the row of a design.

        Raises:
            InvalidInput: If the plan has none of that name.
        """
        found = next((row for row in self.rows if row.design == design), None)
        if found is None:
            raise InvalidInput("design", design, f"must be one of {', '.join(row.design for row in self.rows)}")
        return found

    def __str__(self) -> str:
        lines = [f"{'design':<22}{'epsilon':>9}{'clients':>20}{'error ±':>12}"]
        for row in self.rows:
            loss, clients, error = (
                "impossible" if value is None else f"{value:{form}}"
                for value, form in ((row.epsilon, ".4g"), (row.clients, ","), (row.error, ".4g"))
            )
            lines.append(f"{row.design:<22}{loss:>9}{clients:>20}{error:>12}")
        about = (self.target, f"{self.confidence:.4g} confidence", f"{self.interval} interval", self.condition)
        return "\n".join([*lines, f"({', '.join(filter(None, about))})"])

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        return {
            "solved_for": self.solved_for,
            "confidence": self.confidence,
            "interval": self.interval,
            "target": self.target,
            "condition": self.condition,
            "best": self.best,
            "designs": [row.to_dict() for row in self.rows],
            "answering": [line.to_dict() for line in self.answering],
            "crowd": self.crowd,
        }
