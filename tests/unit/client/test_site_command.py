"""What a site is shown before its counts leave."""

from fairgauge.client.site import SiteAnswer
from fairgauge.client.site_command import table
from fairgauge.study import Attribute, Metric, Site

SEX = Attribute("sex", ["female", "male"])
LEVELS = (-(2**30), 0, 2**30)


def shown(site: Site, *counts: int) -> list[str]:
    return table(site, SiteAnswer("0" * 64, "0" * 32, counts)).splitlines()


def test_counts_of_a_metric_stand_below_its_values() -> None:
    site = Site(SEX, "levels", "1", metric=Metric("pain", "0", "10"), levels=LEVELS)
    assert shown(site, 1, -2, 3, 12345, 0, 6) == [
        "pain         0   5  10",
        "female       1  -2   3",
        "male    12,345   0   6",
    ]


def test_counts_of_truth_and_prediction_stand_below_both() -> None:
    lines = shown(Site(SEX, "confusion", "1"), *range(8))
    assert lines[0] == "        truth 0, said 0  truth 0, said 1  truth 1, said 0  truth 1, said 1"
    assert lines[2].split() == ["male", "4", "5", "6", "7"]
