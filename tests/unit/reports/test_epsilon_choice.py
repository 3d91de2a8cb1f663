"""What the operator's page says of a draft, in each language and with units."""

import re
from decimal import Decimal

import pytest

from fairgauge.languages import PLAIN, Voice, catalogue
from fairgauge.planning import Grouping, read_attribute, read_questions
from fairgauge.reports.epsilon_choice import PlanView, plan_views

# What a study's author wrote, and English and Latin that stay in every language.
KEPT = {"wait", "female", "male", "x", "ms", "epsilon", "target", "means", "randomized", "response", "design"}


def views(tag: str, metric: str = "wait:0:100", *, clients: int = 20_000, error: str | None = None) -> list[PlanView]:
    attribute = read_attribute(
        Grouping(["female=0.4", "male=0.4", "x=0.2"], "sex", answering="alike", share_error=error)
    )
    return plan_views(read_questions([metric], attribute), Decimal(1), clients, Voice(tag) if tag != "en" else PLAIN)


def test_units_are_there_and_the_condition_comes_first() -> None:
    (view,) = views("en")
    assert re.match(
        r"IF all groups answer equally often: With epsilon 1, 20,000 answers give .* points at", view.sentence
    )
    assert "in points, for other epsilons." in view.about_figure
    assert all(error.endswith(" points") for _, error in (*view.rows, *view.means))
    (few,) = views("en", clients=200)
    assert "For ±2 points it takes about " in few.sentence


def english(view: PlanView) -> set[str]:
    """Return words of the English catalogue that the German one has not."""
    told = " ".join((view.title, view.sentence, view.heading, view.means_heading, view.about_figure, str(view.figure)))
    words = set(re.findall(r"(?<![\w=-])[a-z]{3,}(?![\w=])", re.sub("<[^>]*>", " ", told)))
    own, other = (
        set(re.findall("[a-z]+", " ".join(str(text) for text in catalogue()[tag].values()))) for tag in ("en", "de")
    )
    return words & (own - other - KEPT)


@pytest.mark.parametrize("error", [None, "0.01"], ids=["exact", "off"])
def test_nothing_is_left_in_english(error: str | None) -> None:
    for clients in (200, 20_000):
        for tag in ("de", "ar"):
            assert english(views(tag, clients=clients, error=error)[0]) == set()
    assert {"answer"} <= english(views("en", error=error)[0])
