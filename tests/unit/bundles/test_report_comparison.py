"""A report is compared with what its files give."""

from fairgauge.bundles.report_comparison import _difference, compare_report
from fairgauge.estimation import estimate
from fairgauge.reports.html_report import render_report
from fairgauge.reports.provenance import Provenance
from tests.samples import RECALL
from tests.surveys import coin_question, expected_tally, people, study

ASKED = study(coin_question(RECALL))
TALLY = expected_tally(ASKED, people(("female", "0.5", 4_000), ("male", "0.8", 3_700)))
PAGE = render_report(ASKED, TALLY, estimate(ASKED, TALLY, tolerance=0.05), Provenance("2026-11-15", asked=20_000))


def test_the_same_bytes_come_out_again():
    found = compare_report(PAGE, ASKED, TALLY)
    assert (found.outcome, found.stated.particulars.asked, found.stated.tolerance) == ("same", 20_000, 0.05)


def test_last_digits_may_differ_and_no_others():
    number = next(number for each in PAGE.split('<data value="')[1:] if len(number := each.split('"')[0]) > 9)
    last = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert compare_report(PAGE.replace(f'"{number}"', f'"{last}"'), ASKED, TALLY).outcome == "digits"
    assert (
        compare_report(PAGE.replace(number, number[:6] + str(9 - int(number[6])) + number[7:]), ASKED, TALLY).outcome
        == "other"
    )


def test_the_first_thing_that_differs_is_said():
    assert _difference("<p>one</p><p>two 3</p>", "<p>one</p><p>two 4</p>") == (
        "it says “two 3” where these files give “two 4”"
    )
    assert _difference("<p>one</p>", "<p>one</p><p>two</p>") == "it says nothing where these files give “two”"
    assert _difference("<p class='a'>one</p>", "<p>one</p>").startswith("it differs in what is not shown")


def test_terms_that_make_no_sense_are_no_crash():
    bent = PAGE.replace("&#34;population&#34;", "&#34;wald&#34;")
    assert bent != PAGE
    assert "its terms cannot be used" in compare_report(bent, ASKED, TALLY).why
