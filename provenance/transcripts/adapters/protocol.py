"""What a transcript format has to say for itself: one module and one object of this shape a format.

Guarantees: an adapter never opens a file by name; it is handed what was opened below a trusted
root. It reads in bounded memory, gives records in the order of their bytes, and raises nothing for
what the bytes hold: whatever is wrong is a `Fault` between the records.

Formats from outside come through the entry point group `ctxaudit.transcript_formats`: each entry
point names an object of this shape.

Example:
    >>> class Nothing:
    ...     name = "nothing"
    ...     suffixes = (".nothing",)
    ...     has_separate_sessions = False
    ...     def identify(self, head): return False
    ...     def records(self, source): return iter(())
    ...     def references(self, record): return ()
    ...     def sessions(self, source): return ()
    >>> isinstance(Nothing(), TranscriptFormat)
    True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from provenance.transcripts.records import Fault, Pooled, Record, Reference
from provenance.transcripts.sources import Head, Source

__all__ = ["FORMAT_GROUP", "MixedSessions", "PooledParts", "TranscriptFormat"]

FORMAT_GROUP = "ctxaudit.transcript_formats"


@runtime_checkable
class TranscriptFormat(Protocol):
    """One format of transcripts.

    Attributes:
        name: as in `--as` and in reports: lower-case letters, digits and hyphens.
        suffixes: what the names of its files may end with, for looking through a tree; a folder
            is offered to each format. A name alone never decides.
        has_separate_sessions: True where one source keeps several sessions apart, each with
            ordinals of its own (a database); False where a source is one log.
    """

    name: str
    suffixes: tuple[str, ...]
    has_separate_sessions: bool

    def identify(self, head: Head) -> bool:
        """Say whether a source is of this format; cheap, from its name and first bytes."""

    def records(self, source: Source) -> Iterator[Record | Fault]:
        """Give every record in the order of the bytes, and what is wrong where it stands.

        Raises:
            ReadFailed, SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile: of the files.
            SourceUnreadable: the container as a whole cannot be read (see its codes).
        """

    def references(self, record: Record) -> Iterable[Reference]:
        """Give what this record says exists elsewhere."""

    def sessions(self, source: Source) -> Iterable[str]:
        """Give the sessions in a source, in the format's own words; cheap, no more than a head.

        Raises:
            As `records`.
        """


@runtime_checkable
class MixedSessions(Protocol):
    """What a format has besides where one log may hold records of several sessions."""

    def record_sessions(self, source: Source) -> Iterable[str]:
        """Give every session that a record of the source is of; it may give others too.

        The whole source is read, but nothing of it parsed.

        Raises:
            As `TranscriptFormat.records`.
        """


@runtime_checkable
class PooledParts(Protocol):
    """What a format has besides where records refer to parts of their source by a name or place.

    A seal covers those parts, so that the words of a record cannot change while its digest stays.
    """

    def pooled_parts(self, source: Source) -> Iterator[Pooled]:
        """Give them, those of a session and pool in an order that what is appended goes on with.

        Raises:
            As `TranscriptFormat.records`.
        """
