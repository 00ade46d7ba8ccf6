r"""Codex: one rollout of lines a session, plain or compressed, in the three shapes of its history.

Guarantees: as the protocol says. A record's address is its ordinal; its native id is the `ordinal`
that newer versions write (it counts from 0, and is no place in the file), as text.

Where it lies: `sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl`, and with `.zst` once
it is old. The shapes:

1.  since September 2025: `{"timestamp", "type", "payload"}`, first a `session_meta`;
2.  before: a header `{"id", "timestamp", "instructions"}`, then bare items of the Responses API and
    `{"record_type": "state"}`;
3.  of the first agent, in `rollout-<date>-<session>.json`: `{"session": {...}, "items": [...]}`.

A fork and a sub-agent copy the history they begin with, `session_meta` of the parent and all: the
first one of a file is that of its session, and all its records belong to it.

Example:
    >>> line = b'{"timestamp":"t","type":"session_meta","payload":{"id":"s"}}\n'
    >>> Codex().identify(Head("rollout.jsonl", line))
    True
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from provenance.findings import Severity
from provenance.transcripts.adapters._codex_citations import (
    CITATION,
    MOST_CITATIONS,
    find_citations,
)
from provenance.transcripts.adapters._codex_items import (
    OUTER_TYPES,
    Talk,
    calls_in,
    is_header,
    is_own,
    is_telling,
    ordinal_in,
    results_in,
    say,
    shape_of,
    texts_of,
)
from provenance.transcripts.containers.compressed import is_compressed
from provenance.transcripts.containers.document import join_chunks, parse_document
from provenance.transcripts.fields import dict_of, list_of, text_of
from provenance.transcripts.lines import Line, read_json_lines
from provenance.transcripts.records import Fault, OutputFile, Record, Reference
from provenance.transcripts.sources import Head, Source, read_head

__all__ = ["Codex"]

_ITEMS = ("items",)
# So much of a torn line is looked at for its ordinal, which stands near its start.
_TORN_BYTES = 256
_MEMORIES = "memories/"

_match_name = re.compile(
    r"rollout-[0-9T:-]{1,40}?([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})\.json.{0,9}"
).fullmatch
# The start of a line as Codex writes it: the first one may be torn, or longer than a head.
_START = (
    rb'[ \r\n]{0,9}\{"timestamp":"[^"\\]{0,64}",(?:"ordinal":[0-9]{1,20},)?'
    rb'"type":"%s","payload":\{'
)
_match_start = re.compile(_START % b"(?:%s)" % "|".join(sorted(OUTER_TYPES)).encode()).match
_match_meta = re.compile(
    _START % b"session_meta"
    + rb'(?:(?:"[a-z_]{1,32}":(?:"[^"\\]{0,200}"|null),){0,4}?"id":"([^"\\]{1,200})")?'
).match
_match_torn_ordinal = re.compile(
    rb'[\r\n]*+\{"timestamp":"[^"\\]{0,64}","ordinal":([0-9]{1,20})[,}]'
).match
_match_document = re.compile(
    rb'\s{0,9}\{\s{0,99}(?:"session"\s{0,9}:\s{0,9}\{(?:[^{}]{0,400}?"id"\s{0,9}:\s{0,9}'
    rb'"([^"\\]{1,200})")?|"items"\s{0,9}:\s{0,9}\[)'
).match


class Codex:
    """The format `codex`."""

    name = "codex"
    suffixes = (".jsonl", ".jsonl.zst", ".json")
    has_separate_sessions = False

    def identify(self, head: Head) -> bool:
        """Say whether one of the first lines is one that only Codex writes."""
        has_name = _match_name(head.name) is not None
        if _match_document(head.data):
            return has_name or b'"instructions"' in head.data
        if _match_start(head.data):
            return True
        return any(is_telling(value, has_name=has_name) for value in head.objects)

    def records(self, source: Source) -> Iterator[Record | Fault]:
        """Give the records of one rollout."""
        if source.file is None:
            return
        head = read_head(source.file, source.name)
        read = _read_document if _match_document(head.data) else _read_lines
        yield from read(source, _session_in(head))

    def references(self, record: Record) -> Iterable[Reference]:
        """Give what a compaction stands for, and what an answer cites from memory."""
        value = record.value
        if not isinstance(value, dict):
            return
        shape = shape_of(value)
        if shape.kind == "compacted":
            yield _history(record, dict_of(value, "payload"))
        item = shape.item
        if item is not None and item.get("type") == "message" and item.get("role") == "assistant":
            for text in texts_of(item.get("content")):
                yield from _citations(text)

    def sessions(self, source: Source) -> Iterable[str]:
        """Give the session of a rollout, by its first line, else by its name."""
        if source.file is not None:
            session = _session_in(read_head(source.file, source.name))
            if session is not None:
                yield session


def _read_lines(source: Source, session: str | None) -> Iterator[Record | Fault]:
    talk = Talk()
    line = end = 0  # of the last record
    for item in read_json_lines(source.chunks(), limits=source.limits, is_record=is_own):
        if isinstance(item, Fault):
            if item.code == "torn_line" and item.line == line + 1:
                yield item._replace(native_id=_torn_ordinal(source, end))
            else:
                yield item
            continue
        if item.ordinal == 1 and not is_header(item.value):
            yield Fault(
                "header_absent",
                Severity.WARNING,
                "record: expected the session's header first, got another record",
                ordinal=1,
                line=item.line,
            )
        line, end = item.line, item.offset + len(item.raw)
        yield _record_of(item, session, talk)


def _read_document(source: Source, session: str | None) -> Iterator[Record | Fault]:
    data = join_chunks(source.chunks())
    document = parse_document(data, limits=source.limits, arrays=[_ITEMS])
    if isinstance(document, Fault):
        yield document
        return
    yield from document.faults
    talk = Talk()
    for ordinal, start, end, line, value in document.elements(_ITEMS):
        if isinstance(value, dict):
            record = _record_of(Line(ordinal, line, start, data[start:end], value), session, talk)
        else:
            record = Record(ordinal=ordinal, kind="(none)", raw=data[start:end], value=value)
            record.line, record.offset, record.session = line, start, session
            record.is_known = False
        yield record


def _record_of(line: Line, session: str | None, talk: Talk) -> Record:
    kind, is_known, item = shape_of(line.value)
    calls = () if item is None else calls_in(item)
    return Record(
        ordinal=line.ordinal,
        kind=kind,
        raw=line.raw,
        value=line.value,
        line=line.line,
        offset=line.offset,
        native_id=ordinal_in(line.value),
        session=session,
        time=text_of(line.value, "timestamp"),
        speaker=None if item is None else talk.speaker(item, calls),
        calls=calls,
        results=() if item is None else results_in(item),
        is_known=is_known,
        say=say,
    )


def _torn_ordinal(source: Source, end: int) -> str | None:
    """Give the ordinal that the start of a torn line shows, after the record that ends there.

    A resumed session gives it to its next record. Bytes of a compressed file are not looked up.
    """
    if source.file is None or is_compressed(source.file.read_at(0, 4)):
        return None
    match = _match_torn_ordinal(source.file.read_at(end, _TORN_BYTES))
    return None if match is None else match[1].decode().lstrip("0") or "0"


def _session_in(head: Head) -> str | None:
    """Give the session of a rollout: by its first line, however damaged, else by its name."""
    if match := _match_document(head.data) or _match_meta(head.data):
        session = match[1].decode("utf-8", "replace") if match[1] else None
    elif (value := _first_object(head)) and is_header(value):
        session = text_of(dict_of(value, "payload") if "type" in value else value, "id")
    else:
        session = None
    match_name = None if session else _match_name(head.name)
    return match_name[1] if match_name else session


def _first_object(head: Head) -> dict[str, Any] | None:
    first = head.data.lstrip(b" \r\n").partition(b"\n")[0]
    try:
        value = msgspec.json.decode(first)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _history(record: Record, payload: dict[str, Any]) -> Reference:
    """Say which records a compaction stands for: all that stand before it."""
    kind = "replacement_history" if list_of(payload, "replacement_history") else "compacted"
    if record.ordinal == 1:
        return Reference(kind=kind, members=(("the records that it replaces", False),))
    return Reference(kind=kind, covers=(1, record.ordinal - 1))


def _citations(text: str) -> Iterator[Reference]:
    """Give what an answer cites; memories are rewritten and thrown away, so none need be there."""
    cited = find_citations(text)
    for path in cited.paths:
        file = OutputFile(path if path.startswith("/") else _MEMORIES + path, beside="sessions")
        yield Reference(kind=CITATION, file=file, is_optional=True)
    for _ in cited.sessions:
        reason = "the session that a memory came from is looked for in no other file"
        yield Reference(kind=CITATION, unsupported=reason, is_optional=True)
    if cited.is_cut:
        reason = f"more than {MOST_CITATIONS} citations in one answer: the rest is not looked at"
        yield Reference(kind=CITATION, unsupported=reason, is_optional=True)
