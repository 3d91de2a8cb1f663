import subprocess
import sys

import pytest

import fairgauge.flower


def test_the_public_names() -> None:
    names = ["AnswerCounter", "PrivateEvaluation", "PrivateMetrics"]
    names += ["node_config", "on_evaluate", "private_metrics", "run_config"]
    assert fairgauge.flower.__all__ == dir(fairgauge.flower) == names
    assert all(callable(getattr(fairgauge.flower, name)) for name in names)
    with pytest.raises(AttributeError, match="has no attribute 'public_metrics'"):
        _ = fairgauge.flower.public_metrics


def test_a_device_does_not_load_the_servers_part() -> None:
    unwanted = "{'scipy', 'fairgauge.estimation'}"
    code = (
        f"import sys; from fairgauge.flower import on_evaluate, private_metrics; print({unwanted} & {{*sys.modules}})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
