"""How large the house is: ``make house``.

Modules, lines and names as a stranger meets them; imports as they are, with those by string counted like any other.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1] / "src" / "fairgauge"
# A module that is named in a string is loaded by it, past every linter; addresses of documentation are no strings here.
_STRING = re.compile(r"^fairgauge(\.\w+)+$")
# An address that is put together (``f"fairgauge.cli.{name}"``) may load whatever is below its beginning.
_BEGINNING = re.compile(r"^fairgauge(\.\w+)*\.$")
_RELATIVE = re.compile(r"^\w+(\.\w+)*$")
_VERSION = "fairgauge.__version__"  # is there before anything else is loaded
_TOP = "fairgauge.__init__"
# One idea has a small door, and is read at one sitting.
MOST_NAMES, MOST_LINES = 12, 700


@dataclass(frozen=True)
class Module:
    """One file."""

    name: str
    lines: int
    code: int
    public: tuple[str, ...]
    classes: tuple[str, ...]
    imports: frozenset[str]  # of modules, whichever way


def read_modules(root: Path = ROOT) -> dict[str, Module]:
    """Return every module by its name."""
    paths = {_name(root, path): path for path in sorted(root.rglob("*.py"))}
    return {name: _read(name, path, paths) for name, path in paths.items()}


def cycles(modules: dict[str, Module]) -> list[set[str]]:
    """Return the sets of modules that import one another (Tarjan's strongly connected components of two and more)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in modules[name].imports:
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(set(stack[at:]))
            del stack[at:]

    for name in modules:
        if name not in index:
            visit(name)
    return found


def with_one_importer(modules: dict[str, Module]) -> list[str]:
    """Return the modules that one other module of their own room imports, and nobody else."""
    importers: dict[str, list[str]] = {name: [] for name in modules}
    for module in modules.values():
        for other in module.imports - {module.name}:
            importers[other].append(module.name)
    return [
        name
        for name, by in importers.items()
        if len(by) == 1 and _room(by[0]) == _room(name) and not _is_package(name) and not _is_package(by[0])
    ]


def crowded(modules: dict[str, Module]) -> list[str]:
    """Return the modules that have more public names, or lines, than a stranger takes in."""
    files = (module for name, module in modules.items() if not _is_package(name))
    return sorted(module.name for module in files if len(module.public) > MOST_NAMES or module.lines > MOST_LINES)


def _name(root: Path, path: Path) -> str:
    parts = ["fairgauge", *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts)


def _room(name: str) -> str:
    return name.split(".")[1]


def _is_package(name: str) -> bool:
    return name.endswith(".__init__")


def _read(name: str, path: Path, known: dict[str, Path]) -> Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    public = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    targets = [name for n in tree.body if isinstance(n, ast.Assign) for t in n.targets for name in ast.walk(t)]
    public += [n.id for n in targets if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    public += [n.target.id for n in tree.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
    classes = tuple(n.name for n in tree.body if isinstance(n, ast.ClassDef) and not n.name.startswith("_"))
    loaded = {module for one in _imported(tree) if (module := _module(one, known)) is not None}
    loaded |= {module for one in _named(tree, name) if (module := _module(one, known)) not in (None, _TOP)}
    loaded |= {one for start in _beginnings(tree) for one in known if one.startswith(start) and not _is_package(one)}
    shown = tuple(one for one in public if not one.startswith("_"))
    return Module(name, text.count("\n"), _code_lines(text, tree), shown, classes, frozenset(loaded - {name}))


def _imported(tree: ast.Module) -> set[str]:
    """Return what a module's statements import; those for types alone load nothing."""
    found: set[str] = set()
    typed = {id(n) for one in ast.walk(tree) if _for_types(one) for n in ast.walk(one)}
    for node in ast.walk(tree):
        if id(node) in typed:
            continue
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{one.name}" for one in node.names}
    return found - {_VERSION}


def _named(tree: ast.Module, name: str) -> set[str]:
    """Return the modules that a module names in strings.

    A package that re-exports names on first use has their modules in strings, relative to itself.  A string that names
    a package that the module is in loads nothing: it is in there already.
    """
    strings = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    found = {text for text in strings if _STRING.match(text) and not name.startswith(f"{text}.")}
    if _is_package(name):
        found |= {f"{name.removesuffix('.__init__')}.{text}" for text in strings if _RELATIVE.match(text)}
    return found


def _beginnings(tree: ast.Module) -> set[str]:
    parts = [node.values[0] for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) and node.values]
    texts = [one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return {text for text in texts if _BEGINNING.match(text)}


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _module(imported: str, known: dict[str, Path]) -> str | None:
    """Return the module that an import loads: the longest known beginning of its name."""
    parts = imported.split(".")
    while parts:
        for name in (".".join(parts), ".".join([*parts, "__init__"])):
            if name in known:
                return name
        parts.pop()
    return None


def _code_lines(text: str, tree: ast.Module) -> int:
    lines: set[int] = set()
    skip = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skip:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                lines -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(lines)


def main() -> None:
    """Print the numbers."""
    modules = read_modules()
    files = [module for name, module in modules.items() if not _is_package(name)]
    last = Counter(module.name.rsplit(".", 1)[1] for module in files if _room(module.name) != "cli")
    classes = Counter(one for module in files for one in module.classes)
    names = sorted(name for name, times in last.items() if times > 1)
    twice = sorted(name for name, times in classes.items() if times > 1)
    rings = cycles(modules)
    rooms = Counter(_room(module.name) for module in files)
    large = crowded(modules)
    print(f"modules                     {len(files)}")
    print(f"lines                       {sum(module.lines for module in modules.values()):,}")
    print(f"lines of code               {sum(module.code for module in modules.values()):,}")
    print(f"median lines of a module    {median(module.lines for module in files):.0f}")
    print(f"public names                {sum(len(module.public) for module in files):,}")
    print(f"module names that repeat    {len(names)}: {', '.join(names)}")
    print(f"class names that repeat     {len(twice)}: {', '.join(twice)}")
    print(f"modules with one importer   {len(with_one_importer(modules))}")
    print(f"over {MOST_NAMES} names or {MOST_LINES} lines  {len(large)}: {', '.join(large)}")
    print(f"cycles                      {', '.join(f'{len(ring)} modules' for ring in rings) or 'none'}")
    print(f"modules by room             {', '.join(f'{room} {count}' for room, count in rooms.most_common())}")


if __name__ == "__main__":
    main()
