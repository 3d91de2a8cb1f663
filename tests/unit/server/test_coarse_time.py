"""Time in buckets: the hour and never the second."""

import pytest

from fairgauge.server.coarse_time import bucket_of, moment_of, seconds_of


@pytest.mark.parametrize("second", [7200, 7200.001, 10799.999])
def test_all_of_an_hour_is_its_first_second(second: float):
    assert bucket_of(second, 3600) == 7200
    assert moment_of(bucket_of(second, 3600)) == "1970-01-01T02:00:00Z"


def test_the_next_hour_is_another_bucket():
    assert bucket_of(10800, 3600) == 10800


def test_a_moment_is_read_as_it_was_written():
    assert seconds_of(moment_of(1_800_000_000)) == 1_800_000_000
