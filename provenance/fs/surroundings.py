"""What a root stands on: the folders on the way to it, and the file system that it lies on.

Guarantees: nothing is written and no file is read. Each step of the operator's path is looked at
as the kernel takes it, links too. No value holds a path: a step is told by how far above the root
it is.

Example:
    >>> way_to("/")[-1].levels_above
    0
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, replace

from provenance.fs import _linux
from provenance.fs.directory import Directory
from provenance.fs.failures import LockTimeout, WriteFailed, translate
from provenance.fs.guard import FolderGuard

__all__ = ["FileSystem", "Step", "file_system_of", "mounts_below", "way_to"]

_LONGEST_LINK_CHAIN = 40  # the kernel's own bound
# Magic numbers of file systems (linux/magic.h, and the headers of those that are not there).
_NAMES = {
    0xEF53: "ext",
    0x58465342: "xfs",
    0x9123683E: "btrfs",
    0xF2F52010: "f2fs",
    0xCA451A4E: "bcachefs",
    0x2FC12FC1: "zfs",
    0x01021994: "tmpfs",
    0x858458F6: "ramfs",
    0x794C7630: "overlay",
    0x6969: "nfs",
    0xFF534D42: "cifs",
    0xFE534D42: "smb2",
    0x517B: "smb",
    0x00C36400: "ceph",
    0x5346414F: "afs",
    0x01021997: "9p",
    0x01161970: "gfs2",
    0x7461636F: "ocfs2",
    0x0BD00BD0: "lustre",
    0x47504653: "gpfs",
    0x65735546: "fuse",
    0x6A656A63: "virtiofs",
    0x4D44: "vfat",
    0x2011BAB0: "exfat",
    0x5346544E: "ntfs",
    0x7366746E: "ntfs3",
    0x4244: "hfs",
    0x482B: "hfsplus",
    0x9660: "iso9660",
    0x73717368: "squashfs",
    0xE0F5E1E2: "erofs",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step on the way to a root.

    Attributes:
        levels_above: how far above the root this folder is; 0 is the root; None: it is not above
            the root, but on the way to a link that leads there.
        mode: as `st_mode`.
        uid: its owner.
        gid: its group.
        is_link: a symbolic link.
        entry_uid: the owner of what the way goes on with in this folder; None at the end.
        entry_is_link: that is a symbolic link.
    """

    levels_above: int | None
    mode: int
    uid: int
    gid: int
    is_link: bool = False
    entry_uid: int | None = None
    entry_is_link: bool = False


@dataclass(frozen=True, slots=True)
class FileSystem:
    """The file system that a folder lies on.

    Attributes:
        name: its type; `unknown` and its magic number where we know no name.
        is_read_only: nothing can be written.
        free_bytes: for us; None: it does not say.
        free_inodes: for us; None: it does not count them.
        folds_case: names in another case lead to the same file; None: nothing there shows it.
        locks_folders: a folder can be locked.
    """

    name: str
    is_read_only: bool = False
    free_bytes: int | None = None
    free_inodes: int | None = None
    folds_case: bool | None = None
    locks_folders: bool = True


def way_to(path: str | os.PathLike[str]) -> tuple[Step, ...]:
    """Give each folder and link that the kernel passes on the way to `path`, the root last.

    Raises:
        SourceAbsent, BoundaryRefused, AccessRefused, ReadFailed: why the way ends before.
    """
    try:
        return _way_to(os.fspath(path))
    except OSError as error:
        raise translate(error) from None
    except ValueError:
        raise translate(OSError(errno.ENOENT, "NUL")) from None


def _way_to(path: str) -> tuple[Step, ...]:
    waiting = [name for name in path.split("/") if name not in ("", ".")][::-1]
    if not path.startswith("/"):
        waiting += [name for name in os.getcwd().split("/") if name][::-1]
    here = "/"
    seen: list[tuple[str, os.stat_result, os.stat_result | None]] = []
    links = 0
    while waiting:
        name = waiting.pop()
        if name == "..":
            here = os.path.dirname(here)
            continue
        place = os.path.join(here, name)
        found = os.lstat(place)
        seen.append((here, os.lstat(here), found))
        if not stat.S_ISLNK(found.st_mode):
            here = place
            continue
        links += 1
        if links > _LONGEST_LINK_CHAIN:
            raise OSError(errno.ELOOP, "too many links")
        seen.append((place, found, None))
        target = os.readlink(place)
        if target.startswith("/"):
            here = "/"
        waiting += [part for part in target.split("/") if part not in ("", ".")][::-1]
    root = os.lstat(here)
    if not stat.S_ISDIR(root.st_mode):
        raise OSError(errno.ENOTDIR, "no folder")
    seen.append((here, root, None))
    # What says the same twice is one step.
    return tuple(dict.fromkeys(_step(here, *one) for one in seen))


def _step(root: str, place: str, found: os.stat_result, entry: os.stat_result | None) -> Step:
    is_link = stat.S_ISLNK(found.st_mode)
    levels = None
    if not is_link and (root == place or root.startswith(place.rstrip("/") + "/")):
        levels = len(_parts(root)) - len(_parts(place))
    step = Step(levels, found.st_mode, found.st_uid, found.st_gid, is_link)
    if entry is None:
        return step
    return replace(step, entry_uid=entry.st_uid, entry_is_link=stat.S_ISLNK(entry.st_mode))


def _parts(path: str) -> list[str]:
    return [name for name in path.split("/") if name]


def file_system_of(folder: Directory) -> FileSystem:
    """Look at the file system of an open folder; its lock is taken for an instant, shared.

    Raises:
        ReadFailed: it does not answer.
    """
    try:
        found = os.fstatvfs(folder.fd)
    except OSError as error:
        raise translate(error) from None
    magic = _linux.file_system_type(folder.fd) if _linux.is_linux() else None
    # f_type is a signed word on some architectures.
    number = None if magic is None else magic & 0xFFFFFFFF
    name = "unknown" if number is None else _NAMES.get(number, f"unknown (0x{number:x})")
    return FileSystem(
        name=name,
        is_read_only=bool(found.f_flag & os.ST_RDONLY),
        free_bytes=found.f_bavail * found.f_frsize if found.f_blocks else None,
        free_inodes=found.f_favail if found.f_files else None,
        folds_case=_folds_case(folder),
        locks_folders=_locks_folders(folder),
    )


def _folds_case(folder: Directory) -> bool | None:
    for entry in folder.entries():
        swapped = entry.name.swapcase()
        if entry.name.isascii() and swapped != entry.name:
            here = folder.identity(entry.name)
            return here is not None and folder.identity(swapped) == here
    return None


def _locks_folders(folder: Directory) -> bool:
    try:
        with FolderGuard.among_readers(folder, timeout_seconds=0) as guard:
            return guard.is_held()
    except LockTimeout:
        return True  # somebody has it
    except WriteFailed:
        return False


def mounts_below(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Give what is mounted below a folder, relative to it, as the kernel lists it (Linux).

    Elsewhere, and where the list cannot be read, nothing is given.
    """
    try:
        root = os.path.realpath(path).rstrip("/") + "/"
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            places = [_unescaped(line.split(" ")[4]) for line in file]
    except (OSError, ValueError, IndexError):
        return ()
    return tuple(sorted({place[len(root) :] for place in places if place.startswith(root)}))


def _unescaped(text: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text
