r"""The text of files whose bytes do not show it: compressed ones, archives, databases.

Guarantees: a container is read only where it is a transcript of a known format and its adapter
finds all records whole, within its bounds. Then not only those records are given, but all that it
holds: each member of an archive, each cell of each table, and its own bytes (names, comments). Any
other container cannot be read, and neither can one in which something lies that is no text; that is
an error and never "nothing".

Example:
    >>> is_packed(b"PK\x03\x04"), is_packed(b'{"type":"message"}')
    (True, False)
"""

from __future__ import annotations

from collections.abc import Iterator

from provenance.errors import DataError
from provenance.findings import Severity
from provenance.fs import Directory, OpenFile
from provenance.limits import Limits
from provenance.retention.texts import text_only
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.containers.archive import Archive, read_archive
from provenance.transcripts.formats import find_format
from provenance.transcripts.records import Fault
from provenance.transcripts.sources import Source, SourceUnreadable, read_head

__all__ = ["ContainerUnreadable", "is_packed", "unpacked"]

# zstd, zip (also an empty one), SQLite, gzip, xz, bzip2, PDF. Others are told by being no text.
_MARKS = (
    b"\x28\xb5\x2f\xfd",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"SQLite format 3\0",
    b"\x1f\x8b",
    b"\xfd7zXZ\0",
    b"BZh",
    b"%PDF-",
)
_DATABASE, _ARCHIVE = b"SQLite format 3\0", b"PK"
# Warnings, where another archive may stand before or behind this one.
_HIDING = frozenset({"archive_extra_bytes"})
_BLOCK_BYTES = 1 << 20
# A skippable frame of zstd: its first byte is 0x50 to 0x5f.
_SKIPPABLE = b"\x2a\x4d\x18"


class ContainerUnreadable(DataError):
    """A container that nobody here can read may cite anything."""

    code = "container_unreadable"


def is_packed(head: bytes) -> bool:
    """Say whether a file that begins so hides its text."""
    return head.startswith(_MARKS) or (head[1:4] == _SKIPPABLE and head[0] >> 4 == 5)


def unpacked(file: OpenFile, folder: Directory, name: str, *, limits: Limits) -> Iterator[bytes]:
    """Give all that a container holds, piece by piece; different things with a line end between.

    Args:
        file: the container.
        folder: where it lies; a database's journals lie beside it.
        name: its name.
        limits: bounds on what is read.

    Raises:
        NoText: something in it is no text.
        DatabaseDamaged, DatabaseOverLimit, FileTooLarge, WriteFailed: of a database.
        ContainerUnreadable: no format knows it, or it is damaged.
        ReadFailed, BoundaryRefused, AccessRefused, NotARegularFile, SourceAbsent: of the files.
    """
    try:
        found = find_format(read_head(file, name))
        if found is None:
            raise ContainerUnreadable(
                "container: expected a transcript of a known format, got something else"
            )
        source = Source(name, folder, file, limits)
        yield from _records(found, source)
        yield from _own_bytes(file)
        head = file.read_at(0, len(_DATABASE))
        if head == _DATABASE:
            from provenance.retention.databases import texts_of  # noqa: PLC0415 - loads SQLite

            texts = texts_of(source)
        elif head.startswith(_ARCHIVE):
            texts = _members(read_archive(file, limits=limits))
        else:
            texts = text_only(source.chunks())
            yield b"\n"
            yield from texts
            return
        for text in texts:
            yield b"\n" + text
    except SourceUnreadable as error:
        raise ContainerUnreadable(f"container: {error}") from None


def _records(found: TranscriptFormat, source: Source) -> Iterator[bytes]:
    for item in found.records(source):
        if not isinstance(item, Fault):
            yield item.raw + b"\n"
        elif item.severity is Severity.ERROR or item.code in _HIDING:
            raise ContainerUnreadable(f"container: expected whole records, got {item.code}")


def _members(archive: Archive) -> Iterator[bytes]:
    for name in archive.members:
        data = archive.read(name)
        if isinstance(data, Fault):
            raise ContainerUnreadable(f"container: expected whole members, got {data.code}")
        if is_packed(data):
            raise ContainerUnreadable("container: expected text in it, got another container")
        yield from text_only([data])


def _own_bytes(file: OpenFile) -> Iterator[bytes]:
    offset = 0
    while piece := file.read_at(offset, _BLOCK_BYTES):
        offset += len(piece)
        yield piece
