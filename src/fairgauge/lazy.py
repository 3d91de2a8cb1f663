"""What loads on first use: names of a package, and methods whose bodies live in rooms above.

Nobody pays for what they do not use.  A notebook asks a value how it looks (``_repr_html_``, ``plot``, ``to_frame``),
but how things look is known in ``reports``, which the value's own room must not import.  So the value has a *late*
method, which names nothing; the room above *gives* it a body, for the value's type, when it is imported; and the
package itself, the only one that knows all rooms, says what to import when a body is missing.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

_Body = TypeVar("_Body", bound=Callable[..., Any])
_bodies: dict[tuple[type, str], Callable[..., Any]] = {}
_loaders: list[Callable[[str], object]] = []


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


def late(name: str) -> Callable[..., Any]:
    """Return a method whose body a room above gives.

    Args:
        name: The method's own name.
    """

    def method(self: object, *arguments: Any, **options: Any) -> Any:
        return body(type(self), name)(self, *arguments, **options)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = "Its body is given by a room above, when it is first called."
    return method


def gives(kind: type, name: str) -> Callable[[_Body], _Body]:
    """Return a decorator: the function below is the body of a type's late method.

    >>> class Cat:
    ...     speak = late("speak")
    >>> @gives(Cat, "speak")
    ... def meow(cat, times=1):
    ...     return "meow " * times
    >>> Cat().speak(times=2)
    'meow meow '
    """

    def give(function: _Body) -> _Body:
        _bodies[kind, name] = function
        return function

    return give


def body(kind: type, name: str) -> Callable[..., Any]:
    """Return the body of a late method, for a type or the nearest one that it inherits from."""
    for loaded in (False, True):
        if loaded:
            for load in _loaders:
                load(name)
        for one in kind.__mro__:
            if (one, name) in _bodies:
                return _bodies[one, name]
    raise AttributeError(f"nothing gives {kind.__name__!r} a body of {name!r}")


def bodies_from(load: Callable[[str], object]) -> None:
    """Say what imports the rooms that give bodies: a function of the method's name."""
    _loaders.append(load)
