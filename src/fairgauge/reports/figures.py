"""Pictures: intervals in rows, an interval that shrinks, odds before and after, progress, error against epsilon.

Each is drawn twice, for a wide column and for a phone, and the style sheet shows the one that fits.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from markupsafe import Markup

from fairgauge.estimation import Interval
from fairgauge.languages import MINUS, PLAIN, Numeral, Sentence, Voice
from fairgauge.reports.svg_shapes import NARROW, SIZE, WIDE, Axis, Drawing, width_of, wrapped

_ROW, _FOOT, _EDGE = 34, 30, 14
_LINE = SIZE + 4
_MOST_LABEL = 240.0  # how wide the column of labels may be; longer ones have several lines
_PLOT = 230


@dataclass(frozen=True)
class Bar:
    """One row of a picture: what it is, where it lies, and the number in words; without a place it is a heading."""

    label: str
    interval: Interval | None
    said: str
    kind: str = "estimate"


@dataclass(frozen=True)
class Marks:
    """What is drawn behind intervals: the ends of the axis, a line at zero, and what is acceptable, shaded.

    Args:
        within: The ends of the axis; else it is as long as the intervals need.
        zero: Whether to mark zero, for differences.
        tolerance: Differences up to this are acceptable.
    """

    within: tuple[float, float] | None = None
    zero: bool = False
    tolerance: float | None = None


@dataclass(frozen=True)
class Look:
    """The gap as it was known after so many answers."""

    answers: int
    interval: Interval


def interval_figure(
    bars: Sequence[Bar], *, marks: Marks | None = None, description: str, voice: Voice = PLAIN
) -> Markup:
    """Draw intervals, one a row, against one axis.

    Args:
        bars: The rows.
        marks: What is drawn behind them.
        description: For people who do not see the picture.
        voice: Who writes the numbers of the axis.
    """
    marks = marks or Marks()
    placed = [bar.interval for bar in bars if bar.interval is not None]
    edges = [edge for interval in placed for edge in (interval.low, interval.high)]
    edges += [0.0] if marks.zero else []
    edges += [] if marks.tolerance is None else [-marks.tolerance, marks.tolerance]
    ends = marks.within or _padded(min(edges), max(edges), _possible(placed))
    return _both(lambda width: _intervals(bars, ends, marks, width, voice), voice.tell(description))


def _intervals(
    bars: Sequence[Bar],
    ends: tuple[float, float],
    marks: Marks,
    width: int,
    voice: Voice,
) -> Drawing:
    wide = width >= WIDE
    left: float = _EDGE
    right: float = _EDGE
    if wide:
        left = min(_MOST_LABEL, 20 + max(width_of(bar.label) for bar in bars if bar.interval is not None))
        right = max(110.0, min(220.0, 20 + max(width_of(bar.said) for bar in bars)))
    rows = _rows(bars, left - 16 if wide else None, width)
    height = _EDGE + sum(row.height for row in rows) + _FOOT
    drawing, axis = Drawing(width, height), Axis(*ends, left, width - right)
    floor = height - _FOOT
    if marks.tolerance is not None:
        start, end = map(axis.at, (-marks.tolerance, marks.tolerance))
        drawing.box((start, 4), (end - start, floor - 4), "tolerance")
    tops = accumulate((row.height for row in rows), initial=float(_EDGE))
    places = [top + (row.height / 2 if wide else row.height - 10) for row, top in zip(rows, tops, strict=False)]
    # On a phone words stand above their bar, and no line may run through them.
    beside = [(y - 7, min(y + 14, floor)) for y, bar in zip(places, bars, strict=True) if bar.interval is not None]
    spans = [(4.0, floor)] if wide else beside
    _ticks(drawing, axis, spans, 6 if wide else 4, voice)
    for top, bottom in spans if marks.zero else []:
        drawing.line((axis.at(0.0), top), (axis.at(0.0), bottom), "zero")
    for y, row, bar in zip(places, rows, bars, strict=True):
        if bar.interval is None:
            _words(drawing, row.lines, y + SIZE / 3 - _LINE * (len(row.lines) - 1) / 2, "heading", voice)
            continue
        under = 0 if wide or row.beside else 1
        first = (
            y + SIZE / 3 - _LINE * (len(row.lines) - 1) / 2 if wide else y - SIZE - _LINE * (len(row.lines) - 1 + under)
        )
        _words(drawing, row.lines, first, "label", voice)
        drawing.text(width, y + SIZE / 3 if wide else y - SIZE, voice.alone(bar.said), "number", "end")
        start, end = axis.at(bar.interval.low), axis.at(bar.interval.high)
        drawing.box((start, y - 4), (max(end - start, 1.0), 8), f"interval {bar.kind}")
        drawing.dot(axis.at(bar.interval.estimate), y, f"mark {bar.kind}")
    return drawing


@dataclass(frozen=True)
class _Row:
    """How high a row is, the lines of its label, and whether its number stands beside them."""

    height: float
    lines: list[str]
    beside: bool


def _rows(bars: Sequence[Bar], room: float | None, width: int) -> list[_Row]:
    """Return the rows of bars whose labels have so much room; without any, labels stand above their bar."""
    found = []
    for bar in bars:
        beside = room is not None or width_of(bar.label) + width_of(bar.said) + SIZE <= width
        lines = wrapped(bar.label, width if bar.interval is None or room is None else room)
        if room is not None or bar.interval is None:
            found.append(_Row(max(_ROW, _LINE * len(lines) + SIZE), lines, beside))
        else:
            found.append(_Row(_ROW + _LINE * (len(lines) + (not beside)), lines, beside))
    return found


def _words(drawing: Drawing, lines: Sequence[str], first: float, kind: str, voice: Voice) -> None:
    for number, line in enumerate(lines):
        drawing.text(0, first + _LINE * number, voice.alone(line), kind)


def shrinking_figure(
    looks: Sequence[Look], *, needed: int | None, error: float, description: str, voice: Voice = PLAIN
) -> Markup:
    """Draw how the gap's interval shrinks as answers arrive; numbers of answers grow by factors.

    Args:
        looks: From few answers to many, the present one last.
        needed: How many answers the aim takes, if any number does.
        error: The aim: a half-width.
        description: For people who do not see the picture.
        voice: Who writes what is in it.
    """
    looks = [Look(look.answers, look.interval.shown) for look in looks]
    last = looks[-1].interval
    reach = max(last.high - last.low, 2 * error)
    low = max(min(look.interval.low for look in looks), last.estimate - 3 * reach)
    high = min(max(look.interval.high for look in looks), last.estimate + 3 * reach)
    ends = _padded(min(low, 0.0), max(high, 0.0), last.bounds)
    most = max(looks[-1].answers, min(needed or 0, 100 * looks[-1].answers))
    answers = (looks[0].answers, max(most, 2 * looks[0].answers))
    aim = needed if needed is not None and looks[-1].answers < needed <= answers[1] else None

    def draw(width: int) -> Drawing:
        right, floor = 16, _PLOT - _FOOT
        up = Axis(*ends, floor, 10)
        left = max(52.0, 14 + max((width_of(_tick(value, voice)) for value in up.ticks(5)), default=0))
        along = Axis(math.log10(answers[0]), math.log10(answers[1]), left, width - right)
        drawing = Drawing(width, _PLOT + 14)
        _grid(drawing, up, along, answers, voice)
        _band(drawing, up, along, looks)
        if aim is not None:
            x = along.at(math.log10(aim))
            drawing.line((x, 10), (x, floor), "aim")
            drawing.text(x - 6, 20, voice.say("picture.aim"), "tick", "end")
        x, now = along.at(math.log10(looks[-1].answers)), looks[-1].interval
        drawing.line((x, up.at(now.low)), (x, up.at(now.high)), "now")
        drawing.dot(x, up.at(now.estimate), "mark estimate")
        return drawing

    return _both(draw, voice.tell(description))


def _grid(drawing: Drawing, up: Axis, along: Axis, answers: tuple[int, int], voice: Voice) -> None:
    floor, left, end, width = up.start, along.start, along.end, drawing.width
    for value in up.ticks(5):
        y = up.at(value)
        drawing.line((left, y), (end, y), "grid")
        drawing.text(left - 8, y + SIZE / 3, _tick(value, voice), "tick", "end")
    for count in _counts(*answers, most=7 if width >= WIDE else 4):
        x = along.at(math.log10(count))
        drawing.line((x, floor), (x, floor + 4), "tickmark")
        drawing.text(x, floor + 18, voice.alone(voice.tell(_compact(count))), "tick", "middle")
    drawing.text((left + end) / 2, _PLOT + 10, voice.say("picture.answers"), "tick", "middle")


def _band(drawing: Drawing, up: Axis, along: Axis, looks: Sequence[Look]) -> None:
    at = [(along.at(math.log10(look.answers)), look.interval) for look in looks]
    if len(at) > 1:
        band = [(x, up.at(i.high)) for x, i in at] + [(x, up.at(i.low)) for x, i in reversed(at)]
        drawing.path(band, "band", end="Z")
        drawing.line((along.start, up.at(0)), (along.end, up.at(0)), "zero")
        drawing.path([(x, up.at(i.estimate)) for x, i in at], "course")


def odds_figure(rows: Sequence[tuple[str, float, float, float]], *, description: str, voice: Voice = PLAIN) -> Markup:
    """Draw what somebody can believe after an answer, for what they believed before: label, before, least, most."""
    bars = [
        Bar(label, Interval(100 * before, 100 * low, 100 * high), voice.tell(_believed(low, high)), "before")
        for label, before, low, high in rows
    ]
    return interval_figure(bars, marks=Marks(within=(0, 100)), description=description, voice=voice)


def _believed(low: float, high: float) -> str:
    return Sentence.of("picture.range", low=math.floor(100 * low), high=math.ceil(100 * high))


def progress_figure(part: float, *, description: str, voice: Voice = PLAIN) -> Markup:
    """Draw how much of what is needed is there."""

    def draw(width: int) -> Drawing:
        drawing = Drawing(width, 14)
        drawing.box((0, 1), (width, 12), "track")
        if part > 0:
            full = max(4.0, min(part, 1.0) * width)
            drawing.box((width - full if voice.direction == "rtl" else 0, 1), (full, 12), "done")
        return drawing

    return _both(draw, voice.tell(description))


def moves_figure(bars: Sequence[tuple[str, float, str]], *, description: str, voice: Voice = PLAIN) -> Markup:
    """Draw sizes as bars from zero: label, size, and the size in words."""
    rows = [Bar(label, Interval(size, 0.0, size), said, "size") for label, size, said in bars]
    longest = max((size for _, size, _ in bars), default=0.0)
    return interval_figure(rows, marks=Marks(within=(0.0, 1.08 * longest or 1.0)), description=description, voice=voice)


def trade_figure(
    points: Sequence[tuple[float, float]], chosen: float, *, description: str, voice: Voice = PLAIN
) -> Markup:
    """Draw the error that each epsilon gives, and mark the chosen one: more private to the left."""
    errors = [math.log10(error) for _, error in points]
    ends = (min(errors) - 0.08, max(errors) + 0.08)
    epsilons = (math.log10(points[0][0]), math.log10(points[-1][0]))

    def draw(width: int) -> Drawing:
        left, right, floor = 58, 26, _PLOT - _FOOT
        drawing = Drawing(width, _PLOT + 14)
        up, along = Axis(*ends, floor, 10), Axis(*epsilons, left, width - right)
        for exponent in range(math.floor(ends[0]), math.ceil(ends[1]) + 1):
            for digit in (1, 2, 5):
                value = math.log10(digit) + exponent
                if ends[0] <= value <= ends[1]:
                    drawing.line((left, up.at(value)), (width - right, up.at(value)), "grid")
                    drawing.text(
                        left - 8,
                        up.at(value) + SIZE / 3,
                        "±" + voice.numeral(f"{digit * 10.0**exponent:g}"),
                        "tick",
                        "end",
                    )
        for epsilon, _ in points:
            x = along.at(math.log10(epsilon))
            drawing.line((x, floor), (x, floor + 4), "tickmark")
            drawing.text(x, floor + 18, voice.numeral(f"{epsilon:g}"), "tick", "middle")
        drawing.text(0, _PLOT + 10, f"← {voice.say('plan.private')}", "tick")
        drawing.text((left + width - right) / 2, _PLOT + 10, voice.say("desk.epsilon"), "tick", "middle")
        drawing.text(width, _PLOT + 10, f"{voice.say('plan.precise')} →", "tick", "end")
        drawing.path([(along.at(math.log10(e)), up.at(math.log10(y))) for e, y in points], "course")
        for epsilon, error in points:
            here = epsilon == chosen
            kind, radius = ("mark estimate", 6) if here else ("mark before", 4)
            drawing.dot(along.at(math.log10(epsilon)), up.at(math.log10(error)), kind, radius)
        return drawing

    return _both(draw, description)


def _both(draw: Callable[[int], Drawing], description: str) -> Markup:
    wide, narrow = (draw(width).to_svg(description, kind) for width, kind in ((WIDE, "wide"), (NARROW, "narrow")))
    return Markup('<div class="figure">{}{}</div>').format(wide, narrow)


def _padded(low: float, high: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of an axis: with some room, but not for what is not possible.

    >>> _padded(-100, 50, (-100, 100))
    (-100, 62.0)
    """
    room = 0.08 * (high - low) or 1.0
    return max(low - room, bounds[0]), min(high + room, bounds[1])


def _possible(intervals: Sequence[Interval]) -> tuple[float, float]:
    bounds = [interval.bounds for interval in intervals]
    return min(least for least, _ in bounds), max(most for _, most in bounds)


def _ticks(drawing: Drawing, axis: Axis, spans: Sequence[tuple[float, float]], most: int, voice: Voice) -> None:
    for value in axis.ticks(most):
        x = axis.at(value)
        for top, bottom in spans:
            drawing.line((x, top), (x, bottom), "grid")
        said = _tick(value, voice)
        half = width_of(said) / 2  # at an end of the axis a label stands within the picture, and not cut
        drawing.text(min(max(x, half), drawing.width - half), drawing.height - _FOOT + 18, said, "tick", "middle")


def _tick(value: float, voice: Voice) -> str:
    return voice.numeral(f"{value:,.6g}".replace("-", MINUS))


def _counts(low: float, high: float, *, most: int) -> list[int]:
    """Return round numbers of answers between two, at most so many."""
    for digits in ((1, 2, 5), (1, 3), (1,)):
        found = [
            digit * 10**exponent
            for exponent in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            for digit in digits
            if low <= digit * 10**exponent <= high
        ]
        if len(found) <= most:
            break
    return found


def _compact(count: float) -> str:
    """Return a large number in a few letters.

    >>> [_compact(n) for n in (500, 20_000, 1_000_000, 3_000_000_000)]
    ['500', '20 k', '1 M', '3 bn']
    """
    for size, word in ((10**9, "billion"), (10**6, "million"), (10**3, "thousand")):
        if count >= size:
            return Sentence.of(f"picture.count-{word}", number=Numeral(f"{count / size:g}"))
    return Numeral(f"{count:g}")
