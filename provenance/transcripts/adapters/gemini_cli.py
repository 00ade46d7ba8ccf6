"""Gemini CLI: one session a file, as one JSON document or (since 2026) as lines that are appended.

Guarantees: as the protocol says. A record's address is its ordinal; its native id is the `id` of
the message. A document's records are the elements of `messages`, each with its own bytes. Of the
lines each is a record: the metadata, the messages, what changes the metadata (`$set`) and what
takes messages back (`$rewindTo`). The bytes stay; what they mean for the conversation is said
beside them.

Where it lies: `tmp/<project>/chats/session-<time>-<id>.json` or `.jsonl`; large outputs of tools in
`tmp/<project>/tool-outputs/session-<id>/<file>`. `logs.json` holds prompts alone and is none.

Example:
    >>> GeminiCli().identify(Head("a.json", b'{"sessionId":"s","projectHash":"h","messages":[]}'))
    True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from itertools import chain
from typing import Any

from provenance.findings import Severity
from provenance.limits import DEFAULT_LIMITS
from provenance.transcripts.adapters._gemini_conversation import Conversation
from provenance.transcripts.adapters._gemini_values import (
    KNOWN_TYPES,
    message_record,
    output_texts,
    plain_record,
    saved_in,
)
from provenance.transcripts.containers.document import Document, join_chunks, parse_document
from provenance.transcripts.fields import dict_of, dicts_in, text_of
from provenance.transcripts.lines import Line, read_json_lines
from provenance.transcripts.records import (
    Fault,
    Record,
    Reference,
)
from provenance.transcripts.sources import HEAD_BYTES, Head, Source, SourceUnreadable

__all__ = ["GeminiCli"]

_MESSAGES = ("messages",)
_METADATA = "session_metadata"
# One of these stands in whatever is of this format.
_MARKS = (b'"projectHash"', b'"gemini"', b'"$rewindTo"', b'"$set"')


class _Shape(Enum):
    DOCUMENT = auto()
    LINES = auto()


class GeminiCli:
    """The format `gemini-cli`."""

    name = "gemini-cli"
    suffixes = (".json", ".jsonl")
    has_separate_sessions = False

    def identify(self, head: Head) -> bool:
        """Say whether it is a session, in either shape."""
        return _shape_of(head) is not None

    def records(self, source: Source) -> Iterator[Record | Fault]:
        """Give the messages of a document, or the records on the lines."""
        head, chunks = _begin(source)
        shape = _shape_of(head)
        # One that is not told by its first bytes was named by somebody; lines hold objects.
        if shape is None and not head.objects and head.data.lstrip()[:1] in (b"{", b"["):
            shape = _Shape.DOCUMENT
        if shape is _Shape.DOCUMENT:
            yield from _from_document(source, join_chunks(chunks))
        else:
            yield from _from_lines(source, chunks)

    def references(self, record: Record) -> Iterable[Reference]:
        """Give the files that large outputs were saved to."""
        value = record.value
        if not isinstance(value, dict):
            return
        seen: set[str] = set()
        for text in output_texts(value):
            for file in saved_in(text):
                if file.path not in seen:
                    seen.add(file.path)
                    yield Reference(kind="tool_output_file", file=file)

    def sessions(self, source: Source) -> Iterable[str]:
        """Give the session that the first bytes name."""
        head, _ = _begin(source)
        found = _parse_head(head)
        values = [] if found is None else [found.value]
        for value in (*values, *head.objects):
            session = _session_in(value) if isinstance(value, dict) else None
            if session is not None:
                return (session,)
        return ()


def _begin(source: Source) -> tuple[Head, Iterator[bytes]]:
    """Give the first bytes of a file, and all of it."""
    chunks = source.chunks()
    parts: list[bytes] = []
    size = 0
    is_whole = True
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > HEAD_BYTES:
            is_whole = False
            break
    data = b"".join(parts)
    return Head(source.name, data[:HEAD_BYTES], is_whole=is_whole), chain([data], chunks)


def _parse_head(head: Head) -> Document | None:
    """Give what the first bytes of a document hold, as far as it is whole there."""
    found = parse_document(head.data, limits=DEFAULT_LIMITS, arrays=[_MESSAGES])
    return found if isinstance(found, Document) and isinstance(found.value, dict) else None


def _shape_of(head: Head) -> _Shape | None:
    if not any(mark in head.data for mark in _MARKS):
        return None
    found = _parse_head(head)
    if found is not None and _MESSAGES in found.arrays:
        # A first line of metadata may hold an empty list; lines follow it.
        is_first_of_lines = (
            not found.elements(_MESSAGES) and found.end < len(head.data) and len(head.objects) > 1
        )
        if not is_first_of_lines:
            return _Shape.DOCUMENT if _is_session(found.value) else None
    if any(map(_is_own, head.objects)):
        return _Shape.LINES
    # Its `messages` may come after more than we look at.
    is_cut = found is not None and bool(found.faults)
    return _Shape.DOCUMENT if is_cut and found and _is_metadata(found.value) else None


def _is_metadata(value: dict[str, Any]) -> bool:
    return text_of(value, "sessionId") is not None and text_of(value, "projectHash") is not None


def _is_session(value: dict[str, Any]) -> bool:
    if _is_metadata(value):
        return True
    return any(message.get("type") == "gemini" for message in dicts_in(value.get("messages")))


def _is_own(value: dict[str, Any]) -> bool:
    """Say whether a line is of this format and no other."""
    return (
        _is_metadata(value)
        or text_of(value, "$rewindTo") is not None
        or (text_of(value, "id") is not None and value.get("type") == "gemini")
        or (value.keys() == {"$set"} and isinstance(value["$set"], dict))
    )


def _is_record(value: dict[str, Any]) -> bool:
    is_message = text_of(value, "id") is not None and value.get("type") in list(KNOWN_TYPES)
    return is_message or _is_own(value)


def _session_in(value: dict[str, Any]) -> str | None:
    return text_of(value, "sessionId") or text_of(dict_of(value, "$set"), "sessionId")


def _from_document(source: Source, data: bytes) -> Iterator[Record | Fault]:
    found = parse_document(data, limits=source.limits, arrays=[_MESSAGES])
    if isinstance(found, Fault):
        yield found
        return
    value = found.value
    if not isinstance(value, dict) or (_MESSAGES not in found.arrays and not found.faults):
        message = "document: expected a session with a list of messages, got another value"
        raise SourceUnreadable("container_invalid", message)
    session = text_of(value, "sessionId")
    no_records = 0
    for item in found.walk(_MESSAGES):
        if isinstance(item, Fault):
            if item.ordinal is not None:
                item = item._replace(ordinal=item.ordinal - no_records)  # noqa: PLW2901
            yield item
        elif isinstance(item.value, dict):
            raw = data[item.start : item.end]
            line = Line(item.ordinal - no_records, item.line, item.start, raw, item.value)
            yield message_record(line, session)
        else:
            no_records += 1
            text = "message: expected a JSON object, got another value"
            yield Fault("invalid_line", Severity.ERROR, text, line=item.line)


def _from_lines(source: Source, chunks: Iterable[bytes]) -> Iterator[Record | Fault]:
    conversation = Conversation()
    session: str | None = None
    is_first = True
    for item in read_json_lines(chunks, limits=source.limits, is_record=_is_record):
        if isinstance(item, Fault):
            yield item
            continue
        record, changes = _line(item, conversation, session)
        session = record.session = _session_in(item.value) or session
        if is_first and record.kind != _METADATA:
            text = "record: expected the session's header first, got another record"
            yield _at(record, Fault("header_absent", Severity.WARNING, text))
        is_first = False
        yield record
        for change in changes:
            yield _at(record, change)


def _at(record: Record, fault: Fault) -> Fault:
    return fault._replace(
        ordinal=record.ordinal,
        line=record.line,
        native_id=record.native_id,
        session=record.session,
    )


def _line(
    line: Line, conversation: Conversation, session: str | None
) -> tuple[Record, tuple[Fault, ...]]:
    """Give the record on a line, and what it changes; asked in the order that Gemini CLI asks."""
    value = line.value
    target = value.get("$rewindTo")
    if isinstance(target, str):
        return plain_record(line, "$rewindTo"), (conversation.rewind(target, line.ordinal),)
    message_id = text_of(value, "id")
    if message_id is not None:
        record = message_record(line, session)
        earlier = conversation.write(message_id, line.ordinal)
        if earlier is None:
            return record, ()
        record.supersedes = True
        record.time = None  # it repeats the time of the first version
        text = f"message: written again, in the place of record {earlier}"
        return record, (Fault("record_updated", Severity.INFO, text),)
    if isinstance(value.get("$set"), dict):
        messages = value["$set"].get("messages")
        if not isinstance(messages, list):
            return plain_record(line, "$set"), ()
        ids = [found for one in dicts_in(messages) if (found := text_of(one, "id")) is not None]
        return plain_record(line, "$set"), (conversation.replace(ids, line.ordinal),)
    if _is_metadata(value):
        record = plain_record(line, _METADATA)
        record.time = text_of(value, "startTime")
        return record, ()
    return message_record(line, session), ()
