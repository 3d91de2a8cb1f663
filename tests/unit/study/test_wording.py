"""The texts of a study, in the language that a person reads."""

from dataclasses import replace

import pytest

from fairgauge.errors import BadStudy
from tests.samples import full_study, sample_study


class TestLanguages:
    def test_the_first_that_is_spoken_is_found(self) -> None:
        study = full_study()
        for wanted, found in [
            (["de-AT"], "de"),
            (["fr", "de"], "de"),
            (["en-GB", "de"], "en"),
            (["fr"], "en"),
            ([], "en"),
        ]:
            assert study.spoken(wanted)[0] == found
        assert study.spoken(["de"])[1]["attributes[1].groups[1]"] == "Süden"
        assert study.spoken([])[1]["metrics[1].name"] == "delay"

    def test_every_language_has_every_text(self) -> None:
        study = full_study()
        assert set(study.spoken(["de"])[1]) == set(study.spoken(["en"])[1])
        assert study.translations is not None
        incomplete = {"de": {k: v for k, v in study.translations["de"].items() if k != "purpose"}}
        with pytest.raises(BadStudy, match=r"translations.de.purpose=nothing: must be given"):
            replace(study, translations=incomplete)

    def test_a_study_that_says_nothing_of_languages_has_its_texts(self) -> None:
        assert sample_study().spoken(["de"]) == (None, {
            "title": "Sample",
            "metrics[0].name": "recall",
            "attributes[0].name": "sex",
            "attributes[0].groups[0]": "female",
            "attributes[0].groups[1]": "male",
        })  # fmt: skip
