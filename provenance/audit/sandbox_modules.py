"""What a confined process needs in memory, and what it must never ask for.

Guarantees: after `load_all` an audit of any format needs no module that is not loaded. After
`watch` a module that is asked for all the same, a program that is started, a connection, a file
elsewhere: each is refused and noted, so that the run fails, also where the code that tried it
passes over its own failure. What holds against code that avoids Python is the kernel
(`provenance/fs/confinement.py`); this only sees to it that an attempt is told.

Example:
    >>> load_all()
    >>> import sys
    >>> "provenance.transcripts.containers.archive" in sys.modules
    True
"""

from __future__ import annotations

import encodings
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import PurePath
from pkgutil import iter_modules
from types import FrameType, ModuleType
from typing import Any

from provenance.errors import MachineError
from provenance.fs.confinement import current_folder
from provenance.transcripts.formats import known_formats

__all__ = ["SandboxRefusal", "load_all", "watch"]

# Packages that no audit reaches, and that would cost much.
_NOT_NEEDED = frozenset(
    {"assembly", "doctor", "embedding", "histories", "messages", "reports", "retention", "schemas"}
)
_NOT_HERE = frozenset({"mbcs", "oem"})  # Windows alone
# What the standard library and the libraries load when it is first used.
_LOADED_LATE = (
    "_strptime",
    "bz2",
    "concurrent.futures.process",
    "concurrent.futures.thread",
    "ctypes",
    "lzma",
    "multiprocessing.connection",
    "multiprocessing.popen_fork",
    "multiprocessing.queues",
    "multiprocessing.resource_tracker",
    "multiprocessing.synchronize",
    "multiprocessing.util",
    "resource",
    "sqlite3",
    "unicodedata",
    "zlib",
    "zoneinfo",
)
# Only where a seal is checked: it takes longer to load than a small home to verify.
_OF_SEALS = (
    "cryptography.exceptions",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "cryptography.hazmat.primitives.serialization",
)
# Of Python's own audit: events that change what has a path.
_CHANGES = frozenset(
    {
        "os.chflags",
        "os.chmod",
        "os.chown",
        "os.link",
        "os.mkdir",
        "os.remove",
        "os.removexattr",
        "os.rename",
        "os.rmdir",
        "os.setxattr",
        "os.symlink",
        "os.truncate",
        "os.utime",
    }
)
# Functions of the C library that we call ourselves (`provenance/fs/_linux.py`, `processes.py`).
_OUR_CALLS = frozenset({"fstatfs", "prctl", "renameat2", "statx", "sync_file_range", "syscall"})
# What code of ours is told by; no boundary, which is the kernel's to keep.
_PACKAGE = f"{PurePath(__file__).parent.parent}{os.sep}"
_STANDARD = (f"{PurePath(os.__file__).parent}{os.sep}", "<frozen ")
_FORKS = frozenset({"os.fork", "os.forkpty"})
_HARMLESS = frozenset({"/dev/null", "/dev/urandom"})
_OWN_HANDLES = ("/", "proc", "self", "fdinfo")
# Events that no audit of ours gives rise to, by their first words.
_FORBIDDEN = (
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "pty.spawn",
    "resource.prlimit",
    "socket.",
    "subprocess.Popen",
)


class SandboxRefusal(MachineError):
    """A confined process tried what it must not."""

    code = "sandbox_refusal"


def load_all(*, with_seals: bool = True) -> None:
    """Load every module that an audit may need, and every format there is.

    Args:
        with_seals: also what verifies the signature of a seal.
    """
    _load_below(sys.modules["provenance"], skip=_NOT_NEEDED)
    # A codec is a module, looked for by its name: UTF-16 in the head of a file is enough.
    _load_below(encodings, skip=_NOT_HERE)
    for name in (*_LOADED_LATE, *(_OF_SEALS if with_seals else ())):
        try:
            import_module(name)
        except ImportError:
            continue  # not part of this Python; nothing here rests on it
    known_formats()


def _load_below(package: ModuleType, *, skip: frozenset[str] = frozenset()) -> None:
    for found in iter_modules(package.__path__):
        if found.name in skip:
            continue
        module = import_module(f"{package.__name__}.{found.name}")
        if found.ispkg:
            _load_below(module)


def watch(places: Sequence[str], scratch: str, note: Callable[[str], None]) -> None:
    """Refuse what must not be tried from here on; for good.

    Args:
        places: where files may be read, as absolute paths.
        scratch: where files may be written, too.
        note: hears of each attempt, in words without paths.
    """
    written = (PurePath(scratch),)
    # What Python itself looks into, for a traceback or a module: the kernel refuses it in silence.
    # Not the current folder, unless we lie in it: `python -m` puts it there, whatever is in it.
    current = current_folder()
    own = {
        PurePath(place)
        for place in (sys.prefix, sys.base_prefix, *sys.path)
        if place
        and (PurePath(current, place) != PurePath(current) or _PACKAGE.startswith(current + os.sep))
    }
    read = (*map(PurePath, places), *written, *own)
    parent = os.getppid()

    def refuse(what: str) -> None:
        note(what)
        raise SandboxRefusal(f"expected to read its roots alone, got {what}")

    def is_elsewhere(path: object, places: Sequence[PurePath]) -> bool:
        if not _is_elsewhere(path, places):
            return False
        # Below a handle the name is a relative one; only we open by handle.
        is_relative = not os.fsdecode(path).startswith("/")  # type: ignore[arg-type]
        return not (is_relative and _is_ours(sys._getframe(2)))

    def hear(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = args
            if is_elsewhere(path, written if _is_to_write(mode, flags) else read):
                refuse("an attempt to open another file")
        elif event in ("os.listdir", "os.scandir"):
            if is_elsewhere(args[0], read):
                refuse("an attempt to list another folder")
        elif event in _CHANGES:
            if is_elsewhere(args[0], written):
                refuse(f"an attempt at {event}")
        elif event.startswith(_FORBIDDEN) or (event == "os.kill" and args[0] in (parent, 1, 0, -1)):
            refuse(f"an attempt at {event}")
        elif event in _FORKS and not _is_ours(sys._getframe(1)):
            refuse("an attempt to start a process")
        elif event == "ctypes.dlopen" and args[0] is not None:
            refuse("an attempt to load a library")
        elif event == "ctypes.dlsym" and args[1] not in _OUR_CALLS:
            refuse("an attempt at another function of the C library")

    class NoMoreModules:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
            refuse(f"a need for the module {name!r:.80}, which was not loaded before")
            return None

    sys.meta_path.insert(0, NoMoreModules)
    sys.addaudithook(hear)


def _is_to_write(mode: object, flags: object) -> bool:
    if isinstance(mode, str):
        return not {"w", "a", "x", "+"}.isdisjoint(mode)
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def _is_elsewhere(path: object, places: Sequence[PurePath]) -> bool:
    """Say whether a path leads elsewhere by its words alone; the kernel judges where it leads."""
    if not isinstance(path, str | bytes | os.PathLike):
        return False  # a handle
    text = os.fsdecode(path)
    if text in _HARMLESS:
        return False
    named = PurePath(current_folder(), text)
    if named.parts[:4] == _OWN_HANDLES and len(named.parts) == 5:
        return False
    return ".." in named.parts or not any(
        named == place or place in named.parents for place in places
    )


def _is_ours(frame: FrameType | None) -> bool:
    """Say whether the nearest code outside the standard library is this package's own."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_PACKAGE):
            return True
        if not file.startswith(_STANDARD) or "-packages" + os.sep in file:
            return False
        frame = frame.f_back
    return True  # a thread of a pool, at rest in the standard library
