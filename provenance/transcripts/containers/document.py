"""A transcript that is one JSON document: where its records stand in it, and what is damaged.

Guarantees: nothing raises, whatever the bytes are, and nothing recurses with their depth. What is
given was judged as strictly as a line (UTF-8, no NaN, no key twice, bounded nesting). Each element
of a named array is given with its own span of bytes, which parses to the same value. Where a part
is damaged, the whole ones before it are given all the same, and those after it where the bytes
still say where they begin.

Example:
    >>> from provenance.limits import DEFAULT_LIMITS
    >>> torn = b'{"id": "s", "messages": [{"n": 1}, {"n": 2}, {"n": '
    >>> document = parse_document(torn, limits=DEFAULT_LIMITS, arrays=[("messages",)])
    >>> [torn[one.start : one.end] for one in document.elements(("messages",))]
    [b'{"n": 1}', b'{"n": 2}']
    >>> document.value, [fault.code for fault in document.faults]
    ({'id': 's', 'messages': [{'n': 1}, {'n': 2}]}, ['torn_line'])
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import merge
from typing import Any, NamedTuple

from provenance.limits import Limits
from provenance.transcripts.containers.json_damage import DamageNotes, over_limit
from provenance.transcripts.containers.json_scan import (
    BYTE_ORDER_MARK,
    end_of_space,
    end_of_string,
    end_of_value,
)
from provenance.transcripts.records import Fault
from provenance.transcripts.sources import SourceUnreadable
from provenance.transcripts.strict_json import NotStrictJson, parse_strict

__all__ = ["MAX_DOCUMENT_BYTES", "Document", "Element", "join_chunks", "parse_document"]

# A document is parsed in memory as a whole, and its values take several times its size.
MAX_DOCUMENT_BYTES = 512 << 20

# Where one of these stands and no end was found, the bytes end before the value does.
_OPENINGS = (b'"', b"{", b"[")
_NOTHING = object()

Path = tuple[str, ...]


class Element(NamedTuple):
    """One element of a named array.

    Attributes:
        ordinal: its place among the records of the array, from 1; what is damaged is no record,
            what is over the limit is one.
        start: where its bytes begin in the document.
        end: where they end.
        line: the line that its first byte stands on, from 1.
        value: the parsed JSON.
    """

    ordinal: int
    start: int
    end: int
    line: int
    value: Any


@dataclass(frozen=True, slots=True)
class Document:
    """A document, or what is whole of it.

    Attributes:
        value: the parsed JSON; of a damaged one without what is not whole in it.
        arrays: the whole elements of each named array that is there.
        placed_faults: what is wrong, each with where it stands in the bytes, in their order.
        end: where its bytes end; if anything but white space follows, a fault says so.
    """

    value: Any
    arrays: dict[Path, list[Element]] = field(default_factory=dict)
    placed_faults: tuple[tuple[int, Fault], ...] = ()
    end: int = 0

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong with it; empty for a sound document."""
        return tuple(fault for _, fault in self.placed_faults)

    def elements(self, path: Path) -> list[Element]:
        """Give the whole elements of a named array; none where there is no such array."""
        return self.arrays.get(path, [])

    def walk(self, path: Path) -> Iterator[Element | Fault]:
        """Give the elements of a named array and every fault, in the order of the bytes."""
        placed = ((element.start, element) for element in self.elements(path))
        both: Iterable[tuple[int, Element | Fault]] = merge(
            self.placed_faults, placed, key=lambda item: item[0]
        )
        for _, item in both:
            yield item


def join_chunks(chunks: Iterable[bytes], *, max_bytes: int = MAX_DOCUMENT_BYTES) -> bytes:
    """Put the bytes of a document together.

    Raises:
        SourceUnreadable: they are more than we parse (`container_over_limit`).
    """
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > max_bytes:
            message = f"document: expected at most {max_bytes} bytes, got more"
            raise SourceUnreadable("container_over_limit", message)
        parts.append(chunk)
    return b"".join(parts)


def parse_document(data: bytes, *, limits: Limits, arrays: Collection[Path]) -> Document | Fault:
    """Parse one whole JSON document.

    Args:
        data: all of its bytes.
        limits: `max_nesting`, and `max_foreign_record_bytes` for each element of a named array.
        arrays: the arrays whose elements are records, each named by the keys that lead to it;
            `()` is the document itself.

    Returns:
        The document with its faults; a fault alone where nothing of it is whole.
    """
    if len(data) > MAX_DOCUMENT_BYTES:
        return over_limit("document", MAX_DOCUMENT_BYTES)
    return _Reader(data, limits, frozenset(arrays)).read()


class _Reader:
    """Walks the containers that lead to a named array, and judges whatever else it meets whole."""

    def __init__(self, data: bytes, limits: Limits, arrays: frozenset[Path]) -> None:
        self._data = data
        self._limits = limits
        self._named = arrays
        self._ways = {path[:length] for path in arrays for length in range(len(path))}
        self._place = 0
        self._arrays: dict[Path, list[Element]] = {}
        self._next_ordinals: dict[Path, int] = {}
        self._notes = DamageNotes(data, limits)

    def read(self) -> Document | Fault:
        if self._data.startswith(BYTE_ORDER_MARK):
            self._notes.add("invalid_line", "document: expected JSON, got a byte order mark", 0)
            self._place = len(BYTE_ORDER_MARK)
        if not self._char():
            self._notes.add("invalid_line", "document: expected a JSON value, got none", 0)
            return self._notes.last()
        value, is_complete = self._value((), "document")
        if is_complete:
            self._check_end()
        if value is _NOTHING or (not value and not is_complete):
            return self._notes.last()
        return Document(value, self._arrays, self._notes.in_order(), self._place)

    def _check_end(self) -> None:
        end = self._place
        char, rest = self._char(), self._place
        self._place = end
        if not char:
            return
        if char in _OPENINGS[1:]:
            self._notes.add("welded_records", "document: expected its end, got another one", rest)
        elif b"\0" in self._data[rest:]:
            self._notes.add("nul_line", "document: expected its end, got NUL bytes", rest)
        else:
            self._notes.add("invalid_line", "document: expected its end, got other bytes", rest)

    def _value(self, path: Path, name: str) -> tuple[Any, bool]:
        """Take the value that begins here; False: nobody can say where it ends."""
        char = self._char()
        if len(path) < self._limits.max_nesting:
            if char == b"{" and path in self._ways:
                return self._members(path)
            if char == b"[" and path in self._named:
                return self._array(path, name)
        start = self._place
        end = end_of_value(self._data, start)
        if end is None:
            self._blame(start, name)
            return _NOTHING, False
        self._place = end
        return self._judge(start, len(path), name), True

    def _members(self, path: Path) -> tuple[dict[str, Any], bool]:
        members: dict[str, Any] = {}
        self._place += 1
        if self._char() == b"}":
            self._place += 1
            return members, True
        while True:
            start = self._place
            key = self._key()
            if key is None:
                self._blame(start, "document")
                return members, False
            # A key is text of the transcript: it stands in a message only if it is one of ours.
            below = (*path, key)
            is_ours = below in self._ways or below in self._named
            name = ".".join(below) if is_ours else "a member of the document"
            value, is_complete = self._value(below, name)
            if key in members:
                message = "document: expected distinct keys, got one twice"
                self._notes.add("invalid_line", message, start)
            elif value is not _NOTHING and (is_complete or value):
                members[key] = value
            if not is_complete:
                return members, False
            follows = self._follows(b"}", "document")
            if follows is None:
                if not isinstance(value, dict | list | str):
                    members.pop(key, None)  # a number may go on where the bytes end
                return members, False
            if not follows:
                return members, True

    def _array(self, path: Path, name: str) -> tuple[list[Any], bool]:
        values: list[Any] = []
        elements = self._arrays.setdefault(path, [])
        self._place += 1
        if self._char() == b"]":
            self._place += 1
            return values, True
        # A document may name the array twice (a fault): its records go on counting.
        index, ordinal = 0, self._next_ordinals.get(path, 1)
        while True:
            self._char()
            start = self._place
            index += 1
            label = f"element {index} of {name}"
            end = end_of_value(self._data, start)
            if end is None:
                self._blame(start, label)
                return values, False
            self._place = end
            value = self._element(start, len(path) + 1, label, ordinal)
            line = self._notes.line_at(start)
            follows = self._follows(b"]", name)
            is_whole = follows is not None or isinstance(value, dict | list | str)
            if value is not _NOTHING and is_whole:
                values.append(value)
                elements.append(Element(ordinal, start, end, line, value))
            if value is not _NOTHING or self._is_over_limit(end - start):
                ordinal += 1
                self._next_ordinals[path] = ordinal
            if follows is None:
                return values, False
            if not follows:
                return values, True

    def _is_over_limit(self, size: int) -> bool:
        return size > self._limits.max_foreign_record_bytes

    def _element(self, start: int, depth: int, name: str, ordinal: int) -> Any:  # noqa: ANN401
        if not self._is_over_limit(self._place - start):
            return self._judge(start, depth, name)
        fault = over_limit(name, self._limits.max_foreign_record_bytes)
        self._notes.place(fault._replace(ordinal=ordinal), start)
        return _NOTHING

    def _judge(self, start: int, depth: int, name: str) -> Any:  # noqa: ANN401 - any JSON
        """Parse what lies between `start` and here, strictly."""
        raw = self._data[start : self._place]
        levels = max(0, self._limits.max_nesting - depth)
        try:
            raw.decode()
            return parse_strict(raw, max_nesting=levels)
        except UnicodeDecodeError:
            what = "expected UTF-8, got another encoding"
        except NotStrictJson as error:
            what = str(error).removeprefix("JSON: ")
        damage = self._notes.damage_in(start, self._place, levels)
        code, message = damage or ("invalid_line", f"{name}: {what}")
        self._notes.add(code, message, start)
        return _NOTHING

    def _key(self) -> str | None:
        """Take a key, its colon and the space around it."""
        self._char()
        end = end_of_string(self._data, self._place)
        if end is None:
            return None
        try:
            raw = self._data[self._place : end]
            raw.decode()
            key = parse_strict(raw, max_nesting=0)
        except (UnicodeDecodeError, NotStrictJson):
            return None
        self._place = end
        if self._char() != b":":
            return None
        self._place += 1
        self._char()
        return key if isinstance(key, str) else None

    def _follows(self, closing: bytes, name: str) -> bool | None:
        """Step over a comma (True) or the end of the container (False); None: neither is here."""
        char = self._char()
        if char in (b",", closing):
            self._place += 1
            return char == b","
        if char == b"{" and closing == b"]":
            message = f"{name}: expected a comma between two elements, got none"
            self._notes.add("welded_records", message, self._place)
            return True
        self._blame(self._place, name, is_begun=False)
        return None

    def _blame(self, start: int, name: str, *, is_begun: bool = True) -> None:
        """Say what is wrong with bytes that nobody can tell the end of."""
        at, end = self._place, len(self._data)
        damage = self._notes.damage_in(start, end, self._limits.max_nesting)
        if damage is not None:
            code, message = damage
        elif at == end or (is_begun and self._data[at : at + 1] in _OPENINGS):
            code, message = "torn_line", f"{name}: expected its end, got the end of the document"
        else:
            code, message = "invalid_line", f"{name}: expected JSON, got another text"
        self._notes.add(code, message, start)

    def _char(self) -> bytes:
        """Step over white space, and look at what follows; nothing at the end."""
        self._place = end_of_space(self._data, self._place)
        return self._data[self._place : self._place + 1]
