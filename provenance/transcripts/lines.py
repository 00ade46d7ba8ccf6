r"""Reading JSON Lines that somebody else wrote: whole records, and a name for whatever is none.

Guarantees: lines end at the byte `\n` and nowhere else. Each line is judged on its own, and reading
goes on after one that is damaged. A record is strict JSON (RFC 8259: no NaN, no byte order mark, no
key twice) and an object. Memory is bounded by a block and the longest allowed record.

Records that share a line (`}{`) are each given. What stands whole on a line that is damaged in
another way is given where the format recognises it.

Example:
    >>> found = list(read_json_lines([b'{"a":1}{"a":2}\n{"a'], limits=Limits(), is_record=bool))
    >>> [item.code if isinstance(item, Fault) else item.value for item in found]
    ['welded_records', {'a': 1}, {'a': 2}, 'torn_line']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from provenance.findings import Severity
from provenance.limits import Limits
from provenance.transcripts.damage import Judged, judge, judge_json
from provenance.transcripts.fast import is_nesting_bounded, parse_lines
from provenance.transcripts.records import Fault

__all__ = ["Line", "judge_json", "read_json_lines"]

# What `translate` drops so that opening brackets and line ends are left.
_NO_OPENING = bytes(byte for byte in range(256) if byte not in b"[{\n")
_decoder = msgspec.json.Decoder(dict[str, Any])


# More damaged lines than this in one file: what follows is not read.
_MOST_DAMAGED = 100_000
# A block of nothing but so many line ends is one fault.
_LONG_BLANK = 1_000


class Line(NamedTuple):
    """One record of a file of lines.

    Attributes:
        ordinal: its place among the records, counted from 1.
        line: the line it stands on, counted from 1.
        offset: where it begins, in bytes of what was read.
        raw: its bytes, without the line end.
        value: the parsed object.
    """

    ordinal: int
    line: int
    offset: int
    raw: bytes
    value: dict[str, Any]


class _Block(NamedTuple):
    """Some whole lines; the last line of all may lack its end."""

    offset: int
    data: bytes


class _Oversize(NamedTuple):
    """A line over the limit, of which nothing was kept."""

    offset: int
    is_nul: bool


def read_json_lines(
    chunks: Iterable[bytes],
    *,
    limits: Limits,
    is_record: Callable[[dict[str, Any]], bool],
    partial: msgspec.json.Decoder[Any] | None = None,
) -> Iterator[Line | Fault]:
    """Give the records of a file of lines, and the faults between them, in the order of the bytes.

    Args:
        chunks: the file's bytes, in pieces of any size.
        limits: bounds on size (`max_foreign_record_bytes`) and nesting.
        is_record: says of an object that was found on a damaged line whether it is a record.
        partial: decodes a record to a `dict` with the fields that the caller needs, and passes
            over the others: several times as fast. It sees no key that stands twice in a record;
            what it refuses is read whole. None: all fields are kept, and no key stands twice.
    """
    line, ordinal = 1, 1
    last: Line | Fault | None = None
    has_end = True
    damaged = 0
    for block in _blocks(chunks, limits.max_foreign_record_bytes):
        if isinstance(block, _Oversize):
            last = _over_limit(block, line, ordinal, limits)
            yield last
            line, ordinal = line + 1, ordinal + (not block.is_nul)
            continue
        data = block.data
        if len(data) > _LONG_BLANK and not data.strip(b"\n"):
            # A hole of line ends: one fault for all of them, at the price of one.
            last, has_end = _blank_run(line, len(data)), True
            yield last
            line += len(data)
            continue
        has_end = data.endswith(b"\n")
        if not has_end:
            data += b"\n"
        texts = data.split(b"\n")
        texts.pop()
        offset = block.offset
        values = (
            _parse_block(data, limits)
            if partial is None
            else _parse_partly(data, texts, limits, partial)
        )
        for index, text in enumerate(texts):
            value = None if values is None else values[index]
            if value is None:
                value = _parse_line(text, limits, partial)
            if value is not None:
                raw = text[:-1] if text.endswith(b"\r") else text
                last = Line(ordinal, line, offset, raw, value)
                yield last
                ordinal += 1
            else:
                damaged += 1
                if damaged > _MOST_DAMAGED:
                    yield _too_damaged(line)
                    return
                judged = judge(text, limits=limits, is_record=is_record)
                for last in _placed(judged, line, ordinal, offset):
                    yield last
                    if isinstance(last, Line) or last.code == "record_over_limit":
                        ordinal += 1
            offset += len(text) + 1
            line += 1
    if not has_end and isinstance(last, Line):
        yield Fault(
            "no_final_newline",
            Severity.INFO,
            "file: expected a line end after the last record, got none",
            ordinal=last.ordinal,
            line=last.line,
        )


def _blocks(chunks: Iterable[bytes], longest: int) -> Iterator[_Block | _Oversize]:
    """Cut pieces into blocks of whole lines; a line over the limit is passed over."""
    begun: list[bytes] = []  # pieces of a line whose end was not read yet
    size = 0  # of them
    start = 0  # where that line begins
    is_skipping = is_nul = False
    offset = 0
    for piece in chunks:
        offset += len(piece)
        if is_skipping:
            end = piece.find(b"\n")
            rest = piece if end < 0 else piece[:end]
            is_nul = is_nul and not rest.strip(b"\0")
            if end < 0:
                continue
            yield _Oversize(start, is_nul)
            is_skipping = False
            piece = piece[end + 1 :]  # noqa: PLW2901 - what is left of it
            start = offset - len(piece)
        cut = piece.rfind(b"\n") + 1
        if cut:
            begun.append(piece[:cut])
            data = b"".join(begun)
            yield from _within(data, start, longest)
            start += len(data)
            begun, size = [], 0
        if cut < len(piece):
            begun.append(piece[cut:])
            size += len(piece) - cut
        # One byte more may still be the CR of the line's end.
        if size > longest + 1:
            is_skipping, is_nul = True, not any(part.strip(b"\0") for part in begun)
            begun, size = [], 0
    if is_skipping:
        yield _Oversize(start, is_nul)
    elif begun:
        yield from _within(b"".join(begun), start, longest)


def _within(data: bytes, start: int, longest: int) -> Iterator[_Block | _Oversize]:
    """Give a block, without the lines in it that are over the limit."""
    if len(data) <= longest:
        yield _Block(start, data)
        return
    for text in _split(data):
        if len(text.rstrip(b"\n").removesuffix(b"\r")) > longest:
            yield _Oversize(start, not text.strip(b"\0\n"))
        else:
            yield _Block(start, text)
        start += len(text)


def _split(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield data[start:end]
        start = end


def _parse_block(data: bytes, limits: Limits) -> list[dict[str, Any]] | None:
    """Parse whole lines at once; None where any of them is in doubt."""
    return parse_lines(_decoder, data) if _is_fit(data, limits) else None


def _parse_partly(
    data: bytes, texts: list[bytes], limits: Limits, partial: msgspec.json.Decoder[Any]
) -> list[dict[str, Any]] | None:
    """Parse whole lines, each on its own: the grammar of all of it, the fields that are wanted."""
    if not _is_fit(data, limits):
        return None
    try:
        return list(map(partial.decode, texts))
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return None


def _is_fit(data: bytes, limits: Limits) -> bool:
    """Say whether a decoder that skips fields can be trusted with lines: UTF-8, not too deep."""
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
    # Lines are long here: the opening brackets of each, alone, tell most of them at once.
    openings = data.translate(None, _NO_OPENING)
    levels = limits.max_nesting
    if len(openings) <= levels or max(map(len, openings.split(b"\n"))) <= levels:
        return True
    return is_nesting_bounded(data, levels)


def _parse_line(
    text: bytes, limits: Limits, partial: msgspec.json.Decoder[Any] | None
) -> dict[str, Any] | None:
    data = text + b"\n"
    values = None if partial is None else _parse_partly(data, [text], limits, partial)
    if values is None:
        values = _parse_block(data, limits)
    return None if values is None or len(values) != 1 else values[0]


def _placed(judged: Judged, line: int, ordinal: int, offset: int) -> Iterator[Line | Fault]:
    """Give the line its place: a record after all, or a fault with what is whole on it."""
    if judged.fault is not None:
        has_place = judged.found or judged.fault.code == "record_over_limit"
        yield judged.fault._replace(line=line, ordinal=ordinal if has_place else None)
    for start, raw, value in judged.found:
        yield Line(ordinal, line, offset + start, raw, value)
        ordinal += 1


def _blank_run(line: int, count: int) -> Fault:
    message = f"line: expected a record, got none on {count} lines"
    return Fault("invalid_line", Severity.ERROR, message, None, line)


def _too_damaged(line: int) -> Fault:
    message = (
        f"file: expected at most {_MOST_DAMAGED} damaged lines, got more; the rest is not read"
    )
    return Fault("container_over_limit", Severity.ERROR, message, None, line)


def _over_limit(block: _Oversize, line: int, ordinal: int, limits: Limits) -> Fault:
    if block.is_nul:
        return Fault(
            "nul_line", Severity.ERROR, "line: expected a record, got NUL bytes", None, line
        )
    return Fault(
        "record_over_limit",
        Severity.ERROR,
        f"record: expected at most {limits.max_foreign_record_bytes} bytes, got more",
        ordinal,
        line,
    )
