r"""DeepSeek Harness: one log of events a session, as lines; runs of tokens packed into one row.

Guarantees: as the protocol says. A record is a row. Its address is its ordinal; its native id is
the sequence of its event, counted from 0 over the log, of a packed row `7-23`. The header counts as
no event. Rows that say their sequence are believed; where one does not and a row before it is
damaged, its sequence is not known, and nothing is said of what it cites.

Where it lies: `session.jsonl` in a folder of the session. References point backwards.

Example:
    >>> Dsh().identify(Head("a.jsonl", b'{"type":"session","version":0,"id":"s","createdAt":0}\n'))
    True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from provenance.findings import Severity
from provenance.transcripts.adapters._dsh_sequences import Seen, Sequences, members
from provenance.transcripts.adapters._dsh_values import (
    HEADER,
    KNOWN_EVENTS,
    PACKED,
    blocks_of,
    bounds_of,
    is_header,
    is_own,
    is_record,
    number_of,
    packed_count,
    result_id_of,
    text_in_row,
    time_of,
)
from provenance.transcripts.fields import dict_of, list_of, text_of
from provenance.transcripts.lines import Line, read_json_lines
from provenance.transcripts.records import Call, CallResult, Fault, Record, Reference, Speaker
from provenance.transcripts.sources import Head, Source

__all__ = ["Dsh", "DshRecord"]

_SPEAKERS = {
    "user/message": Speaker.USER,
    "assistant/message": Speaker.ASSISTANT,
    "tool/result": Speaker.USER,
}
_UNKNOWN_SEQUENCE = "its sequence is not known: a row before it is damaged"


class DshRecord(Record, gc=False, kw_only=True):
    """A row, with what it can point back at; None where its sequence is not known."""

    seen: Seen | None = None


class Dsh:
    """The format `dsh`."""

    name = "dsh"
    suffixes = (".jsonl", ".jsonl.zst")
    has_separate_sessions = False

    def identify(self, head: Head) -> bool:
        """Say whether one of the first lines is a header, or an event of a kind of its own."""
        return any(map(is_own, head.objects))

    def records(self, source: Source) -> Iterator[Record | Fault]:
        """Give the rows of a log."""
        log = _Log()
        for item in read_json_lines(source.chunks(), limits=source.limits, is_record=is_record):
            if isinstance(item, Fault):
                # The records of a welded line are all there.
                if item.code not in ("welded_records", "no_final_newline"):
                    log.sequences.lose_count()
                yield item
            else:
                yield from log.take(item)

    def references(self, record: Record) -> Iterable[Reference]:
        """Give the events that a row cites, and those that it takes the place of."""
        value = record.value
        if not isinstance(value, dict) or record.kind == HEADER:
            return
        data = dict_of(value, "data")
        operation = dict_of(value, "surfaceOp")
        replaced = bounds_of(operation) if operation.get("op") == "replace" else []
        shadowed = list_of(data, "shadowedSeqs") or bounds_of(dict_of(data, "shadowedRange"))
        for kind, sequences in (
            ("sourceEventSeqs", list_of(value, "sourceEventSeqs")),
            ("shadowedSeqs", replaced or shadowed),
            ("messageSeqs", list_of(data, "messageSeqs")),
        ):
            if not sequences:
                continue
            seen = record.seen if isinstance(record, DshRecord) else None
            if seen is None:
                yield Reference(kind=kind, unsupported=_UNKNOWN_SEQUENCE)
            elif found := members(sequences, seen):
                yield Reference(kind=kind, members=found)

    def sessions(self, source: Source) -> Iterable[str]:
        """Give the session that the header names; it is the first row."""
        for item in read_json_lines(source.chunks(), limits=source.limits, is_record=is_record):
            if isinstance(item, Line):
                session = text_of(item.value, "id") if is_header(item.value) else None
                return () if session is None else (session,)
        return ()


class _Log:
    """A log, as its rows go by."""

    def __init__(self) -> None:
        self.sequences = Sequences()
        self._session: str | None = None
        self._is_first = True
        self._called: set[str] = set()
        self._announced: dict[str, str | None] = {}

    def take(self, line: Line) -> Iterator[Record | Fault]:
        """Give the record of a row, and what is to be said of it."""
        value = line.value
        kind = text_of(value, "type") or "(none)"
        begins = is_header(value)
        if begins:
            self._session = text_of(value, "id")
        record = DshRecord(
            ordinal=line.ordinal,
            kind=kind,
            raw=line.raw,
            value=value,
            line=line.line,
            offset=line.offset,
            session=self._session,
            speaker=_SPEAKERS.get(kind),
            is_known=begins or kind in KNOWN_EVENTS or kind in PACKED,
            say=text_in_row,
        )
        if begins:
            record.time = time_of(value, "createdAt")
            yield record
        else:
            faults = [] if not self._is_first else [_HEADER_ABSENT]
            faults += self._place(record, value, kind)
            self._pair(record, dict_of(value, "data"))
            yield record
            for fault in faults:
                yield fault._replace(
                    ordinal=record.ordinal,
                    line=record.line,
                    native_id=record.native_id,
                    session=record.session,
                )
        self._is_first = False

    def _place(self, record: DshRecord, value: dict[str, Any], kind: str) -> list[Fault]:
        """Give a row its sequence."""
        key = PACKED.get(kind)
        record.time = time_of(value, "time" if key is None else "time0")
        said = number_of(value, "seq" if key is None else "seq0")
        said = said if said is not None and said >= 0 else None
        count = 1
        faults: list[Fault] = []
        if key is not None:
            count = packed_count(dict_of(value, "data"), key)
            if not count:
                self.sequences.lose_count()
                return [_PACKED_INVALID]
        before = self.sequences.now()
        first, gap = self.sequences.take(said, count)
        if first is None:
            return faults if key is None else [_packed(f"{count} events in one")]
        record.seen = (
            Seen(min(before.end, first), before.gaps)
            if gap is None
            else Seen(first, (*before.gaps, gap))
        )
        record.native_id = str(first) if count == 1 else f"{first}-{first + count - 1}"
        if gap is not None:
            missing = gap[1] - gap[0] + 1
            text = f"sequence: expected {gap[0]}, got {first}: {missing} events are missing"
            faults.append(Fault("sequence_gap", Severity.WARNING, text))
        if key is not None:
            last = first + count - 1
            faults.append(_packed(f"{count} events in one, sequences {first} to {last}"))
        return faults

    def _pair(self, record: DshRecord, data: dict[str, Any]) -> None:
        """Give a row its call or its result."""
        match record.kind:
            case "tool/call":
                call_id = text_of(data, "callId")
                if call_id is not None:
                    self._called.add(call_id)
                    record.calls = (Call(call_id, text_of(data, "name")),)
            case "assistant/message":
                for block in blocks_of(data):
                    call_id = text_of(block, "id") if block.get("type") == "tool-call" else None
                    if call_id is not None:
                        self._announced[call_id] = text_of(block, "name")
            case "tool/result":
                call_id = result_id_of(data)
                if call_id is None:
                    return
                record.results = (CallResult(call_id),)
                # A call that never started has a result all the same; the model's message alone
                # says that there was one.
                if call_id not in self._called and call_id in self._announced:
                    self._called.add(call_id)
                    record.calls = (Call(call_id, self._announced[call_id]),)
            case _:
                pass


_HEADER_ABSENT = Fault(
    "header_absent",
    Severity.WARNING,
    "record: expected the session's header first, got another record",
)
_PACKED_INVALID = Fault(
    "packed_row_invalid",
    Severity.ERROR,
    "row: expected packed events with the times between them, got others",
)


def _packed(text: str) -> Fault:
    return Fault("packed_records", Severity.INFO, f"row: {text}")
