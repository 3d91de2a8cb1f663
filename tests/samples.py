"""Small valid channels and studies that tests of every kind start from."""

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.study import Attribute, Metric, Question, Study

ENDS = (-LEVEL_UNIT, LEVEL_UNIT)
THREE_LEVELS = (-LEVEL_UNIT, LEVEL_UNIT // 3, LEVEL_UNIT)
NEARLY_LN_3 = "1.0986122886681096"  # below ln 3 = 1.09861228866810969139...


def sample_channel(*, groups: int = 2, levels: tuple[int, ...] = ENDS, abstain: bool = False, loss: int = 3) -> Channel:
    """One symbol per input, sent three times as often (or a hair less) as any other."""
    rows = groups * len(levels) + abstain
    other = -(-ROW_SUM // (rows + loss - 1))
    own = ROW_SUM - (rows - 1) * other
    table = tuple(tuple(own if x == j else other for j in range(rows)) for x in range(rows))
    return Channel(table, levels, groups, abstain)


RECALL = Metric("recall", "0", "1")
SEX = Attribute("sex", ("female", "male"), ("0.6", "0.4"))


def sample_question(
    metric: Metric = RECALL,
    attribute: Attribute = SEX,
    *,
    levels: tuple[int, ...] = ENDS,
    abstain: bool = False,
    epsilon: str = "1.1",
    loss: int = 3,
) -> Question:
    channel = sample_channel(groups=len(attribute.groups), levels=levels, abstain=abstain, loss=loss)
    return Question(metric, attribute, "gap", "sample", epsilon, channel)


def sample_study(*questions: Question) -> Study:
    return Study("Sample", questions or (sample_question(),))


def two_questions() -> Study:
    """Recall of two sexes, and error of three age groups who may abstain: 4 and 10 symbols."""
    error = Metric("error", "-0.5", "2")
    age = Attribute("age", ("young", "middle", "old"))
    return sample_study(sample_question(), sample_question(error, age, levels=THREE_LEVELS, abstain=True))
