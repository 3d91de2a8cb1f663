"""A sentence that knows what it says: English as a text, and any other language when a page is written.

What finds something out and what writes a page are far apart, and only the page knows its reader.  So a sentence goes
along as a text, for commands, files and reports, together with its name in the catalogue and its parts.
"""

from collections.abc import Sequence

from fairgauge.languages.language import PLAIN, Spoken, Voice


class Numeral(Spoken):
    """A number as Python writes it, "1,234.5", which each language writes in its own way."""

    __slots__ = ()

    def by(self, voice: Voice) -> str:
        """Return the number as a language writes it."""
        return voice.numeral(self)


class Moment(Spoken):
    """A moment in UTC as documents have it, which each language writes in its own way."""

    moment: str

    def __new__(cls, moment: str) -> "Moment":
        """Return the moment, in English."""
        found = str.__new__(cls, PLAIN.moment(moment))
        found.moment = moment
        return found

    def by(self, voice: Voice) -> str:
        """Return the moment as a language writes it."""
        return voice.moment(self.moment)


# What people call numbers that code calls by these.
_SHORT = ("fnr", "fpr", "tnr", "tpr")


class Label(Spoken):
    """The name of a metric or an attribute as people read it, where a study's was made for code.

    >>> print(Label("age_band"), Label("fpr"), Label("recall"), sep="; ")
    age band; false positive rate; recall
    """

    raw: str

    def __new__(cls, name: str) -> "Label":
        """Return the label of a name, in English."""
        found = str.__new__(cls, "")
        found.raw = name
        made = str.__new__(cls, found.by(PLAIN))
        made.raw = name
        return made

    def by(self, voice: Voice) -> str:
        """Return what the study calls it in a language, else what everyone does, else its name without underlines."""
        own = voice.names.get(self.raw, self.raw)
        known = self.raw.lower()
        if own != self.raw or known not in _SHORT:
            return voice.whole(own.replace("_", " ").strip() or own)
        return voice.say(f"rate.{known}")


class Sentence(Spoken):
    """A text in English that can be told in other languages too.

    Its parts are texts that tell themselves, numerals, whole numbers, and lists of them; any other text is a name that
    a study gives, and stays, unless the study says it in the other language.
    """

    key: str
    number: int | str | None
    parts: dict[str, object]
    more: tuple[str, ...]
    heading: bool

    @classmethod
    def of(cls, key: str, *, count: int | str | None = None, **parts: object) -> "Sentence":
        """Return a text of the catalogue with its parts.

        Args:
            key: Its name.
            count: For texts that depend on a number: a whole number, or a number as Python writes it.
            parts: What stands in braces.

        >>> told = Sentence.of("verdict.early", metric="recall", first="women", second="men")
        >>> print(told)
        It is too early to tell whether the model's recall differs between women and men.
        """
        return cls._made(key, count, parts, (), heading=False)

    @classmethod
    def as_title(cls, key: str, **parts: object) -> "Sentence":
        """Return a text that is written as a sentence starts, if its first word is a plain one."""
        return cls._made(key, None, parts, (), heading=True)

    @classmethod
    def together(cls, texts: Sequence[str]) -> "Sentence":
        """Return texts that follow each other."""
        return cls._made("", None, {}, tuple(texts), heading=False)

    @classmethod
    def _made(
        cls, key: str, number: int | str | None, parts: dict[str, object], more: tuple[str, ...], *, heading: bool
    ) -> "Sentence":
        found = str.__new__(cls, "")
        found.key, found.number, found.parts, found.more, found.heading = key, number, parts, more, heading
        made = str.__new__(cls, PLAIN.tell(found))
        made.__dict__.update(found.__dict__)
        return made

    def by(self, voice: Voice) -> str:
        """Return the text as a voice tells it."""
        if self.more:
            return " ".join(voice.tell(one) for one in self.more)
        parts = {name: voice.tell(part) for name, part in self.parts.items()}
        text = voice.say(self.key, **parts) if self.number is None else voice.counted(self.key, self.number, **parts)
        return text[0].upper() + text[1:] if self.heading and text[:2].islower() else text
