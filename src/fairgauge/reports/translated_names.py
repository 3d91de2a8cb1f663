"""What a study's own words are called in the language of a page; a study that lacks it speaks its own."""

from collections.abc import Mapping
from dataclasses import replace

from fairgauge.languages import Voice
from fairgauge.study import Attribute, Study
from fairgauge.study.margins import EVERYONE, margins, planned, side_name
from fairgauge.study.noisy_counts import RATES
from fairgauge.study.wording import spoken


def title_in(study: Study, voice: Voice) -> tuple[str, str | None]:
    """Return a study's title as a reader gets it, and its language, if the study says which that is."""
    tag, texts = spoken(study, [voice.tag])
    return texts["title"], tag


def speaking(study: Study, voice: Voice) -> Voice:
    """Return a voice that calls a study's title and purpose what the study calls them."""
    _, texts = spoken(study, [voice.tag])
    return voice.calling({getattr(study, name): texts[name] for name in ("title", "purpose") if name in texts})


def speaking_of(study: Study, attribute: Attribute, voice: Voice) -> Voice:
    """Return a voice that calls a study's metrics, and an attribute with its groups, what the study calls them."""
    known = {EVERYONE: voice.say("table.everyone")}
    implied = {question.metric.name for question in study.questions if not question.named}
    known |= {name: voice.say(f"rate.{key}") for name, key in RATES.items() if name in implied}
    if study.translations is None:
        return voice.calling(known)
    _, texts = spoken(study, [voice.tag])
    either = str(voice.texts["list.or"]).replace("{first}", "").replace("{second}", "")
    named = {metric.name: texts[f"metrics[{n}].name"] for n, metric in enumerate(study.metrics)}
    named |= {metric.unit: texts[f"metrics[{n}].unit"] for n, metric in enumerate(study.metrics) if metric.unit}
    place = [one.name for one in study.attributes].index(attribute.name)
    told = _translated(attribute, f"attributes[{place}]", texts)
    named |= {old.name: new.name for old, new in zip(attribute.cross, told.cross, strict=True)}
    named |= {
        group: renamed
        for old, new in zip(attribute.cross, told.cross, strict=True)
        for group, renamed in zip(old.groups, new.groups, strict=True)
    }
    named |= dict(zip(margins(attribute), margins(told), strict=True))
    for one, other in zip(planned(attribute), planned(told), strict=True):
        for side, renamed in ((one.of, other.of), (one.against, other.against)):
            named[side_name(attribute, side)] = side_name(told, renamed, either=either)
    for cell, called in zip(attribute.groups, told.groups, strict=True):
        named[cell] = called
        if attribute.cross:  # in the panel of one group of the first attribute, the others' groups are enough
            named[cell.partition(", ")[2]] = called.partition(", ")[2]
    named |= {attribute.name: told.name, **known}
    if attribute.share_source is not None and told.share_source is not None:
        named[attribute.share_source.rstrip(".")] = told.share_source.rstrip(".")
    return voice.calling(named)


def _translated(attribute: Attribute, place: str, texts: Mapping[str, str]) -> Attribute:
    """Return an attribute with its texts in another language, for the sake of its names."""
    name, source = texts[f"{place}.name"], texts.get(f"{place}.share_source")
    if attribute.cross:
        factors = [_translated(one, f"{place}.cross[{k}]", texts) for k, one in enumerate(attribute.cross)]
        groups = Attribute.crossed(*factors).groups
        cross = tuple(factors)
    else:
        groups = tuple(texts[f"{place}.groups[{n}]"] for n in range(len(attribute.groups)))
        cross = ()
    called = dict(zip(attribute.groups, groups, strict=True))
    compared = attribute.comparisons
    if compared is not None:
        compared = tuple(
            replace(one, of=_sides(one.of, called), against=_sides(one.against, called)) for one in compared
        )
    return replace(attribute, name=name, groups=groups, cross=cross, comparisons=compared, share_source=source)


def _sides(side: tuple[str, ...], called: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(called[group] for group in side)
