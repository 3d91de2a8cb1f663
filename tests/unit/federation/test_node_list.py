from pathlib import Path

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.federation.counter import NodeList


def test_names_outlive_the_list_and_are_in_no_order_of_time(tmp_path: Path) -> None:
    path = tmp_path / "nodes"
    nodes = NodeList(path)
    assert [nodes.add(name) for name in ("9", "1", "9")] == [True, True, False]
    nodes.keep()
    assert path.read_text() == "1\n9\n"
    nodes.add("0")
    nodes.keep()
    assert path.read_text() == "0\n1\n9\n"
    assert "9" in NodeList(path)
    assert len(NodeList(path)) == 3


def test_a_name_of_several_lines_is_one_node(tmp_path: Path) -> None:
    nodes = NodeList(tmp_path / "nodes")
    assert nodes.add("a\nb")
    nodes.keep()
    later = NodeList(tmp_path / "nodes")
    assert "a\nb" in later
    assert "a" not in later


def test_a_file_that_is_no_list_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nodes").write_bytes(b"\xff\xfe\n")
    with pytest.raises(InvalidInput, match="must be a list of nodes"):
        NodeList(tmp_path / "nodes")
