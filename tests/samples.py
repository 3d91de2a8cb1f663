"""Small valid channels and studies that tests of every kind start from."""

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel

ENDS = (-LEVEL_UNIT, LEVEL_UNIT)
THREE_LEVELS = (-LEVEL_UNIT, LEVEL_UNIT // 3, LEVEL_UNIT)
NEARLY_LN_3 = "1.0986122886681096"  # below ln 3 = 1.09861228866810969139...


def sample_channel(*, groups: int = 2, levels: tuple[int, ...] = ENDS, abstain: bool = False) -> Channel:
    """One symbol per input, sent three times as often (or a hair less) as any other."""
    rows = groups * len(levels) + abstain
    other = -(-ROW_SUM // (rows + 2))
    own = ROW_SUM - (rows - 1) * other
    table = tuple(tuple(own if x == j else other for j in range(rows)) for x in range(rows))
    return Channel(table, levels, groups, abstain)
