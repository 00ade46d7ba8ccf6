r"""Claude Code: one file of lines a session, one more for each sub-agent.

Guarantees: as the protocol says. A record's address is its ordinal; its native id is `uuid`.

Where it lies: `projects/<folder>/<session>.jsonl`, sub-agents in
`projects/<folder>/<session>/subagents/agent-<id>.jsonl` (before: `agent-<id>.jsonl` beside it, or
lines with `isSidechain` in the session's own file). A sub-agent repeats the session id of the one
that called it; its own session is `<session>.agent-<id>` here.

Example:
    >>> ClaudeCode().identify(Head("a.jsonl", b'{"type":"user","uuid":"u","sessionId":"s"}\n'))
    True
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, TypedDict

import msgspec

from provenance.limits import DEFAULT_LIMITS
from provenance.transcripts.fields import dict_of, dicts_in, text_of, texts_in
from provenance.transcripts.lines import Line, read_json_lines
from provenance.transcripts.records import (
    Call,
    CallResult,
    Fault,
    OutputFile,
    Record,
    Reference,
    Speaker,
)
from provenance.transcripts.sources import Head, Source
from provenance.transcripts.strict_json import NotStrictJson, parse_strict

__all__ = ["ClaudeCode"]

# Seen in files of versions 1.0 to 2.1; another one is kept and counted as unknown.
_KNOWN_TYPES = frozenset(
    {
        "agent-color",
        "agent-name",
        "agent-setting",
        "ai-title",
        "assistant",
        "attachment",
        "attribution-snapshot",
        "bridge-session",
        "content-replacement",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "relocated",
        "speculation-accept",
        "started",
        "result",
        "summary",
        "system",
        "tag",
        "task-summary",
        "user",
        "worktree-state",
    }
)
_BOUNDARIES = frozenset({"compact_boundary", "microcompact_boundary"})
_SPEAKERS = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}
# What the records of the conversation have, and those of no other format together.
_MARKS = ("parentUuid", "isSidechain", "sessionId", "uuid", "leafUuid", "messageId")

# How a record of the conversation begins, also one of which nothing else is left.
_begins_as_own = re.compile(rb'^\{"parentUuid":(?:null|"[0-9a-f-]{8,36}),?"?', re.MULTILINE).search
_match_persisted = re.compile(
    r"<persisted-output>\n[^\n]{0,200}?\((?P<amount>[0-9]{1,9}(?:\.[0-9]{1,3})?) ?"
    r"(?P<unit>bytes|B|KB|MB|GB)\)\.? [^\n]{0,80}?: (?P<path>[^\n]{1,4096})"
    r"(?:\n\nPreview[^\n]{0,80}:\n(?P<head>.*?)(?:\n\.\.\.)?\n?</persisted-output>)?",
    re.DOTALL,
).match
_find_half = re.compile("[\ud800-\udfff]").search
_UNITS = {"bytes": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_PERSISTED = "<persisted-output>"
# In the text of a result, and in the name of the field beside it.
_PERSISTED_MARK = b"ersisted"


class _Block(TypedDict, total=False):
    type: Any
    id: Any
    tool_use_id: Any
    name: Any


class _Message(TypedDict, total=False):
    id: Any
    content: list[_Block] | str


class _Fields(TypedDict, total=False):
    """What of a record is looked at in passing; all else is read where it is asked for."""

    type: Any
    subtype: Any
    uuid: Any
    parentUuid: Any
    sessionId: Any
    isSidechain: Any
    agentId: Any
    timestamp: Any
    message: _Message


_partial = msgspec.json.Decoder(_Fields)


class _ClaudeRecord(Record, gc=False, kw_only=True):
    """A record whose text is read from its bytes."""

    @property
    def text(self) -> str:
        return _text(_whole(self.raw))


class ClaudeCode:
    """The format `claude-code`."""

    name = "claude-code"
    suffixes = (".jsonl", ".jsonl.zst")
    has_separate_sessions = False

    def identify(self, head: Head) -> bool:
        """Say whether one of the first lines is a record as Claude Code writes it."""
        return any(map(_is_own, head.objects)) or _begins_as_own(head.data) is not None

    def records(self, source: Source) -> Iterator[Record | Fault]:
        """Give the records of one file."""
        agent = _agent_in_name(source.name)
        session: str | None = None
        for item in read_json_lines(
            source.chunks(), limits=source.limits, is_record=_is_record, partial=_partial
        ):
            if isinstance(item, Fault):
                yield item
                continue
            record = _record_of(item, agent)
            # What names no session (a summary, a snapshot) belongs to the one around it.
            if record.session is None:
                record.session = session
            elif record.strand is None:
                session = record.session
            yield record

    def references(self, record: Record) -> Iterable[Reference]:
        """Give what a record says exists elsewhere."""
        match record.kind:
            case "user" if _PERSISTED_MARK in record.raw:
                yield from _persisted_outputs(_whole(record.raw))
            case "compact_boundary":
                parent = text_of(_whole(record.raw), "logicalParentUuid")
                yield Reference(
                    kind="compact_boundary",
                    records=() if parent is None else (parent,),
                    covers=(1, record.ordinal - 1) if record.ordinal > 1 else None,
                )
            case "microcompact_boundary":
                compacted = dict_of(_whole(record.raw), "microcompactMetadata").get(
                    "compactedToolIds"
                )
                if calls := tuple(texts_in(compacted)):
                    yield Reference(kind="compactedToolIds", calls=calls)
            case "summary":
                # A summary names the end of the session it sums up: as a rule another file.
                if leaf := text_of(_whole(record.raw), "leafUuid"):
                    yield Reference(kind="leafUuid", records=(leaf,), is_optional=True)
            case _:
                pass

    def sessions(self, source: Source) -> Iterable[str]:
        """Give the session of a file, by its first records."""
        agent = _agent_in_name(source.name)
        seen = 0
        pieces = _cut(source.chunks(), _SESSION_PIECE)
        for item in read_json_lines(
            pieces, limits=source.limits, is_record=_is_record, partial=_partial
        ):
            if isinstance(item, Line):
                found = _record_of(item, agent).session
                if found is not None:
                    yield found
                    return
                seen += 1
            if seen > _SESSION_WITHIN:
                return

    def record_sessions(self, source: Source) -> Iterable[str]:
        """Give what stands as a session anywhere in a file: one that was resumed holds several."""
        seen: set[bytes] = set()
        held = b""
        for chunk in source.chunks():
            data = held + chunk
            if len(seen) < _MOST_SESSIONS:
                seen.update(_find_sessions(data))
            # What begins at the end of a piece is looked at with the next one.
            held = data[-_SESSION_KEY_BYTES:]
        for value in sorted(seen):
            try:
                session = msgspec.json.decode(value, type=str)
            except (msgspec.MsgspecError, ValueError):
                continue  # no text of JSON
            if session:
                yield session


_find_sessions = re.compile(rb'"sessionId"[ \t]*:[ \t]*("(?:[^"\\\n]|\\[^\n]){0,1000}")').findall
_SESSION_KEY_BYTES = 2_100
_MOST_SESSIONS = 100_000

# A file of this format names its session on one of the first lines; snapshots may come before.
_SESSION_WITHIN = 200
# As a rule on the first: no more than that is parsed.
_SESSION_PIECE = 8 << 10


def _cut(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), size):
            yield chunk[start : start + size]


def _is_record(value: dict[str, Any]) -> bool:
    return isinstance(value.get("type"), str) and any(mark in value for mark in _MARKS)


def _is_own(value: dict[str, Any]) -> bool:
    kind = text_of(value, "type")
    if kind not in _KNOWN_TYPES:
        return False
    if kind == "summary":
        return isinstance(value.get("leafUuid"), str)
    if kind == "file-history-snapshot":
        return "messageId" in value and "snapshot" in value
    return isinstance(value.get("sessionId"), str) and "payload" not in value


def _whole(raw: bytes) -> dict[str, Any]:
    """Parse all of a record; what is no object any more is an empty one."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        try:
            value = parse_strict(raw, max_nesting=DEFAULT_LIMITS.max_nesting)
        except NotStrictJson:
            return {}
    return value if isinstance(value, dict) else {}


def _agent_in_name(name: str) -> str | None:
    match = re.fullmatch(r"agent-([A-Za-z0-9_-]{1,100})\.jsonl(?:\.zst)?", name)
    return None if match is None else match[1]


def _record_of(line: Line, agent_in_name: str | None) -> Record:
    value = line.value
    get = value.get
    found = get("type")
    kind = found if isinstance(found, str) else "(none)"
    is_known = kind in _KNOWN_TYPES
    if kind == "system":
        subtype = get("subtype")
        if isinstance(subtype, str) and subtype in _BOUNDARIES:
            kind = subtype
    native_id, parent, time = get("uuid"), get("parentUuid"), get("timestamp")
    session = text_of(value, "sessionId")
    strand: str | None = None
    if get("isSidechain") is True:
        strand = text_of(value, "agentId") or agent_in_name or "sidechain"
        if session is not None:
            session = f"{session}.agent-{strand}"
    speaker = _SPEAKERS.get(kind)
    record = _ClaudeRecord(
        ordinal=line.ordinal,
        kind=kind,
        raw=line.raw,
        value=value,
        line=line.line,
        offset=line.offset,
        native_id=native_id if isinstance(native_id, str) and native_id else None,
        parent=parent if isinstance(parent, str) and parent else None,
        session=session,
        strand=strand,
        time=time if isinstance(time, str) and time else None,
        speaker=speaker,
        is_known=is_known,
    )
    if speaker is not None:
        message = get("message")
        if isinstance(message, dict):
            if speaker is Speaker.ASSISTANT:
                record.message_id = text_of(message, "id")
            content = message.get("content")
            if isinstance(content, list):
                record.calls, record.results = _calls_and_results(content)
    return record


def _calls_and_results(
    content: list[Any],
) -> tuple[tuple[Call, ...], tuple[CallResult, ...]]:
    calls: list[Call] = []
    results: list[CallResult] = []
    for block in content:
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "tool_use":
            calls.append(Call(text_of(block, "id") or "", text_of(block, "name")))
        elif kind == "tool_result":
            results.append(CallResult(text_of(block, "tool_use_id") or ""))
    return tuple(calls), tuple(results)


def _text(value: Any) -> str:  # noqa: ANN401 - a parsed record
    if not isinstance(value, dict):
        return ""
    message = dict_of(value, "message")
    parts: list[str] = []
    content = message.get("content", value.get("content"))
    if isinstance(content, str):
        parts.append(content)
    for block in dicts_in(content):
        parts += _block_texts(block)
    if summary := text_of(value, "summary"):
        parts.append(summary)
    return "\n".join(parts)


def _block_texts(block: dict[str, Any]) -> Iterator[str]:
    for key in ("text", "thinking"):
        if found := text_of(block, key):
            yield found
    if block.get("type") == "tool_use":
        if name := text_of(block, "name"):
            yield name
        yield from _leaves(block.get("input"))
    content = block.get("content")
    if isinstance(content, str):
        yield content
    for inner in dicts_in(content):
        if found := text_of(inner, "text"):
            yield found


def _leaves(value: object) -> Iterator[str]:
    """Give the texts in a call's arguments, without recursion."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, dict):
            waiting.extend(reversed(list(found.values())))
        elif isinstance(found, list):
            waiting.extend(reversed(found))


def _persisted_outputs(value: dict[str, Any]) -> Iterator[Reference]:
    outcome = dict_of(value, "toolUseResult")
    said_path = text_of(outcome, "persistedOutputPath")
    said_size = outcome.get("persistedOutputSize")
    size = said_size if type(said_size) is int and said_size >= 0 else None
    paths: set[str] = set()
    for content in _result_texts(value):
        found = _persisted_in(content)
        if found is None:
            yield Reference(kind="persisted_output", unsupported="its form is not known")
            continue
        if size is not None and found.path == said_path:
            found = found._replace(size=size, size_range=None)
        paths.add(found.path)
        yield Reference(kind="persisted_output", file=found)
    if said_path is not None and said_path not in paths:
        yield Reference(kind="persisted_output", file=OutputFile(said_path, size))


def _result_texts(value: dict[str, Any]) -> Iterator[str]:
    for block in dicts_in(dict_of(value, "message").get("content")):
        if block.get("type") != "tool_result":
            continue
        content = block.get("content")
        if isinstance(content, str):
            if content.startswith(_PERSISTED):
                yield content
        else:
            for inner in dicts_in(content):
                text = text_of(inner, "text")
                if text is not None and text.startswith(_PERSISTED):
                    yield text


def _persisted_in(content: str) -> OutputFile | None:
    match = _match_persisted(content)
    if match is None:
        return None
    unit = _UNITS[match["unit"]]
    head = None if match["head"] is None else _encoded(match["head"])
    if unit == 1 and match["amount"].isdecimal():
        return OutputFile(match["path"], int(match["amount"]), head=head)
    size = float(match["amount"])
    decimals = len(match["amount"].partition(".")[2])
    # The number is rounded: half of its last digit to either side, and one byte for the rounding.
    slack = 0.5 * 10**-decimals
    low, high = int((size - slack) * unit) - 1, int((size + slack) * unit) + 1
    return OutputFile(match["path"], size_range=(max(low, 0), high), head=head)


def _encoded(text: str) -> bytes:
    """Encode a preview up to where a character was cut in two: no file holds half of one."""
    half = _find_half(text)
    return (text if half is None else text[: half.start()]).encode()
