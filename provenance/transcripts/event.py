"""What a caller may append: a plain copy of an event, or a refusal that names the field.

Guarantees: nothing that the verifier would refuse for its kind gets through: NaN, lone surrogates,
keys that are no text, values that are no JSON, cycles, too many levels. The work is bounded by the
record limit even where a small object unfolds to a huge one.

Example:
    >>> plain_event({"type": "message", "content": ("a", 1)}, limits=Limits())
    {'type': 'message', 'content': ['a', 1]}
    >>> plain_event({"sequence": 9}, limits=Limits())
    Traceback (most recent call last):
    provenance.transcripts.event.EventFieldError: event.sequence: expected no such field, got one
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from provenance.canonical import NumberText
from provenance.errors import CallerError
from provenance.limits import Limits
from provenance.transcripts.envelope import ENVELOPE_FIELDS

__all__ = ["EventError", "EventFieldError", "EventTypeError", "plain_event"]

_find_surrogate = re.compile("[\ud800-\udfff]").search
_match_integer = re.compile("-?[0-9]+").fullmatch
_SHOWN_FIELDS = 8


class EventError(CallerError, ValueError):
    """An event that cannot be a record of a transcript; nothing was written."""

    code = "event_invalid"


class EventTypeError(EventError, TypeError):
    """The event, or a part of it, is no JSON value."""

    code = "event_no_json"


class EventFieldError(EventError):
    """The event has a field of the envelope, which the writer alone fills in."""

    code = "event_field_reserved"


class _Level(NamedTuple):
    """One container on the way from the event to the value at hand."""

    source: object
    items: Iterator[tuple[object, object]]
    copy: dict[str, object] | list[object]
    name: object


def plain_event(event: Mapping[str, object], *, limits: Limits) -> dict[str, object]:
    """Copy an event into plain `dict`, `list`, `str`, `int`, `float`, `bool`, `None`.

    Args:
        event: any mapping; tuples become lists.
        limits: bounds on the nesting and, roughly, on the size: the exact size is known only when
            the record is printed.

    Raises:
        EventFieldError: it has a field of the envelope.
        EventTypeError: it is no mapping, or a part of it is no JSON value.
        EventError: it holds NaN, Infinity, a lone surrogate, a cycle, or is too large or too deep.
    """
    if not isinstance(event, Mapping):
        raise EventTypeError(f"event: expected a mapping, got {type(event).__name__}")
    copied = _Copier(limits).copy(event)
    for name in ENVELOPE_FIELDS:
        if name in copied:
            raise EventFieldError(f"event.{name}: expected no such field, got one")
    return copied


class _Copier:
    def __init__(self, limits: Limits) -> None:
        self._max_bytes = limits.max_record_bytes
        self._bytes = 0
        self._max_nesting = limits.max_nesting
        self._levels: list[_Level] = []
        self._above: set[int] = set()

    def copy(self, event: Mapping[str, object]) -> dict[str, object]:
        copied: dict[str, object] = {}
        self._enter(event, copied, "")
        while self._levels:
            level = self._levels[-1]
            for name, value in level.items:
                if self._put(level, name, value):
                    break  # one level down; the rest of this one comes after it
            else:
                self._levels.pop()
                self._above.discard(id(level.source))
        return copied

    def _enter(self, source: object, copy: dict[str, object] | list[object], name: object) -> None:
        if isinstance(source, Mapping):
            items: Iterator[tuple[object, object]] = iter(list(source.items()))
        elif isinstance(source, list | tuple):
            items = iter(list(enumerate(source)))
        else:
            raise EventTypeError(
                f"{self._field(name)}: expected a JSON value, got {type(source).__name__}"
            )
        if id(source) in self._above:
            raise EventError(f"{self._field(name)}: expected a tree, got a part that holds itself")
        if len(self._levels) >= self._max_nesting:
            raise EventError(f"event: expected at most {self._max_nesting} levels, got more")
        self._above.add(id(source))
        self._levels.append(_Level(source, items, copy, name))

    def _put(self, level: _Level, name: object, value: object) -> bool:
        """Copy one member or element; True where it is a container, which is entered."""
        plain: object
        entered = False
        if value is None or isinstance(value, str | bool | int | float | NumberText):
            plain = self._scalar(value, name)
        else:
            plain = {} if isinstance(value, Mapping) else []
            self._enter(value, plain, name)  # type: ignore[arg-type]
            entered = True
        self._spend(2, name)
        if isinstance(level.copy, list):
            level.copy.append(plain)
            return entered
        if not isinstance(name, str):
            raise EventTypeError(
                f"{self._field(name)}: expected a key of type str, got {type(name).__name__}"
            )
        key = self._text(name, name)
        if key in level.copy:
            raise EventError(f"{self._field(name)}: expected distinct keys, got one twice")
        level.copy[key] = plain
        return entered

    def _scalar(self, value: object, name: object) -> object:
        if isinstance(value, str):
            return self._text(value, name)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            whole = int.__pos__(value)
            # A digit holds less than four bits.
            self._spend(whole.bit_length() // 4, name)
            try:
                int.__repr__(whole)
            except ValueError as error:
                raise EventError(
                    f"{self._field(name)}: expected an integer that prints, got too many digits"
                ) from error
            return whole
        if isinstance(value, float):
            if not math.isfinite(value):
                raise EventError(f"{self._field(name)}: expected a finite number, got {value!r}")
            return float.__pos__(value)
        if isinstance(value, NumberText):
            return self._number(value.text, name)
        raise EventTypeError(
            f"{self._field(name)}: expected a JSON value, got {type(value).__name__}"
        )

    def _number(self, text: str, name: object) -> int:
        """Take a number that a parser kept as its text: a long integer is one that can be had."""
        self._spend(len(text), name)
        if _match_integer(text) is None:
            raise EventError(
                f"{self._field(name)}: expected a number that a 64-bit float holds, "
                "got a larger one"
            )
        try:
            return int(text)
        except ValueError as error:
            raise EventError(
                f"{self._field(name)}: expected an integer that prints, got too many digits"
            ) from error

    def _text(self, text: str, name: object) -> str:
        plain = str.__str__(text)
        self._spend(len(plain), name)
        if not plain.isascii() and _find_surrogate(plain):
            raise EventError(f"{self._field(name)}: expected Unicode text, got a lone surrogate")
        return plain

    def _spend(self, size: int, name: object) -> None:
        self._bytes += size
        if self._bytes > self._max_bytes:
            raise EventError(
                f"event: expected at most {self._max_bytes} bytes as one line, got more"
            )

    def _field(self, name: object) -> str:
        """Name a part of the event; keys are shown short and as ASCII."""
        names = [*(level.name for level in self._levels[1:]), name]
        shown = [f"[{part}]" if isinstance(part, int) else f".{part!s:.40}" for part in names]
        if len(shown) > _SHOWN_FIELDS:
            shown[_SHOWN_FIELDS // 2 : -_SHOWN_FIELDS // 2] = ["..."]
        return ascii("event" + "".join(shown))[1:-1]
