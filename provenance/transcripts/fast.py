r"""Judging a block of lines at once, with the strict judge behind it.

Guarantees: whatever is accepted here, the strict judge of `envelope` accepts, with the same notes.
A fast refusal is never a verdict: the lines in doubt go to the judge one by one, and only the judge
says what is wrong.

What a fast acceptance rests on:

- msgspec has parsed every line whole (nothing skipped) out of bytes that are UTF-8.
- No key is lost: printing the records gives the block back byte by byte; or block and print have
  the same number of colons. Each colon of the print stands in the block too: behind a key, or
  inside a string, raw, for the block has no escaped one. A key lost as a duplicate leaves the
  block one colon ahead.
- Each line is one record: parsed on its own, or printed back as one.
- No line nests too deep: too short for it, too few brackets, or counted.

Example:
    >>> checker = BlockChecker("s1", Limits())
    >>> block = checker.check(b'{"sequence":1}\n{"sequence":3}\n', 1)
    >>> len(block.records), block.reason.value
    (1, 'transcript_sequence_mismatch')
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import UNSET

from provenance.limits import Limits
from provenance.resolution import Reason
from provenance.transcripts.blocks import find_longer_line
from provenance.transcripts.envelope import (
    SCHEMA_VERSION,
    Note,
    is_zoned_time,
    judge_envelope,
    judge_line,
)
from provenance.transcripts.strict_json import is_nesting_at_most

__all__ = [
    "BlockChecker",
    "BlockVerdict",
    "KnownRecord",
    "Record",
    "field_of",
    "is_nesting_bounded",
    "parse_lines",
]

# So few lines in doubt go straight to the judge; more are cut into eighths first.
_FEW_LINES = 12
# After a block in which a way gained nothing, so many go by before it is tried again.
_PATIENCE = 8


class KnownRecord(msgspec.Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """A record that has the whole envelope and, besides it, the usual fields alone.

    The fields are sorted, so that a line of our own writer prints back as it is.
    """

    arguments: Any = UNSET
    callId: Any = UNSET  # noqa: N815 - the wire's name
    call_id: Any = UNSET
    content: Any = UNSET
    event_id: str
    model: Any = UNSET
    name: Any = UNSET
    output: Any = UNSET
    recorded_at: str
    role: Any = UNSET
    schema_version: int
    sequence: int
    session_id: str
    snapshot: Any = UNSET
    summary: Any = UNSET
    title: Any = UNSET
    tool: Any = UNSET
    type: Any = UNSET


Record = KnownRecord | dict[str, Any]


class BlockVerdict(NamedTuple):
    """What holds of some lines in a row.

    Attributes:
        records: those of the lines in order, up to the first one that is not.
        reason: why the line after them is not; None where all are.
        notes: what was tolerated in them, each with the line's number.
    """

    records: list[Record]
    reason: Reason | None
    notes: list[tuple[int, Note]]


_known = msgspec.json.Decoder(KnownRecord)
_any = msgspec.json.Decoder(dict[str, Any])
_print_lines = msgspec.json.Encoder().encode_lines
_ZonedTimes = list[Annotated[datetime, msgspec.Meta(tz=True)]]
_DOUBTS = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)


def field_of(record: Record, name: str) -> object:
    """Give a field of a record; UNSET where it has none."""
    if isinstance(record, KnownRecord):
        return getattr(record, name, UNSET)
    return record.get(name, UNSET)


class BlockChecker:
    """Judges the lines of one transcript, block after block."""

    def __init__(self, session_id: str, limits: Limits) -> None:
        """Take the session that the transcript is named after, and the bounds."""
        self._session_id = session_id
        self._limits = limits
        self._prefix = f"transcript:{session_id}:"
        self._skip_known = 0
        self._skip_fast = 0
        self._judged = 0

    def check(self, data: bytes, first: int) -> BlockVerdict:
        """Judge whole lines.

        Args:
            data: the lines, none over the record limit; the last may lack its line end.
            first: the number of the first line.
        """
        if not data.endswith(b"\n"):
            data += b"\n"
        verdict = BlockVerdict([], None, [])
        if not self._skip_fast and self._accept(data, first, verdict):
            return verdict
        lines = data.split(b"\n")
        lines.pop()
        if self._skip_fast:
            self._skip_fast -= 1
            return self._judge(lines, first, verdict)
        self._judged = 0
        verdict = self._divide(lines, first, verdict)
        if 2 * self._judged > len(lines):
            self._skip_fast = _PATIENCE
        return verdict

    def _divide(self, lines: list[bytes], first: int, verdict: BlockVerdict) -> BlockVerdict:
        """Judge lines that were refused together: in eighths, and those down to a few."""
        if len(lines) <= _FEW_LINES:
            return self._judge(lines, first, verdict)
        size = -(-len(lines) // 8)
        for start in range(0, len(lines), size):
            part = lines[start : start + size]
            if not self._accept(b"\n".join(part) + b"\n", first + start, verdict):
                verdict = self._divide(part, first + start, verdict)
                if verdict.reason is not None:
                    break
        return verdict

    def _judge(self, lines: list[bytes], first: int, verdict: BlockVerdict) -> BlockVerdict:
        """Judge line by line, strictly."""
        self._judged += len(lines)
        for number, line in enumerate(lines, first):
            judgement = judge_line(line, number, self._session_id, limits=self._limits)
            if judgement.record is None:
                return verdict._replace(reason=judgement.reason)
            verdict.records.append(judgement.record)
            verdict.notes.extend((number, note) for note in judgement.notes)
        return verdict

    def _accept(self, data: bytes, first: int, verdict: BlockVerdict) -> bool:
        """Add whole lines to the verdict if there is no doubt about any; else change nothing."""
        if not data.isascii():
            try:
                data.decode()
            except UnicodeDecodeError:
                return False
        if not is_nesting_bounded(data, self._limits.max_nesting):
            return False
        if self._skip_known:
            self._skip_known -= 1
        else:
            records = parse_lines(_known, data)
            if records is not None and self._has_envelope(records, attrgetter, first):
                verdict.records.extend(records)
                return True
            self._skip_known = _PATIENCE
        records = parse_lines(_any, data)
        if records is None:
            return False
        if not self._has_envelope(records, itemgetter, first):
            notes = []
            for number, record in enumerate(records, first):
                reason, tolerated = judge_envelope(record, number, self._session_id)
                if reason is not None:
                    return False
                notes += [(number, note) for note in tolerated]
            verdict.notes.extend(notes)
        verdict.records.extend(records)
        return True

    def _has_envelope(
        self, records: Sequence[Any], getter: Callable[[str], Callable[[Any], Any]], first: int
    ) -> bool:
        """Say whether all records have the whole envelope, with nothing to note."""
        count = len(records)
        numbers = range(first, first + count)
        try:
            sequences = list(map(getter("sequence"), records))
            versions = list(map(getter("schema_version"), records))
            times = list(map(getter("recorded_at"), records))
            return (
                sequences == list(numbers)
                and set(map(type, sequences)) == {int}
                and versions.count(SCHEMA_VERSION) == count
                and set(map(type, versions)) == {int}
                and list(map(getter("session_id"), records)).count(self._session_id) == count
                and list(map(getter("event_id"), records))
                == [f"{self._prefix}{number}" for number in numbers]
                and _are_zoned_times(times)
            )
        except KeyError:
            return False


def parse_lines(decoder: msgspec.json.Decoder[Any], data: bytes) -> list[Any] | None:
    """Give one record for each line; None where there is any doubt (see the module's text).

    Args:
        decoder: of one record.
        data: UTF-8, whole lines, each with its line end.
    """
    try:
        if _is_compact(data):
            records = decoder.decode_lines(data)
            if _print_lines(records) == data:
                return records
        lines = data.split(b"\n")
        lines.pop()
        records = list(map(decoder.decode, lines))
        colons = _print_lines(records).count(b":")
    except _DOUBTS:
        return None
    # `\u003` alone is frequent: some encoders escape `<` and `>`.
    if b"\\u003" in data and (b"\\u003a" in data or b"\\u003A" in data):
        return None
    return records if data.count(b":") == colons else None


def _is_compact(data: bytes) -> bool:
    """Guess whether there is no white space between the members; only speed rests on it."""
    place = data.find(b'":') + 2
    return data[place : place + 1] != b" "


def is_nesting_bounded(data: bytes, levels: int) -> bool:
    """Say whether no line nests deeper than `levels`; whole lines, each with its line end."""
    # Each level costs two bytes.
    shortest = 2 * (levels + 1)
    if find_longer_line(data, shortest - 1) < 0:
        return True
    if data.count(b"{") + data.count(b"[") <= levels:
        return True
    return all(is_nesting_at_most(line, levels) for line in data.split(b"\n"))


def _are_zoned_times(times: list[Any]) -> bool:
    try:
        # Of text it reads fewer forms than we do, and nothing but text.
        msgspec.convert(times, _ZonedTimes)
    except msgspec.MsgspecError:
        return all(map(is_zoned_time, times))
    return True
