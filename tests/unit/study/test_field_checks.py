"""What texts, languages and lists must look like, and how a value is shown."""

import pytest

from fairgauge.errors import BadStudy, InvalidInput
from fairgauge.study import Attribute, Metric
from fairgauge.study.field_checks import (
    at,
    check_arguments,
    check_integer,
    check_name,
    check_text,
    listed,
    named,
)
from fairgauge.study.wording import check_language


@pytest.mark.parametrize("tag", ["en", "de", "ar", "pt-BR", "zh-Hant", "zh-Hant-TW", "es-419", "haw"])
def test_a_language_has_one_spelling(tag: str) -> None:
    check_language("language", tag)
    for other in {tag.lower(), tag.upper(), tag.replace("-", "_"), f"{tag}-", f"{tag} "} - {tag}:
        with pytest.raises(BadStudy, match="must be a language tag such as en, pt-BR or zh-Hant"):
            check_language("language", other)


def test_the_longest_text_is_in_characters_not_bytes() -> None:
    check_text("title", "🎯" * 200)
    with pytest.raises(BadStudy, match="must be text of 1 to 200 characters"):
        check_text("title", "🎯" * 201)


@pytest.mark.parametrize(
    "hidden", ["\u200b", "\u200d", "\ufeff", "\xad", "\u2060", "\ufe0f", "\u3164", "\u180e", "\U000e0041", "\u061c"]
)
def test_a_name_has_nothing_that_cannot_be_seen(hidden: str) -> None:
    check_text("title", f"a{hidden}b")
    with pytest.raises(BadStudy, match="without characters that cannot be seen"):
        check_name("name", f"a{hidden}b")
    with pytest.raises(BadStudy, match="without characters that cannot be seen"):
        Attribute("sex", ["female", f"fe{hidden}male"])


def test_a_name_is_in_one_normal_form() -> None:
    check_name("name", "caf\u00e9")
    with pytest.raises(BadStudy, match="normal form C"):
        check_name("name", "cafe\u0301")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("female", "Female"),
        ("female", "fem\u0430le"),
        ("Male", "\u041cale"),
        ("AB", "\u0391\u0392"),
        ("male", "\uff4dale"),
        ("\ufb01ve", "five"),
    ],
)
def test_groups_that_look_alike_are_refused(one: str, other: str) -> None:
    with pytest.raises(BadStudy, match="must not look like another group"):
        Attribute("sex", [one, other])


def test_groups_that_look_different_are_fine() -> None:
    Attribute("age", ["under 30", "30 to 60", "over 60", "\u0434\u0430", "\u043d\u0435\u0442", "\u03bd\u03b1\u03af"])
    Attribute("blood", ["0", "O", "1", "l"])


def test_an_integer_is_no_other_number() -> None:
    check_integer("n", 2**53 - 1, least=0)
    for value in (True, 1.0, "1", 2**53, -1, None):
        with pytest.raises(BadStudy, match="must be an integer from 0 to 9007199254740991"):
            check_integer("n", value, least=0)


def test_whatever_has_an_order_is_a_list() -> None:
    assert listed("a", (x for x in "ab"), "names") == listed("a", ["a", "b"], "names") == ("a", "b")
    for value in ("ab", b"ab", {"a"}, frozenset("a"), {"a": 1}, 5, None):
        with pytest.raises(BadStudy, match="must be a list of names"):
            listed("a", value, "names")


def test_values_are_shown_by_their_kind_unless_they_are_short() -> None:
    assert [named(v) for v in (None, "a", 5, 0.5, [1], Metric("m", 0, 1), Exception())] == [
        None, "a", 5, 0.5, "a list", "a Metric", "an Exception",
    ]  # fmt: skip


def test_places_are_put_together() -> None:
    with pytest.raises(BadStudy, match=r"^a\[0\]\.b=5: no$"), at("a[0]"), at("b"):
        raise BadStudy("", 5, "no")


def test_arguments_of_another_type_are_named_by_their_kind_alone() -> None:
    metric = Metric("m", 0, 1)
    check_arguments(metric=(metric, Metric), text=("a", str))
    with pytest.raises(InvalidInput, match=r"^metric=a str: must be a Metric: the metric comes first, then the text$"):
        check_arguments(metric=("a", Metric), text=(metric, str))
    with pytest.raises(InvalidInput, match=r"^metric=a list: must be a Metric$"):
        check_arguments(metric=(["private"], Metric), text=("a", str))
    with pytest.raises(InvalidInput, match=r"^metric=None: must be a Metric$"):
        check_arguments(metric=(None, Metric))
