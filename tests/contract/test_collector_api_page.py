"""docs/collector-api.md says what the collector's OpenAPI document says."""

from docs import collector_api


def test_the_page_is_current():
    assert collector_api.PAGE.read_text(encoding="utf-8") == collector_api.page()


def test_every_path_and_problem_is_on_it():
    page = collector_api.page()
    for text in ("POST /studies/{digest}/answers", "GET /studies/{digest}/sealed", "urn:fairgauge:problem:conflict"):
        assert f"`{text}`" in page
