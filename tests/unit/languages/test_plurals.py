"""Plural rules: as CLDR writes them, for whole numbers."""

import pytest

from fairgauge.languages.language import _category, holds

POLISH = {
    "one": "i = 1 and v = 0",
    "few": "v = 0 and i % 10 = 2..4 and i % 100 != 12..14",
    "many": "v = 0 and i != 1 and i % 10 = 0..1 or v = 0 and i % 10 = 5..9 or v = 0 and i % 100 = 12..14",
}


def test_a_language_with_involved_rules():
    found = {count: _category(POLISH, count) for count in (0, 1, 2, 4, 5, 11, 12, 14, 21, 22, 25, 112, 122)}
    few = {2, 4, 22, 122}
    assert {count for count, name in found.items() if name == "few"} == few
    assert {count for count, name in found.items() if name == "many"} == set(found) - few - {1}
    assert found[1] == "one"


@pytest.mark.parametrize("rule", ["", "n is 1", "n = one", "n = 1 and"])
def test_what_is_no_rule_is_refused(rule: str):
    with pytest.raises(ValueError, match="is no relation of a plural rule"):
        holds(rule, 1)
