"""What people type: read exactly, or refused with what to type instead."""

import re

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.planning.input import read_by_metric, read_metric
from fairgauge.study import Metric


def test_a_metric_has_a_name_and_a_range_and_its_name_may_have_colons():
    assert [str(part) for part in (read_metric("recall").low, read_metric("recall").high)] == ["0", "1"]
    found = read_metric("asr:wer:0:2.50")
    assert (found.name, str(found.low), str(found.high)) == ("asr:wer", "0", "2.5")
    with pytest.raises(InvalidInput, match="metric=recall:1: must be name:low:high"):
        read_metric("recall:1")


def test_what_is_expected_may_differ_from_metric_to_metric():
    metrics = [Metric("recall", 0, 1), Metric("fpr", 0, 1)]
    assert read_by_metric("expect", metrics, ["fpr=0.10", "0.9"]) == {"recall": "0.9", "fpr": "0.1"}
    assert read_by_metric("spread", metrics, ["recall=max"]) == {"recall": "max"}
    assert read_by_metric("expect", metrics, []) == {}
    for typed, problem in (
        (["speed=3"], "expect=speed=3: must be a number, or one of recall, fpr and its own, such as recall=0.9"),
        (["0.9", "0.8"], "expect=0.8: must be given once for all metrics"),
        (["fpr=0.9", "fpr=0.8"], "expect=fpr=0.8: must be given once for fpr"),
    ):
        with pytest.raises(InvalidInput, match=re.escape(problem)):
            read_by_metric("expect", metrics, typed)
