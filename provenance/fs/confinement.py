"""Confining a process to reading what it was given, before it looks at hostile bytes.

Guarantees: after `confine` the process and all that it starts can open files for reading below the
places that were named, write below the scratch folder, and nothing else; it holds no other handle
than those that were to be kept, and standard input, output and error lead nowhere. There is no way
back. A kernel that cannot do this is an error, never passed over.

On x86-64 and arm64 a filter of system calls (`_seccomp.py`) refuses what Landlock does not judge:
sockets, limits and priorities of other processes, modes, owners and times of files. Not covered:
asking for the facts of a file by its path; signals to other processes before ABI 6; elsewhere all
that the filter refuses (`docs/sandbox.md`).

Example:
    >>> LEAST_ABI
    3
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from provenance.errors import MachineError
from provenance.fs import _landlock
from provenance.fs._capabilities import drop_capabilities
from provenance.fs._landlock import landlock_abi
from provenance.fs._seccomp import forbid_calls
from provenance.fs.scratch import use_scratch_folder

__all__ = [
    "LEAST_ABI",
    "SandboxUnavailable",
    "confine",
    "current_folder",
    "landlock_abi",
    "require_landlock",
]

# Linux 6.2. Before it a file could be cut short by whoever may only read it.
LEAST_ABI = 3
_PLACE = getattr(os, "O_PATH", 0) | getattr(os, "O_CLOEXEC", 0)
# Nothing that could be a place: no such name, or nobody may pass.
_NO_PLACE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG})


class SandboxUnavailable(MachineError):
    """This machine cannot confine a process."""

    code = "sandbox_unavailable"


def require_landlock() -> int:
    """Give the ABI of Landlock here.

    Raises:
        SandboxUnavailable: there is none, or one that is too old.
    """
    abi = landlock_abi()
    if abi is None or abi < LEAST_ABI:
        raise SandboxUnavailable(
            f"kernel: expected Landlock with ABI {LEAST_ABI} or more (Linux 6.2), got "
            + ("no Landlock" if abi is None else f"ABI {abi}")
        )
    return abi


def confine(readable: Iterable[str], *, scratch: Path, keep: Collection[int]) -> None:
    """Confine this process, which must have one thread; for good.

    Args:
        readable: paths of files and folders that may be read, links in them followed now. One that
            is not there is passed over: nothing of that name can be read later either.
        scratch: the folder that temporary files go to.
        keep: handles to keep open, beside the first three.

    Raises:
        SandboxUnavailable: the kernel cannot, or refused.
    """
    abi = require_landlock()
    try:
        # 1. Nothing that was opened before: a rule holds for what is opened after it.
        _close_all_but(keep)
        # 2. No picture of what was read on the disk.
        _forbid_core_dumps()
        # 3. The rules: read here, write there.
        ruleset = _landlock.create_ruleset(abi)
        for path in readable:
            _permit(ruleset, path, _landlock.READ_FILE, _landlock.READ_DIR)
        _permit(ruleset, str(scratch), 0, _landlock.SCRATCH)
        # 4. In force from here on, and what is started later cannot shake them off.
        _landlock.give_up_privileges()
        _landlock.restrict_this_thread(ruleset)
        os.close(ruleset)
        # 5. What Landlock does not judge: root's other rights, and calls that no audit makes. The
        #    owner's modes cannot be mended afterwards, so that no umask may take them away.
        os.umask(0o077)
        drop_capabilities()
        forbid_calls()
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "unknown error")
        raise SandboxUnavailable(f"kernel: expected to confine this process, got {name}") from None
    use_scratch_folder(scratch)


def current_folder() -> str:
    """Give the folder that relative paths begin at; `/` where it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return "/"


def _permit(ruleset: int, path: str, of_file: int, of_folder: int) -> None:
    try:
        place = os.open(path, _PLACE)
    except OSError as error:
        if error.errno in _NO_PLACE:
            return
        raise
    except ValueError:
        return  # a NUL: no name of anything
    try:
        if stat.S_ISDIR(os.fstat(place).st_mode):
            _landlock.add_place(ruleset, place, of_file | of_folder)
        elif of_file:
            _landlock.add_place(ruleset, place, of_file)
    finally:
        os.close(place)


def _close_all_but(keep: Collection[int]) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nowhere, standard)
    kept = sorted({*range(3), *keep})
    for low, high in pairwise(kept):
        if high - low > 1:
            _landlock.close_handles(low + 1, high - 1)
    _landlock.close_handles(kept[-1] + 1)


def _forbid_core_dumps() -> None:
    import resource  # noqa: PLC0415 - not on every platform

    with suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
