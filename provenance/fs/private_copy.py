"""Copying open files to a private folder, for a library that reads files by their names alone.

Guarantees: what is copied are handles that were opened below a trusted root. The copy holds what
all the files held at one time: the facts of all of them are compared after the last byte was read,
so that a database and its log belong together. Memory is bounded by one block, the sum of the sizes
is checked before anything is written. The folder (0700, files 0600) is made anew, nobody else's
name leads into it, and it is gone on every way out of the `with`. Nothing is written beside the
originals. Not guaranteed: a process that is killed leaves its folder.

Example:
    >>> with private_copy({}, max_bytes=0, attempts=1) as copy:
    ...     folder = copy.folder
    ...     copy.total_bytes, oct(folder.stat().st_mode & 0o777)
    (0, '0o700')
    >>> folder.exists()
    False
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from provenance.fs.directory import check_new_name
from provenance.fs.failures import WriteFailed, translate
from provenance.fs.reading import OpenFile
from provenance.fs.whole import FileTooLarge, SourceChanged

__all__ = ["PrivateCopy", "private_copy"]

_BLOCK_BYTES = 1 << 20
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)

_OLD_FILE = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class PrivateCopy:
    """A private folder that holds copies.

    Attributes:
        folder: where it is; it lives as long as the `with`.
        sizes: of the copies, in bytes, by their names.
    """

    folder: Path
    sizes: Mapping[str, int]

    @property
    def total_bytes(self) -> int:
        """What the copies have together."""
        return sum(self.sizes.values())

    def path(self, name: str) -> Path:
        """Give where the copy of that name is (whether or not there is one).

        Raises:
            UnsafeComponent: it is no plain name.
        """
        return self.folder / check_new_name(name)

    def read_at(self, name: str, offset: int, size: int) -> bytes:
        """Read up to `size` bytes of a copy; fewer only at its end.

        Raises:
            SourceAbsent, ReadFailed: there is none, or it cannot be read.
        """
        try:
            fd = os.open(self.path(name), _OLD_FILE)
        except OSError as error:
            raise translate(error) from None
        with OpenFile(fd) as file:
            return file.read_at(offset, size)


@contextmanager
def private_copy(
    files: Mapping[str, OpenFile],
    *,
    max_bytes: int,
    attempts: int,
    is_still_named: Callable[[], bool] = lambda: True,
) -> Iterator[PrivateCopy]:
    """Copy open files to a fresh private folder; they are not closed here.

    Args:
        files: what to copy, by the name that each copy gets. Each must have been opened (or
            refreshed) before any of them is copied; they are refreshed here to copy them again.
        max_bytes: how much they may have together.
        attempts: how often they are copied again where one changed meanwhile.
        is_still_named: says, after they were copied, whether the names that they were opened by
            lead to them still. Where it says no, copying these handles again would not help.

    Raises:
        FileTooLarge: they have more than `max_bytes`; nothing was written.
        SourceChanged: one changed during each attempt, or is not what its name leads to any more.
        ReadFailed: the device or file system refused.
        WriteFailed: the private folder cannot hold them (a full disk).
        UnsafeComponent: a name is no plain one.
    """
    for name in files:
        check_new_name(name)
    for _ in range(attempts):
        # 1. Size first; a file that grows is copied no further than this.
        total = sum(file.size for file in files.values())
        if total > max_bytes:
            raise FileTooLarge(f"files: expected at most {max_bytes} bytes together, got {total}")
        with _fresh_folder() as folder:
            # 2. Copy all, then look at all: in between there is a time at which each was as copied.
            whole = all(_copy(file, folder / name) for name, file in files.items())
            still_named = is_still_named()
            unchanged = all(file.is_unchanged() for file in files.values())
            if not still_named:
                raise SourceChanged("files: expected to be opened by their names, got others")
            if whole and unchanged:
                yield PrivateCopy(folder, {name: file.size for name, file in files.items()})
                return
        # 3. Again, from the facts of now.
        for file in files.values():
            file.refresh()
    raise SourceChanged("files: expected no change while they were copied, got one each time")


@contextmanager
def _fresh_folder() -> Iterator[Path]:
    try:
        # It cleans up behind itself also when the interpreter ends; failing to is no finding.
        made = tempfile.TemporaryDirectory(prefix="ctxaudit-", ignore_cleanup_errors=True)
    except OSError as error:
        raise _write_failure(error) from None
    with made as name:
        with suppress(PermissionError):  # confined; the umask is its own there
            os.chmod(name, 0o700)  # whatever the umask left of it
        yield Path(name)


def _copy(file: OpenFile, target: Path) -> bool:
    """Copy up to the size that the file had when it was opened; False where it is shorter now."""
    size = file.size
    try:
        fd = os.open(target, _NEW_FILE, 0o600)
    except OSError as error:
        raise _write_failure(error) from None
    try:
        with suppress(PermissionError):
            os.fchmod(fd, 0o600)  # as above
        block = memoryview(bytearray(min(_BLOCK_BYTES, size)))
        offset = 0
        while offset < size:
            got = file.read_into(block[: size - offset], offset)
            if got == 0:
                return False
            rest = block[:got]
            while rest:
                rest = rest[os.write(fd, rest) :]
            offset += got
    except OSError as error:
        raise _write_failure(error) from None
    finally:
        os.close(fd)
    return True


def _write_failure(error: OSError) -> WriteFailed:
    name = errno.errorcode.get(error.errno or 0, "unknown error")
    return WriteFailed(f"private copy: expected to write, got {name}", error.errno or 0)
