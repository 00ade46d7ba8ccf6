r"""What is wrong with a text that should be one JSON object: the judge of lines, rows and members.

Guarantees: pure, and linear in the length of the text. One code for each kind of damage (spec
01.5): cut short, another record begins inside, NUL bytes, two records in one, anything else. No
message holds any of the text.

Example:
    >>> from provenance.limits import Limits
    >>> judge(b'{"a":"xx{"b":1}', limits=Limits(), is_record=lambda value: False).fault.code
    'spliced_line'
    >>> judge(b'{"a":tr', limits=Limits(), is_record=bool).fault.code
    'torn_line'
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any, NamedTuple

from provenance.findings import Severity
from provenance.limits import Limits
from provenance.transcripts.records import Fault
from provenance.transcripts.strict_json import NotStrictJson, is_nesting_at_most, parse_strict

__all__ = ["Judged", "judge", "judge_json"]

# So many places where another record may begin are tried, and no more text is read for that than
# so many times the line's own.
_MOST_BEGINNINGS = 1_000
_MOST_READINGS = 8
# More records than this on one line are no accident of a writer, and each of them costs memory.
_MOST_ON_A_LINE = 1_000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BEGINNING = '{"'
_NOT_UTF8 = "line: expected UTF-8, got another encoding"

_skip_space = re.compile(r"[ \t\r\n]*").match
_find_nul_run = re.compile(rb"\x00+").finditer
_match_key = re.compile(r'\{"[^"\\]{0,100}"').match
# What a literal looks like that was cut short, and what is left of a number behind its digits.
_is_cut_literal = re.compile(r"(?:t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|-)?").fullmatch
_is_cut_number = re.compile(r"\.|(?:\.[0-9]+)?[eE][+-]?").fullmatch


class Judged(NamedTuple):
    """What a text is.

    Attributes:
        fault: what is wrong with it; None where it is one record. It has no place yet.
        found: each whole record in it: where it begins in the text, its bytes, its value.
    """

    fault: Fault | None
    found: tuple[tuple[int, bytes, dict[str, Any]], ...] = ()


def judge_json(raw: bytes, *, limits: Limits) -> dict[str, Any] | Fault:
    """Give the one JSON object that some bytes are, or what is wrong with them.

    Args:
        raw: a row, a member, a file; white space around the object is allowed.
        limits: bounds on size (`max_foreign_record_bytes`) and nesting.
    """
    judged = judge(raw, limits=limits, is_record=lambda value: False)
    if judged.fault is not None:
        return judged.fault
    return judged.found[0][2]


def judge(text: bytes, *, limits: Limits, is_record: Callable[[dict[str, Any]], bool]) -> Judged:
    r"""Judge a text that should be one JSON object.

    Args:
        text: without its `\n`; a CR at its end is not looked at.
        limits: bounds on size and nesting.
        is_record: says of an object inside a damaged text whether it is worth keeping.
    """
    raw = text.removesuffix(b"\r")
    # 1. Size, before anything is made of it.
    if len(raw) > limits.max_foreign_record_bytes:
        return Judged(
            _fault(
                "record_over_limit",
                f"record: expected at most {limits.max_foreign_record_bytes} bytes, got more",
            )
        )
    # 2. NUL bytes: a crash left a hole. What stands beside it may be whole.
    if b"\0" in raw:
        kept = _beside_nul(raw, limits, is_record)
        return Judged(_fault("nul_line", "line: expected a record, got NUL bytes"), kept)
    # 3. A record.
    value = _strict(raw, limits)
    if isinstance(value, dict):
        return Judged(None, ((0, raw, value),))
    if not isinstance(value, str):
        return Judged(_fault("invalid_line", "line: expected a JSON object, got another value"))
    # 4. Nothing at all.
    if not raw.strip(b" \t\r"):
        return Judged(_fault("invalid_line", "line: expected a record, got none"))
    # 5. A byte order mark before a record.
    if raw.startswith(_BYTE_ORDER_MARK):
        rest = _strict(raw[3:], limits)
        keep = isinstance(rest, dict) and is_record(rest)
        return Judged(
            _fault("invalid_line", "line: expected JSON, got a byte order mark"),
            ((3, raw[3:], rest),) if keep and isinstance(rest, dict) else (),
        )
    # 6. Too deep to be looked into.
    if not is_nesting_at_most(raw, limits.max_nesting):
        return Judged(
            _fault(
                "record_over_limit",
                f"record: expected at most {limits.max_nesting} levels of nesting, got more",
            )
        )
    return _judge_damage(raw, value, limits, is_record)


def _judge_damage(
    raw: bytes, why: str, limits: Limits, is_record: Callable[[dict[str, Any]], bool]
) -> Judged:
    """Tell the kinds of damage apart, by how far a parser comes."""
    decoded = _decode(raw)
    if decoded is None:
        return Judged(_fault("invalid_line", _NOT_UTF8))
    text, is_cut_character = decoded
    # 1. As many whole records as stand at the beginning.
    found, end, stop = _collect(text, _end_of_space(text, 0), limits)
    if stop is not None and stop.is_over_limit:
        message = f"line: expected at most {_MOST_ON_A_LINE} records on it, got more"
        return Judged(_fault("record_over_limit", message), found)
    if stop is None and not is_cut_character:
        if len(found) == 1:
            return Judged(_fault("invalid_line", why), found)
        message = f"line: expected one record, got {len(found)} without a line end between"
        return Judged(_fault("welded_records", message), found)
    # 2. Something that is no record follows them, or stands alone.
    if stop is None or not text.startswith("{", end):
        if is_cut_character:
            why = _NOT_UTF8
        elif found:
            why = "line: expected its end after a record, got more"
        return Judged(_fault("invalid_line", why), found)
    # 3. It parses, and is no strict JSON: a key twice, NaN.
    if stop.is_whole:
        return Judged(_fault("invalid_line", why), found)
    # 4. The beginning of a record. A character that was cut in two stands at the very end. Where a
    #    value was to follow, another record that begins there looks like one: it ends the line.
    if stop.is_cut_short:
        otherwise = _fault("torn_line", "line: expected a whole record, got one cut short")
        begin = None if is_cut_character else _find_last(text, end, limits, is_record)
    elif is_cut_character:
        otherwise, begin = _fault("invalid_line", _NOT_UTF8), None
    else:
        # 5. Another one that begins inside it.
        otherwise = _fault("invalid_line", why)
        begin = _find_inside(text, end, stop.end, limits, is_record)
    if begin is None:
        return Judged(otherwise, found)
    inside = [item for item in _collect(text, begin, limits)[0] if is_record(item[2])]
    message = "line: expected one record, got another that begins inside"
    return Judged(_fault("spliced_line", message), (*found, *inside))


def _collect(
    text: str, place: int, limits: Limits
) -> tuple[tuple[tuple[int, bytes, dict[str, Any]], ...], int, _Scan | None]:
    """Take whole records one after the other.

    Returns:
        Those that were found, each with its place in the bytes of the text; where the next thing
        begins that is none; how far a parser comes there, None at the end of the text.
    """
    found: list[tuple[int, bytes, dict[str, Any]]] = []
    offset = place if text.isascii() else len(text[:place].encode())
    while place < len(text):
        scan = _scan(text, place)
        if not scan.is_whole or not text.startswith("{", place):
            return tuple(found), place, scan
        piece = text[place : scan.end].encode()
        value = _strict(piece, limits)
        if not isinstance(value, dict):
            return tuple(found), place, scan
        if len(found) == _MOST_ON_A_LINE:
            return tuple(found), place, _Scan(place, is_over_limit=True)
        found.append((offset, piece, value))
        following = _end_of_space(text, scan.end)
        offset += len(piece) + (following - scan.end)  # white space is a byte each
        place = following
    return tuple(found), place, None


def _fault(code: str, message: str) -> Fault:
    return Fault(code, Severity.ERROR, message)


def _strict(raw: bytes, limits: Limits) -> object:
    """Give the value; where it is no strict JSON, the reason as text (no JSON text is a `str`)."""
    try:
        raw.decode()
        value = parse_strict(raw, max_nesting=limits.max_nesting)
    except UnicodeDecodeError:
        return _NOT_UTF8
    except NotStrictJson as error:
        return f"line: {error}"
    return None if isinstance(value, str) else value


def _decode(raw: bytes) -> tuple[str, bool] | None:
    """Give the text, and whether its last character is cut in two; None where it is no UTF-8."""
    try:
        return raw.decode(), False
    except UnicodeDecodeError as error:
        # Only a character that lacks bytes at the very end was cut off there.
        if error.reason != "unexpected end of data":
            return None
        return raw[: error.start].decode(), True


def _end_of_space(text: str, place: int) -> int:
    match = _skip_space(text, place)
    return place if match is None else match.end()


class _Scan(NamedTuple):
    """How far a parser comes: to the end of a value, to the end of the text, or to an error."""

    end: int
    is_whole: bool = False
    is_cut_short: bool = False
    is_over_limit: bool = False


_lenient = JSONDecoder(parse_int=len, parse_float=len)


def _scan(text: str, place: int) -> _Scan:
    try:
        return _scan_here(text, place)
    except RecursionError:
        pass
    # The caller has used up the stack: a fresh one holds what the nesting limit allows.
    results = [_Scan(place)]

    def scan() -> None:
        # Where a stray quote hid the nesting, even that one is too small: it is no record.
        with contextlib.suppress(RecursionError):
            results.append(_scan_here(text, place))

    thread = threading.Thread(target=scan)
    thread.start()
    thread.join()
    return results[-1]


def _scan_here(text: str, place: int) -> _Scan:
    try:
        _, end = _lenient.raw_decode(text, place)
    except JSONDecodeError as error:
        return _Scan(error.pos, is_cut_short=_is_at_end(text, error))
    return _Scan(end, is_whole=True)


def _is_at_end(text: str, error: JSONDecodeError) -> bool:
    """Say whether a parser failed because the text ended."""
    rest = text[error.pos :]
    if error.msg.startswith("Unterminated string"):
        return True
    if error.msg.startswith("Invalid \\uXXXX"):
        # The position is that of the backslash, or of the digits behind it.
        return len(rest) < 6 and re.fullmatch(r"\\?u?[0-9A-Fa-f]{0,4}", rest) is not None
    if error.msg.startswith("Invalid \\escape"):
        return len(rest) <= 1
    if _is_cut_literal(rest.strip(" \t\r\n")) is not None:
        return True
    return text[error.pos - 1 : error.pos].isdecimal() and _is_cut_number(rest) is not None


def _find_inside(
    text: str,
    start: int,
    error: int,
    limits: Limits,
    is_record: Callable[[dict[str, Any]], bool],
) -> int | None:
    """Find where another record begins inside one: it is whole there, or cut short at the end."""
    left = _MOST_READINGS * len(text)
    # Where a string was cut, its closing quote is the first quote of the other record.
    begin = max(start + 1, text.rfind(_BEGINNING, start + 1, error + 1))
    for place in _beginnings(text, begin):
        scan = _scan(text, place)
        if scan.is_cut_short:
            return place
        if scan.is_whole:
            following = _end_of_space(text, scan.end)
            if following == len(text) or text.startswith(_BEGINNING, following):
                return place
            # The rest of the record that it was written into may follow.
            value = _strict(text[place : scan.end].encode(), limits)
            if isinstance(value, dict) and is_record(value):
                return place
        left -= max(scan.end - place, 1)
        if left < 0:
            break
    return None


def _find_last(
    text: str, start: int, limits: Limits, is_record: Callable[[dict[str, Any]], bool]
) -> int | None:
    """Find a whole record that begins where a value may, and ends where the text does.

    It begins with the same key as the one that it was written into, or it is a part of that one:
    writers keep the order of their keys.
    """
    if not text.endswith("}"):
        return None
    key = _match_key(text, start)
    left = _MOST_READINGS * len(text)
    for place in _beginnings(text, start + 1):
        if text[place - 1] not in ":[," or key is None or not text.startswith(key[0], place):
            continue
        scan = _scan(text, place)
        if scan.is_whole and scan.end == len(text):
            value = _strict(text[place:].encode(), limits)
            return place if isinstance(value, dict) and is_record(value) else None
        left -= max(scan.end - place, 1)
        if left < 0:
            break
    return None


def _beginnings(text: str, place: int) -> Iterator[int]:
    for _ in range(_MOST_BEGINNINGS):
        place = text.find(_BEGINNING, place)
        if place < 0:
            return
        yield place
        place += 1


def _beside_nul(
    raw: bytes, limits: Limits, is_record: Callable[[dict[str, Any]], bool]
) -> tuple[tuple[int, bytes, dict[str, Any]], ...]:
    found: list[tuple[int, bytes, dict[str, Any]]] = []
    start = 0
    for end, following in _around_nul(raw):
        try:
            text = raw[start:end].decode()
        except UnicodeDecodeError:
            text = ""
        whole = _collect(text, _end_of_space(text, 0), limits)[0]
        found += [(start + at, piece, value) for at, piece, value in whole if is_record(value)]
        start = following
        if len(found) > _MOST_ON_A_LINE:
            break
    return tuple(found)


def _around_nul(raw: bytes) -> Iterator[tuple[int, int]]:
    for match in _find_nul_run(raw):
        yield match.span()
    yield len(raw), len(raw)
