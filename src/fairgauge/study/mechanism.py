"""What a mechanism is: it turns what a contributor holds into integers, with an exact loss."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Protocol, runtime_checkable


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

    def check(self, payload: tuple[int, ...], size: int) -> None:
        """Refuse what no answer can hold, in a study of so many numbers.

        Raises:
            InvalidInput: If it is that.
        """

    def add(self, sums: list[int], payload: tuple[int, ...]) -> None:
        """Add what one answer holds to the sums of all."""

    def check_sums(self, sums: tuple[int, ...], contributors: int) -> None:
        """Refuse what cannot be the sum of so many answers.

        Raises:
            BadTally: If it is that.
        """

    def products(self, payloads: Iterable[tuple[int, ...]], size: int) -> tuple[int, ...]:
        """Return for every two numbers the sum over answers of their product; nothing where the sums tell it."""
