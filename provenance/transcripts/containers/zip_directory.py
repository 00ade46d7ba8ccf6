"""The directory of a ZIP archive: what an archive says it holds, and whether it says it once.

Guarantees: only the two ends of the directory are trusted to be where they say; nothing is read
outside of the file and never more than the bounds below. What two readers could take for two
different archives (two end records, ZIP64 numbers that differ, members that overlap) is refused.

Example:
    >>> empty = b"PK" + bytes([5, 6]) + bytes(18)
    >>> read_directory(lambda offset, size: empty[offset : offset + size], size=len(empty)).entries
    ()
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from provenance.transcripts.sources import SourceUnreadable

__all__ = ["MAX_DIRECTORY_BYTES", "MAX_MEMBERS", "Directory", "Entry", "read_directory"]

# An evaluation has a member a sample; ten times what the largest published ones hold.
MAX_MEMBERS = 100_000
# So many members with names and extra fields of 280 bytes.
MAX_DIRECTORY_BYTES = 32 << 20

_END = struct.Struct("<4s4H2IH")
_END_SIGNATURE = b"PK\x05\x06"
_LONGEST_COMMENT = (1 << 16) - 1
_LOCATOR = struct.Struct("<4sIQI")
_LOCATOR_SIGNATURE = b"PK\x06\x07"
_END64 = struct.Struct("<4sQ2H2I4Q")
_END64_SIGNATURE = b"PK\x06\x06"
_ENTRY = struct.Struct("<4s6H3I5H2I")
_ENTRY_SIGNATURE = b"PK\x01\x02"
_LOCAL_BYTES = 30
_MAX16, _MAX32 = (1 << 16) - 1, (1 << 32) - 1
_EXTRA_ZIP64 = 0x0001
_EXTRA_UNICODE_NAME = 0x7075

ReadAt = Callable[[int, int], bytes]


class Entry(NamedTuple):
    """A member as the directory has it, unjudged.

    Attributes:
        raw_name: the bytes of its name.
        other_name: a second name that some readers take instead; None: there is none.
        flags: as in the format.
        method: how it is packed.
        crc: CRC-32 of the unpacked bytes.
        packed: how many bytes it takes packed.
        size: how many it is said to be, unpacked.
        offset: where its own header stands in the file.
        limit: where the next member, or the directory, begins.
        mode: its Unix mode; 0 where it has none.
    """

    raw_name: bytes
    other_name: bytes | None
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int
    limit: int
    mode: int


class Directory(NamedTuple):
    """What the directory says.

    Attributes:
        entries: the members, in the order of their bytes.
        before: how many bytes stand before the first member.
        after: how many stand after the end of the archive.
    """

    entries: tuple[Entry, ...]
    before: int
    after: int


class _End(NamedTuple):
    members: int
    size: int
    offset: int
    place: int  # where the directory has to end


def read_directory(read_at: ReadAt, *, size: int) -> Directory:
    """Read the directory of an archive.

    Args:
        read_at: gives up to so many bytes from an offset.
        size: of the file, in bytes.

    Raises:
        SourceUnreadable: the archive as a whole is damaged, over a bound, or of a sort that is not
            read here (several files).
    """
    end, after = _find_end(read_at, size)
    if end.members > MAX_MEMBERS:
        raise _over_limit(f"expected at most {MAX_MEMBERS} members, got more")
    if end.size > MAX_DIRECTORY_BYTES:
        raise _over_limit(f"expected a directory of at most {MAX_DIRECTORY_BYTES} bytes, got more")
    start = end.place - end.size
    # Bytes that were put before an archive move all of it.
    shift = start - end.offset
    if start < 0 or shift < 0:
        raise _invalid("expected a directory inside the file, got one that begins outside")
    data = read_at(start, end.size)
    if len(data) != end.size:
        raise _invalid("expected a whole directory, got a part of one")
    entries = _parse_entries(data, end.members, shift)
    entries.sort(key=lambda entry: entry.offset)
    placed = _with_limits(entries, start)
    before = placed[0].offset if placed else start
    return Directory(tuple(placed), before, after)


def _find_end(read_at: ReadAt, size: int) -> tuple[_End, int]:
    """Find the one end record; give it, and how many bytes follow the archive."""
    base = max(0, size - _END.size - _LONGEST_COMMENT)
    tail = read_at(base, size - base)
    places: list[tuple[int, int]] = []
    place = tail.rfind(_END_SIGNATURE)
    while place >= 0:
        if place + _END.size <= len(tail):
            comment = int.from_bytes(tail[place + 20 : place + 22], "little")
            places.append((place, place + _END.size + comment))
        place = tail.rfind(_END_SIGNATURE, 0, place)
    whole = [found for found in places if found[1] == len(tail)]
    # Readers differ in which they take: the last signature, or the one that ends with the file.
    if len(whole) > 1 or (whole and whole[0] != places[0]):
        raise _invalid("expected one end record, got two")
    if not places or places[0][1] > len(tail):
        raise _invalid("expected an end record, got none that is whole: it may be cut short")
    place, stop = places[0]
    _, disk, first_disk, here, count, length, offset, _ = _END.unpack_from(tail, place)
    end = _End(count, length, offset, base + place)
    locator = read_at(end.place - _LOCATOR.size, _LOCATOR.size) if place + base >= 20 else b""
    if len(locator) == _LOCATOR.size and locator.startswith(_LOCATOR_SIGNATURE):
        end = _read_end64(read_at, end, locator)
    elif disk or first_disk or here != count:
        raise SourceUnreadable(
            "container_unsupported", "archive: expected one file, got a part of several"
        )
    return end, len(tail) - stop


def _read_end64(read_at: ReadAt, end: _End, locator: bytes) -> _End:
    _, disk, offset, disks = _LOCATOR.unpack(locator)
    if disk or disks > 1:
        raise SourceUnreadable(
            "container_unsupported", "archive: expected one file, got a part of several"
        )
    # It stands right before its locator; what was put before the archive does not move that.
    place = end.place - _LOCATOR.size - _END64.size
    data = read_at(place, _END64.size) if place >= 0 else b""
    if len(data) != _END64.size or not data.startswith(_END64_SIGNATURE) or offset > place:
        raise _invalid("expected a ZIP64 end record before its locator, got none")
    _, record_size, _, _, disk, first_disk, here, count, length, start = _END64.unpack(data)
    if record_size != _END64.size - 12 or disk or first_disk or here != count:
        raise _invalid("expected a plain ZIP64 end record, got another")
    for short, long, most in (
        (end.members, count, _MAX16),
        (end.size, length, _MAX32),
        (end.offset, start, _MAX32),
    ):
        if short not in (long, most):
            raise _invalid("expected equal numbers in both end records, got two that differ")
    return _End(count, length, start, place)


def _parse_entries(data: bytes, count: int, shift: int) -> list[Entry]:
    entries: list[Entry] = []
    place = 0
    while place < len(data):
        if len(entries) == count or not data.startswith(_ENTRY_SIGNATURE, place):
            raise _invalid("expected a directory of as many members as it says, got another")
        if place + _ENTRY.size > len(data):
            raise _invalid("expected a whole directory, got a torn entry")
        fields = _ENTRY.unpack_from(data, place)
        _, made_by, _, flags, method, _, _, crc, packed, size, name, extra, comment = fields[:13]
        disk, _, external, offset = fields[13:]
        place += _ENTRY.size
        stop = place + name + extra + comment
        if stop > len(data):
            raise _invalid("expected a whole directory, got a torn entry")
        raw_name = data[place : place + name]
        extras = _parse_extras(data[place + name : place + name + extra])
        packed, size, offset = _with_zip64(packed, size, offset, extras.get(_EXTRA_ZIP64, b""))
        if disk not in (0, _MAX16):
            raise _invalid("expected members of one file, got one of another")
        # The first five bytes are a version and a checksum of the plain name.
        other = extras[_EXTRA_UNICODE_NAME][5:] if _EXTRA_UNICODE_NAME in extras else None
        mode = external >> 16 if made_by >> 8 == 3 else 0
        entries.append(
            Entry(raw_name, other, flags, method, crc, packed, size, offset + shift, 0, mode)
        )
        place = stop
    if len(entries) != count:
        raise _invalid("expected a directory of as many members as it says, got another")
    return entries


def _parse_extras(data: bytes) -> dict[int, bytes]:
    """Read the extra fields; what is no field ends the reading, as in other readers."""
    found: dict[int, bytes] = {}
    place = 0
    while place + 4 <= len(data):
        kind, length = struct.unpack_from("<2H", data, place)
        found.setdefault(kind, data[place + 4 : place + 4 + length])
        place += 4 + length
    return found


def _with_zip64(packed: int, size: int, offset: int, extra: bytes) -> tuple[int, int, int]:
    """Take from the ZIP64 field, in its fixed order, each number that did not fit."""
    numbers = [size, packed, offset]
    place = 0
    for index, number in enumerate(numbers):
        if number == _MAX32:
            if place + 8 > len(extra):
                raise _invalid("expected a ZIP64 field for a large member, got none")
            numbers[index] = int.from_bytes(extra[place : place + 8], "little")
            place += 8
    return numbers[1], numbers[0], numbers[2]


def _with_limits(entries: list[Entry], end: int) -> list[Entry]:
    """Say for each member where it has to end; refuse members that share bytes."""
    placed: list[Entry] = []
    limit = end
    for entry in reversed(entries):
        least = entry.offset + _LOCAL_BYTES + len(entry.raw_name) + entry.packed
        if least > limit:
            raise _invalid(
                "expected members one after another before the directory, got some that overlap"
            )
        placed.append(entry._replace(limit=limit))
        limit = entry.offset
    placed.reverse()
    return placed


def _invalid(what: str) -> SourceUnreadable:
    return SourceUnreadable("container_invalid", f"archive: {what}")


def _over_limit(what: str) -> SourceUnreadable:
    return SourceUnreadable("container_over_limit", f"archive: {what}")
