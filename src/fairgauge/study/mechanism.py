"""What a mechanism is: it turns what a contributor holds into integers, with an exact loss."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Generic, Protocol, TypeVar, runtime_checkable

from fairgauge.errors import InvalidInput


@runtime_checkable
class Mechanism(Protocol):
    """What randomises: a channel draws one symbol; noisy counts add noise to every count.

    Whatever takes, adds up and checks answers knows no more of it than this.  Sums are those of a whole study, whose
    mechanisms are all of one kind.
    """

    @property
    def size(self) -> int:
        """How many numbers its answers add to."""

    @property
    def groups(self) -> int:
        """How many groups people are in."""

    @property
    def questions(self) -> int:
        """How many questions an answer is about at once."""

    @property
    def abstain(self) -> bool:
        """Whether it has a place for those who prefer not to say."""

    @property
    def counts_people(self) -> bool:
        """Whether a contributor holds many people and counts them all, so that nothing is assumed of who answers."""

    @property
    def numbers(self) -> int:
        """How many numbers one answer holds: a place among those that it may add 1 to, or all that it adds."""

    @property
    def fewest(self) -> int | None:
        """Of how many contributors a sum may be shown at least, when no more can come; None where any sum may be."""

    @property
    def contributors_known(self) -> bool:
        """Whether it is no secret who contributes: each has a ticket of its own, and a seal lists them."""

    @property
    def person(self) -> str | None:
        """Who counts as one person, for people, where that needs to be said."""

    @property
    def epsilon(self) -> float:
        """The exact privacy loss, rounded up."""

    @property
    def epsilon_bound(self) -> Decimal:
        """The exact privacy loss as a decimal, rounded up at its 50th digit."""

    def within(self, epsilon: Decimal) -> bool:
        """Tell whether the privacy loss is at most epsilon; never wrongly true."""

    def check_sums(self, sums: tuple[int, ...], contributors: int) -> None:
        """Refuse what cannot be the sum of so many answers.

        Raises:
            BadTally: If it is that.
        """

    def products(self, payloads: Iterable[tuple[int, ...]], size: int) -> tuple[int, ...]:
        """Return for every two numbers the sum over answers of their product; nothing where the sums tell it."""


_One = TypeVar("_One")


class Registry(Generic[_One]):
    """What a room knows of each mechanism: one object for its type, whose methods are all that differs there.

    A room has one registry at most, and nothing else in it goes by the mechanism.

    >>> Registry({int: "a number", str: "a text"})[4]
    'a number'
    """

    def __init__(self, each: Mapping[type, _One]) -> None:
        self._each = dict(each)

    def register(self, mechanism: type, one: _One) -> None:
        """Add what is known of another mechanism."""
        self._each[mechanism] = one

    def __iter__(self) -> Iterator[_One]:
        """Return what is known of each mechanism, in the order in which they came."""
        return iter(self._each.values())

    def __getitem__(self, mechanism: object) -> _One:
        """Return what is known of a mechanism.

        Raises:
            TypeError: If nobody registered one.
        """
        for kind in type(mechanism).__mro__:
            if kind in self._each:
                return self._each[kind]
        raise TypeError(f"{type(mechanism).__name__} is not registered here")


def check_payload(payload: tuple[int, ...], numbers: int, size: int) -> None:
    """Refuse what no answer can hold, if one has so many numbers and adds to sums of such a size.

    Raises:
        InvalidInput: If it is that.
    """
    if fits(payload, numbers, size):
        return
    if len(payload) != numbers:
        rule = "must be one symbol in a study for devices" if numbers == 1 else f"must be {numbers}, one a cell"
        raise InvalidInput("counts", f"{len(payload)} counts", rule)
    raise InvalidInput("symbol", payload[0], f"must be from 0 to {size - 1}")


def fits(payload: tuple[int, ...], numbers: int, size: int) -> bool:
    """Tell whether an answer can hold this, if one has so many numbers and adds to sums of such a size.

    >>> fits((3,), 1, 4), fits((4,), 1, 4), fits((3,), 8, 8)
    (True, False, False)
    """
    return len(payload) == numbers and (numbers > 1 or 0 <= payload[0] < size)


def payload_field(numbers: int) -> str:
    """Return what documents and tables call that which an answer of so many numbers holds.

    >>> payload_field(1), payload_field(8)
    ('symbol', 'counts')
    """
    return "symbol" if numbers == 1 else "counts"


def added(payload: tuple[int, ...]) -> Iterable[tuple[int, int]]:
    """Return what an answer adds to the sums, place by place: one number is the place of a 1, several are a vector.

    >>> list(added((4,))), list(added((3, -1)))
    ([(4, 1)], [(0, 3), (1, -1)])
    """
    return enumerate(payload) if len(payload) > 1 else ((payload[0], 1),)
