"""The two verbs of planning, as a scientist types them: every number once, and in the metric's units."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fairgauge.designs import AUTO
from fairgauge.errors import InvalidInput
from fairgauge.estimation.interval_kinds import DEFAULT
from fairgauge.planning.contributors import contributors_of
from fairgauge.planning.crowd_plan import plan_asked
from fairgauge.planning.input import Metrics
from fairgauge.planning.plans import Plans
from fairgauge.planning.study_draft import Draft
from fairgauge.planning.table_draft import new
from fairgauge.planning.table_pairing import designed
from fairgauge.study import Attribute, Metric, Number, Question
from fairgauge.study.numbers import as_count, as_epsilon


def plan(  # noqa: PLR0913 - two of three are given, and the rest have defaults
    metric: Any,
    attribute: Attribute | None = None,
    *,
    clients: Number | None = None,
    epsilon: Number | None = None,
    error: Number | None = None,
    confidence: float = 0.99,
    interval: str = DEFAULT,
    target: str | None = None,
    abstain: bool = False,
    abstaining: Number | None = None,
    expect: Number | Mapping[str, Number] | None = None,
    spread: Number | Mapping[str, Number] | None = None,
    detect: Number | None = None,
    crowd_epsilon: Number | None = None,
    delta: Number | None = None,
    local_limit: Number | None = None,
    designs: Sequence[str] | None = None,
    weights: Mapping[str, Number] | None = None,
    symbols: int | None = None,
    outcome: str | None = None,
    records: int | None = None,
    people: Number | None = None,
    positives: Number | None = None,
    progress: Callable[[str], object] = str,
) -> Plans:
    """Return what each design needs or reaches, given two of clients, epsilon and error: a plan for each metric.

    Clients and a crowd epsilon will do, too.

    Guarantee: the best design of each is what :func:`design` takes for the same epsilon and clients.

    Every number is in the metric's units, except ``variance``, which is in units of v, from -1 to 1
    (:class:`~fairgauge.planning.plans.PlanRow`).

    Args:
        metric: What is measured; several metrics are planned as the questions of one study, which share its answers.
            Or, without an attribute, somebody's own table, as ``fairgauge.new`` takes it, which says the rest:
            ``plan(people, clients=200_000)``.  Epsilon is 1 then, unless it is given or looked for.
        attribute: How people are grouped, with their shares of the population, and how often they answer.
        clients: How many will answer.
        epsilon: The privacy loss of one answer.
        error: The half-width of the interval.
        confidence: How often the interval is to hold the truth.
        interval: Which interval; see :mod:`fairgauge.estimation.interval_kinds`.
        target: ``"gap"``, which is the default, or ``"means"``.
        abstain: Whether people may prefer not to say.
        abstaining: The part of people who will have nothing to say; a tenth where they may abstain, unless given.
        expect: The overall mean to reckon with; a wrong guess costs precision, never truth.  Of several, by name.
        spread: The standard deviation about it to reckon with; ``"max"`` for any values.  By name for several metrics.
        detect: A gap whose chance of being noticed shall be given too.
        crowd_epsilon: Instead of epsilon and error: what one release of all answers may cost a person towards those who
            see only its counts.  Local epsilon and secret draws that keep it are found; see ``Plan.release``.
            ``"auto"`` with an error: the least that reaches it.
        delta: The crowd's delta; the smaller of 1e-8 and a tenth of one in the number of clients unless given.
        local_limit: The most epsilon that one answer may cost; 4 unless given, as on devices.
        designs: Which designs to compare; all that serve unless given.
        weights: How much metrics matter beside each other, by name, where several are asked for; each 1 unless given.
        symbols: The most symbols of a channel for seven and more groups; 400 unless given.
        outcome: For sites that hold many people: what they count, ``"confusion"``, which takes no metric, or
            ``"levels"``.  Clients are the sites, and errors are about the people that they see.
        records: For sites: how many records of one person count at most; 1 unless given.
        people: For sites: how many people each of them holds.
        positives: For sites that count confusion: the part of people whose truth is 1, a half unless given; ``expect``
            is how often the model is right, 0.8 unless given.
        progress: Called with the name of each design before it is worked out.

    Raises:
        InvalidInput: If not exactly two of the three are given, or something is of another type or out of range, or
            would change nothing.

    >>> from fairgauge import Attribute, Metric, Study
    >>> recall, sex = Metric("recall", 0, 1), Attribute("sex", {"female": 0.5, "male": 0.5})
    >>> found = plan(recall, sex, clients=200_000, epsilon=1, designs=["randomized-response"])
    >>> round(found["recall"].rows[0].error, 4)
    0.0245
    >>> both = plan([recall, Metric("fpr", 0, 1)], sex, clients=400_000, epsilon=1, designs=["randomized-response"])
    >>> round(both["fpr"].rows[0].error, 4)
    0.0245
    >>> hospitals = plan(None, sex, outcome="confusion", clients=20, people=500, epsilon=1)
    >>> round(hospitals["accuracy"].rows[0].error, 3)
    0.025
    """
    if attribute is None:
        drafted, attribute = _drafted(metric)
        metric, expect = list(drafted.metrics), expect or drafted.expect
        if epsilon is None and crowd_epsilon is None and (clients is None or error is None):
            epsilon = drafted.epsilon
    contributors = contributors_of(outcome)
    said: dict[str, Any] = {
        "target": target, "abstain": abstain or None, "abstaining": abstaining, "expect": expect, "spread": spread,
        "weights": weights, "symbols": symbols, "records": records, "people": people, "positives": positives,
    }  # fmt: skip
    in_all = {"designs": designs, "crowd_epsilon": crowd_epsilon, "delta": delta, "local_limit": local_limit}
    contributors.check_heeded(said | in_all)
    questions = contributors.ask(metric, attribute, said)
    return plan_asked(
        questions, clients=clients, epsilon=epsilon, error=error, confidence=confidence, interval=interval,
        detect=detect, crowd_epsilon=crowd_epsilon, delta=delta, local_limit=local_limit, designs=designs,
        progress=progress,
    )  # fmt: skip


def design(  # noqa: PLR0913 - what is known beforehand, each by its name
    metric: Metrics | None,
    attribute: Attribute,
    *,
    epsilon: Number,
    target: str | None = None,
    design: str = AUTO,
    expect: Number | Mapping[str, Number] | None = None,
    spread: Number | Mapping[str, Number] | None = None,
    abstain: bool = False,
    abstaining: Number | None = None,
    clients: Number | None = None,
    weights: Mapping[str, Number] | None = None,
    symbols: int | None = None,
    outcome: str | None = None,
    records: int | None = None,
    person: str | None = None,
) -> tuple[Question, ...]:
    """Return the questions that ask for a metric, or for several, by an attribute: what a study is made of.

    Each has the mechanism that serves it best; one answers two questions at once where that is the least error in all.

    Guarantee: the mechanism's exact epsilon, computed from its integers, is at most the epsilon asked for.

    Args:
        metric: What is measured: a metric, or several.
        attribute: How people are grouped, with their shares of the population, and how often they answer.
        epsilon: The privacy loss of one answer.
        target: ``"gap"``, which is the default, or ``"means"``.
        design: The design's name; ``"auto"`` takes the best.
        expect: The overall mean to reckon with; a wrong guess costs precision, never truth.  Of several, by name.
        spread: The standard deviation about it to reckon with; ``"max"`` for any values.  By name for several metrics.
        abstain: Whether people may prefer not to say.
        abstaining: The part of people who will have nothing to say, whom the channel is made for; a tenth where they
            may abstain, unless given.
        clients: How many will answer.  For a gap whose shares are estimated it decides which design has the narrowest
            interval; 10,000 unless given.
        weights: How much metrics matter beside each other, by name, where several are asked for; each 1 unless given.
        symbols: The most symbols of a channel for seven and more groups; 400 unless given.
        outcome: For sites that hold many people: what they count, ``"confusion"``, which takes no metric, or
            ``"levels"``.
        records: For sites: how many records of one person count at most; 1 unless given.
        person: For sites: who counts as one person, in words.

    Raises:
        InvalidInput: If something is of another type or out of range, or would change nothing.
        Impossible: If no design reaches it.

    >>> from fairgauge import Attribute, Metric, Study
    >>> recall, sex = Metric("recall", 0, 1), Attribute("sex", {"female": 0.5, "male": 0.5})
    >>> (question,) = design(recall, sex, epsilon=0.5, design="randomized-response")
    >>> question.epsilon, question.target
    ('0.5', 'gap')
    >>> Study("Recall by sex", design(recall, sex, epsilon=0.5, design="randomized-response")).questions == (question,)
    True
    >>> [question.metric.name for question in design(None, sex, epsilon=1, outcome="confusion")][:2]
    ['selection rate', 'accuracy']
    """
    contributors = contributors_of(outcome)
    said: dict[str, Any] = {
        "target": target, "abstain": abstain or None, "abstaining": abstaining, "expect": expect, "spread": spread,
        "weights": weights, "symbols": symbols, "records": records, "person": person,
    }  # fmt: skip
    contributors.check_heeded(said | {"clients": clients})
    count = None if clients is None else as_count("clients", clients)
    return designed(contributors.ask(metric, attribute, said), as_epsilon(epsilon), design=design, clients=count)


def _drafted(table: Any) -> tuple[Draft, Attribute]:
    """Draft a study from somebody's own table."""
    found = None if table is None or isinstance(table, Metric | list | tuple) else new(table)
    if found is None or found.attribute is None:
        raise InvalidInput("attribute", "nothing", "must be given beside a metric: how people are grouped")
    return found, found.attribute
