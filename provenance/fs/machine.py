"""What kernel, process and Python offer, as far as the guarantees of an audit rest on it.

Guarantees: nothing is changed and nothing is written; a question that cannot be asked here is
answered None or False, never with an error.

Example:
    >>> look_at_machine().max_open_files is None or look_at_machine().max_open_files > 0
    True
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import stat
import sys
import tempfile
from dataclasses import dataclass

from provenance.fs import _linux
from provenance.fs._backends import choose_backend
from provenance.fs._landlock import landlock_abi
from provenance.fs.failures import UnsafePlatform

__all__ = ["EXTRAS", "Machine", "look_at_machine"]

# What an extra brings; the first of these modules that is there is enough.
EXTRAS = {
    "zstd": ("compression.zstd", "backports.zstd"),
    "tokens": ("bpe_openai",),
}
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Facts about where we run.

    Attributes:
        system: `Linux`, `Darwin`, ...
        kernel: its release.
        backend: how files are opened below a root: `openat2` or `walk`; None: nothing is safe.
        landlock_abi: version of the kernel's Landlock; None: it has none, or refuses to say.
        has_leases: files can be leased while they are read.
        has_unnamed_files: a file can be made without a name (`O_TMPFILE`) where we keep temporary
            ones.
        python: its version: major, minor, micro.
        sqlite: the version of its SQLite library; None: there is none.
        extras: each optional part, and whether it is installed.
        is_root: this process may do what only root may.
        umask: None where nobody says it.
        max_open_files: None where there is no bound.
        temporary_mode: the mode of the folder for temporary files; None: there is none.
        temporary_free_bytes: what can still be written there.
        temporary_device: which file system it lies on.
    """

    system: str
    kernel: str
    backend: str | None
    landlock_abi: int | None
    has_leases: bool
    has_unnamed_files: bool
    python: tuple[int, int, int]
    sqlite: tuple[int, ...] | None
    extras: tuple[tuple[str, bool], ...]
    is_root: bool
    umask: int | None
    max_open_files: int | None
    temporary_mode: int | None
    temporary_free_bytes: int | None
    temporary_device: int | None


def look_at_machine() -> Machine:
    """Look at kernel, process and Python."""
    mode, free, device, unnamed = _temporary()
    return Machine(
        system=platform.system(),
        kernel=platform.release(),
        backend=_backend(),
        landlock_abi=landlock_abi(),
        has_leases=_has_leases(),
        has_unnamed_files=unnamed,
        python=(sys.version_info.major, sys.version_info.minor, sys.version_info.micro),
        sqlite=_sqlite(),
        extras=tuple((name, any(map(_is_there, modules))) for name, modules in EXTRAS.items()),
        is_root=hasattr(os, "geteuid") and os.geteuid() == 0,
        umask=_umask(),
        max_open_files=_max_open_files(),
        temporary_mode=mode,
        temporary_free_bytes=free,
        temporary_device=device,
    )


def _backend() -> str | None:
    try:
        fd = os.open("/", _DIRECTORY)
    except OSError:
        return None
    try:
        return choose_backend(probe_fd=fd).name
    except UnsafePlatform:
        return None
    finally:
        os.close(fd)


def _has_leases() -> bool:
    if not _linux.is_linux():
        return False
    # Absent in a container that hides it: then nothing says that they are off.
    text = _small_file("/proc/sys/fs/leases-enable")
    return text is None or text.strip() != "0"


def _sqlite() -> tuple[int, ...] | None:
    try:
        import sqlite3  # noqa: PLC0415 - a Python may be built without it
    except ImportError:
        return None
    return sqlite3.sqlite_version_info


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _umask() -> int | None:
    # Asked of the kernel: `os.umask` can only be asked by changing it, for all threads.
    text = _small_file("/proc/self/status") or ""
    found = re.search(r"^Umask:\s*([0-7]{1,6})$", text, re.MULTILINE)
    return int(found[1], 8) if found else None


def _max_open_files() -> int | None:
    try:
        import resource  # noqa: PLC0415 - not on every platform
    except ImportError:
        return None
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if soft == resource.RLIM_INFINITY else soft


def _temporary() -> tuple[int | None, int | None, int | None, bool]:
    try:
        fd = os.open(tempfile.gettempdir(), _DIRECTORY)
    except OSError:
        return None, None, None, False
    try:
        found, room = os.fstat(fd), os.fstatvfs(fd)
        return (
            stat.S_IMODE(found.st_mode),
            room.f_bavail * room.f_frsize,
            found.st_dev,
            _has_unnamed_files(fd),
        )
    except OSError:
        return None, None, None, False
    finally:
        os.close(fd)


def _has_unnamed_files(fd: int) -> bool:
    flag = getattr(os, "O_TMPFILE", 0)
    if not flag:
        return False
    try:
        os.close(os.open(".", flag | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=fd))
    except OSError:
        return False
    return True


def _small_file(path: str) -> str | None:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read(1 << 14)
    except OSError:
        return None
