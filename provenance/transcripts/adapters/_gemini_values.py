r"""What a message of Gemini CLI holds: calls, results, text, the files of outputs too large for it.

Guarantees: pure; nothing raises, whatever the fields hold, and nothing recurses.

Example:
    >>> text = "Output too large. Showing the last lines. For full output see: /t/a.txt\n..."
    >>> [file.path for file in saved_in(text)]
    ['/t/a.txt']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from provenance.transcripts.fields import dict_of, dicts_in, list_of, text_of
from provenance.transcripts.lines import Line
from provenance.transcripts.records import Call, CallResult, OutputFile, Record, Speaker

__all__ = ["KNOWN_TYPES", "message_record", "output_texts", "plain_record", "saved_in"]

KNOWN_TYPES = frozenset({"user", "gemini", "info", "error", "warning"})
_SPEAKERS = {"user": Speaker.USER, "gemini": Speaker.ASSISTANT}
# The other states of a call (`validating`, `executing`, ...) come before its result.
_FINISHED = frozenset({"success", "error", "cancelled"})

# What stands in the place of an output that was saved to a file: so it begins, and so it names it.
_is_saved = re.compile(r"(?:<tool_output_masked>|Output too large\. )").match
_find_saved = re.compile(
    r"(?:For full output see|Full output available at): *(?P<path>[^\r\n<]{1,4096})"
).finditer
# One text names one file, or two where an output was cut twice.
_MOST_SAVED = 4
_match_head = re.compile(
    r"Output too large\. Showing first [^\n]{1,120}? For full output see: [^\n]{1,4096}\n"
    r"(?P<head>.*?)\n\n\.\.\. \[",
    re.DOTALL,
).match


def plain_record(line: Line, kind: str) -> Record:
    """Give the record on a line that is no message."""
    return Record(
        ordinal=line.ordinal,
        kind=kind,
        raw=line.raw,
        value=line.value,
        line=line.line,
        offset=line.offset,
        say=_text,
    )


def message_record(line: Line, session: str | None) -> Record:
    """Give a message, with its calls and their results."""
    value = line.value
    record = plain_record(line, text_of(value, "type") or "(none)")
    record.is_known = record.kind in KNOWN_TYPES
    record.session = session
    record.native_id = text_of(value, "id")
    record.time = text_of(value, "timestamp")
    record.speaker = _SPEAKERS.get(record.kind)
    calls: list[Call] = []
    results: list[CallResult] = []
    for call in dicts_in(value.get("toolCalls")):
        call_id = text_of(call, "id")
        if call_id is None:
            continue
        calls.append(Call(call_id, text_of(call, "name")))
        status = call.get("status")
        if call.get("result") or (isinstance(status, str) and status in _FINISHED):
            results.append(CallResult(call_id))
    record.calls, record.results = tuple(calls), tuple(results)
    return record


def output_texts(value: dict[str, Any]) -> Iterator[str]:
    """Give the outputs of tools in a record, and in the messages that a `$set` holds."""
    for message in (value, *dicts_in(dict_of(value, "$set").get("messages"))):
        parts = [list_of(message, "content")]
        parts += [list_of(call, "result") for call in dicts_in(message.get("toolCalls"))]
        for part in dicts_in(list(chain.from_iterable(parts))):
            response = dict_of(dict_of(part, "functionResponse"), "response")
            for key in ("output", "error"):
                if (text := text_of(response, key)) is not None:
                    yield text


def saved_in(text: str) -> Iterator[OutputFile]:
    """Give the files that hold the whole of an output, as the text in its place names them."""
    if _is_saved(text) is None:
        return
    match = _match_head(text)
    head = None if match is None else _bytes_of(match["head"])
    for number, found in enumerate(_find_saved(text)):
        if number == _MOST_SAVED:
            return
        path = found["path"].rstrip()
        if path:
            yield OutputFile(path, head=head if number == 0 else None)


def _bytes_of(head: str) -> bytes:
    try:
        return head.encode()
    except UnicodeEncodeError as error:
        return head[: error.start].encode()  # half a character at the cut, or none in the file


def _text(value: Any) -> str:  # noqa: ANN401 - a parsed record
    if not isinstance(value, dict):
        return ""
    parts: list[str] = []
    content = value.get("content")
    if isinstance(content, str):
        parts.append(content)
    for part in dicts_in(content if isinstance(content, list) else [content]):
        parts += [text] if (text := text_of(part, "text")) else []
    for thought in dicts_in(value.get("thoughts")):
        parts += [text for key in ("subject", "description") if (text := text_of(thought, key))]
    for call in dicts_in(value.get("toolCalls")):
        parts += [text] if (text := text_of(call, "name")) else []
        parts += _leaves(call.get("args"))
    parts += output_texts(value)
    summary = text_of(value, "summary") or text_of(dict_of(value, "$set"), "summary")
    return "\n".join([*parts, summary] if summary else parts)


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
