"""Every erratum: its counterexample runs and shows what the table says.

Covers: fairgauge.paper.theorems, fairgauge.paper.errata.
"""

from decimal import Decimal
from math import log

import numpy as np
import pytest

from fairgauge.paper import errata
from fairgauge.paper.mechanisms import ResponseMechanism, published_laplace, published_response
from fairgauge.paper.optimal_design import optimal_channel
from fairgauge.paper.pages import errata_html, errata_page
from fairgauge.paper.theorems import allowed_success, channel_success, guess_channel, guess_published


def test_e1_theorem_1():
    found = errata.theorem_1()
    exact = [round(found[f"exact at claimed {e:g}"], 4) for e in (0.01, 0.1, 1, 10)]
    assert exact == [0.0150, 0.1488, 1.3799, 10.6931]
    assert found["Pr of the report for its owner"] / found["Pr of it for a stranger"] > 2.72
    assert found["clients for true privacy at 0.1"] > 1


def test_e2_theorem_2():
    found = errata.theorem_2()
    assert round(found["the reported group alone"], 4) == 1.0936
    assert round(found["guess right"], 2) == 0.75
    assert found["reports outside [-1, 1]"] > 0.99
    assert found["log ratio at 1"] == pytest.approx(0.01)
    assert found["log ratio at 10000"] > 99
    assert [round(found[f"delta at claimed {e:g}"], 3) for e in (0.01, 0.1, 1)] == [0.496, 0.459, 0.189]
    assert [round(found[f"epsilon for delta 1e-6 at claimed {e:g}"], 1) for e in (0.01, 0.1, 1)] == [26.2, 26.2, 13.2]
    assert found["exact if clipped at claimed 0.01"] == pytest.approx(0.01 + log(3))


def test_e2_the_group_alone_leaks_more_than_claimed_below_two_over_e():
    edge = errata.theorem_2()["least epsilon at which the group alone keeps the claim"]
    assert published_laplace(edge * 0.999).group_epsilon > edge * 0.999
    assert published_laplace(edge * 1.001).group_epsilon < edge * 1.001


def test_e3_the_absolute_gap_is_biased():
    found = errata.theorem_3()
    assert round(found["bias by formula"], 4) == 0.0623
    assert found["mean of its absolute value"] == pytest.approx(0.0623, abs=0.001)
    assert abs(found["mean of the signed estimate"]) < 0.0015
    assert errata.absolute_bias(10.0, 0.1) == pytest.approx(0, abs=1e-12)


def test_e4_wrong_sizes_bias_the_gap():
    found = errata.wrong_sizes()
    assert found["gap with right sizes"] == pytest.approx(0.1, abs=1e-4)
    assert found["gap with first too large"] == pytest.approx(0.8 / 1.1 - 0.7 / 0.9, abs=1e-4)
    assert found["gap with first too small"] == pytest.approx(0.8 / 0.9 - 0.7 / 1.1, abs=1e-4)
    # Groups taken for a quarter and three quarters: estimates are doubled, and two thirds of what they were.
    assert found["variance, off by a half"] == pytest.approx((4 + 4 / 9) / 2)
    assert found["MSE with everyone at 1, off by a half"] > 420


def test_e5_and_e7_the_notebook_and_grr():
    found = errata.notebook()
    assert found["value loss at claimed 0.1"] == pytest.approx(0.3)
    assert found["sd of the code over sd of the text at 0.01"] < 0.67
    assert found["GRR over {0..d} sums to"] > 1.2


def test_e8_a_is_below_a_half_for_three_groups():
    found = errata.notebook()
    assert found["a for 3 groups at 0.1"] < 0.5
    for d in (3, 8):
        edge = found[f"a is 1/2 for {d} groups at"]
        assert ResponseMechanism(edge, 1.0, d).keep == pytest.approx(0.5)


def test_e9_and_e10_the_printed_model():
    found = errata.printed_model()
    assert round(found["gap of the printed means, tpr"], 4) == 0.1724
    assert found["gap of the printed means, fpr"] == pytest.approx(0.0963, abs=1.01e-4)
    assert found["at least"] < found["FPR of the printed others"] < found["at most"] < 0.1069 - 0.0005
    p = found["lying, by all three"]
    assert p * 0.8205 + (1 - p) * (1 - 0.1069) == pytest.approx(0.8437)


def test_e6_crossovers():
    found = errata.printed_crossovers()
    assert found["MSE of M_R over that of M_L at 0.31"] > 1.04
    assert found["sound M_R below sound M_L up to"] > 3


def test_every_row_names_a_counterexample_that_exists():
    listed = errata.errata()
    assert [e.name for e in listed] == [f"E{n}" for n in range(1, 11)]
    for erratum in listed:
        assert callable(getattr(errata, erratum.run))


def test_pages_hold_every_row_and_escape_what_they_must():
    listed = errata.errata()
    markdown, html = errata_page(listed), errata_html(listed)
    for erratum in listed:
        assert f"## {erratum.name}. {erratum.title}" in markdown
        assert f'id="{erratum.name}"' in html
    table = [line for line in markdown.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in table} == {3}
    assert "<script" not in html
    assert "ε &lt; 2/3" in html


def test_the_attack():
    rng = np.random.default_rng(1)
    published = guess_published(published_laplace(0.01), value=1.0, people=100_000, rng=rng)
    ours = guess_channel(optimal_channel(Decimal("0.01")), people=100_000, rng=rng)
    assert published == pytest.approx(0.75, abs=0.01)
    assert ours == pytest.approx(0.5, abs=0.01)
    assert channel_success(optimal_channel(Decimal("0.01"))) <= allowed_success(0.01) < 0.50251
    assert guess_published(published_response(0.01), value=1.0, people=100_000, rng=rng) < 0.52
