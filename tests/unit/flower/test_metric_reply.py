import pytest
from flwr.app import MetricRecord, RecordDict
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.client import Answer
from fairgauge.errors import InvalidInput
from fairgauge.flower.metric_reply import from_content, to_content

digits = st.text("0123456789abcdef", min_size=32, max_size=32)
answers = st.builds(lambda a, b, c, symbol: Answer(a + b, c, (symbol,)), digits, digits, digits, st.integers(0, 2**20))


@given(answers)
def test_an_answer_survives_flowers_wire(answer: Answer) -> None:
    record = to_content(answer)["metrics"]
    travelled = MetricRecord.inflate(record.deflate())
    assert from_content(RecordDict({"metrics": travelled})) == answer


@pytest.mark.parametrize(
    "change",
    [
        {"id": [0, 0, 0]},
        {"id": [0, 0, 0, 2**32]},
        {"id": [0, 0, 0, -1]},
        {"id": [0.0, 0.0, 0.0, 0.0]},
        {"id": 0},
        {"study": []},
        {"payload": [-1]},
        {"payload": [0.5]},
        {"payload": 1},
    ],
)
def test_what_is_no_answer(change: dict[str, object]) -> None:
    content = to_content(Answer("0" * 64, "0" * 32, (0,)))
    content["metrics"].update(change)
    with pytest.raises(InvalidInput):
        from_content(content)


def test_replies_without_the_record() -> None:
    for content in (RecordDict(), RecordDict({"metrics": MetricRecord()}), RecordDict({"other": MetricRecord()})):
        with pytest.raises(InvalidInput):
            from_content(content)
