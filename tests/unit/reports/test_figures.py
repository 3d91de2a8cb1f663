"""Pictures: well-formed, described, safe with any name, and true to the numbers."""

import re
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from fairgauge.estimation import Interval
from fairgauge.reports.figures import (
    Bar,
    Look,
    Marks,
    interval_figure,
    moves_figure,
    odds_figure,
    progress_figure,
    shrinking_figure,
    trade_figure,
)
from fairgauge.reports.svg_shapes import NARROW, WIDE, Axis, width_of

NASTY = '<script>"&\' onload="x'
BARS = [Bar("female − male", Interval(-4, -5, -3), "−5 to −3"), Bar(NASTY, Interval(1, 0, 2), "0 to 2")]
LOOKS = [Look(n, Interval(-4, -4 - 300 / n**0.5, -4 + 300 / n**0.5)) for n in (128, 1000, 20_000)]
FIGURES = {
    "intervals": interval_figure(BARS, marks=Marks(zero=True, tolerance=2), description=NASTY),
    "shrinking": shrinking_figure(LOOKS, needed=10**6, error=1, description=NASTY),
    "odds": odds_figure([("10 before", 0.1, 0.05, 0.3)], description=NASTY),
    "progress": progress_figure(0.4, description=NASTY),
    "moves": moves_figure([("the interval", 0.5, "±0.5"), (NASTY, 2.0, "±2")], description=NASTY),
    "trade": trade_figure([(0.5, 0.02), (1.0, 0.01), (2.0, 0.004)], 1.0, description=NASTY),
}


def pictures(figure: Markup) -> list[ElementTree.Element]:
    return ElementTree.fromstring(str(figure)).findall("svg")


def marked(svg: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [part for part in svg.iter() if kind in part.get("class", "").split()]


@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_is_drawn_for_wide_and_narrow_with_a_description(name: str):
    wide, narrow = pictures(FIGURES[name])
    for svg, width in ((wide, WIDE), (narrow, NARROW)):
        assert svg.get("viewBox", "").split()[:3] == ["0", "0", str(width)]
        assert (svg.get("role"), svg.get("aria-label")) == ("img", NASTY)


def test_no_number_of_an_axis_is_cut_at_its_end() -> None:
    whole = interval_figure([Bar("a", Interval(0, -100, 100, bounds=(-100, 100)), "")], description="")
    for svg in pictures(whole):
        ticks = [(float(tick.get("x", "")), width_of(tick.text or "") / 2) for tick in marked(svg, "tick")]
        width = float(svg.get("viewBox", "").split()[2])
        assert {tick.text for tick in marked(svg, "tick")} >= {"−100", "100"}
        assert all(0 <= x - half < x + half <= width for x, half in ticks)


@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_has_no_style_script_or_address(name: str):
    for svg in pictures(FIGURES[name]):
        assert {part.tag for part in svg.iter()} <= {"svg", "line", "rect", "circle", "path", "text"}
        attributes = {attribute for part in svg.iter() for attribute in part.attrib}
        assert not [a for a in attributes if a.startswith("on") or a in ("style", "href", "id")]


@pytest.mark.parametrize("name", FIGURES)
def test_shapes_stay_inside(name: str):
    for svg in pictures(FIGURES[name]):
        _, _, width, height = map(float, svg.get("viewBox", "").split())
        for part in svg.iter():
            for attribute, most in (("x", width), ("x1", width), ("x2", width), ("cx", width), ("y", height)):
                assert -0.5 <= float(part.get(attribute, 0)) <= most + 0.5
            assert float(part.get("x", 0)) + float(part.get("width", 0)) <= width + 0.5
            for x, y in re.findall(r"([-\d.]+) ([-\d.]+)", part.get("d", "")):
                assert -0.5 <= float(x) <= width + 0.5
                assert -0.5 <= float(y) <= height + 0.5


def test_an_interval_lies_where_its_numbers_are():
    wide, _ = pictures(FIGURES["intervals"])
    zero = float(marked(wide, "zero")[0].get("x1", 0))
    first, second = marked(wide, "interval")
    start, end = (float(first.get("x", 0)) + part * float(first.get("width", 0)) for part in (0, 1))
    mark = float(marked(wide, "mark")[0].get("cx", 0))
    assert start < mark < end < zero
    assert mark == pytest.approx((start + end) / 2, abs=0.2)
    assert (zero - mark) / (end - start) == pytest.approx(4 / 2, rel=0.01)
    assert float(second.get("x", 0)) == pytest.approx(zero, abs=0.1)
    (band,) = marked(wide, "tolerance")
    assert float(band.get("width", 0)) == pytest.approx(2 * (end - start), abs=0.3)


def test_the_interval_shrinks_and_the_aim_is_ahead():
    wide, _ = pictures(FIGURES["shrinking"])
    (now,), (aim,) = marked(wide, "now"), marked(wide, "aim")
    height = abs(float(now.get("y1", 0)) - float(now.get("y2", 0)))
    points = re.findall(r"([-\d.]+) ([-\d.]+)", marked(wide, "band")[0].get("d", ""))
    first = abs(float(points[0][1]) - float(points[-1][1]))
    assert first > 3 * height > 0
    assert float(aim.get("x1", 0)) > float(now.get("x1", 0))
    reached = shrinking_figure(LOOKS, needed=10_000, error=1, description="x")
    assert marked(pictures(reached)[0], "aim") == []


def test_progress_is_as_long_as_it_is_far():
    assert [float(part.get("width", 0)) for part in pictures(FIGURES["progress"])[0]] == [WIDE, 0.4 * WIDE]
    assert float(pictures(progress_figure(3.0, description="x"))[0][1].get("width", 0)) == WIDE
    assert len(pictures(progress_figure(0.0, description="x"))[0]) == 1


def test_the_chosen_epsilon_is_marked():
    wide, _ = pictures(FIGURES["trade"])
    assert [("estimate" in dot.get("class", "")) for dot in wide.findall("circle")] == [False, True, False]


@pytest.mark.parametrize(("low", "high"), [(-5.2, 1.1), (0, 100), (0.679, 0.92), (1e-9, 3e-9), (-1e12, 5e11), (3, 3)])
def test_ticks_are_round_few_and_inside(low: float, high: float):
    axis = Axis(low, high, 0, 1)
    ticks = axis.ticks(5)
    assert 2 <= len(ticks) <= 5
    room = 1e-9 * (axis.high - axis.low)
    assert all(axis.low - room <= tick <= axis.high + room for tick in ticks)
    assert all(re.fullmatch(r"-?\d{1,3}0*|-?\d*\.?\d+(e[-+]\d+)?", f"{tick:.10g}") for tick in ticks)


def test_long_names_have_several_lines_and_nothing_is_cut():
    name = "women of sixty-five years or older who live alone in the country, and " + "x" * 90
    for svg in pictures(interval_figure([Bar(name, Interval(1, 0, 2), "0 to 2"), *BARS], description="x")):
        labels = [part.text or "" for part in marked(svg, "label")]
        assert "".join(labels[: -len(BARS)]).replace(" ", "") == name.replace(" ", "")
        heights = [float(part.get("y", 0)) for part in marked(svg, "label")]
        assert heights == sorted(heights)
        assert len(set(heights)) == len(heights)
        assert heights[-1] < float(svg.get("viewBox", "").split()[3])


def ticks(svg: ElementTree.Element) -> list[float]:
    """The numbers along a picture's axes."""
    said = [(part.text or "").replace("\N{MINUS SIGN}", "-") for part in marked(svg, "tick")]
    return [float(text) for text in said if re.fullmatch(r"-?[\d.]+", text)]


def test_band_and_axis_stay_in_the_possible():
    bounds = (-100.0, 100.0)
    looks = [
        Look(n, Interval(e, e - half, e + half, bounds))
        for n, e, half in ((128, -150, 170), (181, -60, 130), (256, 90, 80))
    ]
    for svg in pictures(shrinking_figure(looks, needed=None, error=1, description="")):
        up = [tick for tick in ticks(svg) if tick <= 100]
        assert (min(up), max(up)) == (-100, 100)
        # The axis ends where the possible ends: the band's edges are at the grid lines of -100 and 100.
        lines = sorted(float(line.get("y1", 0)) for line in marked(svg, "grid"))
        (band,) = marked(svg, "band")
        ys = [float(y) for _, y in re.findall(r"([-\d.]+) ([-\d.]+)", band.get("d", ""))]
        assert min(ys) == pytest.approx(lines[0], abs=0.1)
        assert max(ys) == pytest.approx(lines[-1], abs=0.1)


def test_bars_stay_in_the_possible():
    bars = [Bar("a", Interval(0.99, 0.9, 1.0, (0.0, 1.0)), ""), Bar("b", Interval(0.1, 0.0, 0.2, (0.0, 1.0)), "")]
    for svg in pictures(interval_figure(bars, description="")):
        first = marked(svg, "interval")[0]
        grid = max(float(line.get("x1", 0)) for line in marked(svg, "grid"))
        assert float(first.get("x", 0)) + float(first.get("width", 0)) == pytest.approx(grid, abs=0.2)
        assert (min(ticks(svg)), max(ticks(svg))) == (0, 1)
