"""Small valid channels and studies that tests of every kind start from."""

import math

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.study import Attribute, Comparison, Issuer, Metric, Model, NoisyCounts, Question, Release, Study, counted

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
SEX = Attribute("sex", ("female", "male"), ("0.6", "0.4"), answering="alike")


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


def sample_joint_channel(*, groups: int = 2, levels: tuple[tuple[int, ...], ...] = (ENDS, ENDS)) -> Channel:
    """Several values at once: one symbol per input, sent three times as often (or a hair less) as any other."""
    rows = groups * math.prod(map(len, levels))
    other = -(-ROW_SUM // (rows + 2))
    own = ROW_SUM - (rows - 1) * other
    table = tuple(tuple(own if x == j else other for j in range(rows)) for x in range(rows))
    return Channel(table, levels[0], groups, further=levels[1:])


def joint_questions(channel: Channel | None = None) -> list[Question]:
    """Recall and false alarms of two sexes, answered by one table of 12 symbols."""
    channel = channel or sample_joint_channel(levels=(THREE_LEVELS, ENDS))
    metrics = (RECALL, Metric("false alarms", 0, 1))
    return [Question(metric, SEX, "gap", "sample", "1.1", channel, axis=axis) for axis, metric in enumerate(metrics)]


def full_study() -> Study:
    """A study that says nearly everything that one can say to devices."""
    understood = Metric("understood", 0, 1, help="Of the last 100 commands, the part that was understood.")
    delay = Metric("delay", 0, 2.5, better="lower", unit="s")
    sex = Attribute("sex", ["female", "male"], help="As in your papers.")
    age = Attribute("age", ["18–29", "30+"])
    cells = Attribute.crossed(
        sex,
        age,
        shares=["0.25", "0.25", "0.3", "0.2"],
        share_error=0.01,
        share_source="Register of 2025",
        comparisons=[
            Comparison(["female, 18–29", "female, 30+"], ["male, 18–29", "male, 30+"], weight=3),
            ("female, 18–29", "male, 18–29"),
        ],
        answering="alike",
    )
    region = Attribute("region", ["north", "south", "west"], shares=[0.5, 0.3, 0.2], answering="1.5")
    joint = sample_joint_channel(groups=4, levels=(THREE_LEVELS, ENDS))
    return Study(
        "Is everyone understood?",
        [
            Question(understood, cells, "gap", "sample", "1.1", joint, expect=0.8, spread="0.15", weight=2),
            Question(delay, cells, "gap", "sample", "1.1", joint),
            Question(understood, region, "means", "sample", 1.1, sample_channel(groups=3, abstain=True), spread="max"),
        ],
        opens="2026-11-15T00:00:00Z",
        closes="2027-01-15T12:30:00Z",
        contact="audit@fairness.example",
        language="en",
        purpose="To find out whom the assistant understands less well; the results are published.",
        operator="Fairness Office",
        retention=90,
        model=Model("assistant", "4.2"),
        planned=200_000,
        aim="0.02",
        admission="tickets",
        hourly=5000,
        translations={
            "de": {
                "title": "Werden alle verstanden?",
                "purpose": "Um zu erfahren, wen der Assistent schlechter versteht; die Ergebnisse sind öffentlich.",
                "metrics[0].name": "verstanden",
                "metrics[0].help": "Von den letzten 100 Befehlen der Teil, der verstanden wurde.",
                "metrics[1].name": "Verzögerung",
                "metrics[1].unit": "Sek.",
                "attributes[0].name": "Geschlecht und Alter",
                "attributes[0].share_source": "Register von 2025",
                "attributes[0].cross[0].name": "Geschlecht",
                "attributes[0].cross[0].help": "Wie im Ausweis.",
                "attributes[0].cross[0].groups[0]": "weiblich",
                "attributes[0].cross[0].groups[1]": "männlich",
                "attributes[0].cross[1].name": "Alter",
                "attributes[0].cross[1].groups[0]": "18–29",
                "attributes[0].cross[1].groups[1]": "ab 30",
                "attributes[1].name": "Gegend",
                "attributes[1].groups[0]": "Norden",
                "attributes[1].groups[1]": "Süden",
                "attributes[1].groups[2]": "Westen",
            }
        },
    )


def unlinked_study() -> Study:
    """A study whose answers nobody can link to a person: blind tickets, a gateway, epochs and batches."""
    return Study(
        "Unlinked",
        [sample_question()],
        admission="blind",
        issuer=Issuer("issuer.example", "MFkwEwYHKoZIzj0CAQ_-"),
        gateway="AQAgMTIz",
        epoch=86400,
        release=Release(10_000, "0.00000001", 2_500),
    )


def site_study(outcome: str = "confusion") -> Study:
    """A study for sites: truth and prediction of two sexes, or a score on three levels."""
    person = "A patient, by the number in the register."
    if outcome == "confusion":
        return Study("Sites", counted(NoisyCounts(SEX, "confusion", 1, person=person)))
    score = Metric("score", 0, 10)
    counts = NoisyCounts(SEX, "levels", "0.5", records=3, metric=score, levels=THREE_LEVELS)
    return Study("Sites", counted(counts))
