"""The log of a home, `<home>/seals/`: entries and checkpoints, each seal in files of its own.

    000001-<root in hex>.leaves     the entries of the first seal, a line each
    000001.checkpoint               the signed head of the tree after it

Guarantees: a file here is published whole and exclusively, and never rewritten. The entries come
first; a writer killed between leaves entries that no checkpoint covers, which every reader passes
over. Two writers at once: one of them finds the number taken and has published nothing that counts.
Nothing is read below the folder but regular files, and of entries only as many as a checkpoint has.

Example:
    >>> list_log(TrustedRoot("/nowhere")) is None
    True
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from provenance.errors import DataError
from provenance.fs import (
    BoundaryRefused,
    Directory,
    NameTaken,
    NotARegularFile,
    SourceAbsent,
    TrustedRoot,
    is_temporary_name,
    read_whole,
)
from provenance.sealing.leaves import MAX_ENTRY_BYTES
from provenance.sealing.note import MAX_NOTE_BYTES

__all__ = [
    "SEALS_FOLDER",
    "LeavesTaken",
    "LogFileError",
    "LogListing",
    "checkpoint_name",
    "leaves_name",
    "list_log",
    "publish_checkpoint",
    "publish_leaves",
    "read_checkpoint",
    "read_leaves",
]

SEALS_FOLDER = "seals"
_BLOCK_BYTES = 1 << 20
_is_checkpoint = re.compile(r"([0-9]{6})\.checkpoint").fullmatch
_is_leaves = re.compile(r"([0-9]{6})-([0-9a-f]{64})\.leaves").fullmatch
_LAST_NUMBER = 999_999


class LogFileError(DataError):
    """A file of the log that cannot be used; the message says which and why."""

    code = "invalid_log_file"


class LeavesTaken(LogFileError):
    """Other bytes lie under the name that the next entries need; the message has the name."""

    code = "seal_name_taken"


@dataclass(frozen=True, slots=True)
class LogListing:
    """What lies in a log's folder.

    Attributes:
        checkpoints: their numbers, sorted.
        leaves: names of the files of entries, by number and root in hex.
        strangers: names that a log has no file for; numbers count from 1.
    """

    checkpoints: tuple[int, ...]
    leaves: frozenset[tuple[int, str]]
    strangers: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is no checkpoint."""
        return not self.checkpoints

    @property
    def remains(self) -> tuple[str, ...]:
        """Names that only a log leaves, beside no checkpoint: not those of a first run's death."""
        if not self.is_empty:
            return ()
        later = ((number, root) for number, root in self.leaves if number > 1)
        found = [leaves_name(number, bytes.fromhex(root)) for number, root in later]
        found += [name for name in self.strangers if name.endswith((".checkpoint", ".leaves"))]
        return tuple(sorted(found))


def checkpoint_name(number: int) -> str:
    """Name the file of a checkpoint."""
    return f"{number:06d}.checkpoint"


def leaves_name(number: int, root: bytes) -> str:
    """Name the file with the entries of a seal, after which the tree has this root."""
    return f"{number:06d}-{root.hex()}.leaves"


def list_log(home: TrustedRoot) -> LogListing | None:
    """List the folder of a home's log; None where nothing has its name.

    Raises:
        BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: it cannot be listed.
    """
    is_there = False
    try:
        with home.open_directory() as top:
            is_there = top.identity(SEALS_FOLDER) is not None
        with home.open_directory(SEALS_FOLDER) as folder:
            names = [entry.name for entry in folder.entries()]
    except SourceAbsent:
        if is_there:
            raise NotARegularFile("seals: expected a folder, got something else") from None
        return None
    checkpoints: list[int] = []
    leaves: set[tuple[int, str]] = set()
    strangers: list[str] = []
    for name in names:
        if (found := _is_checkpoint(name)) and int(found[1]):
            checkpoints.append(int(found[1]))
        elif (found := _is_leaves(name)) and int(found[1]):
            leaves.add((int(found[1]), found[2]))
        elif not is_temporary_name(name):
            strangers.append(name)
    return LogListing(tuple(sorted(checkpoints)), frozenset(leaves), tuple(strangers))


def read_checkpoint(seals: TrustedRoot, number: int) -> bytes:
    """Read the bytes of a checkpoint.

    Raises:
        CtxauditError: it cannot be read.
    """
    with seals.open_file(checkpoint_name(number)) as file:
        return read_whole(file, max_bytes=MAX_NOTE_BYTES)


def read_leaves(seals: TrustedRoot, number: int, root: bytes, *, count: int) -> Iterator[bytes]:
    """Give the entries of a seal, without their line ends.

    Args:
        seals: the log's folder.
        number: of the seal.
        root: of the tree after it.
        count: how many entries it has; more are not read.

    Raises:
        LogFileError: there are fewer or more, or a line that is too long.
        CtxauditError: the file cannot be read.
    """
    name = leaves_name(number, root)
    try:
        file = seals.open_file(name)
    except SourceAbsent:
        raise LogFileError(f"entries of seal {number}: expected a file, got none") from None
    given = 0
    with file:
        held = b""
        offset = 0
        while block := file.read_at(offset, min(_BLOCK_BYTES, file.size - offset)):
            offset += len(block)
            *lines, held = (held + block).split(b"\n")
            if len(held) > MAX_ENTRY_BYTES:
                raise LogFileError(f"entries of seal {number}: expected short lines, got a longer")
            given += len(lines)
            if given > count:
                raise LogFileError(f"entries of seal {number}: expected {count}, got more")
            yield from lines
    if held or given != count:
        raise LogFileError(f"entries of seal {number}: expected {count} whole lines, got fewer")


def publish_leaves(home: TrustedRoot, number: int, root: bytes, entries: Iterable[bytes]) -> None:
    """Publish the entries of a seal that is about to be signed.

    A writer that was killed may have published the very same: then there is nothing to do.

    Raises:
        WriteFailed: the disk or file system refused.
        LeavesTaken: other bytes stand under this name.
        LogFileError: there are too many seals.
    """
    if number > _LAST_NUMBER:
        raise LogFileError(f"seals: expected at most {_LAST_NUMBER}, got more")
    data = b"".join(entry + b"\n" for entry in entries)
    name = leaves_name(number, root)
    with home.open_directory(SEALS_FOLDER, create=True) as folder:
        try:
            folder.publish(name, (data,))
        except NameTaken:
            if not _is_there(folder, name, data):
                raise LeavesTaken(
                    f"{SEALS_FOLDER}/{name}: expected nothing, or what a killed run left, got "
                    "something else; remove it and seal again"
                ) from None


def _is_there(folder: Directory, name: str, data: bytes) -> bool:
    try:
        with folder.open_file(name) as file:
            return file.size == len(data) and read_whole(file, max_bytes=len(data)) == data
    except (BoundaryRefused, NotARegularFile, SourceAbsent):
        return False


def publish_checkpoint(home: TrustedRoot, number: int, note: bytes) -> bool:
    """Publish a checkpoint; False where somebody else took the number.

    Raises:
        WriteFailed: the disk or file system refused.
    """
    with home.open_directory(SEALS_FOLDER, create=True) as folder:
        try:
            folder.publish(checkpoint_name(number), (note,))
        except NameTaken:
            return False
    return True
