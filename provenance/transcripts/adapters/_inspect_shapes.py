"""Where the samples of an Inspect archive are, and the records of a sample that is one document.

Guarantees: pure; whatever a member's name or a document holds, nothing raises. What is damaged in
a document is a fault where it stands, and whatever else can be read of the sample is given.

Example:
    >>> sample_session({"id": 7, "epoch": 2}), sample_session({"id": True})
    ('7_epoch_2', None)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from provenance.findings import Severity
from provenance.limits import Limits
from provenance.transcripts.adapters._inspect_references import SampleFacts
from provenance.transcripts.adapters._inspect_sample import Item, RecordMaker, Where
from provenance.transcripts.containers.archive import Archive
from provenance.transcripts.containers.document import Document, Element, parse_document
from provenance.transcripts.records import Fault, Record

__all__ = [
    "ARRAYS",
    "Place",
    "Sample",
    "document_records",
    "find_samples",
    "item_of",
    "mismatch_of",
    "placed_fault",
    "sample_session",
    "where_of",
]

Path = tuple[str, ...]
ARRAYS: tuple[Path, Path] = (("messages",), ("events",))

_match_chunk = re.compile(
    r"samples/(.+_epoch_[0-9]+)/(?:sample|metadata|skeleton"
    r"|(messages|events|calls|attachments)/([0-9]{1,15}|stats|uuids))\.json",
    re.DOTALL,
).fullmatch
_match_whole = re.compile(r"samples/(.+)\.json", re.DOTALL).fullmatch


@dataclass
class Sample:
    """The members of one sample.

    Attributes:
        session: `<id>_epoch_<n>`, from its members' names.
        member: the one that holds all of it; None where it is in chunks.
        folder: what the names of its chunks begin with; None where it is in one member.
        chunks: for each sequence its members, each by the index of its first element.
    """

    session: str
    member: str | None = None
    folder: str | None = None
    chunks: dict[str, dict[int, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the document of a sample stands: `line` is None where lines tell nothing."""

    session: str
    member: str | None = None
    offset: int = 0
    line: int | None = None


def sample_session(value: Any) -> str | None:  # noqa: ANN401 - a stranger's value
    """Give the session that a sample, or its summary, belongs to by its own id and epoch."""
    if not isinstance(value, dict):
        return None
    sample_id, epoch = value.get("id"), value.get("epoch")
    if type(sample_id) not in (str, int) or type(epoch) is not int:
        return None
    return f"{sample_id}_epoch_{epoch}"


def find_samples(archive: Archive) -> dict[str, Sample]:
    """Find the samples by the names of the members, in the order of their bytes."""
    samples: dict[str, Sample] = {}
    for name in archive.members:
        if chunk := _match_chunk(name):
            sample = samples.setdefault(chunk[1], Sample(chunk[1]))
            sample.folder = f"samples/{chunk[1]}/"
            if chunk[3] and chunk[3] not in ("stats", "uuids"):
                sample.chunks.setdefault(chunk[2], {})[int(chunk[3])] = name
        elif whole := _match_whole(name):
            samples.setdefault(whole[1], Sample(whole[1])).member = name
    return samples


def document_records(data: bytes, place: Place, *, limits: Limits) -> Iterator[Record | Fault]:
    """Give the records of a sample that is one document."""
    document = parse_document(data, limits=limits, arrays=ARRAYS)
    if isinstance(document, Fault):
        yield placed_fault(document, place, 0)
        return
    value = document.value if isinstance(document.value, dict) else {}
    pool, calls = _pools(value)
    attachments = value.get("attachments")
    facts = SampleFacts(
        attachments=frozenset(attachments if isinstance(attachments, dict) else ()),
        messages=len(pool),
        calls=len(calls),
    )
    bases = _first_ordinals(document)
    maker = RecordMaker(facts, has_messages=bool(document.elements(("messages",))), pool=pool)
    makers: dict[Path, Callable[[Item, Where], Record]] = {
        ("messages",): maker.message,
        ("events",): maker.event,
    }
    if mismatch := mismatch_of(document.value, place):
        yield mismatch
    for path, found in _in_order(document):
        if isinstance(found, Fault):
            yield placed_fault(found, place, bases[path])
        else:
            yield makers[path](
                item_of(data, found, place.offset), where_of(found, place, bases[path])
            )


def _in_order(document: Document) -> Iterator[tuple[Path, Element | Fault]]:
    """Give the elements of both arrays, and the faults, in the order of the bytes."""
    found: list[tuple[int, Path, Element | Fault]] = [
        (start, _array_of(fault), fault) for start, fault in document.placed_faults
    ]
    for path in ARRAYS:
        found += [(element.start, path, element) for element in document.elements(path)]
    found.sort(key=lambda one: one[0])
    return ((path, one) for _, path, one in found)


def _array_of(fault: Fault) -> Path:
    """Say which array a fault of the document is about, if it has an ordinal in one."""
    return ARRAYS[1] if " of events:" in fault.message else ARRAYS[0]


def _pools(value: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Give the pools of messages and of raw calls; their place changed with the versions."""
    newer = value.get("events_data")
    pools = newer if isinstance(newer, dict) else {}
    found = (
        pools.get("messages", value.get("message_pool")),
        pools.get("calls", value.get("call_pool")),
    )
    messages, calls = (pool if isinstance(pool, list) else [] for pool in found)
    return messages, calls


def _first_ordinals(document: Document) -> dict[Path, int]:
    """Say how many records stand before each array; the arrays are in the order of the bytes."""
    starts = {path: [one.start for one in document.elements(path)][:1] for path in ARRAYS}
    bases: dict[Path, int] = {}
    count = 0
    for path in sorted(ARRAYS, key=lambda path: starts[path]):
        bases[path] = count
        ordinals = [element.ordinal for element in document.elements(path)]
        ordinals += [
            fault.ordinal
            for fault in document.faults
            if fault.ordinal is not None and _array_of(fault) == path
        ]
        count += max(ordinals, default=0)
    return bases


def mismatch_of(value: Any, place: Place) -> Fault | None:  # noqa: ANN401 - a stranger's value
    if not isinstance(value, dict):
        message = "sample: expected a JSON object, got another value"
        return Fault(
            "inspect_sample_invalid",
            Severity.ERROR,
            message,
            session=place.session,
            member=place.member,
            line=place.line,
        )
    own = sample_session(value)
    if own is None or own == place.session or place.member is None:
        return None
    message = "sample: expected the id and epoch of its member's name, got others"
    return Fault(
        "inspect_sample_mismatch",
        Severity.WARNING,
        message,
        session=place.session,
        member=place.member,
    )


def placed_fault(fault: Fault, place: Place, base: int) -> Fault:
    """Put a fault about a document into the sample."""
    line = None
    if place.line is not None and fault.line is not None:
        line = place.line + fault.line - 1
    ordinal = None if fault.ordinal is None else base + fault.ordinal
    return fault._replace(ordinal=ordinal, line=line, session=place.session, member=place.member)


def item_of(data: bytes, element: Element, offset: int) -> Item:
    return Item(element.value, data[element.start : element.end], offset + element.start)


def where_of(element: Element, place: Place, base: int) -> Where:
    line = None if place.line is None else place.line + element.line - 1
    return Where(base + element.ordinal, place.session, place.member, line)
