"""The script for other sites: everything in one file, and types for all that it has."""

import re
from importlib.resources import files

import pytest

from fairgauge import __version__
from fairgauge.collector.pages import take_part
from fairgauge.collector.pages.take_part import _source, bundle, integrity, types

STATIC = files("fairgauge.collector").joinpath("static")
CLIENT = STATIC.joinpath("fairgauge-client.js").read_text(encoding="utf-8")


def test_it_loads_nothing_and_has_every_module_once() -> None:
    text = bundle().decode()
    assert not re.search(r"^import\b|\bimport\(", text, re.MULTILINE)
    assert "import.meta" not in text
    modules = re.findall(r'^modules\["([\w.-]+)"\] = ', text, re.MULTILINE)
    assert len(modules) == len(set(modules))
    parts = {path.name for path in take_part._PAGES.glob("take-part*.js")} - {"take-part-page.js"}
    assert parts | {"languages.js", "style.js", "fairgauge-client.js", "fairgauge-crowd.js"} <= set(modules)
    assert f"Version {__version__}." in text
    # What a module needs stands above it.
    for name in modules:
        needed = re.findall(r'^import [^;]*? from "\./([\w.-]+)";', _source(name), re.MULTILINE)
        assert all(modules.index(one) < modules.index(name) for one in needed)


def test_the_code_is_what_people_may_read_elsewhere() -> None:
    text = bundle().decode()
    for line in CLIENT.splitlines():
        if not line.startswith(("import", "export")) and "import(" not in line:
            assert line in text


def exported(text: str) -> set[str]:
    return set(re.findall(r"^export (?:async )?(?:function|class|const) (\w+)", text, re.MULTILINE))


def test_types_name_all_that_is_exported_and_no_more() -> None:
    own = exported(CLIENT)
    assert exported(types().decode()) == own | {"FairgaugeStudy"}
    last = re.findall(r"^export const \{ (.*) \} = modules", bundle().decode(), re.MULTILINE)
    assert {name for names in last for name in names.split(", ")} == own | {"FairgaugeStudy"}


def test_types_name_all_that_a_ledger_does() -> None:
    ledger = CLIENT[CLIENT.index("export class Ledger") :]
    does = set(re.findall(r"^  (?:async )?([a-z]\w*)\(", ledger[: ledger.index("\n}\n")], re.MULTILINE))
    typed = types().decode()
    typed = typed[typed.index("export class Ledger") :]
    assert set(re.findall(r"^  (\w+)(?:<T>)?\(", typed[: typed.index("\n}\n")], re.MULTILINE)) == does


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('import client from "./a.js";\n', "cannot put this into one file: import client"),
        ('export { a } from "./a.js";\n', "cannot put this into one file: export"),
        ("const later = (name) => import(name);\n", "cannot put this into one file: import(name)"),
        ('import { x } from "./take-part.js";\n', "must not import each other in a circle"),
    ],
)
def test_a_module_that_cannot_be_put_in_is_refused(monkeypatch: pytest.MonkeyPatch, text: str, rule: str) -> None:
    monkeypatch.setattr(take_part, "_source", lambda _: text)
    with pytest.raises(ValueError, match=re.escape(rule)):
        bundle.__wrapped__()


def test_the_seal_is_of_the_bytes() -> None:
    assert integrity(b"a") != integrity(b"b")
    assert integrity(bundle()).startswith("sha384-")
