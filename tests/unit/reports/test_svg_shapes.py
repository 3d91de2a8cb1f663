"""Shapes in SVG: escaped, short, and on an axis with round numbers."""

from xml.etree import ElementTree

import pytest

from fairgauge.reports.svg_shapes import Axis, Drawing, width_of, wrapped


def test_whatever_is_written_is_text_and_never_markup():
    drawing = Drawing(100, 20.04)
    drawing.text(1, 2, "<script>alert(1)</script>", kind='"x')
    drawing.line((0, 0), (1.25, 2), "rule")
    svg = str(drawing.to_svg('a "picture" & more', "gap"))
    root = ElementTree.fromstring(svg)
    assert (root.get("viewBox"), root.get("aria-label")) == ("0 0 100 20", 'a "picture" & more')
    assert [child.tag for child in root] == ["text", "line"]
    assert (root[0].text, root[0].get("class")) == ("<script>alert(1)</script>", '"x')
    assert root[1].attrib == {"class": "rule", "x1": "0", "y1": "0", "x2": "1.2", "y2": "2"}


def test_a_box_is_never_turned_inside_out():
    drawing = Drawing(10, 10)
    drawing.box((1, 2), (-3, 20), "bar")
    assert 'width="0" height="20" rx="0"' in str(drawing.to_svg("", ""))


def test_a_closed_path_ends_where_it_began():
    drawing = Drawing(10, 10)
    drawing.path([(0, 0), (1, 1), (2, 0)], "area", end="Z")
    assert 'd="M0 0L1 1L2 0Z"' in str(drawing.to_svg("", ""))


def test_numbers_outside_an_axis_are_at_its_end():
    axis = Axis(-1, 1, 0, 200)
    assert [axis.at(value) for value in (-5, -1, 0, 1, 5)] == [0, 0, 100, 200, 200]


def test_an_axis_of_one_number_has_it_in_the_middle():
    assert Axis(3, 3, 0, 10).at(3) == 5


@pytest.mark.parametrize(
    ("low", "high", "ticks"), [(0, 1, [0, 0.5, 1]), (-0.05, 0.01, [-0.04, -0.02, 0]), (0, 1e9, [0, 5e8, 1e9])]
)
def test_ticks_are_round_few_and_within(low: float, high: float, ticks: list[float]):
    assert Axis(low, high, 0, 1).ticks(4) == pytest.approx(ticks)


@pytest.mark.parametrize("words", ["recall", "a very long name of a group", "x" * 90, "M", "two  blanks", ""])
def test_words_that_do_not_fit_have_more_lines_and_nothing_is_left_out(words: str):
    lines = wrapped(words, 60)
    assert "".join(lines).replace(" ", "") == words.replace(" ", "")
    assert all(width_of(line) <= 60 for line in lines)
    assert len(lines) == 1 or width_of(words) > 60


def test_what_is_kept_apart_is_so_on_each_of_its_lines():
    start, end = "\u2068", "\u2069"
    lines = wrapped(f"{start}women of 65 or older{end} − {start}men{end}", 100)
    assert len(lines) > 1
    assert all(line.count(start) == line.count(end) for line in lines)
    assert [line.replace(start, "").replace(end, "") for line in lines] == ["women of 65", "or older −", "men"]
