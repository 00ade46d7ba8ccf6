"""Inspect AI logs: `.eval` archives with a session a sample, and the older whole JSON document.

Guarantees: nothing is unpacked to disk and no member's name is used as a path. One sample is in
memory at a time. Each sample's records are its messages, then its events, each with its own bytes.
A damaged member, a sample that the log's summary names and that is not there, and a sample under
another sample's name are faults; the other samples are read.

A log holds a sample in one member (`samples/<id>_epoch_<n>.json`), or, from version 3 on, in a
folder of chunks (`samples/<id>_epoch_<n>/messages/0.json`, ...). Since 2026 members are packed with
Zstandard, which needs Python 3.14 or an installed package.

Example:
    >>> from provenance.transcripts.sources import Head
    >>> InspectLog().identify(Head(name="a.eval", data=b"PK but no archive"))
    False
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from provenance.findings import Severity
from provenance.transcripts.adapters._inspect_chunks import sample_records
from provenance.transcripts.adapters._inspect_document import (
    pools_of_document_log,
    read_document_log,
)
from provenance.transcripts.adapters._inspect_pools import sample_pools
from provenance.transcripts.adapters._inspect_references import PlacedValue, references_of
from provenance.transcripts.adapters._inspect_shapes import (
    Sample,
    find_samples,
    sample_session,
)
from provenance.transcripts.containers.archive import Archive, read_archive
from provenance.transcripts.containers.document import Document, parse_document
from provenance.transcripts.records import Fault, Pooled, Record, Reference
from provenance.transcripts.sources import Head, Source, SourceUnreadable

__all__ = ["InspectLog"]

_HEADER = "header.json"
_START = "_journal/start.json"
_SUMMARIES = "summaries.json"
_JOURNAL_SUMMARIES = "_journal/summaries/"

_MAGIC = b"PK\x03\x04"
# A member's own header is 30 bytes, then its name follows.
_find_member = re.compile(
    rb"PK\x03\x04.{26}(?:_journal/|header\.json|summaries\.json|samples/[^\x00]{1,300}_epoch_[0-9])",
    re.DOTALL,
).search
_match_document = re.compile(
    rb'\s*\{\s*"version"\s*:\s*[0-9]+\s*,\s*"status"\s*:\s*"[a-z]+"\s*,\s*"eval"\s*:\s*\{'
).match


class InspectLog:
    """The format `inspect`; see the module."""

    name = "inspect"
    suffixes = (".eval", ".json")
    has_separate_sessions = True

    def identify(self, head: Head) -> bool:
        """Say whether a file is an Inspect log: an archive with its members, or its document."""
        if head.data.startswith(_MAGIC):
            return _find_member(head.data) is not None
        return _match_document(head.data) is not None

    def records(self, source: Source) -> Iterator[Record | Fault]:
        """Give the records of each sample, sample by sample."""
        if not _is_archive(source):
            yield from read_document_log(source)
            return
        archive = _read(source)
        yield from archive.faults
        samples = find_samples(archive)
        yield from _check_log(archive, samples, source)
        for sample in samples.values():
            yield from sample_records(archive, sample, limits=source.limits)

    def pooled_parts(self, source: Source) -> Iterator[Pooled]:
        """Give the pools and attachments of each sample, as far as they are no records."""
        if not _is_archive(source):
            yield from pools_of_document_log(source)
            return
        archive = _read(source)
        for sample in find_samples(archive).values():
            yield from sample_pools(archive, sample, limits=source.limits)

    def references(self, record: Record) -> Iterable[Reference]:
        """Give attachments, ranges of the pools and the message of an event."""
        return references_of(record.value) if isinstance(record.value, PlacedValue) else ()

    def sessions(self, source: Source) -> Iterable[str]:
        """Give a session for each sample: `<id>_epoch_<n>`."""
        if _is_archive(source):
            return tuple(find_samples(_read(source)))
        found = (item.session for item in read_document_log(source) if isinstance(item, Record))
        return tuple(dict.fromkeys(name for name in found if name is not None))


def _is_archive(source: Source) -> bool:
    # What is no document is read as an archive: its end may be whole though its head is not.
    return source.file is None or not source.file.read_at(0, 64).lstrip().startswith(b"{")


def _read(source: Source) -> Archive:
    if source.file is None:
        raise SourceUnreadable("container_invalid", "archive: expected a file, got a folder")
    archive = read_archive(source.file, limits=source.limits)
    if not (archive.members.keys() & {_HEADER, _START} or find_samples(archive)):
        raise SourceUnreadable(
            "container_invalid", "archive: expected the members of an Inspect log, got none"
        )
    return archive


def _check_log(archive: Archive, samples: dict[str, Sample], source: Source) -> Iterator[Fault]:
    """Compare what the log says of itself with what is in it."""
    if _HEADER not in archive.members:
        message = f"archive: expected {_HEADER}, got none: the run did not end, or goes on"
        yield Fault("inspect_log_unfinished", Severity.INFO, message)
    names = [_SUMMARIES] if _SUMMARIES in archive.members else []
    names = names or [name for name in archive.members if name.startswith(_JOURNAL_SUMMARIES)]
    for name in names:
        data = archive.read(name)
        if isinstance(data, Fault):
            yield data
            continue
        found = parse_document(data, limits=source.limits, arrays=[()])
        faults = found.faults if isinstance(found, Document) else (found,)
        yield from (fault._replace(member=name, line=None, ordinal=None) for fault in faults)
        if isinstance(found, Document):
            for element in found.elements(()):
                session = sample_session(element.value)
                if session is not None and session not in samples:
                    message = "summary: expected its sample in the archive, got none"
                    yield Fault(
                        "inspect_sample_absent",
                        Severity.WARNING,
                        message,
                        session=session,
                        member=name,
                    )
