"""Canonical JSON: one byte string per document (RFC 8785), and strict reading of what strangers send.

Documents hold objects with ASCII keys, arrays, strings, integers, booleans and null.  Without floats,
RFC 8785 asks for nothing but sorted keys, no white space and few escapes: the standard library can do that.
"""

import json
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, NoReturn

from fairgauge.errors import InvalidInput

LONGEST_DOCUMENT = 2**23


def encode(document: Mapping[str, object]) -> bytes:
    """Return the canonical bytes of a document.

    >>> encode({"b": [1, None], "a": "é"}).decode()
    '{"a":"é","b":[1,null]}'
    """
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def _check_bytes(data: object, *, error: type[InvalidInput]) -> None:
    """Refuse a document that is not bytes, such as the name of its file."""
    if not isinstance(data, bytes | bytearray):
        given = data if isinstance(data, str) else f"a {type(data).__name__}"
        raise error("document", given, "must be given as bytes; load() takes a file's name")


def once(error: type[InvalidInput]) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """Return what makes an object of its members and refuses one given twice: readers differ in which counts."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise error(key, value, "must be given once")
            found[key] = value
        return found

    return unique


def decode(data: bytes, *, error: type[InvalidInput]) -> dict[str, Any]:
    """Read an object from JSON without guessing: duplicate keys and numbers with a fraction are refused.

    Raises:
        InvalidInput: Of the given type.
    """
    _check_bytes(data, error=error)
    if len(data) > LONGEST_DOCUMENT:
        raise error("document", f"{len(data)} bytes", f"must be at most {LONGEST_DOCUMENT} bytes")

    def refuse(number: str) -> NoReturn:
        raise error("document", number, "must hold no number but integers")

    try:
        document = json.loads(data.decode(), object_pairs_hook=once(error), parse_float=refuse, parse_constant=refuse)
    except error:
        raise
    except (ValueError, RecursionError) as problem:
        raise error("document", f"{len(data)} bytes", f"must be JSON in UTF-8 ({problem})") from None
    if not isinstance(document, dict):
        raise error("document", document, "must be an object")
    return document


def members(document: Mapping[str, Any], *names: str, error: type[InvalidInput]) -> list[Any]:
    """Return the members with these names, in this order, from a document that has these and no others."""
    for name in names:
        if name not in document:
            raise error(name, "nothing", "must be given")
    for name, value in document.items():
        if name not in names:
            raise error(name, value, "is not a field of this format")
    return [document[name] for name in names]


def read_file(path: str | PathLike[str], *, field: str) -> bytes:
    """Read a document from a file, or one byte more than a document may have.

    Raises:
        InvalidInput: Naming the field, if it cannot be read.
    """
    from pathlib import Path

    try:
        with Path(path).open("rb") as file:
            return file.read(LONGEST_DOCUMENT + 1)
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
    except ValueError:
        reason = "no file has such a name"
    except TypeError:
        raise InvalidInput(field, f"a {type(path).__name__}", "must be a file's name") from None
    raise InvalidInput(field, path, f"cannot be read: {reason}")


def write_file(path: str | PathLike[str], data: bytes, *, field: str) -> None:
    """Write a file whole or not at all; a device or a pipe is written to, never replaced.

    Raises:
        InvalidInput: Naming the field, if it cannot be written.
    """
    import secrets
    from pathlib import Path

    try:
        target = Path(path)
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        temporary = target.parent / f".fairgauge-{secrets.token_hex(8)}"
        try:
            with temporary.open("xb") as file:
                file.write(data)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
    except ValueError:
        reason = "no file has such a name"
    except TypeError:
        raise InvalidInput(field, f"a {type(path).__name__}", "must be a file's name") from None
    else:
        return
    raise InvalidInput(field, path, f"cannot be written: {reason}")
