r"""The events of an OpenHands conversation: a folder with a file for each, or one file of lines.

Guarantees: the files of a folder come in the order of the numbers in their names, which is not that
of the names (`event-100000` comes after `event-99999`). Each is opened from the folder's handle, no
link followed; one that cannot be had is a fault, and reading goes on. One event is in memory at a
time, beside the names.

A folder is a source by itself: `<conversation>/events`. The session is the folder above it.

Example:
    >>> OpenHands().identify(Head(name="events", names=["event-00000-0123abcd.json"]))
    True
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from provenance.findings import Severity
from provenance.fs.failures import (
    AccessRefused,
    BoundaryRefused,
    NotARegularFile,
    SourceAbsent,
)
from provenance.fs.whole import FileTooLarge, SourceChanged, read_whole
from provenance.transcripts.adapters._openhands_events import (
    ACP_CALL,
    KNOWN_KINDS,
    AcpCalls,
    calls_of,
    is_event,
    kind_of,
    parent_of,
    references_of,
    results_of,
    say,
    speaker_of,
)
from provenance.transcripts.damage import Judged, judge
from provenance.transcripts.fields import text_of
from provenance.transcripts.lines import read_json_lines
from provenance.transcripts.records import Fault, Record, Reference
from provenance.transcripts.sources import Head, Source

__all__ = ["OpenHands"]

_FOLDER = "events"
# The number has five digits or more; 18 are more than any file system holds.
_match_name = re.compile(r"event-([0-9]{1,18})-(.+)\.json", re.DOTALL).fullmatch
_is_event_name = re.compile(r"event-[0-9]{5,18}-[0-9A-Za-z-]{8,}\.json").fullmatch
# Larger files are read the careful way, which costs some system calls more.
_SMALL_BYTES = 1 << 20


class _Place(NamedTuple):
    """Where an event stands."""

    ordinal: int
    session: str | None = None
    line: int | None = None
    offset: int = 0
    member: str | None = None


class OpenHands:
    """The format `openhands`; see `TranscriptFormat`."""

    name = "openhands"
    suffixes: tuple[str, ...] = (".jsonl",)
    has_separate_sessions = False

    def identify(self, head: Head) -> bool:
        """Say whether a folder holds event files, or one of a file's first lines is an event."""
        if head.names:
            return any(_is_event_name(name) for name in head.names)
        return any(is_event(value) for value in head.objects)

    def records(self, source: Source) -> Iterator[Record | Fault]:
        """Give the events, in the order in which they happened."""
        return _read_folder(source) if source.file is None else _read_lines(source)

    def references(self, record: Record) -> Iterable[Reference]:
        """Give what an event names: its action, what a summary stands for, an output's file."""
        return references_of(record.value) if isinstance(record.value, dict) else ()

    def sessions(self, source: Source) -> Iterable[str]:
        """Give the conversation that a folder is of; a file of lines names none."""
        return () if source.file is not None else (_session_of(source),)


def _session_of(source: Source) -> str:
    # The same conversation has the same session, whichever folder above it is the root.
    names = [name for name in (*source.root_place, *source.folder_names, source.name) if name]
    is_inner = names[-1:] == [_FOLDER] and len(names) > 1
    return _shown(names[-2] if is_inner else (names or [source.name])[-1])


def _shown(name: str) -> str:
    """Give a name as text that can be written anywhere; one that is not UTF-8 holds surrogates."""
    return (
        name if name.isascii() else name.encode(errors="surrogateescape").decode(errors="replace")
    )


def _read_lines(source: Source) -> Iterator[Record | Fault]:
    acp = AcpCalls()
    for item in read_json_lines(source.chunks(), limits=source.limits, is_record=is_event):
        if isinstance(item, Fault):
            yield item
        else:
            place = _Place(item.ordinal, line=item.line, offset=item.offset)
            yield _record(item.value, item.raw, place, acp)


def _read_folder(source: Source) -> Iterator[Record | Fault]:
    session = _session_of(source)
    acp = AcpCalls()
    ordinal = 1
    last, absent, gaps = -1, 0, 0
    for index, stored, event_id in _numbered(source):
        name = _shown(stored)
        # 1. Its number.
        if index is None:
            yield _fault(
                "event_name_invalid", "name: expected a number and an id, got others", session, name
            )
            continue
        if index == last:
            message = "number: expected one file for each, got a second one"
            yield _fault("duplicate_index", message, session, name, severity=Severity.ERROR)
        elif index > last + 1:
            absent, gaps = absent + index - last - 1, gaps + 1
        last = index
        # 2. Its bytes, and what they hold: a damaged file may hold an event all the same.
        data = _read_event(source, stored)
        if isinstance(data, Fault):
            judged = Judged(data)
        else:
            judged = judge(data, limits=source.limits, is_record=is_event)
        if judged.fault is not None:
            is_long = judged.fault.code == "record_over_limit"
            at = ordinal if judged.found or is_long else None
            yield judged.fault._replace(session=session, member=name, ordinal=at)
            ordinal += is_long
        for start, raw, value in judged.found:
            # 3. Is it the one that its name says?
            if start == 0 and text_of(value, "id") != event_id:
                message = "id: expected that of the file's name, got another"
                yield _fault("event_id_mismatch", message, session, name, ordinal=ordinal)
            yield _record(value, raw, _Place(ordinal, session, offset=start, member=name), acp)
            ordinal += 1
    if absent:
        message = f"number: expected each in turn, got {absent} absent (gaps: {gaps})"
        yield _fault("event_indices_absent", message, session, severity=Severity.INFO)


def _numbered(source: Source) -> Iterator[tuple[int | None, str, str]]:
    """Give number, name and id of each event file, by number; then what only looks like one."""
    known: list[tuple[int, str, str]] = []
    others: list[str] = []
    for entry in source.directory.entries():
        found = _match_name(entry.name)
        if found is not None:
            known.append((int(found[1]), entry.name, found[2]))
        elif entry.name.startswith("event-") and entry.name.endswith(".json"):
            others.append(entry.name)
    yield from sorted(known)
    for name in others:
        yield None, name, ""


def _read_event(source: Source, name: str) -> bytes | Fault:
    """Give the bytes of an event file without its line end, or why they cannot be had.

    Raises:
        ReadFailed: the device or file system refused.
    """
    limit = source.limits.max_foreign_record_bytes
    try:
        found = source.directory.read_small(name, below=min(limit + 1, _SMALL_BYTES))
        if found is not None:
            data = found[0]
        else:
            with source.directory.open_file(name) as file:
                # A line end does not count.
                attempts = source.limits.read_attempts
                data = read_whole(file, max_bytes=limit + 2, attempts=attempts)
    except BoundaryRefused:
        return _refusal("ownership_boundary", "a file below the root, got a link", Severity.ERROR)
    except NotARegularFile:
        return _refusal("transcript_not_a_file", "a file, got something else", Severity.ERROR)
    except FileTooLarge:
        message = f"record: expected at most {limit} bytes, got more"
        return Fault("record_over_limit", Severity.ERROR, message)
    # What follows says nothing about what was written.
    except SourceAbsent:
        return _refusal("source_disappeared", "the file that was listed, got none")
    except AccessRefused:
        return _refusal("filesystem_denied", "permission to read, got a refusal")
    except SourceChanged:
        return _refusal("source_changed_during_read", "no change during the read, got one")
    return data.removesuffix(b"\n").removesuffix(b"\r")


def _record(event: dict[str, Any], raw: bytes, place: _Place, acp: AcpCalls) -> Record:
    kind = kind_of(event)
    calls, results = calls_of(event), results_of(event)
    if kind == ACP_CALL:
        calls, results = acp.take(event)
    return Record(
        ordinal=place.ordinal,
        kind=kind,
        raw=raw,
        value=event,
        line=place.line,
        offset=place.offset,
        member=place.member,
        native_id=text_of(event, "id"),
        parent=parent_of(event),
        session=place.session,
        message_id=text_of(event, "llm_response_id"),
        time=text_of(event, "timestamp"),
        speaker=speaker_of(event),
        calls=calls,
        results=results,
        is_known=kind in KNOWN_KINDS,
        say=say,
    )


def _refusal(code: str, expected: str, severity: Severity = Severity.WARNING) -> Fault:
    return Fault(code, severity, f"event: expected {expected}")


def _fault(
    code: str,
    message: str,
    session: str,
    name: str | None = None,
    *,
    ordinal: int | None = None,
    severity: Severity = Severity.WARNING,
) -> Fault:
    return Fault(code, severity, message, ordinal=ordinal, session=session, member=name)
