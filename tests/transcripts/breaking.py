"""Transcripts that are sound, each way to break them, and what is to be said of the result.

Guarantees: nothing here uses the code under test to say what it should find. A conversation is a
list of entries; a writer makes lines of them; a break changes entries or lines; and the judge says
by the words of the rules (spec 01.5) what follows, by looking at every pair of records.

Example:
    >>> talk = [Entry(1, "user", "u1", None, text="hi"), Entry(2, "assistant", "u2", "u1", "m1")]
    >>> sorted(Broken(CLAUDE, lines_of(CLAUDE, talk)).expected())
    []
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from provenance.audit.request import AuditRequest
from provenance.audit.run import run_audit
from provenance.audit_report import AuditReport
from provenance.fs import TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.formats import format_named
from provenance.transcripts.source_check import SourceCheck, check_source
from provenance.transcripts.sources import Source

__all__ = [
    "BREAKS",
    "CLAUDE",
    "CODEX",
    "FORMATS",
    "NATIVE",
    "SEVERITIES",
    "Break",
    "Broken",
    "Entry",
    "PhysicalLine",
    "Writer",
    "audit",
    "check_bytes",
    "conversations",
    "found_places",
    "lines_of",
    "open_source",
]

SESSION = "7ff09f19-e477-46a6-88d9-7bd15f890b16"
# What each code weighs (spec 01.5, and what stands beside that table).
SEVERITIES = {
    "welded_records": "error",
    "torn_line": "error",
    "spliced_line": "error",
    "nul_line": "error",
    "invalid_line": "error",
    "record_over_limit": "error",
    "no_final_newline": "info",
    "interrupted_call": "warning",
    "open_call": "info",
    "orphan_result": "error",
    "slice_orphan_result": "info",
    "dangling_parent": "warning",
    "slice_start": "info",
    "duplicate_id": "warning",
    "conflicting_id": "error",
    "duplicate_call_id": "error",
    "split_message": "info",
    "unknown_record_type": "info",
    "result_before_call": "warning",
    "duplicate_result": "error",
    "header_absent": "warning",
    "time_out_of_order": "info",
    "branch": "info",
    "content_hash_mismatch": "error",
    "content_hash_mismatch_redacted": "warning",
}


# --- what stands in a transcript ----------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """One record, in no format's words; `who` is user, assistant, progress, header or odd."""

    number: int  # when it was written
    who: str
    id: str | None
    parent: str | None
    message: str | None = None
    text: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    kind: str = ""  # of an odd one

    @property
    def is_spoken(self) -> bool:
        return self.who in ("user", "assistant")

    @property
    def time(self) -> str:
        return f"2026-03-02T10:{self.number // 60:02}:{self.number % 60:02}.000Z"


@dataclass(frozen=True, repr=False)
class Writer:
    """How a format writes, and what it can know.

    Attributes:
        has_ids: its records have ids and parents, and the model's messages too.
        keeps_whole: what stands whole on a damaged line is told to be a record.
    """

    name: str
    file_name: str
    render: Callable[[Entry], dict[str, Any]]
    has_ids: bool
    keeps_whole: bool
    has_header: bool = False

    def __repr__(self) -> str:
        return self.name

    @property
    def format(self) -> TranscriptFormat:
        return format_named(self.name)


def _claude(entry: Entry) -> dict[str, Any]:
    value: dict[str, Any] = {
        "parentUuid": entry.parent,
        "isSidechain": False,
        "sessionId": SESSION,
        "version": "2.1.32",
        "type": entry.kind or entry.who,
        "uuid": entry.id,
        "timestamp": entry.time,
    }
    if entry.id is None:
        del value["uuid"], value["parentUuid"]
    if not entry.is_spoken:
        return value | {"data": {"type": "hook_progress", "note": entry.text}}
    content: list[dict[str, Any]] = []
    if entry.text:
        content.append({"type": "text", "text": entry.text})
    content += [
        {"type": "tool_use", "id": one, "name": "Bash", "input": {"command": "ls"}}
        for one in entry.calls
    ]
    content += [
        {"tool_use_id": one, "type": "tool_result", "content": f"out of {one}"}
        for one in entry.results
    ]
    message = {"role": entry.who, "content": content}
    if entry.who == "assistant":
        message = {"id": entry.message, "type": "message", "model": "m", **message}
    return value | {"message": message}


def _codex(entry: Entry) -> dict[str, Any]:
    def line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        return {"timestamp": entry.time, "type": kind, "payload": payload}

    match entry.who:
        case "header":
            return line("session_meta", {"id": SESSION, "cwd": "/p", "instructions": None})
        case "progress":
            return line("event_msg", {"type": "token_count", "info": {"note": entry.text}})
        case "odd":
            return line(entry.kind, {"note": entry.text})
        case _:
            pass
    if entry.calls:
        (one,) = entry.calls
        call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": one}
        return line("response_item", call)
    if entry.results:
        (one,) = entry.results
        output = {"type": "function_call_output", "call_id": one, "output": f"out of {one}"}
        return line("response_item", output)
    kind = "input_text" if entry.who == "user" else "output_text"
    content = [{"type": kind, "text": entry.text}]
    return line("response_item", {"type": "message", "role": entry.who, "content": content})


def _native(entry: Entry) -> dict[str, Any]:
    value: dict[str, Any] = {
        "schema_version": 1,
        "sequence": entry.number,
        "recorded_at": entry.time,
        "session_id": "s1",
        "event_id": f"transcript:s1:{entry.number}",
    }
    if entry.who == "odd":
        return value | {"type": entry.kind, "note": entry.text}
    if entry.who == "progress":
        return value | {"type": "ai-title", "title": entry.text}
    if entry.calls:
        (one,) = entry.calls
        return value | {"type": "function_call", "callId": one, "name": "bash", "arguments": {}}
    if entry.results:
        (one,) = entry.results
        return value | {"type": "function_call_result", "callId": one, "content": "out"}
    return value | {"type": "message", "role": entry.who, "content": entry.text}


CLAUDE = Writer("claude-code", "s1.jsonl", _claude, has_ids=True, keeps_whole=True)
CODEX = Writer("codex", "s1.jsonl", _codex, has_ids=False, keeps_whole=True, has_header=True)
NATIVE = Writer("native", "s1.jsonl", _native, has_ids=False, keeps_whole=False)
FORMATS = (CLAUDE, CODEX, NATIVE)

_TEXTS = st.one_of(
    st.text(min_size=1, max_size=12),
    st.sampled_from(["}{", '{"', '\\"}{"a":1', "a\u2028b\u2029c\x85", "\0\0", "é😀", "\n{}\n"]),
)


@st.composite
def conversations(draw: st.DrawFn, writer: Writer, *, min_calls: int = 0) -> list[Entry]:
    """A sound conversation: parallel calls, split messages, progress between, all answered."""
    entries: list[Entry] = []
    calls = 0

    def say(who: str, **what: Any) -> None:
        number = len(entries) + 1
        parent = entries[-1].id if entries else None
        entries.append(Entry(number, who, f"{number:08}-id-of-a-record", parent, **what))

    if writer.has_header:
        say("header")
    for turn in range(draw(st.integers(1 if not min_calls else 2, 3))):
        say("user", text=draw(_TEXTS))
        wanted = draw(st.integers(1 if calls < min_calls else 0, 3))
        message = f"msg_{turn}"
        ids = [f"call_{calls + one}" for one in range(wanted)]
        calls += wanted
        if draw(st.booleans()):
            say("assistant", message=message, text=draw(_TEXTS))
        if ids and writer.has_ids and draw(st.booleans()):
            say("assistant", message=message, calls=tuple(ids))
        else:
            for one in ids:
                say("assistant", message=message, calls=(one,))
        if draw(st.booleans()):
            say("progress", text=draw(_TEXTS))
        answered = draw(st.permutations(ids))
        if answered and writer.has_ids and draw(st.booleans()):
            say("user", results=tuple(answered))
        else:
            for one in answered:
                say("user", results=(one,))
        say("assistant", message=f"{message}_end", text=draw(_TEXTS))
    assume(calls >= min_calls)
    return entries


# --- lines, and what is to be said of them ------------------------------------------------------


@dataclass(frozen=True)
class PhysicalLine:
    """A line: its bytes, the records that are to be read from it, and the fault that it is.

    `takes_place`: nothing is read from it, and it counts as a record all the same.
    """

    data: bytes
    records: tuple[tuple[Entry, bytes], ...] = ()
    fault: str | None = None
    takes_place: bool = False


@dataclass(frozen=True)
class _Placed:
    entry: Entry
    raw: bytes
    ordinal: int
    line: int


Place = tuple[str, int | None, int | None, str | None]


@dataclass(repr=False)
class Broken:
    """A transcript and what is wrong with it.

    Attributes:
        intended: one of these codes has to be among what is expected.
    """

    writer: Writer
    lines: list[PhysicalLine]
    intended: frozenset[str] = field(default_factory=frozenset)
    has_final_newline: bool = True
    limits: Limits = DEFAULT_LIMITS

    def __repr__(self) -> str:
        lines = "".join(f"\n  {line.fault or 'sound'}: {line.data!r}" for line in self.lines)
        return f"{self.writer.name}, {self.has_final_newline=}:{lines}\n"

    @property
    def data(self) -> bytes:
        data = b"\n".join(line.data for line in self.lines)
        return data + b"\n" if self.lines and self.has_final_newline else data

    def placed(self) -> list[_Placed]:
        """Each record with its place."""
        placed: list[_Placed] = []
        ordinal = 0
        for number, line in enumerate(self.lines, 1):
            for entry, raw in line.records:
                ordinal += 1
                placed.append(_Placed(entry, raw, ordinal, number))
            ordinal += line.takes_place
        return placed

    def expected(self) -> Counter[Place]:
        """Code, ordinal, line and native id of everything that is to be said."""
        said: Counter[Place] = Counter()
        ordinal = 1
        for number, line in enumerate(self.lines, 1):
            if line.fault is not None:
                has_place = bool(line.records) or line.takes_place
                said[line.fault, ordinal if has_place else None, number, None] += 1
            ordinal += len(line.records) + line.takes_place
        placed = self.placed()
        if not self.has_final_newline and self.lines and self.lines[-1].records:
            said["no_final_newline", placed[-1].ordinal, placed[-1].line, None] += 1
        judge = _Judge(self.writer, placed)
        said.update(judge.ids())
        said.update(judge.calls())
        said.update(judge.others())
        return said


class _Judge:
    """Says what records say of each other, by the words of the rules."""

    def __init__(self, writer: Writer, placed: Sequence[_Placed]) -> None:
        self._writer = writer
        self._all = placed
        self._by_id = [one for one in placed if writer.has_ids and one.entry.id is not None]

    def _at(self, code: str, one: _Placed) -> Place:
        native_id = one.entry.id if self._writer.has_ids else None
        return code, one.ordinal, one.line, native_id

    def _is_slice(self) -> bool:
        return bool(self._by_id) and self._lacks_parent(self._by_id[0])

    def _lacks_parent(self, one: _Placed) -> bool:
        parent = one.entry.parent
        return parent is not None and all(other.entry.id != parent for other in self._by_id)

    def ids(self) -> Iterator[Place]:
        for index, one in enumerate(self._by_id):
            earlier = [other for other in self._by_id[:index] if other.entry.id == one.entry.id]
            if earlier:
                is_same = earlier[0].raw == one.raw
                yield self._at("duplicate_id" if is_same else "conflicting_id", one)
            if self._lacks_parent(one):
                yield self._at("dangling_parent" if index else "slice_start", one)
            parent = one.entry.parent
            is_copy = bool(earlier) and earlier[0].raw == one.raw
            if (
                parent
                and not is_copy
                and any(other.entry.parent == parent for other in self._by_id[:index])
            ):
                yield self._at("branch", one)

    def _copies(self) -> list[int]:
        """Ordinals of records that stand before, byte for byte: they do nothing twice."""
        return [
            one.ordinal
            for index, one in enumerate(self._by_id)
            if (earlier := [two for two in self._by_id[:index] if two.entry.id == one.entry.id])
            and earlier[0].raw == one.raw
        ]

    def calls(self) -> Iterator[Place]:
        copies = self._copies()
        own = [one for one in self._all if one.ordinal not in copies]
        names = {name for one in own for name in (*one.entry.calls, *one.entry.results)}
        for name in names:
            callers = [one for one in own for call in one.entry.calls if call == name]
            answers = [one for one in own for result in one.entry.results if result == name]
            for one in callers[1:]:
                yield self._at("duplicate_call_id", one)
            if not callers:
                for one in answers:
                    at_start = self._is_slice() and one is self._by_id[0]
                    yield self._at("slice_orphan_result" if at_start else "orphan_result", one)
                continue
            # The first call that still waits gets a result; one that comes too early waits itself.
            early = [one for one in answers if one.ordinal < callers[0].ordinal]
            later = [one for one in answers if one.ordinal >= callers[0].ordinal]
            events = [(one.ordinal, 0, one) for one in callers]
            events += [(one.ordinal, 1, one) for one in later]
            waiting: list[_Placed] = []
            for _, is_answer, one in sorted(events, key=lambda event: event[:2]):
                if is_answer:
                    if waiting:
                        waiting.pop(0)
                    else:
                        yield self._at("duplicate_result", one)
                elif early:
                    yield self._at("result_before_call", early.pop(0))
                else:
                    waiting.append(one)
            for one in early:
                yield self._at("duplicate_result", one)
            for one in waiting:
                code = "interrupted_call" if self._goes_on(one) else "open_call"
                yield self._at(code, one)

    def _goes_on(self, call: _Placed) -> bool:
        """Say whether a record of the conversation, of another answer, stands after a call."""
        later = [one.entry for one in self._all if one.ordinal > call.ordinal]
        spoken = [entry for entry in later if entry.is_spoken]
        if self._writer.has_ids:
            message = call.entry.message
            return any(entry.who == "user" or entry.message != message for entry in spoken)
        # What the model says in a row is one answer.
        if not self._writer.has_header:
            return any(entry.who == "user" for entry in spoken)
        # Codex writes down neither messages nor answers: a prompt ends one, and so does whatever
        # the model says once an output was there.
        if any(entry.who == "user" and not entry.results for entry in spoken):
            return True
        outputs = [index for index, entry in enumerate(spoken) if entry.results]
        behind = spoken[outputs[0] :] if outputs else []
        return any(entry.who == "assistant" for entry in behind)

    def others(self) -> Iterator[Place]:
        if self._writer.has_header and self._all and self._all[0].entry.who != "header":
            yield self._at("header_absent", self._all[0])
        for before, one in pairwise(self._all):
            if one.entry.time < before.entry.time:
                yield self._at("time_out_of_order", one)
        for kind in {one.entry.kind for one in self._all} - {""}:
            first = next(one for one in self._all if one.entry.kind == kind)
            yield self._at("unknown_record_type", first)
        if self._writer.has_ids:
            messages = [one for one in self._all if one.entry.who == "assistant"]
            for name, parts in Counter(one.entry.message for one in messages).items():
                if parts > 1:
                    first = next(one for one in messages if one.entry.message == name)
                    yield self._at("split_message", first)


def raw_of(writer: Writer, entry: Entry) -> bytes:
    """The bytes of a record, without a line end."""
    value = writer.render(entry)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def lines_of(writer: Writer, entries: Iterable[Entry]) -> list[PhysicalLine]:
    """One record a line."""
    raws = ((entry, raw_of(writer, entry)) for entry in entries)
    return [PhysicalLine(raw, ((entry, raw),)) for entry, raw in raws]


# --- breaks -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Break:
    """One way to break a transcript."""

    name: str
    apply: Callable[[st.DrawFn, Writer], Broken]
    needs_ids: bool = False

    def of(self, writer: Writer) -> st.SearchStrategy[Broken]:
        @st.composite
        def strategy(draw: st.DrawFn) -> Broken:
            return self.apply(draw, writer)

        return strategy()


BREAKS: list[Break] = []
_Apply = Callable[[st.DrawFn, Writer], Broken]


def _break(*, needs_ids: bool = False) -> Callable[[_Apply], _Apply]:
    def register(apply: _Apply) -> _Apply:
        name = apply.__name__.removeprefix("_")
        BREAKS.append(Break(name, apply, needs_ids))
        return apply

    return register


def _pick(draw: st.DrawFn, count: int, *, first: int = 0) -> int:
    assume(count > first)
    return draw(st.integers(first, count - 1))


def _sound(draw: st.DrawFn, writer: Writer) -> list[PhysicalLine]:
    return lines_of(writer, draw(conversations(writer)))


def _with_entries(writer: Writer, entries: Iterable[Entry], *intended: str) -> Broken:
    return Broken(writer, lines_of(writer, entries), frozenset(intended))


@_break()
def _welded(draw: st.DrawFn, writer: Writer) -> Broken:
    lines = _sound(draw, writer)
    count = draw(st.integers(2, 3))
    assume(len(lines) >= count)
    at = _pick(draw, len(lines) - count + 1)
    between = draw(st.sampled_from([b"", b"", b" ", b"\t\r"]))
    parts = lines[at : at + count]
    records = tuple(record for part in parts for record in part.records)
    data = between.join(part.data for part in parts)
    lines[at : at + count] = [PhysicalLine(data, records, "welded_records")]
    has_end = draw(st.booleans())
    return Broken(writer, lines, frozenset({"welded_records"}), has_final_newline=has_end)


@_break()
def _torn_in_the_middle(draw: st.DrawFn, writer: Writer) -> Broken:
    lines = _sound(draw, writer)
    at = _pick(draw, len(lines) - 1)
    lines[at] = _torn(draw, lines[at].data)
    return Broken(writer, lines, frozenset({"torn_line"}))


@_break()
def _torn_at_the_end(draw: st.DrawFn, writer: Writer) -> Broken:
    lines = _sound(draw, writer)
    lines[-1] = _torn(draw, lines[-1].data)
    return Broken(writer, lines, frozenset({"torn_line"}), has_final_newline=False)


def _torn(draw: st.DrawFn, data: bytes) -> PhysicalLine:
    """Cut anywhere, in the middle of a character too."""
    return PhysicalLine(data[: draw(st.integers(1, len(data) - 1))], (), "torn_line")


@_break()
def _spliced(draw: st.DrawFn, writer: Writer) -> Broken:
    """The writer died inside a text, and another record follows on the line."""
    lines = _sound(draw, writer)
    at = _pick(draw, len(lines) - 1)
    data = lines[at].data
    cut = draw(st.sampled_from(_places_in_texts(data)))
    whole = lines[at + 1]
    records = whole.records if writer.keeps_whole else ()
    lines[at : at + 2] = [PhysicalLine(data[:cut] + whole.data, records, "spliced_line")]
    return Broken(writer, lines, frozenset({"spliced_line"}))


def _places_in_texts(data: bytes) -> list[int]:
    """Where a string of some JSON may be cut: between its quotes, and between characters."""
    places: list[int] = []
    is_inside = is_escaped = False
    for index, byte in enumerate(data):
        if is_inside and (byte & 0xC0) != 0x80 and index:
            places.append(index)
        if is_escaped:
            is_escaped = False
        elif byte == 0x5C and is_inside:
            is_escaped = True
        elif byte == 0x22:
            is_inside = not is_inside
    return places


@_break()
def _nul_run(draw: st.DrawFn, writer: Writer) -> Broken:
    lines = _sound(draw, writer)
    run = PhysicalLine(b"\0" * draw(st.integers(1, 40)), (), "nul_line")
    lines.insert(_pick(draw, len(lines) + 1), run)
    return Broken(writer, lines, frozenset({"nul_line"}), has_final_newline=draw(st.booleans()))


@_break()
def _nul_prefix(draw: st.DrawFn, writer: Writer) -> Broken:
    lines = _sound(draw, writer)
    at = _pick(draw, len(lines))
    records = lines[at].records if writer.keeps_whole else ()
    data = b"\0" * draw(st.integers(1, 40)) + lines[at].data
    lines[at] = PhysicalLine(data, records, "nul_line")
    return Broken(writer, lines, frozenset({"nul_line"}))


@_break()
def _nul_inside(draw: st.DrawFn, writer: Writer) -> Broken:
    lines = _sound(draw, writer)
    at = _pick(draw, len(lines))
    data = lines[at].data
    cut = draw(st.integers(1, len(data) - 1))
    end = draw(st.integers(cut, len(data) - 1))
    lines[at] = PhysicalLine(data[:cut] + b"\0\0" + data[end:], (), "nul_line")
    return Broken(writer, lines, frozenset({"nul_line"}))


_NO_RECORDS = (
    b"", b"  \t", b"[]", b'["an","array"]', b"3", b"-0.5", b'"text"', b"null", b"true", b"hello",
    b'{"a":NaN}', b'{"a":-Infinity}', b'{"a":1,"a":2}', b'{"b":{"a":1,"a":2}}', b'{"a":"\xff"}',
    b'{"a":"\xc0\xaf"}', b'{"a":"\xed\xa0\x80"}', b'{"a":01}', b"{'a':1}", b'{"a":1,}',
    b'{"a":"tab\there"}', b'{"a":"\\x"}', b"}", b"]",
)  # fmt: skip


@_break()
def _no_record(draw: st.DrawFn, writer: Writer) -> Broken:
    lines = _sound(draw, writer)
    # A reader that passes over most fields sees no key twice; `test_lines.py` has more of that.
    wanted = [one for one in _NO_RECORDS if writer is not CLAUDE or one.count(b'"a"') < 2]
    data = draw(st.sampled_from(wanted))
    lines.insert(_pick(draw, len(lines)), PhysicalLine(data, (), "invalid_line"))
    return Broken(writer, lines, frozenset({"invalid_line"}))


@_break()
def _byte_order_mark(draw: st.DrawFn, writer: Writer) -> Broken:
    lines = _sound(draw, writer)
    records = lines[0].records if writer.keeps_whole else ()
    lines[0] = PhysicalLine(b"\xef\xbb\xbf" + lines[0].data, records, "invalid_line")
    return Broken(writer, lines, frozenset({"invalid_line"}))


@_break()
def _over_limit(draw: st.DrawFn, writer: Writer) -> Broken:
    lines = _sound(draw, writer)
    longest = max(len(line.data) for line in lines)
    at = _pick(draw, len(lines) + 1)
    data = b'{"type":"user","text":"' + b"x" * longest + b'"}'
    lines.insert(at, PhysicalLine(data, (), "record_over_limit", takes_place=True))
    return Broken(
        writer,
        lines,
        frozenset({"record_over_limit"}),
        limits=Limits(max_foreign_record_bytes=longest + draw(st.integers(0, 20))),
    )


@_break()
def _too_deep(draw: st.DrawFn, writer: Writer) -> Broken:
    lines = _sound(draw, writer)
    depth = draw(st.sampled_from([499, 500, 501, 20_000]))
    is_array = draw(st.booleans())
    opened, closed = (b"[", b"]") if is_array else (b'{"a":', b"}")
    inner = b"" if is_array else b"1"
    entry = Entry(0, "odd", None, None, kind="(none)")
    data = b'{"deep":' + opened * depth + inner + closed * depth + b"}"
    at = _pick(draw, len(lines) + 1)
    if depth < 500:  # the record itself is a level
        # As a member of a record of a known sort, it is no fault at all.
        assume(lines)
        entry = lines[min(at, len(lines) - 1)].records[0][0]
        data = lines[min(at, len(lines) - 1)].data[:-1] + b"," + data[1:]
        lines[min(at, len(lines) - 1)] = PhysicalLine(data, ((entry, data),))
        return Broken(writer, lines)
    lines.insert(at, PhysicalLine(data, (), "record_over_limit", takes_place=True))
    return Broken(writer, lines, frozenset({"record_over_limit"}))


@_break()
def _no_final_newline(draw: st.DrawFn, writer: Writer) -> Broken:
    lines = _sound(draw, writer)
    return Broken(writer, lines, frozenset({"no_final_newline"}), has_final_newline=False)


@_break()
def _interrupted_call(draw: st.DrawFn, writer: Writer) -> Broken:
    entries = draw(conversations(writer, min_calls=1))
    answers = [index for index, entry in enumerate(entries) if entry.results]
    at = draw(st.sampled_from(answers))
    lost = draw(st.sampled_from(entries[at].results))
    left = tuple(one for one in entries[at].results if one != lost)
    if left:
        entries[at] = replace(entries[at], results=left)
    else:
        _drop(entries, at)
    codes = ("interrupted_call",) if writer is CLAUDE else ("interrupted_call", "open_call")
    return _with_entries(writer, entries, *codes)


def _drop(entries: list[Entry], at: int) -> None:
    """Take a record out, and let what follows it follow the one before it."""
    gone = entries.pop(at)
    for index, entry in enumerate(entries):
        if entry.parent == gone.id and gone.id is not None:
            entries[index] = replace(entry, parent=gone.parent)


@_break()
def _open_call(draw: st.DrawFn, writer: Writer) -> Broken:
    entries = draw(conversations(writer, min_calls=1))
    callers = [index for index, entry in enumerate(entries) if entry.calls]
    at = draw(st.sampled_from(callers))
    entries = entries[: at + 1]
    last = entries[-1]
    for extra in range(draw(st.integers(0, 2))):
        number = last.number + extra + 1
        entries.append(Entry(number, "progress", f"{number:08}-more-of-it", entries[-1].id))
    return _with_entries(writer, entries, "open_call")


@_break()
def _orphan_result(draw: st.DrawFn, writer: Writer) -> Broken:
    entries = draw(conversations(writer, min_calls=1))
    callers = [index for index, entry in enumerate(entries) if entry.calls]
    at = draw(st.sampled_from(callers))
    lost = draw(st.sampled_from(entries[at].calls))
    left = tuple(one for one in entries[at].calls if one != lost)
    if left:
        entries[at] = replace(entries[at], calls=left)
    else:
        _drop(entries, at)
    return _with_entries(writer, entries, "orphan_result")


@_break(needs_ids=True)
def _slice_orphan_result(draw: st.DrawFn, writer: Writer) -> Broken:
    entries = draw(conversations(writer, min_calls=1))
    answers = [index for index, entry in enumerate(entries) if entry.results]
    entries = entries[draw(st.sampled_from(answers)) :]
    if draw(st.booleans()):  # what has no id stands before the first record that has one
        entries.insert(0, Entry(0, "progress", None, None, text="no id"))
    return _with_entries(writer, entries, "slice_orphan_result")


@_break(needs_ids=True)
def _slice_start(draw: st.DrawFn, writer: Writer) -> Broken:
    entries = draw(conversations(writer))
    return _with_entries(writer, entries[_pick(draw, len(entries), first=1) :], "slice_start")


@_break(needs_ids=True)
def _dangling_parent(draw: st.DrawFn, writer: Writer) -> Broken:
    entries = draw(conversations(writer))
    at = _pick(draw, len(entries), first=1)
    entries[at] = replace(entries[at], parent="an-id-of-no-record")
    return _with_entries(writer, entries, "dangling_parent")


@_break(needs_ids=True)
def _duplicate_id(draw: st.DrawFn, writer: Writer) -> Broken:
    entries = draw(conversations(writer))
    at = _pick(draw, len(entries))
    entries.insert(_pick(draw, len(entries) + 1, first=at + 1), entries[at])
    return _with_entries(writer, entries, "duplicate_id")


@_break(needs_ids=True)
def _conflicting_id(draw: st.DrawFn, writer: Writer) -> Broken:
    entries = draw(conversations(writer))
    at = _pick(draw, len(entries))
    other = replace(entries[at], text=entries[at].text + "!")
    entries.insert(_pick(draw, len(entries) + 1, first=at + 1), other)
    return _with_entries(writer, entries, "conflicting_id")


@_break()
def _duplicate_call_id(draw: st.DrawFn, writer: Writer) -> Broken:
    entries = draw(conversations(writer, min_calls=2))
    calls = [one for entry in entries for one in entry.calls]
    at = _pick(draw, len(calls), first=1)
    new, old = draw(st.sampled_from(calls[:at])), calls[at]

    def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(new if name == old else name for name in names)

    entries = [
        replace(entry, calls=renamed(entry.calls), results=renamed(entry.results))
        for entry in entries
    ]
    return _with_entries(writer, entries, "duplicate_call_id")


@_break()
def _result_before_call(draw: st.DrawFn, writer: Writer) -> Broken:
    entries = draw(conversations(writer, min_calls=1))
    answers = [index for index, entry in enumerate(entries) if entry.results]
    answer = entries.pop(draw(st.sampled_from(answers)))
    caller = next(
        index for index, entry in enumerate(entries) if set(entry.calls) & set(answer.results)
    )
    entries.insert(caller, answer)
    return _with_entries(writer, entries, "result_before_call")


@_break()
def _duplicate_result(draw: st.DrawFn, writer: Writer) -> Broken:
    entries = draw(conversations(writer, min_calls=1))
    answers = [index for index, entry in enumerate(entries) if entry.results]
    at = draw(st.sampled_from(answers))
    again = replace(entries[at], id="an-id-of-its-own-again", results=entries[at].results[:1])
    entries.insert(_pick(draw, len(entries) + 1, first=at + 1), again)
    return _with_entries(writer, entries, "duplicate_result")


@_break(needs_ids=True)
def _split_message(draw: st.DrawFn, writer: Writer) -> Broken:
    entries = draw(conversations(writer))
    said = [index for index, entry in enumerate(entries) if entry.who == "assistant"]
    at = draw(st.sampled_from(said))
    part = Entry(entries[at].number, "assistant", "another-part-of-it", entries[at].id, text="x")
    entries.insert(at + 1, replace(part, message=entries[at].message))
    return _with_entries(writer, entries, "split_message")


@_break()
def _unknown_type(draw: st.DrawFn, writer: Writer) -> Broken:
    entries = draw(conversations(writer))
    for _ in range(draw(st.integers(1, 3))):
        at = _pick(draw, len(entries) + 1, first=1)
        kind = draw(st.sampled_from(["hologram", "weather-report"]))
        entries.insert(at, Entry(entries[at - 1].number, "odd", None, None, kind=kind))
    return _with_entries(writer, entries, "unknown_record_type")


# --- the code under test ------------------------------------------------------------------------


@contextlib.contextmanager
def open_source(
    folder: Path, *names: str, limits: Limits = DEFAULT_LIMITS
) -> Iterator[tuple[Source, TrustedRoot]]:
    """Open a file below a root, as a source."""
    with contextlib.ExitStack() as stack:
        root = stack.enter_context(TrustedRoot(folder))
        directory = stack.enter_context(root.open_directory(*names[:-1]))
        file = stack.enter_context(directory.open_file(names[-1]))
        yield Source(names[-1], directory, file, limits, names[:-1], folder.name), root


def check_bytes(writer: Writer, data: bytes, limits: Limits = DEFAULT_LIMITS) -> SourceCheck:
    """Check a file of these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / writer.file_name).write_bytes(data)
        with open_source(Path(folder), writer.file_name, limits=limits) as (source, root):
            return check_source(source, writer.format, root=root)


def found_places(check: SourceCheck) -> Counter[Place]:
    """What was found, in the same words as what is expected; each with the weight of its code."""
    for fault in check.faults:
        assert fault.severity == SEVERITIES[fault.code], fault
    assert Counter(fault.code for fault in check.faults) == check.fault_counts
    return Counter(
        (fault.code, fault.ordinal, fault.line, fault.native_id) for fault in check.faults
    )


def audit(*targets: Path, **asked: Any) -> AuditReport:
    """Run an audit on these targets."""
    return run_audit(
        AuditRequest(targets=tuple(map(str, targets)), **asked),
        clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        stopwatch=lambda: 0.0,
    )
