"""What the events of an Inspect sample share: pools of messages and raw calls, and attachments.

Guarantees: pure; raises nothing for what the bytes hold. Entries come in their order, so that what
a sample gains stands after what it had. Of a member that is damaged nothing is given after the
damage, and of a sample that is one damaged document nothing at all: what it says is not known.

Example:
    >>> sample = b'{"message_pool": [{"role": "user"}], "attachments": {"a1": "text"}}'
    >>> for one in document_pools(sample, "7_epoch_1", limits=Limits()):
    ...     print(one.pool, one.data)
    messages b'{"role": "user"}'
    attachments b'["a1","text"]'
"""

from __future__ import annotations

from collections.abc import Iterator

from provenance.canonical import canonical_json
from provenance.limits import Limits
from provenance.transcripts.adapters._inspect_shapes import Sample
from provenance.transcripts.containers.archive import Archive
from provenance.transcripts.containers.document import Document, Element, parse_document
from provenance.transcripts.records import Fault, Pooled

__all__ = ["document_pools", "sample_pools"]

_MESSAGES, _CALLS, _ATTACHMENTS = "messages", "calls", "attachments"
_DATA = "events_data"
# Where the pools of a sample that is one document lie; their place changed with the versions.
_NEWER = {_MESSAGES: (_DATA, _MESSAGES), _CALLS: (_DATA, _CALLS)}
_OLDER = {_MESSAGES: ("message_pool",), _CALLS: ("call_pool",)}


def sample_pools(archive: Archive, sample: Sample, *, limits: Limits) -> Iterator[Pooled]:
    """Give the entries of one sample of an archive.

    Raises:
        SourceUnreadable: as `Archive.read`.
    """
    if sample.member is not None:
        data = archive.read(sample.member)
        if not isinstance(data, Fault):
            yield from document_pools(data, sample.session, limits=limits)
        return
    # In chunks the pool of messages is among the records.
    for pool in (_CALLS, _ATTACHMENTS):
        expected = 0
        for start, name in sorted(sample.chunks.get(pool, {}).items()):
            data = archive.read(name)
            if start != expected or isinstance(data, Fault):
                break
            document = parse_document(data, limits=limits, arrays=[()])
            if isinstance(document, Fault) or document.faults:
                break
            elements = document.elements(())
            for element in elements:
                yield Pooled(sample.session, pool, data[element.start : element.end])
            expected += len(elements)


def document_pools(data: bytes, session: str, *, limits: Limits) -> Iterator[Pooled]:
    """Give the entries of a sample that is one document."""
    arrays = [*_NEWER.values(), *_OLDER.values()]
    document = parse_document(data, limits=limits, arrays=arrays)
    if isinstance(document, Fault) or document.faults or not isinstance(document.value, dict):
        return
    for pool in (_MESSAGES, _CALLS):
        for element in _elements(document, pool):
            yield Pooled(session, pool, data[element.start : element.end])
    attachments = document.value.get(_ATTACHMENTS)
    for name, text in attachments.items() if isinstance(attachments, dict) else ():
        entry = canonical_json([name, text])
        yield Pooled(session, _ATTACHMENTS, entry.encode("utf-8", "surrogatepass"))


def _elements(document: Document, pool: str) -> list[Element]:
    """Give the elements of a pool, first from where readers look first; a log has one of both."""
    return [*document.elements(_NEWER[pool]), *document.elements(_OLDER[pool])]
