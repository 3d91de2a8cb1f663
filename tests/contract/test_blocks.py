"""Every block on a page is run, or checked as far as it can be: options exist, Python compiles, data parses.

What ``docs/refresh.py`` runs is in ``test_docs_current.py``.
"""

import ast
import importlib
import json
import math
import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Iterator

import msgspec
import pytest

from docs.refresh import PAGES, ROOT
from fairgauge.collector.config import Config
from tests.contract.test_commands_documented import COMMANDS, GROUPS, options_of

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TEXTS = {page.name: page.read_text(encoding="utf-8") for page in [*PAGES, ROOT / "CONTRIBUTING.md"]}
BLOCKS = [(page, kind, body) for page, text in TEXTS.items() for kind, body in FENCE.findall(text)]
KINDS = {"console", "html", "json", "pycon", "python", "sh", "sql", "text", "toml"}
# Without a command of ours, and checked by nothing here: proxies (Caddy's is compared with deploy/), and a request.
UNCHECKED = {"no-party-alone.md": 1, "operators.md": 3}


def blocks(*kinds: str) -> list[tuple[str, str]]:
    return [(page, body) for page, kind, body in BLOCKS if kind in kinds]


def typed(body: str) -> Iterator[list[str]]:
    """Yield the words of every ``fairgauge`` command of a block, up to where the shell goes on with another program."""
    for line in re.findall(r"(?:^|\$\(|&& )(?:\$ )?fairgauge (.*)$", body.replace("\\\n", " "), re.MULTILINE):
        words = shlex.split(re.sub(r"\$\(.*?\)|…|#.*$", "x", line).rstrip(")"), posix=True)
        ends = [place for place, word in enumerate(words) if word in ("|", "&&", ">", "&", "2>")]
        yield words[: min(ends, default=len(words))]


def test_every_kind_of_block_is_one_that_something_checks():
    assert {kind for _, kind, _ in BLOCKS} <= KINDS


@pytest.mark.parametrize(("page", "body"), blocks("console", "text", "sh"), ids=lambda part: str(part)[:30])
def test_commands_and_options_are_there(page: str, body: str):
    for words in typed(body):
        command, *rest = words
        if command == "--help":
            continue
        assert command in COMMANDS, f"{page}: fairgauge {command}"
        if command in GROUPS and rest and not rest[0].startswith("-"):
            assert rest[0] in GROUPS[command], f"{page}: fairgauge {command} {rest[0]}"
        options = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
        assert options <= options_of(command) | {"--help"}, f"{page}: fairgauge {command}"


def test_an_option_that_is_not_there_would_be_noticed():
    (words,) = typed("$ fairgauge plan study.toml --no-such \\\n    --epsilon 1 | tail -n 1\n")
    assert words == ["plan", "study.toml", "--no-such", "--epsilon", "1"]
    assert "--no-such" not in options_of("plan")


def test_what_has_no_command_of_ours_is_known_and_becomes_no_more():
    others = r"^(?:\$ )?(?:fairgauge|curl|make|pip|python|flower-supernode|cd|cp|head|cat|chmod)\b"
    left = Counter(page for page, body in blocks("text") if not re.search(others, body, re.MULTILINE))
    assert left == UNCHECKED


@pytest.mark.parametrize(("page", "body"), blocks("python"), ids=lambda part: str(part)[:30])
def test_python_compiles_and_what_it_imports_from_here_is_there(page: str, body: str):
    for node in ast.walk(ast.parse(body)):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("fairgauge"):
            if node.module.startswith(("fairgauge.flower", "fairgauge.nvflare")):
                continue  # which have environments of their own
            module = importlib.import_module(node.module)
            assert [name.name for name in node.names if not hasattr(module, name.name)] == [], page
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "fg":
            assert hasattr(importlib.import_module("fairgauge"), node.attr), page


@pytest.mark.parametrize(("page", "body"), blocks("json"), ids=lambda part: str(part)[:30])
def test_json_parses(page: str, body: str):
    whole = body.strip().removesuffix(",")
    assert json.loads(whole if whole.startswith(("{", "[")) else f"{{{whole}}}"), page


@pytest.mark.parametrize(("page", "body"), blocks("toml"), ids=lambda part: str(part)[:30])
def test_toml_parses(page: str, body: str):
    assert tomllib.loads(body), page


def test_the_page_of_settings_has_all_of_them_with_their_defaults():
    (shown,) = [body for page, body in blocks("toml") if page == "settings.md"]
    defaults = msgspec.to_builtins(Config())
    given = {name: value for name, value in defaults.items() if value is not None}
    assert tomllib.loads(shown) == given
    assert [name for name in defaults if name not in given and f"# {name} = " not in shown] == []


def test_what_epsilon_means_is_rounded_to_the_safe_side():
    rows = re.findall(r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) % sure \|", TEXTS["how-privacy-works.md"], re.MULTILINE)
    assert len(rows) == 5
    for epsilon, factor, sure in rows:
        assert float(factor) == pytest.approx(math.exp(float(epsilon)), rel=0.005)
        right = 100 / (1 + math.exp(-float(epsilon)))
        assert right <= float(sure) < right + 0.1


def test_names_of_the_javascript_page_are_exported():
    sources = (ROOT / "src/fairgauge/collector/static").glob("*.js")
    exported = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    page = TEXTS["javascript.md"]
    named = {name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)\(", row)}
    assert len(named) > 8
    assert [name for name in named if not re.search(rf"export (?:async )?function {name}\b", exported)] == []
    methods = set(re.findall(r"`ledger\.(\w+)\(", page))
    assert [name for name in methods if not re.search(rf"^  (?:async )?{name}\(", exported, re.MULTILINE)] == []
