"""The whitepaper is made of the pages' own text, and whoever has it and the wheel gets its five numbers."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from docutils import nodes

ROOT = Path(__file__).parents[2]
PAPER = ROOT / "docs" / "whitepaper"
LIBRARIES = [path for path in sys.path if path.endswith("site-packages")]


def loaded(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def make() -> ModuleType:
    return loaded(PAPER / "make.py")


def run(*words: object, folder: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel alone in an environment of its own, beside the libraries that its extra would bring; no clone."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, ROOT, folder=folder)
    (wheel,) = folder.glob("*.whl")
    home = folder / "home"
    run(sys.executable, "-m", "venv", "--without-pip", home, folder=folder)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", home / "bin" / "python"]
    run(*pip, "install", "--no-index", "--no-deps", "--no-cache-dir", wheel, folder=folder)
    (site,) = (home / "lib").glob("python3*/site-packages")
    # Each name by itself: a folder of libraries would bring the clone that is installed there as well.
    names = [path for library in LIBRARIES for path in Path(library).iterdir() if "fairgauge" not in path.name.lower()]
    for path in names:
        if path.suffix != ".pth" and not (site / path.name).exists():
            (site / path.name).symlink_to(path)
    where = subprocess.run(
        [home / "bin" / "python", "-c", "import fairgauge; print(fairgauge.__file__)"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert where.startswith(str(home)), "or the clone would answer"
    return home / "bin"


def test_whoever_has_the_paper_and_the_wheel_gets_its_numbers(make: ModuleType, programs: Path) -> None:
    text = (PAPER / "paper.md").read_text(encoding="utf-8")
    sessions = make.sessions(text[text.index("## 10. Five numbers") :])
    assert len(re.findall(r"^\*\*\d\. ", text, flags=re.MULTILINE)) == 5
    printed = make.printed_by([command for command, _ in sessions], programs)
    assert printed == [expected for _, expected in sessions]
    for number in ("1.3799", "297,498", "0.13265", "-0.0886", "0.03802"):
        assert number in "".join(printed)


def test_a_number_that_is_another_one_is_noticed(make: ModuleType) -> None:
    text = "```console\n$ echo 0.13265\n0.13266\n```\n"
    ((command, expected),) = make.sessions(text)
    assert make.printed_by([command], Path("/usr/bin")) == ["0.13265\n"] != [expected]


def test_the_paper_is_whole_and_says_what_the_pages_say(make: ModuleType) -> None:
    text = make.source()
    assert not re.search(r"\[\[|\{doc\}|\{term\}|\{math\}|\{\{|<!--", text)
    maths = (ROOT / "docs" / "maths.md").read_text(encoding="utf-8")
    for sentence in ("It is not true that the factor holds", "Unless a bet fails, $v$ is in $[L, U]$."):
        assert sentence in text
        assert sentence in maths
    for section in ("The problem", "The mechanism", "Secret draws", "Measurements", "what can go wrong"):
        assert re.search(rf"^## \d+\. .*{section}", text, flags=re.MULTILINE)


@pytest.mark.parametrize("formula", [r"\frac17 \sum_i x_i", r"{\hat S}_h", r"\hat S_h", r"\tilde{m}_h"])
def test_a_formula_that_would_come_out_as_another_one_fails_the_pages(
    formula: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The converter makes 17 over a sum of the first, and sets the h below the letter of the others."""
    mathml = loaded(ROOT / "docs" / "_ext" / "mathml.py")
    warned: list[object] = []
    monkeypatch.setattr(mathml.logger, "warning", lambda *words, **_: warned.append(words))
    for right in (r"\frac{1}{7} \sum_i x_i", r"\hat S{}_h", r"\hat{\varphi}^2", r"\frac1\pi"):
        mathml.convert(nodes.math("", right), as_block=False)
    assert not warned
    mathml.convert(nodes.math("", formula), as_block=False)
    assert len(warned) == 1


def test_a_page_that_no_longer_has_a_part_is_noticed(make: ModuleType) -> None:
    for heading, first in (("No such heading", None), ("The crowd", "no such line")):
        with pytest.raises(ValueError, match="has no"):
            make.piece("maths.md", heading, first, None)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no Chromium here")
def test_it_has_at_most_fifteen_pages(make: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "OUT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["make.py"])
    assert make.main() == 0
    assert 8 <= make.pages_of(tmp_path / "fairgauge.pdf") <= 15
    page = (tmp_path / "fairgauge.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert not re.search(r'(?:src|href)="(?!https?:|#|data:)', page), "it stands alone"
