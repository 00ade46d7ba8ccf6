"""The records of one sample of an Inspect archive: in one member, or in chunks.

Guarantees: one member is in memory at a time. A member that is damaged is a fault with its session,
and whatever else can be read of the sample is given. Ranges are never expanded.

Example:
    >>> ranges = Ranges([[0, 2], [5, 10**18]])
    >>> [index in ranges for index in (0, 2, 5)]
    [True, False, True]
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from provenance.findings import Severity
from provenance.limits import Limits
from provenance.transcripts.adapters._inspect_references import SampleFacts
from provenance.transcripts.adapters._inspect_sample import Item, RecordMaker, Where
from provenance.transcripts.adapters._inspect_shapes import (
    Place,
    Sample,
    document_records,
    item_of,
    mismatch_of,
    placed_fault,
    where_of,
)
from provenance.transcripts.containers.archive import Archive, member_fault
from provenance.transcripts.containers.document import Document, parse_document
from provenance.transcripts.records import Fault, Record

__all__ = ["Ranges", "sample_records"]

_match_index = re.compile(r"0|[1-9][0-9]{0,14}").fullmatch


def sample_records(archive: Archive, sample: Sample, *, limits: Limits) -> Iterator[Record | Fault]:
    """Give the records of one sample, and what is wrong with its members.

    Raises:
        SourceUnreadable: as `Archive.read`.
    """
    if sample.member is None:
        yield from _ChunkedSample(archive, sample, limits).records()
        return
    if sample.folder is not None:
        message = "sample: expected one member, or chunks, got both; the one member is read"
        yield member_fault(
            "inspect_sample_repeated", Severity.WARNING, message, sample.member
        )._replace(session=sample.session)
    data = archive.read(sample.member)
    place = Place(sample.session, sample.member)
    if isinstance(data, Fault):
        yield data._replace(session=sample.session)
        return
    yield from document_records(data, place, limits=limits)


class Ranges:
    """Half-open ranges of a stranger, asked for one index at a time."""

    def __init__(self, refs: list[Any]) -> None:
        pairs = sorted(
            (ref[0], ref[1])
            for ref in refs
            if isinstance(ref, list) and len(ref) == 2 and all(type(one) is int for one in ref)
        )
        self._starts = [start for start, _ in pairs]
        self._ends = list(accumulate((end for _, end in pairs), max))

    def __contains__(self, index: int) -> bool:
        place = bisect_right(self._starts, index) - 1
        return place >= 0 and index < self._ends[place]


class _Indices:
    """The names of attachments in chunks: their indices, as text."""

    def __init__(self, found: list[Any]) -> None:
        self._ranges = Ranges(found)

    def __contains__(self, name: object) -> bool:
        is_index = isinstance(name, str) and _match_index(name) is not None
        return is_index and int(str(name)) in self._ranges


class _ChunkedSample:
    """A sample in chunks: four sequences, each in members named by their first index."""

    def __init__(self, archive: Archive, sample: Sample, limits: Limits) -> None:
        self._archive = archive
        self._sample = sample
        self._limits = limits
        self._sizes: dict[str, int] = {}
        self._final: Ranges | None = None
        self._count = 0
        self._data = b""
        self._found: list[list[int]] = []  # ranges of attachments

    def records(self) -> Iterator[Record | Fault]:
        yield from self._read_shell()
        for sequence in ("attachments", "calls"):
            for part in self._parts(sequence):
                if isinstance(part, Fault):
                    yield part
        attachments = _Indices(self._found)
        facts = SampleFacts(attachments, calls=self._sizes["calls"])
        maker = RecordMaker(facts, has_messages=True)
        has_messages = False
        for part in self._parts("messages"):
            if isinstance(part, Fault):
                yield part
                continue
            item, where, index = part
            is_final = self._final is None or index in self._final
            has_messages = has_messages or is_final
            yield maker.message(item, where, is_final=is_final)
        facts = SampleFacts(attachments, self._sizes["messages"], self._sizes["calls"])
        maker = RecordMaker(facts, has_messages=has_messages)
        for part in self._parts("events"):
            yield part if isinstance(part, Fault) else maker.event(part[0], part[1])

    def _read_shell(self) -> Iterator[Fault]:
        name = f"{self._sample.folder}sample.json"
        document: Document | Fault
        if name not in self._archive.members:
            message = "sample: expected sample.json beside its chunks, got none"
            document = Fault("inspect_sample_invalid", Severity.ERROR, message)
        else:
            document = self._parse(name)
        place = Place(self._sample.session, name)
        faults = document.faults if isinstance(document, Document) else (document,)
        yield from (placed_fault(fault, place, 0) for fault in faults)
        if isinstance(document, Document):
            if fault := mismatch_of(document.value, place):
                yield fault
            elif isinstance(refs := document.value.get("message_refs"), list):
                self._final = Ranges(refs)

    def _parts(self, sequence: str) -> Iterator[tuple[Item, Where, int] | Fault]:
        """Give the elements of a sequence; records (messages and events) are counted on."""
        has_records = sequence in ("messages", "events")
        chunks = self._sample.chunks.get(sequence, {})
        expected: int | None = 0
        for start in sorted(chunks):
            name = chunks[start]
            place = Place(self._sample.session, name)
            if expected is not None and start != expected:
                message = f"{sequence}: expected a chunk from {expected} on, got none"
                fault = member_fault("inspect_chunk_absent", Severity.ERROR, message, name)
                yield fault._replace(session=place.session)
            document = self._parse(name)
            if isinstance(document, Fault):
                yield placed_fault(document, place, self._count)
                expected = None  # nobody knows how many it held
                continue
            yield from (placed_fault(fault, place, self._count) for fault in document.faults)
            elements = document.elements(())
            count = max((element.ordinal for element in elements), default=0)
            if has_records:
                for element in elements:
                    item = item_of(self._data, element, 0)
                    index = start + element.ordinal - 1
                    yield item, where_of(element, place, self._count), index
                self._count += count
            expected = None if document.faults else start + count
            self._sizes[sequence] = start + count
            if sequence == "attachments":
                self._found.append([start, start + count])
        self._sizes.setdefault(sequence, 0)

    def _parse(self, name: str) -> Document | Fault:
        data = self._archive.read(name)
        self._data = b"" if isinstance(data, Fault) else data
        if isinstance(data, Fault):
            return data
        return parse_document(data, limits=self._limits, arrays=[()])
