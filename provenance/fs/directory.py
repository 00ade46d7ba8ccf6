"""A handle on one directory below a trusted root, and what may be done in it.

Guarantees: each name is one component, checked before any system call; it is opened from this
handle with no link, mount or escape followed. On a file system that folds case or normalises
names, a file whose stored name differs from the asked one is refused.

Example:
    >>> check_component("tool-results")
    'tool-results'
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from provenance.errors import CallerError
from provenance.fs._backends import Backend
from provenance.fs._handle import Handle
from provenance.fs.appending import AppendFile
from provenance.fs.drafts import Draft, discard_stale, is_stale
from provenance.fs.failures import BoundaryRefused, SourceAbsent, WriteFailed, translate
from provenance.fs.locking import exclusive_lock
from provenance.fs.reading import FileFacts, OpenFile, facts_of
from provenance.fs.replacing import replace_file
from provenance.fs.traits import Refusals

__all__ = ["Directory", "Entry", "UnsafeComponent", "check_component", "check_new_name"]

_is_plain = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}").fullmatch
_LONGEST_BYTES = 255  # of one name, in each file system that matters
_READ = os.O_RDONLY
# Bound once: `read_small` runs a hundred thousand times in a row.
_fstat, _pread, _close, _is_regular = os.fstat, os.pread, os.close, stat.S_ISREG
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_APPEND = os.O_RDWR | os.O_APPEND


class UnsafeComponent(CallerError, ValueError):
    """A name that is no single plain component was about to reach the file system."""

    code = "unsafe_component"


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a directory; `kind` is `file`, `directory`, `link` or `other`."""

    name: str
    kind: str


def check_component(name: str) -> str:
    """Give `name` back if it is one component: what a file that exists may be called.

    Raises:
        UnsafeComponent: it is empty, `.` or `..`, has a slash or NUL, or is no name of 255 bytes.
    """
    if _is_plain(name) is None:
        try:
            size = len(os.fsencode(name))
        except UnicodeEncodeError:
            size = 0  # half a surrogate pair: no file has that name
        if not 0 < size <= _LONGEST_BYTES or name in (".", "..") or "/" in name or "\0" in name:
            raise UnsafeComponent(f"component: expected one file name, got {name[:16]!a}")
    return name


def check_new_name(name: str) -> str:
    """Give `name` back if it is a plain one: what we call the files that we make.

    Raises:
        UnsafeComponent: it is no ASCII letter or digit followed by at most 254 of them or `._-`.
    """
    if _is_plain(name) is None:
        raise UnsafeComponent(f"component: expected a plain name, got {name[:16]!a}")
    return name


class Directory(Handle):
    """An open directory; a context manager that closes it."""

    __slots__ = ("_exact", "_listed_at", "_names", "backend", "refusals")

    def __init__(self, fd: int, backend: Backend, *, refusals: Refusals | None = None) -> None:
        """Take over the directory handle `fd`; `refusals` judge what is read in and below it."""
        self.fd = fd
        self.backend = backend
        self.refusals = refusals
        # None: not known yet whether names here are told apart by every character.
        self._exact: bool | None = None
        self._names: frozenset[str] = frozenset()
        self._listed_at: tuple[int, int] | None = None

    def open_file(self, name: str) -> OpenFile:
        """Open the regular file `name` for reading; the caller closes it.

        Raises:
            SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: the answer.
            TraitRefused: a policy refuses what it is.
        """
        fd = self.backend.open_at(self.fd, check_component(name), os.O_RDONLY)
        file = OpenFile(fd)
        try:
            self._require_stored_name(name)
            if self.refusals is not None:
                self.refusals.check_file(file.stat)
        except BaseException:
            file.close()
            raise
        return file

    def read_small(self, name: str, *, below: int) -> tuple[bytes, os.stat_result] | None:
        """Read a whole small file that does not change meanwhile, at the least cost.

        Args:
            name: the file.
            below: only a file of fewer bytes is read.

        Returns:
            Its bytes and what `fstat` said; None where it is no such file (larger, changing, not
            regular): `open_file` then says what it is.

        Raises:
            SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: the answer.
        """
        is_plain = _is_plain(name) is not None and name[-1] != "."
        if not is_plain:
            check_component(name)
        fd = self.backend.open_at(self.fd, name, _READ)
        try:
            before = _fstat(fd)
            size = before.st_size
            if not _is_regular(before.st_mode) or size >= below:
                return None
            data = _pread(fd, size, 0)
            after = _fstat(fd)
        except OSError as error:
            raise translate(error) from None
        finally:
            _close(fd)
        if (
            after.st_mtime_ns != before.st_mtime_ns
            or after.st_ctime_ns != before.st_ctime_ns
            or after.st_size != size
            or len(data) != size
        ):
            return None
        if self._exact is not True or not is_plain:
            try:
                self._require_stored_name(name)
            except SourceAbsent:
                return None  # it was there, and went while it was read
        if self.refusals is not None:
            self.refusals.check_file(after)
        return data, before

    def open_directory(self, name: str, *, create: bool = False) -> Directory:
        """Open the directory `name`; `create` makes it (0700) where it is missing."""
        check_component(name)
        if create:
            check_new_name(name)
            try:
                os.mkdir(name, 0o700, dir_fd=self.fd)
            except FileExistsError:
                pass
            except OSError as error:
                raise _write_failure(error) from None
            else:
                self.sync()
        fd = self.backend.open_at(self.fd, name, _DIRECTORY)
        directory = Directory(fd, self.backend, refusals=self.refusals)
        try:
            self._require_stored_name(name)
            if self.refusals is not None:
                self.refusals.check_folder(fd)
        except BaseException:
            directory.close()
            raise
        return directory

    def open_append(self, name: str, *, create: bool = True) -> AppendFile:
        """Open the log `name` for appending; `create` makes it (0600) where it is missing.

        Raises:
            SourceAbsent: it is missing and was not to be made.
            BoundaryRefused: a link, a mount, or a file with several hard links.
        """
        check_new_name(name)
        while True:
            try:
                fd = self.backend.open_at(self.fd, name, _APPEND)
                break
            except SourceAbsent:
                if not create:
                    raise
            try:
                fd = self.backend.open_at(
                    self.fd, name, _APPEND | os.O_CREAT | os.O_EXCL, mode=0o600
                )
            except FileExistsError:
                continue  # another process made it meanwhile
            try:
                self.sync()
            except BaseException:
                os.close(fd)
                raise
            break
        file = AppendFile(fd)
        try:
            self._require_stored_name(name)
        except BaseException:
            file.close()
            raise
        return file

    def draft(self) -> Draft:
        """Open a file without a name in this directory; see `Draft`."""
        return Draft(self.fd)

    def publish(self, name: str, chunks: Iterable[bytes]) -> None:
        """Write a whole file and give it its name, atomically and exclusively, durably (0600).

        Raises:
            NameTaken: the name is in use; nothing was overwritten.
            WriteFailed: nothing is visible under the name.
        """
        check_new_name(name)
        with self.draft() as draft:
            for chunk in chunks:
                draft.write(chunk)
            draft.sync()
            draft.link_as(name)
        self.sync()

    @contextlib.contextmanager
    def lock(self, timeout_seconds: float = 30.0) -> Iterator[None]:
        """Hold the directory's lock alone, among those who ask for it; no file is made for it.

        Raises:
            LockTimeout: another handle held it for `timeout_seconds`.
            WriteFailed: the file system has no locks.
        """
        with exclusive_lock(self.fd, "folder", timeout_seconds=timeout_seconds):
            yield

    def replace(self, name: str, data: bytes) -> None:
        """Write a whole file under a name that may be in use, atomically and durably.

        Whatever has the name is replaced and never followed; hold the lock while calling where
        another process does the same. See `replace_file`.

        Raises:
            WriteFailed: what had the name still has it, as it was.
        """
        replace_file(self.fd, check_component(name), data)

    def entries(self) -> tuple[Entry, ...]:
        """List the directory, sorted by name; names that are not UTF-8 hold surrogates."""
        try:
            # A handle of its own: duplicates share one reading position.
            fd = os.open(".", _DIRECTORY | getattr(os, "O_CLOEXEC", 0), dir_fd=self.fd)
            try:
                with os.scandir(fd) as found:
                    listed = [Entry(item.name, _kind(item)) for item in found]
            finally:
                os.close(fd)
        except OSError as error:
            raise translate(error) from None
        return tuple(sorted(listed, key=lambda entry: entry.name))

    def identity(self, name: str | None = None) -> tuple[int, int] | None:
        """Give device and inode of what `name` is (a link not followed), None where it is nothing.

        Without a name: those of the directory itself.
        """
        try:
            if name is None:
                found = os.fstat(self.fd)
            else:
                found = os.stat(check_component(name), dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise translate(error) from None
        return found.st_dev, found.st_ino

    def take_back(self, name: str, published: tuple[int, int]) -> bool:
        """Remove a file that was just published, if its name still leads to it.

        Args:
            name: of the file.
            published: its device and inode.

        Returns:
            Whether it was removed; False where the name leads to nothing, or to another file.

        Raises:
            WriteFailed: the file system refused; the file stands.
        """
        if self.identity(name) != published:
            return False
        try:
            os.unlink(check_component(name), dir_fd=self.fd)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _write_failure(error) from None
        return True

    def discard_stale_draft(self, name: str, *, before_seconds: float) -> bool:
        """Remove a temporary file that a writer left when it died; see `discard_stale`."""
        return discard_stale(self.fd, name, before_seconds=before_seconds)

    def facts(self, name: str) -> FileFacts | None:
        """Give the facts of what `name` is (a link not followed), None where it is nothing."""
        try:
            return facts_of(os.stat(check_component(name), dir_fd=self.fd, follow_symlinks=False))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise translate(error) from None

    def facts_of_self(self) -> FileFacts:
        """Give the facts of the directory itself."""
        try:
            return facts_of(os.fstat(self.fd))
        except OSError as error:
            raise translate(error) from None

    def is_stale_draft(self, name: str, *, before_seconds: float) -> int | None:
        """Give the size of a temporary file that `discard_stale_draft` would remove, else None."""
        return is_stale(self.fd, name, before_seconds=before_seconds)

    def remove_file(self, name: str, *, like: FileFacts) -> bool:
        """Remove a name that still leads to the file with these facts; False where it does not.

        Only a regular file with one name goes; a link is neither followed nor removed.

        Raises:
            WriteFailed: the file system refused; the file is as it was.
        """
        try:
            found = os.stat(check_component(name), dir_fd=self.fd, follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or facts_of(found) != like:
                return False
            os.unlink(name, dir_fd=self.fd)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _write_failure(error) from None
        return True

    def mode(self) -> int:
        """The directory's permission bits and type, as `st_mode`."""
        try:
            return os.fstat(self.fd).st_mode
        except OSError as error:
            raise translate(error) from None

    def sync(self) -> None:
        """Force the names in this directory to the disk."""
        try:
            os.fsync(self.fd)
        except OSError as error:
            raise _write_failure(error) from None

    def duplicate(self) -> Directory:
        """Give a second handle on the same directory, to be closed on its own."""
        try:
            copy = Directory(os.dup(self.fd), self.backend, refusals=self.refusals)
        except OSError as error:
            raise translate(error) from None
        copy._exact, copy._names, copy._listed_at = self._exact, self._names, self._listed_at
        return copy

    def _require_stored_name(self, name: str) -> None:
        """Refuse a name that the file system found under another spelling.

        One probe a directory: the same name with its case swapped. Where that leads to another
        file or to none, names here are exact; where it leads to the same one, the list decides. It
        always decides on a dot at the end, which some file systems drop, and on names of other
        letters than ASCII, which some normalise, whatever they do to case.
        """
        exact = self._exact
        if name[-1] == "." or not name.isascii():
            exact = False
        elif exact is None:
            swapped = name.swapcase()
            if swapped == name:
                return  # no letter: nothing to fold, nothing learned about this directory
            exact = self._exact = not self._is_same_file(name, swapped)
        if not exact and not self._is_listed(name):
            raise BoundaryRefused("source: expected the stored name, got another spelling")

    def _is_listed(self, name: str) -> bool:
        """Say whether the directory's list holds the name; it is read again where it may not do."""
        try:
            found = os.fstat(self.fd)
        except OSError as error:
            raise translate(error) from None
        stamp = found.st_mtime_ns, found.st_ctime_ns
        # A refusal never rests on an old list: a clock tick holds more than one change.
        if stamp != self._listed_at or name not in self._names:
            self._names = frozenset(entry.name for entry in self.entries())
            self._listed_at = stamp
        return name in self._names

    def _is_same_file(self, name: str, other: str) -> bool:
        try:
            try:
                there = os.stat(other, dir_fd=self.fd, follow_symlinks=False)
            except FileNotFoundError:
                # Only while the asked name is still there does this say that names are exact.
                os.stat(name, dir_fd=self.fd, follow_symlinks=False)
                return False
            here = os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except OSError as error:
            raise translate(error) from None
        return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def _kind(item: os.DirEntry[str]) -> str:
    if item.is_symlink():
        return "link"
    if item.is_file(follow_symlinks=False):
        return "file"
    if item.is_dir(follow_symlinks=False):
        return "directory"
    return "other"


def _write_failure(error: OSError) -> WriteFailed:
    name = errno.errorcode.get(error.errno or 0, "unknown error")
    return WriteFailed(f"directory: expected to write, got {name}", error.errno or 0)
