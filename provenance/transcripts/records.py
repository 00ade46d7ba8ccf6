"""The common form of what any agent's transcript holds: records, faults between them, references.

Guarantees: pure values. A record keeps its own bytes and its place, in the order of the source;
what an adapter does not understand is kept too, with `is_known` False. No fault's message holds
text of the transcript.

Example:
    >>> record = Record(ordinal=1, kind="user", raw=b'{"type":"user"}', value={"type": "user"})
    >>> record.sha256[:12], record.text
    ('7ee087eced9d', '')
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from provenance.findings import Severity

__all__ = [
    "Call",
    "CallResult",
    "Fault",
    "OutputFile",
    "Pooled",
    "Record",
    "Reference",
    "Speaker",
    "no_text",
]


class Speaker(StrEnum):
    """Who says a record of the conversation; what is none of it (progress, settings) has nobody."""

    USER = "user"
    ASSISTANT = "assistant"


class Call(NamedTuple):
    """A tool call; `id` is what its result names; without one (empty) it is only counted."""

    id: str
    name: str | None = None


class CallResult(NamedTuple):
    """The result of a tool call; `call_id` names it; without one (empty) it is only counted."""

    call_id: str


def no_text(value: Any) -> str:  # noqa: ANN401 - whatever a format holds
    """Give the text of a record that says nothing to anybody."""
    return ""


class Record(msgspec.Struct, gc=False, kw_only=True):
    """One record of a transcript, in the order of its bytes.

    Attributes:
        ordinal: its place, counted from 1; in a source of several sessions that are kept apart
            (a database) its place in its own session.
        kind: the format's own name for what it is; `(none)` where it says none.
        raw: its own bytes, without the line end: what its digest is taken of.
        value: the parsed JSON, or as much of it as the adapter needs; `raw` has all.
        line: the line it stands on, counted from 1; None where the source has no lines.
        offset: where `raw` begins in the source's bytes (for a compressed one: in the unpacked
            bytes); None where it is no run of them.
        member: the file of a folder, or the member of an archive, that it stands in; None where
            the source is one file.
        native_id: the format's own id of the record.
        parent: the native id of the record that it follows; None: none is named.
        session: the session it belongs to, in the format's own words; None: that of the source.
        strand: which of several conversations that run side by side in one log (a sub-agent's);
            None: the main one. What another one says interrupts nothing.
        message_id: the id of the model's message that it is a part of.
        time: ISO 8601, as it stands there.
        speaker: who says it, where it is a part of the conversation.
        calls: the tool calls in it.
        results: the results of tool calls in it.
        is_known: its kind is one that the adapter knows.
        supersedes: it takes the place of an earlier record of the same native id, as the format
            means it; no repeated id.
        say: gives its text from `value`, for a person and for searching.
    """

    ordinal: int
    kind: str
    raw: bytes
    value: Any
    line: int | None = None
    offset: int | None = None
    member: str | None = None
    native_id: str | None = None
    parent: str | None = None
    session: str | None = None
    strand: str | None = None
    message_id: str | None = None
    time: str | None = None
    speaker: Speaker | None = None
    calls: tuple[Call, ...] = ()
    results: tuple[CallResult, ...] = ()
    is_known: bool = True
    supersedes: bool = False
    say: Callable[[Any], str] = no_text

    @property
    def sha256(self) -> str:
        """The digest of the record's own bytes, 64 hex digits."""
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def text(self) -> str:
        """What the record says, as text; empty where it says nothing."""
        return self.say(self.value)


class Fault(NamedTuple):
    """Something about a place in a transcript, with a code of its own; see `explain`.

    Attributes:
        code: as in the table of spec 01.5, or the format's own.
        severity: how much it weighs.
        message: one line: what was expected, what was found; no text of the transcript.
        ordinal: of the record it is about, or of the first one on the line.
        line: counted from 1.
        native_id: the format's own id of the record or row.
        session: as in `Record`.
        member: as in `Record`.
    """

    code: str
    severity: Severity
    message: str
    ordinal: int | None = None
    line: int | None = None
    native_id: str | None = None
    session: str | None = None
    member: str | None = None


class Pooled(NamedTuple):
    """Something that records of a session refer to and do not hold, in the same source.

    Attributes:
        session: in the format's own words.
        pool: which sort: lower-case letters.
        data: its bytes, which its digest is taken of.
    """

    session: str
    pool: str
    data: bytes


class OutputFile(NamedTuple):
    """A file that a record says holds the whole of an output.

    Attributes:
        path: as it stands in the record: of the machine that wrote it, and hostile.
        size: how many bytes it is said to have; None: nothing is said.
        size_range: the least and the most bytes, where only a rounded number is said.
        sha256: the digest it is said to have, 64 hex digits; None: nothing is said.
        head: the bytes it is said to begin with; None: nothing is said.
        beside: a path that begins with no `/` begins beside the folder of this name, which the
            transcript lies in; None: there are no such paths.
    """

    path: str
    size: int | None = None
    size_range: tuple[int, int] | None = None
    sha256: str | None = None
    head: bytes | None = None
    beside: str | None = None


class Reference(msgspec.Struct, gc=False, kw_only=True, frozen=True):
    """What a record says exists elsewhere; resolved to one of the five states.

    Exactly one of `records`, `calls`, `covers`, `file`, `members` and `unsupported` says what is
    looked for; `covers` may stand beside `records`.

    Attributes:
        kind: which sort, in the format's own words: `compact_boundary`, `persisted_output`, ...
        records: native ids of records of the same transcript.
        calls: ids of tool calls of the same transcript.
        covers: first and last ordinal of the records that a summary stands for.
        file: a file below the trusted root.
        members: what is to be found inside the same source, each with whether it is there.
        unsupported: why nothing here can look; None where something can.
        is_optional: its absence is normal for the format (information, and no fault).
    """

    kind: str
    records: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    covers: tuple[int, int] | None = None
    file: OutputFile | None = None
    members: tuple[tuple[str, bool], ...] = ()
    unsupported: str | None = None
    is_optional: bool = False
