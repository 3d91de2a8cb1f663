"""Counts how often SQLite asks the system to put its write-ahead log onto the disk.

SQLite reaches files through a table of functions, its VFS.  For as long as ``counted`` lasts, the table that opens
write-ahead logs gives them a ``xSync`` that counts and then does what it did before.
"""

import _sqlite3
import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_OPENS_WAL = 0x00080000
_METHODS = 18  # functions of sqlite3_io_methods, version 3
_SYNC = 4  # the fifth of them
_Open = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_Sync = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)


class _Vfs(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_int),
        ("size", ctypes.c_int),
        ("longest", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("open", ctypes.c_void_p),
    )


class _Methods(ctypes.Structure):
    _fields_ = (("version", ctypes.c_int), ("functions", ctypes.c_void_p * _METHODS))


class _File(ctypes.Structure):
    _fields_ = (("methods", ctypes.POINTER(_Methods)),)


@dataclass
class Syncs:
    """How many there were."""

    count: int = 0
    _kept: list[object] = field(default_factory=list)  # what SQLite may still call


_FOR_EVER: list[Syncs] = []  # files that are open when counting ends go on calling


@contextmanager
def counted() -> Iterator[Syncs]:
    """Count from here on."""
    library = ctypes.CDLL(_sqlite3.__file__)
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    vfs = library.sqlite3_vfs_find(None).contents
    before, found = vfs.open, Syncs()
    _FOR_EVER.append(found)

    @_Open
    def opened(this: int, name: int, file: int, flags: int, told: int) -> int:
        status: int = _Open(before)(this, name, file, flags, told)
        if status == 0 and flags & _OPENS_WAL:
            handle = ctypes.cast(file, ctypes.POINTER(_File)).contents
            own = _Methods.from_buffer_copy(handle.methods.contents)
            original = _Sync(own.functions[_SYNC])

            @_Sync
            def sync(file: int, flags: int) -> int:
                found.count += 1
                done: int = original(file, flags)
                return done

            own.functions[_SYNC] = ctypes.cast(sync, ctypes.c_void_p).value
            handle.methods = ctypes.pointer(own)
            found._kept += [own, sync, original]
        return status

    found._kept.append(opened)
    vfs.open = ctypes.cast(opened, ctypes.c_void_p).value
    try:
        yield found
    finally:
        vfs.open = before
