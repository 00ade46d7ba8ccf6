"""A format from outside behind a guard: whatever it does costs its own files alone.

Guarantees: nothing that such a format raises or returns leaves this module as anything but what the
protocol allows; a run goes on with the next file, and the file is named with `format_failed`.

Example:
    >>> class Nothing:
    ...     name, suffixes, has_separate_sessions = "nothing", (".nothing",), False
    ...     def identify(self, head): raise KeyError("no")
    ...     records = references = sessions = identify
    >>> guard(Nothing()).identify(Head("a.nothing"))
    False
    >>> guard(object()) is None
    True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from provenance.fs.failures import FILE_FAILURES
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.records import Fault, Record, Reference
from provenance.transcripts.sources import Head, Source, SourceUnreadable

__all__ = ["FAILED", "guard"]

FAILED = "format_failed"
_Item = TypeVar("_Item")
_is_format_name = re.compile(r"[a-z0-9][a-z0-9-]{0,49}").fullmatch
# What a module may do that is not ours: raise anything, or end the program.
_ANYTHING = (Exception, SystemExit)


def guard(found: object) -> TranscriptFormat | None:
    """Give a format that keeps to the protocol whatever `found` does; None where it is none."""
    try:
        if isinstance(found, type):
            found = found()
        if not isinstance(found, TranscriptFormat):
            return None
        name, suffixes = found.name, tuple(found.suffixes)
        if type(name) is not str or _is_format_name(name) is None:
            return None
        if not all(type(suffix) is str and len(suffix) > 1 for suffix in suffixes):
            return None
        return _Guarded(found, name, suffixes, separate=found.has_separate_sessions is True)
    except _ANYTHING:
        return None


class _Guarded:
    """A format from outside, one call after the other under guard."""

    def __init__(
        self, found: TranscriptFormat, name: str, suffixes: tuple[str, ...], *, separate: bool
    ) -> None:
        self.name = name
        self.suffixes = suffixes
        self.has_separate_sessions = separate
        self._found = found

    def identify(self, head: Head) -> bool:
        try:
            return self._found.identify(head) is True
        except _ANYTHING:
            return False

    def records(self, source: Source) -> Iterator[Record | Fault]:
        for item in self._under_guard(lambda: self._found.records(source)):
            if not isinstance(item, Record | Fault):
                raise _failed(f"expected records and faults, got {type(item).__name__}")
            yield item

    def references(self, record: Record) -> Iterable[Reference]:
        try:
            found: list[object] = list(self._found.references(record))
        except _ANYTHING:
            return (Reference(kind=self.name, unsupported="its format failed"),)
        return [item for item in found if isinstance(item, Reference)]

    def sessions(self, source: Source) -> Iterable[str]:
        for item in self._under_guard(lambda: self._found.sessions(source)):
            if not isinstance(item, str):
                raise _failed(f"expected sessions as text, got {type(item).__name__}")
            yield item

    def _under_guard(self, give: Callable[[], Iterable[_Item]]) -> Iterator[_Item]:
        try:
            yield from give()
        except (*FILE_FAILURES, SourceUnreadable):
            raise
        except _ANYTHING as error:
            raise _failed(f"expected an answer, got {type(error).__name__}") from None


def _failed(message: str) -> SourceUnreadable:
    return SourceUnreadable(FAILED, f"format: {message}")
