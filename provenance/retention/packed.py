r"""The text of files whose bytes do not show it: compressed ones, archives, databases.

Guarantees: a container is read only as a transcript of a known format, record by record, by the
adapter that reads it for an audit, within its bounds. Any other container cannot be read, and that
is an error and never "nothing".

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
from provenance.transcripts.formats import find_format
from provenance.transcripts.records import Fault
from provenance.transcripts.sources import Source, SourceUnreadable, read_head

__all__ = ["ContainerUnreadable", "is_packed", "unpacked"]

# zstd, zip (also an empty one), SQLite, gzip, xz, bzip2.
_MARKS = (
    b"\x28\xb5\x2f\xfd",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"SQLite format 3\0",
    b"\x1f\x8b",
    b"\xfd7zXZ\0",
    b"BZh",
)
# A skippable frame of zstd: its first byte is 0x50 to 0x5f.
_SKIPPABLE = b"\x2a\x4d\x18"


class ContainerUnreadable(DataError):
    """A container that nobody here can read may cite anything."""

    code = "container_unreadable"


def is_packed(head: bytes) -> bool:
    """Say whether a file that begins so hides its text."""
    return head.startswith(_MARKS) or (head[1:4] == _SKIPPABLE and head[0] >> 4 == 5)


def unpacked(file: OpenFile, folder: Directory, name: str, *, limits: Limits) -> Iterator[bytes]:
    """Give the records of a container, each with a line end.

    Args:
        file: the container.
        folder: where it lies; a database's journals lie beside it.
        name: its name.
        limits: bounds on what is read.

    Raises:
        ContainerUnreadable: no format knows it, or it is damaged.
        ReadFailed, BoundaryRefused, AccessRefused, NotARegularFile, SourceAbsent: of the files.
    """
    try:
        found = find_format(read_head(file, name))
        if found is None:
            raise ContainerUnreadable(
                "container: expected a transcript of a known format, got something else"
            )
        for item in found.records(Source(name, folder, file, limits)):
            if not isinstance(item, Fault):
                yield item.raw + b"\n"
            elif item.severity is Severity.ERROR:
                raise ContainerUnreadable(f"container: expected whole records, got {item.code}")
    except SourceUnreadable as error:
        raise ContainerUnreadable(f"container: {error}") from None
