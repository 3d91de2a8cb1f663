"""Everything that the package raises on purpose is in the one tree that fairgauge.errors draws."""

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest

import fairgauge
from fairgauge import cli, errors
from fairgauge.errors import FairgaugeError
from fairgauge.server.server_errors import ComeAgain

DRAWN = set(re.findall(r"\b[A-Z][A-Za-z]+\b", errors.__doc__ or ""))


def exception_classes() -> Iterator[type[Exception]]:
    """Every exception class that a module of the package defines; rooms of frameworks need them, and define none."""
    for found in pkgutil.walk_packages(fairgauge.__path__, "fairgauge."):
        if found.name.startswith(("fairgauge.flower", "fairgauge.nvflare")) or found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for item in vars(module).values():
            if isinstance(item, type) and issubclass(item, Exception) and item.__module__ == module.__name__:
                yield item


CLASSES = sorted(set(exception_classes()), key=lambda kind: (kind.__module__, kind.__name__))


def test_there_are_some_in_several_rooms():
    assert len({kind.__module__ for kind in CLASSES}) > 1


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_exception_is_in_the_tree_and_drawn(kind: type[Exception]):
    assert issubclass(kind, FairgaugeError)
    assert kind.__name__ in DRAWN
    parents = [parent for parent in kind.__bases__ if issubclass(parent, FairgaugeError)]
    assert kind is FairgaugeError or all(parent.__name__ in DRAWN for parent in parents)


def test_nothing_is_drawn_that_there_is_not():
    known = {kind.__name__ for kind in CLASSES}
    words = {"The", "Everything", "Texts", "ValueError", "ImportError"}
    assert {name for name in DRAWN if not name.isupper()} - words <= known


TREE = [kind for kind in CLASSES if issubclass(kind, FairgaugeError)]


def example_of(kind: type[FairgaugeError]) -> FairgaugeError:
    if issubclass(kind, errors.InvalidInput):
        return kind("field", "value", "rule")
    if issubclass(kind, errors.MissingExtra):
        return kind("what", "lab")
    return kind("text", 1.0) if issubclass(kind, ComeAgain) else kind("text")


@pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
def test_exit_statuses_are_as_documented(
    kind: type[FairgaugeError], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """2 if the input is wrong, else 1; and one line that says why."""

    def fail(_arguments: list[str]) -> int:
        raise example_of(kind)

    monkeypatch.setattr("fairgauge.cli.entry._run", fail)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == (2 if issubclass(kind, errors.InvalidInput) else 1)
    assert capsys.readouterr().err == f"fairgauge: {example_of(kind)}\n"
