"""A hostile ZIP archive, read member by member into memory and never unpacked to anywhere.

Guarantees: nothing is written, and no name in the archive ever reaches the file system. A member is
given whole and checked (its own header, size, CRC-32), or not at all. Sizes are counted while the
bytes come, whatever the headers say: a member, its ratio, and all members together are bounded.
What is wrong with one member is a fault, and the others can be read; what is wrong with the archive
raises `SourceUnreadable`. No message holds a name; a fault's `member` is a short, printable form.

Not checked: bytes between two members, comments, and times.

Example:
    >>> name_for_people("samples/" + "x" * 200)[-12:]
    'xxxxxxxxx...'
    >>> is_name_safe("samples/1_epoch_1.json"), is_name_safe("../x"), is_name_safe("C:x")
    (True, False, False)
"""

from __future__ import annotations

import re
import stat
import struct
import unicodedata
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from provenance.findings import Severity
from provenance.fs.reading import OpenFile
from provenance.limits import Limits
from provenance.transcripts.containers.unpacking import METHODS, StreamDamaged, unpack
from provenance.transcripts.containers.zip_directory import Entry, read_directory
from provenance.transcripts.records import Fault
from provenance.transcripts.sources import SourceUnreadable

__all__ = [
    "MEMBER_RECORDS",
    "Archive",
    "Member",
    "is_name_safe",
    "member_fault",
    "name_for_people",
    "read_archive",
]

# A member is a document of many records; it may be so many times as long as the longest record.
MEMBER_RECORDS = 4
# And all members together so many times; only one of them is in memory at a time.
_TOTAL_RECORDS = 256
# Real logs pack 10 to 60 times. Deflate ends at 1,032, Zstandard at more than 10,000.
_MAX_RATIO = 250
# Less than this is harmless at any ratio.
_SMALL_BYTES = 16 << 20

_BLOCK_BYTES = 256 << 10
_LOCAL = struct.Struct("<4s5H3I2H")
_LOCAL_SIGNATURE = b"PK\x03\x04"
_MAX32 = (1 << 32) - 1
_ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13
_SIZES_FOLLOW = 1 << 3
_PATCH = 1 << 5
_UTF8 = 1 << 11
_DRIVE = re.compile(r"[A-Za-z]:").match
_SHOWN_CHARS = 120


class Member(NamedTuple):
    """A member that can be asked for.

    Attributes:
        name: as it stands in the archive; safe, but a stranger's.
        size: how many bytes it is said to have.
        entry: as the directory has it.
    """

    name: str
    size: int
    entry: Entry


@dataclass
class Archive:
    """An open archive.

    Attributes:
        members: what can be asked for, by name, in the order of the bytes.
        faults: what was wrong with the directory and its names.
    """

    members: Mapping[str, Member]
    faults: tuple[Fault, ...]
    _file: OpenFile
    _limits: Limits
    _unpacked: int = field(default=0)

    def read(self, name: str) -> bytes | Fault:
        """Give the whole of a member; a fault where it is not whole.

        Raises:
            SourceUnreadable: `container_over_limit` (all members together),
                `container_unsupported` (nothing here reads Zstandard).
            ReadFailed: the device or file system refused.
            KeyError: no member has that name.
        """
        member = self.members[name]
        try:
            pieces = list(self._blocks(member.entry))
        except _TooLarge as error:
            return member_fault("archive_member_over_limit", Severity.ERROR, str(error), name)
        except (_Broken, StreamDamaged) as error:
            message = str(error).removeprefix("stream: ").removeprefix("member: ")
            return member_fault(
                "archive_member_invalid", Severity.ERROR, f"member: {message}", name
            )
        return b"".join(pieces)

    def _blocks(self, entry: Entry) -> Iterator[bytes]:
        """Unpack a member and check it, in this order.

        1. What it announces is within the bounds.
        2. Its own header says what the directory says, and its bytes end before the next member.
        3. Each block is counted before the next one is unpacked.
        4. At the end, size and checksum are those of the directory.
        """
        most = MEMBER_RECORDS * self._limits.max_foreign_record_bytes
        self._check_size(entry, entry.size, most)
        start = self._data_start(entry)
        size, crc = 0, 0
        for block in _bounded(unpack(entry.method, self._packed(start, entry.packed))):
            size += len(block)
            self._unpacked += len(block)
            if size > entry.size:
                raise _Broken("expected the announced size, got more bytes")
            self._check_size(entry, size, most)
            crc = zlib.crc32(block, crc)
            yield block
        if size != entry.size:
            raise _Broken("expected the announced size, got fewer bytes")
        if crc != entry.crc:
            raise _Broken("expected the announced CRC-32, got another")

    def _check_size(self, entry: Entry, size: int, most: int) -> None:
        if size > most:
            raise _TooLarge(f"member: expected at most {most} bytes, got more")
        if size > _SMALL_BYTES and size > _MAX_RATIO * entry.packed:
            raise _TooLarge(f"member: expected at most {_MAX_RATIO} bytes of each byte, got more")
        total = _TOTAL_RECORDS * self._limits.max_foreign_record_bytes
        if self._unpacked > total:
            raise SourceUnreadable(
                "container_over_limit",
                f"archive: expected at most {total} bytes in all members, got more",
            )

    def _data_start(self, entry: Entry) -> int:
        """Compare the member's own header with the directory; give where its bytes begin."""
        head = self._file.read_at(entry.offset, _LOCAL.size)
        if len(head) != _LOCAL.size or not head.startswith(_LOCAL_SIGNATURE):
            raise _Broken("expected a header where the directory says, got none")
        _, _, flags, method, _, _, crc, packed, size, name, extra = _LOCAL.unpack(head)
        start: int = entry.offset + _LOCAL.size + name + extra
        if start + entry.packed > entry.limit:
            raise _Broken("expected an end before the next member, got one behind it")
        if self._file.read_at(entry.offset + _LOCAL.size, name) != entry.raw_name:
            raise _Broken("expected the name of the directory in its header, got another")
        if method != entry.method or (flags ^ entry.flags) & (_ENCRYPTED | _PATCH | _UTF8):
            raise _Broken("expected the method of the directory in its header, got another")
        # The true numbers follow the bytes, or stand in an extra field.
        elsewhere = {0} if flags & _SIZES_FOLLOW else set()
        if not {crc} <= elsewhere | {entry.crc}:
            raise _Broken("expected the CRC-32 of the directory in its header, got another")
        if not {packed, size} <= elsewhere | {entry.packed, entry.size, _MAX32}:
            raise _Broken("expected the sizes of the directory in its header, got others")
        return start

    def _packed(self, start: int, size: int) -> Iterator[bytes]:
        stop = start + size
        while start < stop:
            piece = self._file.read_at(start, min(_BLOCK_BYTES, stop - start))
            if not piece:
                raise _Broken("expected all of its bytes, got the end of the file")
            start += len(piece)
            yield piece


class _Broken(Exception):
    """A member is not what the directory says."""


class _TooLarge(Exception):
    """A member is over a bound; proves nothing."""


def _bounded(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Take a bound of the unpacker's own for one of this member."""
    try:
        yield from blocks
    except SourceUnreadable as error:
        if error.fault != "container_over_limit":
            raise
        raise _TooLarge("member: expected frames within our bounds, got one beyond") from None


def read_archive(file: OpenFile, *, limits: Limits) -> Archive:
    """Read the directory of an archive and judge the names in it.

    Args:
        file: the open file.
        limits: `max_foreign_record_bytes` bounds members (see `MEMBER_RECORDS`).

    Raises:
        SourceUnreadable: the archive as a whole cannot be read.
        ReadFailed: the device or file system refused.
    """
    directory = read_directory(file.read_at, size=file.size)
    faults: list[Fault] = []
    for count, where in ((directory.before, "before"), (directory.after, "after")):
        if count:
            message = f"archive: expected no bytes {where} it, got {count}"
            faults.append(Fault("archive_extra_bytes", Severity.WARNING, message))
    members: dict[str, Member] = {}
    alike: dict[str, str] = {}
    seen: set[str] = set()
    for entry in directory.entries:
        name = _decode_name(entry)
        if name is None or not is_name_safe(name):
            faults.append(_unsafe(entry, name))
            continue
        if name.endswith("/") and not entry.size:
            continue  # a folder
        if name in seen:
            message = "member: expected a name that no other member has, got one again"
            faults.append(member_fault("archive_member_repeated", Severity.ERROR, message, name))
        seen.add(name)
        if fault := _unreadable(entry, name):
            faults.append(fault)
            members.pop(name, None)
            continue
        if alike.setdefault(unicodedata.normalize("NFC", name).casefold(), name) != name:
            message = "member: expected names that differ in more than case, got two that do not"
            faults.append(member_fault("archive_names_alike", Severity.INFO, message, name))
        # Of two members of one name the last counts: so do the tools that write these logs read.
        members.pop(name, None)
        members[name] = Member(name, entry.size, entry)
    return Archive(members, tuple(faults), file, limits)


def is_name_safe(name: str) -> bool:
    """Say whether a name could be a file's name below a folder, on any system."""
    if not name or name.startswith("/") or "\\" in name or _DRIVE(name):
        return False
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in name):
        return False
    return not any(part in (".", "..") for part in name.split("/"))


def name_for_people(name: str) -> str:
    """Give a short form of a name in which every character can be shown."""
    shown = "".join(char if char.isprintable() else "?" for char in name[: _SHOWN_CHARS + 1])
    return shown if len(shown) <= _SHOWN_CHARS else shown[: _SHOWN_CHARS - 3] + "..."


def member_fault(code: str, severity: Severity, message: str, name: str) -> Fault:
    """Make a fault about one member."""
    return Fault(code, severity, message, member=name_for_people(name))


def _decode_name(entry: Entry) -> str | None:
    """Give a member's one name; None where it has none, or two."""
    try:
        name = entry.raw_name.decode("utf-8" if entry.flags & _UTF8 else "cp437")
    except UnicodeDecodeError:
        return None
    if entry.other_name is not None and entry.other_name != name.encode():
        return None
    return name


def _unsafe(entry: Entry, name: str | None) -> Fault:
    if name is None:
        message = "member: expected one name, in UTF-8, got another"
        return member_fault(
            "archive_name_unsafe",
            Severity.ERROR,
            message,
            entry.raw_name.decode("ascii", "replace"),
        )
    message = "member: expected a name that stays below a folder, got one that does not"
    return member_fault("archive_name_unsafe", Severity.ERROR, message, name)


def _unreadable(entry: Entry, name: str) -> Fault | None:
    """Say why a member is not read, whatever its bytes are."""
    if stat.S_IFMT(entry.mode) not in (0, stat.S_IFREG):
        message = "member: expected a file, got a link or something else"
        return member_fault("archive_member_invalid", Severity.ERROR, message, name)
    if entry.flags & _ENCRYPTED:
        message = "member: expected no encryption, got an encrypted one"
        return member_fault("archive_member_unsupported", Severity.ERROR, message, name)
    if entry.method not in METHODS or entry.flags & _PATCH:
        message = "member: expected stored, deflate or Zstandard, got another method"
        return member_fault("archive_member_unsupported", Severity.ERROR, message, name)
    return None
