r"""The lock file `ctxaudit.lock`: what the evidence behind each pointer was when it was confirmed.

Guarantees: pure. `encode_lock` writes one pin a line, sorted by pointer, the same bytes for equal
locks, and `parse_lock` reads them back as an equal lock. `parse_lock` refuses what is not exactly
a lock: too many bytes or members (before it is parsed), marks of a merge conflict, another schema,
a key that is unknown, missing or stands twice, a pointer that is malformed, not in its canonical
form, out of order or there twice, a digest of fewer than 64 digits. White space (line ends of any
kind among it) and the order of keys are free.

Example:
    >>> run = "20260101T000000Z-0123456789abcdef"
    >>> pin = Pin("transcript:s1:1", "ab" * 32, 9, "2026-01-01T00:00:00Z", run)
    >>> data = encode_lock(LockFile((pin,)))
    >>> data.count(b"\n"), parse_lock(data).pins == (pin,)
    (3, True)
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import NoReturn

from provenance.canonical import canonical_json
from provenance.errors import DataError
from provenance.frozen import sealed
from provenance.limits import DEFAULT_LIMITS
from provenance.pointers import SourcePointerError, parse_source_pointer

__all__ = [
    "LOCK_FILE",
    "LOCK_SCHEMA",
    "LockError",
    "LockFile",
    "Pin",
    "canonical_pointer",
    "encode_lock",
    "parse_lock",
]

LOCK_FILE = "ctxaudit.lock"
LOCK_SCHEMA = "ctxaudit.lock/1"

# As in artifact ledgers: what a 64-bit file offset can be.
_MOST_BYTES = 2**63 - 1
_is_digest = re.compile("[0-9a-f]{64}").fullmatch
_is_time = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z").fullmatch
_is_run = re.compile("[0-9]{8}T[0-9]{6}Z-[0-9a-f]{16}").fullmatch
# The shortest line that a pin has; so many at most are in a file of some size.
_SHORTEST_PIN_BYTES = 180
# What takes little memory whatever it holds; there, a fault is named more exactly.
_SMALL_BYTES = 1 << 20
_AFTER_A_MERGE = "after a merge take either side and run ctxaudit pin"
# Of git, Mercurial and Subversion. No JSON has a line that begins like this: a string holds no raw
# line end.
_find_conflict = re.compile(rb"^(?:<{7}|={7}|>{7}|\|{7})", re.MULTILINE).search


class LockError(DataError, ValueError):
    """The bytes, or the values, are no lock file."""

    code = "invalid_lock"


@sealed
@dataclass(frozen=True, slots=True)
class Pin:
    """One entry. Building an invalid one is refused.

    Attributes:
        pointer: in its canonical form.
        sha256: digest of the evidence, 64 lower-case hex digits.
        bytes: how many bytes the digest is of: an artifact's whole file, a transcript event's line
            without its line end.
        pinned_at: when it was confirmed; ISO 8601 in UTC, to the second.
        run: which run confirmed it: its time and 16 hex digits of what it confirmed.
    """

    pointer: str
    sha256: str
    bytes: int
    pinned_at: str
    run: str

    def __post_init__(self) -> None:
        if canonical_pointer(self.pointer) != self.pointer:
            raise LockError("pointer: expected a source pointer in its canonical form, got another")
        if _is_digest(self.sha256) is None:
            raise LockError("sha256: expected 64 lower-case hex digits, got something else")
        if type(self.bytes) is not int or not 0 <= self.bytes <= _MOST_BYTES:
            raise LockError("bytes: expected a whole number of 0 or more, got something else")
        if not _is_a_time(self.pinned_at):
            raise LockError("pinned_at: expected a time like 2026-01-31T23:59:59Z, got another")
        if _is_run(self.run) is None:
            raise LockError("run: expected <time>-<16 hex digits>, got something else")

    def line(self) -> str:
        """Give the pin as it stands in the file: compact JSON, the pointer first, for readers."""
        return json.dumps(self._members(), separators=(",", ":"))

    def canonical(self) -> str:
        """Give the pin as canonical JSON, its keys sorted, all of it ASCII: what a seal hashes."""
        return canonical_json(self._members())

    def _members(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in _PIN_KEYS}


_PIN_KEYS = tuple(one.name for one in fields(Pin))


@sealed
@dataclass(frozen=True, slots=True)
class LockFile:
    """All pins, sorted by pointer, each pointer once; `by_pointer` finds one."""

    pins: tuple[Pin, ...] = ()
    by_pointer: Mapping[str, Pin] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        previous = ""
        for number, pin in enumerate(self.pins, 1):
            if pin.pointer == previous:
                raise LockError(f"entry {number}: pointer: expected distinct ones, got one twice")
            if pin.pointer < previous:
                raise LockError(
                    f"entry {number}: pointer: expected them in order, got it behind a later one"
                )
            previous = pin.pointer
        object.__setattr__(self, "by_pointer", {pin.pointer: pin for pin in self.pins})


def canonical_pointer(text: str) -> str | None:
    """Give the canonical form of a pointer, or None where the text is none."""
    try:
        return str(parse_source_pointer(text))
    except SourcePointerError:
        return None


def encode_lock(lock: LockFile) -> bytes:
    """Write a lock file: the schema in the first line, then one pin a line."""
    lines = [f'{{"schema":"{LOCK_SCHEMA}","entries":[']
    lines += [f"{pin.line()}," for pin in lock.pins[:-1]]
    lines += [pin.line() for pin in lock.pins[-1:]]
    return "\n".join([*lines, "]}", ""]).encode()


def parse_lock(data: bytes, *, max_bytes: int = DEFAULT_LIMITS.max_document_bytes) -> LockFile:
    """Read a lock file.

    Args:
        data: the whole file.
        max_bytes: the largest that is parsed.

    Raises:
        LockError: it is none; the message says which entry and field, and holds no value of it.
    """
    # 1. Size first.
    if len(data) > max_bytes:
        raise LockError(f"file: expected at most {max_bytes} bytes, got {len(data)}")
    # 2. What a merge left behind is named as that.
    conflict = _find_conflict(data)
    if conflict is not None:
        line = data.count(b"\n", 0, conflict.start()) + 1
        raise LockError(f"expected a lock file, got merge conflict markers in line {line}")
    # 3. No more members than so many bytes of pins can have: small objects take a hundred times
    # the memory of their text. No text in a lock holds one of these characters.
    objects = data.count(b"{")
    if len(data) > _SMALL_BYTES and (
        objects > 1 + len(data) // _SHORTEST_PIN_BYTES
        or data.count(b"[") > 1
        or data.count(b",") > 1 + len(_PIN_KEYS) * objects
    ):
        raise LockError("file: expected pins alone, got more members than they have")
    # 4. Strict JSON.
    document = _parse_json(data)
    # 5. The frame, then each entry, then their order.
    _require_keys(document, ("schema", "entries"), "file")
    if document["schema"] != LOCK_SCHEMA:
        raise LockError(f"schema: expected {LOCK_SCHEMA}, got another")
    entries = document["entries"]
    if not isinstance(entries, list):
        raise LockError("entries: expected a list, got something else")
    pins = tuple(_pin(entry, number) for number, entry in enumerate(entries, 1))
    try:
        return LockFile(pins)
    except LockError as error:
        raise LockError(f"{error} ({_AFTER_A_MERGE})") from None


def _pin(entry: object, number: int) -> Pin:
    if not isinstance(entry, dict):
        raise LockError(f"entry {number}: expected an object, got something else")
    _require_keys(entry, _PIN_KEYS, f"entry {number}")
    for key in _PIN_KEYS:
        if key != "bytes" and not isinstance(entry[key], str):
            raise LockError(f"entry {number}: {key}: expected text, got something else")
    try:
        return Pin(**entry)
    except LockError as error:
        raise LockError(f"entry {number}: {error}") from None


def _require_keys(value: object, keys: tuple[str, ...], place: str) -> None:
    if not isinstance(value, dict):
        raise LockError(f"{place}: expected an object, got something else")
    for key in keys:
        if key not in value:
            raise LockError(f"{place}: expected the key {key}, got none")
    if len(value) != len(keys):
        raise LockError(f"{place}: expected the keys {', '.join(keys)}, got another one too")


def _parse_json(data: bytes) -> dict[str, object]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LockError(f"file: expected UTF-8, got another byte at offset {error.start}") from None
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
        )
    except json.JSONDecodeError as error:
        raise LockError(
            f"file: expected JSON, got another text in line {error.lineno} ({_AFTER_A_MERGE})"
        ) from None
    except RecursionError:
        raise LockError("file: expected 3 levels of JSON, got very many") from None
    if not isinstance(value, dict):
        raise LockError("file: expected an object, got something else")
    return value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise LockError("file: expected distinct keys, got one twice")
    return value


def _integer(text: str) -> int:
    # `int` takes its time with very many digits.
    if len(text) > len(str(_MOST_BYTES)):
        _refuse_number(text)
    return int(text)


def _refuse_number(_: str) -> NoReturn:
    raise LockError("file: expected whole numbers of a file's size alone, got another number")


def _is_a_time(text: str) -> bool:
    if _is_time(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
