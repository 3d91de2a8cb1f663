"""The attribute: how people are grouped, what is known of the groups, and which of them are compared."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import product
from math import inf, prod
from typing import Any

from fairgauge.errors import BadStudy
from fairgauge.lazy import late
from fairgauge.study.field_checks import at, check_is, check_name, check_prose, check_text, listed, looks_of, named
from fairgauge.study.numbers import Number, decimal_text, exact

_MOST_GROUPS = 64
_MOST_FACTORS = 4
_MOST_COMPARISONS = 2048
_INDEPENDENT = "the shares of each attribute, taken as independent"
# How often groups answer beside each other: as they like, equally often, or one at most so many times as often.
ANY, ALIKE = "any", "alike"
_MOST_RATIO = 100


@dataclass(frozen=True, slots=True, init=False)
class Comparison:
    """A comparison that was planned: the mean over some groups minus the mean over others.

    Args:
        of: A group's name, or the names of several that are taken together.
        against: The same for the other side.
        weight: How much it matters beside the other comparisons; 1 unless given.
    """

    of: tuple[str, ...]
    against: tuple[str, ...]
    weight: str | None = None

    def __init__(self, of: str | Iterable[str], against: str | Iterable[str], weight: Number | None = None) -> None:
        for field, side in (("of", of), ("against", against)):
            object.__setattr__(self, field, (side,) if isinstance(side, str) else listed(field, side, "groups"))
        object.__setattr__(self, "weight", None if weight is None else decimal_text("weight", weight))
        if self.weight is not None and Fraction(self.weight) <= 0:
            raise BadStudy("weight", self.weight, "must be above 0")

    def check(self, groups: tuple[str, ...]) -> None:
        """Refuse sides that are not of these groups, in their order, or that share a group."""
        for field, side in (("of", self.of), ("against", self.against)):
            if not side:
                raise BadStudy(field, "no groups", "must name at least one group")
            for index, group in enumerate(side):
                if group not in groups:
                    raise BadStudy(f"{field}[{index}]", group, "must be one of the attribute's groups")
            places = [groups.index(group) for group in side]
            if places != sorted(set(places)):
                raise BadStudy(field, ", ".join(side), "must name groups once, in the attribute's order")
        for index, group in enumerate(self.against):
            if group in self.of:
                raise BadStudy(f"against[{index}]", group, "must not be on both sides")


@dataclass(frozen=True, slots=True, init=False)
class Attribute:
    """How people are grouped, and each group's share of the people whom the study is about.

    How often each group answers is another matter, so no estimate divides by these shares unless ``answering`` says
    how far the groups' shares of the answers may be from them.

    Args:
        name: What the groups are groups of, such as ``"sex"``.
        groups: The groups' names; with ``{"female": 0.5, "male": 0.5}`` also their shares.
        shares: The groups' shares of the population, if ``groups`` is a list; their sum is exactly 1.
        answering: How often groups answer beside each other: ``"any"``, so that their shares of the answers are
            estimated; a ratio such as ``"1.1"``, if no group answers more than that many times as often as another; or
            ``"alike"``, so that the stated shares are those of the answers, too.
        share_error: By how much each share may be off, such as ``"0.01"``, unless groups answer as they like.
        share_source: Where the shares come from, for people.
        help: How to pick a group, for the person who is asked.
        cross: The attributes whose groups are crossed; :meth:`crossed` fills it in.
        comparisons: Which comparisons were planned; all pairs of groups alike unless given.

    >>> sex = Attribute("sex", {"female": 0.5, "male": 0.5})
    >>> sex.shares, sex.known_shares
    (('0.5', '0.5'), None)
    """

    name: str
    groups: tuple[str, ...]
    shares: tuple[str, ...] | None = None
    answering: str = ANY
    share_error: str | None = None
    share_source: str | None = None
    help: str | None = None
    cross: tuple["Attribute", ...] = ()
    comparisons: tuple[Comparison, ...] | None = None

    _repr_html_ = late("_repr_html_")

    def __init__(  # noqa: PLR0913 - these are the parts of an attribute
        self,
        name: str,
        groups: Mapping[str, Number] | Iterable[str],
        shares: Iterable[Number] | None = None,
        *,
        answering: Number = ANY,
        share_error: Number | None = None,
        share_source: str | None = None,
        help: str | None = None,  # noqa: A002 - the document's word
        cross: Iterable["Attribute"] = (),
        comparisons: Iterable[Comparison | tuple[str, str]] | None = None,
    ) -> None:
        check_name("name", name)
        if isinstance(groups, Mapping):
            if shares is not None:
                raise BadStudy("shares", named(shares), "must not be given twice: the groups have theirs already")
            shares = tuple(groups.values())
            groups = tuple(groups)
        put = object.__setattr__
        put(self, "name", name)
        put(self, "groups", listed("groups", groups, "names, or names with their shares"))
        self._check_groups()
        put(self, "cross", listed("cross", cross, "attributes"))
        if self.cross:
            self._check_cross()
        put(self, "shares", self._shares(shares))
        put(self, "answering", self._answering(answering))
        put(self, "share_error", self._share_error(share_error))
        put(self, "share_source", share_source)
        put(self, "help", help)
        put(self, "comparisons", None if comparisons is None else _comparisons(comparisons, self.groups))
        if share_source is not None:
            self._check_stated("share_source", share_source)
            check_text("share_source", share_source)
        if help is not None:
            check_prose("help", help)

    @classmethod
    def crossed(cls, *factors: "Attribute", name: str | None = None, **more: Any) -> "Attribute":
        """Return the attribute whose groups are all cells of others, the last one fastest: "female, 18-29".

        Where the shares of the cells are not given and those of all factors are, they are taken as independent, which
        ``share_source`` then says; and where the groups of every factor answer alike, the cells are taken to do so.

        >>> sex, age = Attribute("sex", ["female", "male"]), Attribute("age", ["18-29", "30+"])
        >>> Attribute.crossed(sex, age).groups
        ('female, 18-29', 'female, 30+', 'male, 18-29', 'male, 30+')

        Args:
            factors: The attributes to cross.
            name: The name of the new attribute; "sex by age" unless given.
            more: What an attribute takes beside, such as the cells' ``shares``.
        """
        for index, factor in enumerate(factors):
            check_is(f"factors[{index}]", factor, Attribute)
        stated = [tuple(map(Fraction, factor.shares)) for factor in factors if factor.shares is not None]
        if len(stated) == len(factors):
            alike = all(factor.answering == ALIKE for factor in factors)  # ratios of factors bound none of the cells
            independent = {"shares": [prod(cell) for cell in product(*stated)], "share_source": _INDEPENDENT}
            more = {"answering": ALIKE if alike else ANY, **({} if "shares" in more else independent), **more}
        plain = [cls(factor.name, factor.groups, help=factor.help) for factor in factors]
        title = " by ".join(factor.name for factor in factors) if name is None else name
        return cls(title, cells(plain), cross=plain, **more)

    def _check_groups(self) -> None:
        if not 2 <= len(self.groups) <= _MOST_GROUPS:
            raise BadStudy("groups", f"{len(self.groups)} groups", f"must be from 2 to {_MOST_GROUPS}")
        seen: set[str] = set()
        for index, group in enumerate(self.groups):
            check_name(f"groups[{index}]", group)
            if group in self.groups[:index]:
                raise BadStudy(f"groups[{index}]", group, "must be listed once")
            if (looks := looks_of(group)) in seen:
                raise BadStudy(f"groups[{index}]", group, "must not look like another group")
            seen.add(looks)

    def _shares(self, given: Iterable[Number] | None) -> tuple[str, ...] | None:
        if given is None:
            return None
        numbers = listed("shares", given, "numbers, one for each group")
        if len(numbers) != len(self.groups):
            raise BadStudy("shares", f"{len(numbers)} shares", f"must be one for each of {len(self.groups)} groups")
        shares = tuple(decimal_text(f"shares[{index}]", share) for index, share in enumerate(numbers))
        for index, share in enumerate(shares):
            if Fraction(share) <= 0:
                raise BadStudy(f"shares[{index}]", share, "must be above 0")
        if sum(map(Fraction, shares)) != 1:
            raise BadStudy("shares", ", ".join(shares), "must sum to exactly 1")
        return shares

    def _answering(self, given: Number) -> str:
        if given == ANY:
            return ANY
        if given != ALIKE:
            ratio = exact(given)
            if ratio is None or not 1 < ratio <= _MOST_RATIO:
                rule = f"must be {ANY}, {ALIKE} or a ratio above 1 and at most {_MOST_RATIO}, such as 1.1"
                raise BadStudy("answering", named(given), rule)
        self._check_stated("answering", given)
        return ALIKE if given == ALIKE else decimal_text("answering", given)

    def _share_error(self, given: Number | None) -> str | None:
        if given is None:
            return None
        self._check_stated("share_error", given)
        if self.answering == ANY:
            raise BadStudy("share_error", named(given), f"must not be given where answering is {ANY}")
        error = decimal_text("share_error", given)
        if not 0 < Fraction(error) < 1:
            raise BadStudy("share_error", error, "must be above 0 and below 1")
        return error

    def _check_stated(self, field: str, value: object) -> None:
        if self.shares is None:
            rule = "must not be given where shares are not: state every group's, or leave it out"
            raise BadStudy(field, named(value), rule)

    def _check_cross(self) -> None:
        if not 2 <= len(self.cross) <= _MOST_FACTORS:
            raise BadStudy("cross", f"{len(self.cross)} attributes", f"must be from 2 to {_MOST_FACTORS}")
        names: list[str] = []
        for index, factor in enumerate(self.cross):
            check_is(f"cross[{index}]", factor, Attribute)
            for part in fields(Attribute)[2:]:
                if part.name != "help" and getattr(factor, part.name) not in (None, (), ANY):
                    raise BadStudy(f"cross[{index}].{part.name}", "something", "must be said of the cells")
            if factor.name in names:
                raise BadStudy(f"cross[{index}].name", factor.name, "must be crossed once")
            names.append(factor.name)
        if self.groups != cells(self.cross):
            raise BadStudy("groups", ", ".join(self.groups), "must be the cells of what is crossed")

    @property
    def factors(self) -> tuple["Attribute", ...]:
        """The attributes that a person has a group of: those that are crossed, or this one."""
        return self.cross or (self,)

    @property
    def reckoned_shares(self) -> tuple[float, ...]:
        """The shares to reckon with: the stated ones, else equal ones, which are a harmless guess."""
        stated = self.shares
        return (1 / len(self.groups),) * len(self.groups) if stated is None else tuple(map(float, stated))

    @property
    def ratio(self) -> float:
        """How many times as often as another group one may answer at most: 1 for alike, infinity for any."""
        return {ANY: inf, ALIKE: 1.0}.get(self.answering) or float(self.answering)

    @property
    def known_shares(self) -> tuple[float, ...] | None:
        """The shares of those who answer, as numbers, where they are known: stated, and all groups answer alike."""
        return tuple(map(float, self.shares)) if self.shares is not None and self.answering == ALIKE else None


def cells(factors: Iterable[Attribute]) -> tuple[str, ...]:
    """Return the names of the cells of crossed attributes, the last attribute fastest."""
    return tuple(", ".join(cell) for cell in product(*(factor.groups for factor in factors)))


def _comparisons(given: object, groups: tuple[str, ...]) -> tuple[Comparison, ...]:
    found: list[Comparison] = []
    for index, one in enumerate(listed("comparisons", given, "comparisons, such as (female, male)")):
        with at(f"comparisons[{index}]"):
            comparison = Comparison(*one) if isinstance(one, tuple | list) and len(one) == 2 else one
            check_is("", comparison, Comparison)
            comparison.check(groups)
            if any((comparison.of, comparison.against) == (known.of, known.against) for known in found):
                raise BadStudy(
                    "", " against ".join(map(", ".join, (comparison.of, comparison.against))), "must be listed once"
                )
            found.append(comparison)
    if not 1 <= len(found) <= _MOST_COMPARISONS:
        raise BadStudy("comparisons", f"{len(found)} comparisons", f"must be from 1 to {_MOST_COMPARISONS}")
    return tuple(found)
