"""The older Inspect log: one JSON document that holds all samples.

Guarantees: as for the archive, but for memory, which the document takes as a whole. Samples that
cannot be told apart are told apart here by a number.

Example:
    >>> unique_session("1_epoch_1", {"1_epoch_1"})
    '1_epoch_1-2'
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from provenance.findings import Severity
from provenance.transcripts.adapters._inspect_pools import document_pools
from provenance.transcripts.adapters._inspect_shapes import (
    Place,
    document_records,
    sample_session,
)
from provenance.transcripts.containers.document import (
    Document,
    Element,
    join_chunks,
    parse_document,
)
from provenance.transcripts.records import Fault, Pooled, Record
from provenance.transcripts.sources import Source

__all__ = ["pools_of_document_log", "read_document_log", "unique_session"]

_SAMPLES = ("samples",)


def read_document_log(source: Source) -> Iterator[Record | Fault]:
    """Give the records of each sample, sample by sample."""
    data = join_chunks(source.chunks())
    document = parse_document(data, limits=source.limits, arrays=[_SAMPLES])
    if isinstance(document, Fault):
        yield document
        return
    # A sample's place among the samples is no place of a record.
    yield from (fault._replace(ordinal=None) for fault in document.faults)
    for session, element, is_repeated in _sessions(document):
        if is_repeated:
            message = "sample: expected an id and epoch of its own, got those of another"
            yield Fault(
                "inspect_sample_repeated",
                Severity.ERROR,
                message,
                line=element.line,
                session=sample_session(element.value) or session,
            )
        place = Place(session, None, element.start, element.line)
        yield from document_records(data[element.start : element.end], place, limits=source.limits)


def pools_of_document_log(source: Source) -> Iterator[Pooled]:
    """Give what the events of each sample share."""
    data = join_chunks(source.chunks())
    document = parse_document(data, limits=source.limits, arrays=[_SAMPLES])
    if isinstance(document, Fault):
        return
    for session, element, _ in _sessions(document):
        yield from document_pools(data[element.start : element.end], session, limits=source.limits)


def _sessions(document: Document) -> Iterator[tuple[str, Element, bool]]:
    """Give each sample with its session, and whether another one came under that name before."""
    seen: set[str] = set()
    for element in document.elements(_SAMPLES):
        session = sample_session(element.value) or f"sample-{element.ordinal}"
        is_repeated = session in seen
        if is_repeated:
            session = unique_session(session, seen)
        seen.add(session)
        yield session, element, is_repeated


def unique_session(session: str, seen: Set[str]) -> str:
    """Give a session that is not among those seen."""
    number = 2
    while f"{session}-{number}" in seen:
        number += 1
    return f"{session}-{number}"
