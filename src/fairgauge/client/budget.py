"""What an answer costs, and what a device is willing to spend: exact sums of decimals, rounded up."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, InvalidOperation

from fairgauge.errors import CannotAnswer, InvalidInput, NotPrivate
from fairgauge.study import Study

_Charges = Mapping[str, Decimal]

# What a device spends unless it says otherwise.
STUDY_LIMIT = Decimal(4)
LIFETIME_LIMIT = Decimal(8)

# What an answer about a group without its attribute's name is charged to: whichever attribute it was about.
ANY = ""

_UPWARD = Context(prec=50, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much epsilon a device spends: on one attribute in its lifetime, and on one study.

    A device that says nothing has both limits.  ``None`` is for one that wants no limit, and says so.

    >>> Limits()
    Limits(lifetime=Decimal('8'), study=Decimal('4'))

    Raises:
        InvalidInput: If a limit is not a number from 0 up.
    """

    lifetime: Decimal | None = LIFETIME_LIMIT
    study: Decimal | None = STUDY_LIMIT

    def __post_init__(self) -> None:
        for field, limit in (("limit", self.lifetime), ("study limit", self.study)):
            if limit is not None and not _is_limit(limit):
                raise InvalidInput(field, limit, "must be a Decimal from 0 up")

    def check_study(self, study: Study) -> None:
        """Refuse a study of which one question, exactly computed, spends more than any one study may.

        Raises:
            NotPrivate: Naming the question.
        """
        if self.study is None:
            return
        for index, question in enumerate(study.questions):
            if not question.mechanism.within(self.study):
                raise NotPrivate(
                    f"questions[{index}] ({question.metric.name} by {question.attribute.name}) "
                    f"spends epsilon {question.mechanism.epsilon!r}, and this device allows {self.study} a study"
                )

    def check_lifetime(self, charges: _Charges, spent: Iterable[tuple[str, Decimal]]) -> None:
        """Refuse charges that would bring an attribute above its lifetime limit.

        Args:
            charges: What an answer costs.
            spent: What was spent on which attribute; what was spent on ANY is added to each.

        Raises:
            CannotAnswer: Naming the attribute.
        """
        if self.lifetime is None:
            return
        past = add_by_name(spent)
        for account, charge in charges.items():
            before = add_up(past.get(name, Decimal(0)) for name in (account, ANY))
            after = add_up((before, charge))
            if after > self.lifetime:
                raise CannotAnswer(
                    f"{account} has cost epsilon {_shown(before)} on this device; an answer would "
                    f"make it {_shown(after)}, and the limit is {self.lifetime}"
                )

    def check_unnamed(self, charges: _Charges, spent: Iterable[_Charges]) -> None:
        """Refuse an answer about a group without an attribute's name that would bring all answers above the limit.

        Such a group is of whatever attribute a study names, so that a new name must not be a new budget.

        Args:
            charges: What the answer costs.
            spent: What every answer before it cost, whatever it was about.

        Raises:
            CannotAnswer: If it would.
        """
        before = add_up(max(costs.values()) for costs in spent)
        after = add_up((before, max(charges.values())))
        if self.lifetime is not None and after > self.lifetime:
            raise CannotAnswer(
                f"all answers have cost epsilon {_shown(before)} on this device; an answer would make it "
                f"{_shown(after)}, and the limit is {self.lifetime} for a group without its attribute's name"
            )


UNLIMITED = Limits(None, None)


def read_limit(field: str, typed: str) -> Decimal:
    """Read a limit exactly as typed."""
    try:
        return Decimal(typed)
    except InvalidOperation:
        pass
    raise InvalidInput(field, typed, "must be a number from 0 up")


def charges(study: Study) -> _Charges:
    """Return what an answer costs each attribute: the most that any question about it spends.

    It depends on the study alone: not on the coin that picks the question, and on nothing that a person has or lacks,
    nor on the form in which that is given.
    """
    found: dict[str, Decimal] = {}
    for question in study.questions:
        for factor in question.attribute.factors:  # an answer about crossed attributes is about each of them
            found[factor.name] = max(found.get(factor.name, Decimal(0)), question.mechanism.epsilon_bound)
    return found


@dataclass(frozen=True, slots=True)
class ToReaders:
    """What an answer costs towards those who read released counts and see no answer by itself."""

    epsilon: Decimal
    delta: Decimal


def reader_charges(study: Study, costs: _Charges) -> Mapping[str, ToReaders]:
    """Return what an answer costs each attribute towards readers, given what it costs towards the collector.

    A study that is released in batches costs them what the crowd's certificate says, which the device computes itself
    from the study's integers; for another one, a reader may see as much as the collector does.
    """
    if study.release is None:
        return {account: ToReaders(cost, Decimal(0)) for account, cost in costs.items()}
    from fairgauge.crowd import promised  # a device whose studies have no crowd does not pay for it

    crowd = promised(study)
    hidden = ToReaders(crowd.epsilon, crowd.delta) if crowd is not None else None
    return {
        account: hidden if hidden is not None and hidden.epsilon < cost else ToReaders(cost, Decimal(0))
        for account, cost in costs.items()
    }


def add_up(costs: Iterable[Decimal]) -> Decimal:
    """Return the sum, rounded up at the 50th digit.

    >>> add_up([Decimal(1), Decimal("1e-60")]) > 1
    True
    """
    total = Decimal(0)
    for cost in costs:
        total = _UPWARD.add(total, cost)
    return total


def add_by_name(costs: Iterable[tuple[str, Decimal]]) -> dict[str, Decimal]:
    """Return the sum for each name, rounded up; whoever picks studies may have made up thousands of names.

    >>> add_by_name([("sex", Decimal(1)), ("age", Decimal(2)), ("sex", Decimal(3))])
    {'sex': Decimal('4'), 'age': Decimal('2')}
    """
    found: dict[str, Decimal] = {}
    for name, cost in costs:
        found[name] = _UPWARD.add(found.get(name, Decimal(0)), cost)
    return found


def times(cost: Decimal, count: int) -> Decimal:
    """Return a cost that was paid several times, rounded up at the 50th digit.

    >>> times(Decimal("0.25"), 3)
    Decimal('0.75')
    """
    return _UPWARD.multiply(cost, Decimal(count))


def _is_limit(limit: object) -> bool:
    return isinstance(limit, Decimal) and limit.is_finite() and limit >= 0


def _shown(cost: Decimal) -> str:
    """Return the cost to six places, rounded up."""
    return format(cost.quantize(Decimal("1e-6"), rounding=ROUND_CEILING).normalize(), "f")
