"""Every module has tests where one would look for them, and slow engines are not among the quick tests.

``fairgauge/room/module.py`` has ``tests/unit/room/test_module.py``, or a test file whose docstring names it in a line
``Covers:``.
"""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE, TESTS = ROOT / "src" / "fairgauge", ROOT / "tests"


def modules() -> list[str]:
    """Return every module that holds code, by its dotted name; ``__init__`` files re-export."""
    found = [path.relative_to(SOURCE) for path in sorted(SOURCE.rglob("*.py")) if not path.name.startswith("__")]
    return [".".join(("fairgauge", *path.with_suffix("").parts)) for path in found]


def mirrored(module: str) -> Path:
    """Return where a module's own test file is, if it has one."""
    *folders, name = module.split(".")[1:]
    return TESTS.joinpath("unit", *folders, f"test_{name.lstrip('_')}.py")


def named(docstring: str) -> list[str]:
    """Return the modules in the line ``Covers:`` of a docstring, which may go on over several lines."""
    found = re.search(r"^Covers:(.*?)(?:\n\s*\n|\Z)", docstring, re.MULTILINE | re.DOTALL)
    return re.findall(r"fairgauge(?:\.\w+)+", found[1]) if found else []


@cache
def covered() -> dict[str, list[str]]:
    """Return the test files that name each module."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for module in named(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""):
            found.setdefault(module, []).append(str(path.relative_to(ROOT)))
    return found


def test_a_module_has_tests_where_one_would_look():
    """For each of these, write the file, or name the module in a line ``Covers:`` of the file that tests it."""
    nowhere = [module for module in modules() if not mirrored(module).is_file() and module not in covered()]
    assert {module: str(mirrored(module).relative_to(ROOT)) for module in nowhere} == {}


def test_no_test_file_names_a_module_that_is_not_there():
    assert {module: files for module, files in covered().items() if module not in modules()} == {}


def test_names_are_found_over_several_lines_and_only_there():
    text = (
        "Parts.\n\nCovers: fairgauge.server.bearer_tokens,\nfairgauge.lazy, fairgauge.channel\n\nNot fairgauge.errors."
    )
    assert named(text) == ["fairgauge.server.bearer_tokens", "fairgauge.lazy", "fairgauge.channel"]
    assert named("About fairgauge.errors.") == []


def test_every_room_is_in_the_table_of_contributing():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text[text.index("| room | what lives there |") :].split("\n\n")[0]
    listed = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert listed == {module.split(".")[1] for module in modules()}


def test_no_quick_test_starts_a_slow_engine():
    slow = re.compile(r"PYSPARK_SUBMIT_ARGS|SparkSession\.builder|engine=\"pyspark\"\)\.")
    assert [str(path) for path in (TESTS / "unit").rglob("*.py") if slow.search(path.read_text(encoding="utf-8"))] == []


def test_every_test_that_a_page_names_is_there():
    """Pages say which test shows what they promise."""
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")]
    there = {name for text in texts for name in re.findall(r"def (test_\w+)", text)}
    pages = [ROOT / "docs" / "attacks.md", ROOT / "docs" / "threat-model.md"]
    promised = {name for page in pages for name in re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8"))}
    assert len(promised) > 15
    assert promised <= there


def test_every_line_of_who_can_learn_what_has_its_test_or_says_that_nothing_prevents_it():
    text = (ROOT / "docs" / "attacks.md").read_text(encoding="utf-8")
    table = text[text.index("| who | what they do |") :].split("\n\n")[0].splitlines()[2:]
    assert len(table) > 15
    for line in table:
        _, _who, _does, learns, shown, _ = line.split("|")
        assert learns.strip()
        assert re.search(r"`test_\w+`", shown) or shown.strip().startswith("nothing prevents it"), line
