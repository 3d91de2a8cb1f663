"""Whatever a mechanism is, all of it is shown: every registry knows it, and its pieces of pages have the same names."""

import pytest

from fairgauge.collector.pages.html import templates
from fairgauge.reports.display import display_of
from fairgauge.reports.question_view import privacy_views
from fairgauge.study import Study
from fairgauge.tallies import Tally
from tests.samples import sample_study
from tests.sites import confusion_study, levels_study

STUDIES = {"devices": sample_study(), "levels": levels_study(), "confusion": confusion_study()}


def macros(name: str) -> set[str]:
    module = templates().get_template(name).make_module({"voice": None})
    return {name for name in dir(module) if not name.startswith("_") and name != "links"}


def test_mechanisms_have_the_same_pieces_of_pages():
    names = {display_of(study.mechanism).template for study in STUDIES.values()}
    assert len(names) == 2
    for start in ("", "_page", "_report"):
        first, second = (macros(f"{start}{name}") for name in sorted(names))
        assert first == second
        assert len(first) >= 2


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_registry_knows_every_mechanism(study: Study):
    display = display_of(study.mechanism)
    said = display.asks(study)
    assert all(sentence.endswith("?") for _, sentence in said)
    assert len(privacy_views(study)) == len(said)
    based, private = display.credited(study, [7] * len(study.questions))
    assert based.startswith("Based on ")
    assert "epsilon" in private
    assert isinstance(display.described(study), dict)


def test_what_numbers_are_about_is_said_once_for_sites():
    from fairgauge.estimation import estimate

    empty = {name: Tally.of(study, []) for name, study in STUDIES.items()}
    found = {name: display_of(study.mechanism).about(estimate(study, empty[name])) for name, study in STUDIES.items()}
    assert found["devices"] == ""
    assert found["levels"] == found["confusion"] != ""
