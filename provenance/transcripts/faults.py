"""What the records of a transcript say of each other: calls and results, ids, parents, messages.

Guarantees: pure, one pass; whatever depends on a later record is decided at the end. What a fault
is does not depend on the format: adapters give ids, and this module pairs them (spec 01.5). Memory
is some hundred bytes for each distinct id of one transcript.

Example:
    >>> tally = Tally()
    >>> tally.add(Record(ordinal=1, kind="a", raw=b"", value=None, calls=(Call("c1"),)))
    >>> [fault.code for fault in tally.faults()]
    ['open_call']
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from provenance.findings import Severity
from provenance.transcripts.envelope import printable
from provenance.transcripts.records import Call, CallResult, Fault, Record, Speaker

__all__ = ["Tally"]

# Enough for any agent's own kinds; a file that invents more must not fill the report.
_MAX_KINDS = 100
_MAX_KIND_CHARS = 64
_FURTHER_KINDS = "(further types)"
_MAX_SESSIONS = 1_000
_MAX_ID_CHARS = 80
# What is no time at all would stand in the report as one.
_begins_as_time = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:?[0-9]{2}|$)").match


class _Place(NamedTuple):
    """Where a record stands."""

    ordinal: int
    line: int | None
    native_id: str | None
    session: str | None
    member: str | None
    message_id: str | None
    strand: str | None


class _Message:
    """One message of the model, as its parts go by."""

    __slots__ = ("is_scattered", "last", "parts", "place")

    def __init__(self, place: _Place) -> None:
        self.place = place
        self.parts = 1
        self.last = place.ordinal
        self.is_scattered = False


class _Spoken(NamedTuple):
    """The last record of a conversation, and the last one that is of another message."""

    ordinal: int
    message_id: str | None
    other: int
    is_turn: bool  # the message has no id of its own: it is the model's turn


class Tally:
    """Takes the records of one log in their order, counts them, and finds what does not fit."""

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self.records = 0
        self.calls = 0
        self.results = 0
        self.first_time: str | None = None
        self.last_time: str | None = None
        self.unknown_kinds: Counter[str] = Counter()
        self.sessions: dict[str, None] = {}
        self.is_slice = False
        self._found: list[Fault] = []
        # native id: (ordinal, hash of the record's bytes); Python's hash of bytes is keyed anew in
        # each process, so nobody can prepare two records that meet.
        self._ids: dict[str, tuple[int, int]] = {}
        self._first_with_id: int | None = None
        self._waiting_parents: dict[str, list[_Place]] = {}
        self._parents: set[str] = set()
        self._callers: dict[str, str | None] = {}
        self._open: dict[str, list[_Place]] = {}
        self._copied_results: list[tuple[str, _Place]] = []
        self._early: dict[str, list[_Place]] = {}
        self._messages: dict[str, _Message] = {}
        self._spoken: dict[str | None, _Spoken] = {}
        self._unknown_places: dict[str, _Place] = {}

    def add(self, record: Record) -> None:
        """Take the next record."""
        self.records += 1
        if not record.is_known:
            self._note_kind(record.kind, _place_of(record))
        if record.session is not None and len(self.sessions) < _MAX_SESSIONS:
            self.sessions[record.session] = None
        if record.time is not None:
            self._note_time(record.time, record)
        is_copy = record.native_id is not None and self._note_id(record, record.native_id)
        message_id = record.message_id
        if message_id is not None:
            self._note_message(message_id, record)
        elif record.speaker is Speaker.ASSISTANT:
            message_id = self._turn_of(record)
        # A copy of a record, byte for byte, calls nothing a second time.
        if record.calls:
            self.calls += len(record.calls)
            if not is_copy:
                place = _place_of(record)._replace(message_id=message_id)
                for call in record.calls:
                    self._note_call(call, record, place)
        if record.results:
            self.results += len(record.results)
            for result in record.results:
                self._note_result(result, record, is_copy=is_copy)
            self._end_turn(record.strand)
        if record.speaker is not None:
            is_turn = record.message_id is None and record.speaker is Speaker.ASSISTANT
            self._note_speaker(record, message_id, is_turn=is_turn)

    def has_record(self, native_id: str) -> bool:
        """Say whether a record of this native id was seen."""
        return native_id in self._ids

    def ordinal_of(self, native_id: str) -> int | None:
        """Give the place of a record; None where none of this native id was seen."""
        found = self._ids.get(native_id)
        return None if found is None else found[0]

    def has_call(self, call_id: str) -> bool:
        """Say whether a call or a result of this id was seen."""
        return call_id in self._callers or call_id in self._early

    def faults(self) -> Iterator[Fault]:
        """Give what was found, once all records were taken."""
        yield from self._found
        self._found = []
        yield from self._parent_faults()
        yield from self._pairing_faults()
        for message in self._messages.values():
            if message.parts > 1:
                between = ", others between" if message.is_scattered else ""
                yield _at(
                    message.place,
                    "split_message",
                    Severity.INFO,
                    f"message: one of the model's in {message.parts} records, "
                    f"{message.place.ordinal} to {message.last}{between}",
                )
        for kind, place in self._unknown_places.items():
            yield _at(
                place,
                "unknown_record_type",
                Severity.INFO,
                f"type: expected a known one, got {printable(kind)!r} in "
                f"{self.unknown_kinds[kind]} records",
            )

    def _note_kind(self, kind: str, place: _Place) -> None:
        name = printable(kind[:_MAX_KIND_CHARS])
        if name not in self.unknown_kinds and len(self.unknown_kinds) >= _MAX_KINDS:
            name = _FURTHER_KINDS
        self.unknown_kinds[name] += 1
        self._unknown_places.setdefault(name, place)

    def _note_time(self, time: str, record: Record) -> None:
        if _begins_as_time(time) is None:
            return
        if self.first_time is None:
            self.first_time = time
        # Only times of one shape compare as text.
        elif (
            self.last_time is not None
            and time < self.last_time
            and len(time) == len(self.last_time)
            and time[-1] == self.last_time[-1]
        ):
            self._found.append(
                _at(
                    _place_of(record),
                    "time_out_of_order",
                    Severity.INFO,
                    "time: expected the last record's or a later one, got an earlier one",
                )
            )
        self.last_time = time

    def _note_id(self, record: Record, native_id: str) -> bool:
        """Remember an id and its parent; True for a copy of a record that was seen."""
        if self._first_with_id is None:
            self._first_with_id = record.ordinal
        digest = hash(record.raw)
        known = self._ids.get(native_id)
        is_same = known is not None and known[1] == digest and not record.supersedes
        if record.parent is not None:
            self._note_parent(record, record.parent, is_copy=is_same)
        if known is None:
            self._ids[native_id] = (record.ordinal, digest)
            self._waiting_parents.pop(native_id, None)
            return False
        if record.supersedes:
            return False
        code, severity = (
            ("duplicate_id", Severity.WARNING) if is_same else ("conflicting_id", Severity.ERROR)
        )
        self._found.append(
            _at(
                _place_of(record),
                code,
                severity,
                f"id: expected one record of an id, got that of record {known[0]} again, with "
                f"{'the same' if is_same else 'other'} bytes",
            )
        )
        return is_same

    def _note_parent(self, record: Record, parent: str, *, is_copy: bool) -> None:
        if parent not in self._ids:
            self._waiting_parents.setdefault(parent, []).append(_place_of(record))
        if is_copy:
            return  # it follows its parent no second time
        if parent in self._parents:
            self._found.append(
                _at(
                    _place_of(record),
                    "branch",
                    Severity.INFO,
                    "parent: one that another record follows too: the tree branches here",
                )
            )
        self._parents.add(parent)

    def _note_message(self, message_id: str, record: Record) -> None:
        message = self._messages.get(message_id)
        if message is None:
            self._messages[message_id] = _Message(_place_of(record))
            return
        message.parts += 1
        message.is_scattered = message.is_scattered or record.ordinal != message.last + 1
        message.last = record.ordinal

    def _turn_of(self, record: Record) -> str | None:
        """Give a message to what the model says in a row, where the format has no ids for that."""
        last = self._spoken.get(record.strand)
        if last is not None and last.is_turn:
            return last.message_id
        return f"turn {record.ordinal}"

    def _end_turn(self, strand: str | None) -> None:
        """Note that the model's turn is over: what it says after a result is another one."""
        last = self._spoken.get(strand)
        if last is not None and last.is_turn:
            self._spoken[strand] = last._replace(is_turn=False)

    def _note_speaker(self, record: Record, message_id: str | None, *, is_turn: bool) -> None:
        last = self._spoken.get(record.strand)
        if last is None:
            other = 0
        elif message_id is None or message_id != last.message_id:
            other = last.ordinal
        else:
            other = last.other
        self._spoken[record.strand] = _Spoken(record.ordinal, message_id, other, is_turn)

    def _note_call(self, call: Call, record: Record, place: _Place) -> None:
        call_id = call.id
        if not call_id:
            return
        if call_id in self._callers:
            # A later version of a record calls nothing a second time.
            if record.supersedes and self._callers[call_id] == record.native_id:
                return
            self._found.append(
                _at(
                    place,
                    "duplicate_call_id",
                    Severity.ERROR,
                    f"call {_shown(call_id)}: expected an id of its own, got that of an earlier "
                    "call",
                )
            )
        self._callers[call_id] = record.native_id
        early = self._early.get(call_id)
        if early:
            self._found.append(
                _at(
                    early.pop(0),
                    "result_before_call",
                    Severity.WARNING,
                    f"result of {_shown(call_id)}: expected its call before it, got that in record "
                    f"{record.ordinal}",
                )
            )
            return
        self._open.setdefault(call_id, []).append(place)

    def _note_result(self, result: CallResult, record: Record, *, is_copy: bool) -> None:
        call_id = result.call_id
        if not call_id:
            return
        if is_copy:
            self._copied_results.append((call_id, _place_of(record)))
            return
        waiting = self._open.get(call_id)
        if waiting:
            waiting.pop(0)
            if not waiting:
                del self._open[call_id]
        elif call_id not in self._callers:
            self._early.setdefault(call_id, []).append(_place_of(record))
        elif not (record.supersedes and self._callers[call_id] == record.native_id):
            self._found.append(_second_result(_place_of(record), call_id))

    def _parent_faults(self) -> Iterator[Fault]:
        for places in self._waiting_parents.values():
            for place in places:
                if place.ordinal == self._first_with_id:
                    self.is_slice = True
                    yield _at(
                        place,
                        "slice_start",
                        Severity.INFO,
                        "parent: that of the first record is not in the file: it begins later",
                    )
                else:
                    yield _at(
                        place,
                        "dangling_parent",
                        Severity.WARNING,
                        "parent: expected one of the file's records, got an id of none",
                    )

    def _pairing_faults(self) -> Iterator[Fault]:
        for call_id, places in self._early.items():
            for place in places:
                if call_id in self._callers:
                    yield _second_result(place, call_id)
                elif self.is_slice and place.ordinal == self._first_with_id:
                    yield _at(
                        place,
                        "slice_orphan_result",
                        Severity.INFO,
                        f"result of {_shown(call_id)}: its call stands before the file begins",
                    )
                else:
                    yield _orphan(place, call_id)
        for call_id, place in self._copied_results:
            if call_id not in self._callers:
                yield _orphan(place, call_id)
        for call_id, places in self._open.items():
            for place in places:
                if self._is_interrupted(place):
                    yield _at(
                        place,
                        "interrupted_call",
                        Severity.WARNING,
                        f"call {_shown(call_id)}: expected a result, got none, and the "
                        "conversation goes on",
                    )
                else:
                    yield _at(
                        place,
                        "open_call",
                        Severity.INFO,
                        f"call {_shown(call_id)}: expected a result, got the end of the "
                        "conversation",
                    )

    def _is_interrupted(self, place: _Place) -> bool:
        last = self._spoken.get(place.strand)
        if last is None:
            return False
        is_other = last.message_id is None or last.message_id != place.message_id
        return (last.ordinal if is_other else last.other) > place.ordinal


def _place_of(record: Record) -> _Place:
    return _Place(
        record.ordinal,
        record.line,
        record.native_id,
        record.session,
        record.member,
        record.message_id,
        record.strand,
    )


def _shown(call_id: str) -> str:
    """Give an id as a message can hold it: short, and nothing in it that steers a terminal."""
    return printable(call_id[:_MAX_ID_CHARS])


def _orphan(place: _Place, call_id: str) -> Fault:
    return _at(
        place,
        "orphan_result",
        Severity.ERROR,
        f"result of {_shown(call_id)}: expected its call in the file, got none",
    )


def _second_result(place: _Place, call_id: str) -> Fault:
    return _at(
        place,
        "duplicate_result",
        Severity.ERROR,
        f"result of {_shown(call_id)}: expected one for each call, got another",
    )


def _at(place: _Place, code: str, severity: Severity, message: str) -> Fault:
    return Fault(
        code,
        severity,
        message,
        ordinal=place.ordinal,
        line=place.line,
        native_id=place.native_id,
        session=place.session,
        member=place.member,
    )
