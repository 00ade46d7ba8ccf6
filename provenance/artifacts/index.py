"""What a store remembers of a session's ledger, so that no spill reads it again.

Guarantees: a name that any entry or directory listing ever had is never chosen again, in any case
of its letters; automatic numbers only go up. A digest leads to the file that the ledger named last
for it; whether that file still holds those bytes is for the store to check.

Example:
    >>> index = SessionIndex()
    >>> index.choose_name(None), index.choose_name("log.txt")
    ('tool_result_001.txt', 'log.txt')
    >>> index.reserve("LOG.TXT")
    >>> index.choose_name("log.txt")
    'x-_n2-log.txt'
"""

from __future__ import annotations

from typing import assert_never

from provenance.artifacts.ledger_entry import LedgerEntry, LedgerEvent
from provenance.artifacts.names import automatic_name, automatic_number, encode_name

__all__ = ["SessionIndex"]


class SessionIndex:
    """Names in use, files by digest, and the notes about other names for equal bytes."""

    __slots__ = (
        "_by_digest",
        "_last_number",
        "_last_use",
        "_names",
        "_next_occurrence",
        "_notes",
        "_recorded",
    )

    def __init__(self) -> None:
        # Lower case: names are ASCII, and a home may be copied to a file system that folds case.
        self._names: set[str] = set()
        self._recorded: dict[str, bytes] = {}
        self._by_digest: dict[bytes, str] = {}
        self._notes: set[tuple[str, str]] = set()
        self._last_number = 0
        self._last_use: dict[str, str] = {}
        self._next_occurrence: dict[str, int] = {}

    def successor(self) -> SessionIndex:
        """Give an index for a ledger that is read anew: names stay taken, the rest is unknown."""
        index = SessionIndex()
        index._names = self._names
        index._last_number = self._last_number
        return index

    def apply(self, entry: LedgerEntry) -> None:
        """Take in one entry of the ledger, in order."""
        name = entry.filename
        self.reserve(name)
        if entry.recorded_at is not None:
            self._last_use[name] = entry.recorded_at
        match entry.event:
            case LedgerEvent.STORED:
                digest = bytes.fromhex(entry.sha256 or "")
                self._recorded[name] = digest
                self._by_digest[digest] = name
            case LedgerEvent.RENAMED:
                self._notes.add((name, entry.reason or ""))
            case LedgerEvent.REMOVED:
                digest = self._recorded.get(name, b"")
                if self._by_digest.get(digest) == name:
                    del self._by_digest[digest]
            case _:
                assert_never(entry.event)

    def reserve(self, name: str) -> None:
        """Never choose `name` again."""
        self._names.add(name.lower())
        number = automatic_number(name)
        if number is not None and number > self._last_number:
            self._last_number = number

    def is_recorded(self, name: str) -> bool:
        """Say whether an entry says that `name` was stored."""
        return name in self._recorded

    def has_note(self, name: str, reason: str) -> bool:
        """Say whether a `renamed` entry with this reason is there already."""
        return (name, reason) in self._notes

    def last_use(self, name: str) -> str | None:
        """Give the time of the last entry that names `name`, as it stands there."""
        return self._last_use.get(name)

    def find_by_digest(self, sha256: str) -> str | None:
        """Give the file that should hold the bytes of this digest (64 hex digits)."""
        return self._by_digest.get(bytes.fromhex(sha256))

    def choose_name(self, suggested: str | None) -> str:
        """Give a free name, without taking it: `reserve` or `apply` does."""
        if suggested is None:
            number = self._last_number + 1
            # A name with a number too long to count with may be in use all the same.
            while automatic_name(number) in self._names:
                number += 1
            return automatic_name(number)
        first = encode_name(suggested)
        if first.lower() not in self._names:
            return first
        occurrence = self._next_occurrence.get(first, 2)
        while (name := encode_name(suggested, occurrence=occurrence)).lower() in self._names:
            occurrence += 1
        self._next_occurrence[first] = occurrence
        return name
