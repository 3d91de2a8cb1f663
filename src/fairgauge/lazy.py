"""Names that load on first use, for every ``__init__`` of the package: nobody pays for what they do not use."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package that re-exports names.

    Args:
        package: The package's name.
        homes: For each name the module below the package that it comes from, such as ``"study"``; for a module that
            is a public name itself, its own name.

    >>> __getattr__, __dir__ = lazily("fairgauge", {"Study": "study", "errors": "errors"})
    >>> __getattr__("Study").__name__, "errors" in __dir__()
    ('Study', True)
    """

    def load(name: str) -> object:
        """Load a public name when it is first asked for."""
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{homes[name]}")
        value = module if homes[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        """List the public names, loaded or not."""
        return sorted({*homes, *getattr(sys.modules[package], "__all__", ())})

    return load, names


def above(home: str, name: str) -> Callable[..., Any]:
    """Return a method whose body lives in a room above, which is loaded when the method is called.

    A notebook asks a value how it looks (``_repr_html_``), but how things look is known in ``reports``, which the
    value's own room must not import.  The name is all that it knows of it.

    Args:
        home: The module, such as ``"fairgauge.reports.notebook"``.
        name: The function in it, whose first argument is the value.
    """

    def method(self: object, *arguments: Any, **options: Any) -> Any:
        return elsewhere(home, name)(self, *arguments, **options)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"See :func:`{home}.{name}`."
    return method


def elsewhere(home: str, name: str) -> Callable[..., Any]:
    """Return a function of a room above, loaded now; :func:`above` says why its name is all that is known of it."""
    found: Callable[..., Any] = getattr(import_module(home), name)
    return found
