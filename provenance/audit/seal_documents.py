"""The documents of a home that a seal covers: states, receipts and the lock file.

Guarantees: everything is reached through the home's root. What the machine could not read is told
apart from what is not there; what does not read because of its content is `SPOILED`: it cannot be
what was sealed. The store of states and the files beside it hide nothing of each other.

Example:
    >>> found = read_documents(TrustedRoot("/nowhere"), History(), Limits(), Troubles())
    >>> found
    ({}, {})
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from provenance.audit.state_versions import STATE_STORE
from provenance.canonical import canonical_json
from provenance.errors import CtxauditError, DataError, MachineError
from provenance.fs import (
    BoundaryRefused,
    Directory,
    NotARegularFile,
    SourceAbsent,
    TrustedRoot,
    read_whole,
)
from provenance.limits import Limits
from provenance.locks import LOCK_FILE
from provenance.sealing.history import RECEIPT_PREFIX, SPOILED, STORE_PREFIX, History
from provenance.sealing.leaves import REMOVED
from provenance.transcripts.strict_json import NotStrictJson, parse_strict

if TYPE_CHECKING:
    from provenance.stores import StateReader

__all__ = ["Troubles", "read_documents"]

_STATES = "states"
_RECEIPTS = "receipts"
# What is somebody's trick is not there; what a machine could not read may well be.
_NOT_THERE = (SourceAbsent, BoundaryRefused, NotARegularFile)

_T = TypeVar("_T")


class _NoLockFile(DataError):
    """The lock file is no JSON object with entries."""

    code = "lock_file_invalid"


class Troubles:
    """What could not be read, by kind and name, and which of it is to blame on its content."""

    def __init__(self) -> None:
        """Begin without any."""
        self.unread: dict[tuple[str, str], str] = {}
        self.spoiled: set[tuple[str, str]] = set()

    def read(self, key: tuple[str, str], read: Callable[[], _T]) -> _T | None:
        """Read; None where nothing is there, or where it cannot be read."""
        try:
            return read()
        except _NOT_THERE:
            return None
        except CtxauditError as error:
            self.unread[key] = str(error)
            return None

    def spoil(self, key: tuple[str, str], why: str) -> None:
        """Note what does not read because of its content."""
        self.unread[key] = why
        self.spoiled.add(key)


def read_documents(
    home: TrustedRoot, sealed: History, limits: Limits, troubles: Troubles
) -> tuple[dict[bytes, Sequence[str]], dict[bytes, str]]:
    """Give the digests of all states and receipts, and those of the entries of the lock file.

    Args:
        home: its root.
        sealed: what a log has of it.
        limits: bounds a document.
        troubles: takes what cannot be read.
    """
    reader = _Reader(home, sealed, limits, troubles)
    states = reader.files("state", _STATES, b"")
    states |= reader.files("receipt", _RECEIPTS, RECEIPT_PREFIX)
    states |= reader.kept_states()
    return states, reader.lock()


class _Reader:
    def __init__(
        self, home: TrustedRoot, sealed: History, limits: Limits, troubles: Troubles
    ) -> None:
        self._home = home
        self._sealed = sealed
        self._limits = limits
        self._troubles = troubles

    def files(self, kind: str, folder: str, prefix: bytes) -> dict[bytes, Sequence[str]]:
        """Give the files of a folder, each with one version: its bytes of now."""
        found: dict[bytes, Sequence[str]] = {}

        def read_all() -> None:
            with self._home.open_directory(folder) as opened:
                for entry in opened.entries():
                    if not entry.name.endswith(".json") or entry.name.startswith("."):
                        continue
                    if entry.kind != "file":
                        continue
                    name = prefix + os.fsencode(entry.name)
                    key = kind, name.decode("utf-8", "backslashreplace")
                    digest = self._troubles.read(key, partial(self._digest_of, opened, entry.name))
                    if digest == SPOILED:
                        self._troubles.spoil(key, "file: expected a shorter one")
                    if digest is not None:
                        found[name] = (digest,)

        self._troubles.read((kind, ""), read_all)
        return found

    def _digest_of(self, folder: Directory, name: str) -> str:
        with folder.open_file(name) as file:
            if file.size > self._limits.max_document_bytes:
                return SPOILED
            data = read_whole(file, max_bytes=self._limits.max_document_bytes)
        return hashlib.sha256(data).hexdigest()

    def kept_states(self) -> dict[bytes, Sequence[str]]:
        """Give the digests of all versions that the state store keeps, oldest first."""
        key = "store", ""
        if not self._troubles.read(key, self._has_store):
            return {}
        from provenance.stores import open_snapshot  # noqa: PLC0415 - loads SQLite

        kept: dict[bytes, Sequence[str]] = {}
        try:
            with open_snapshot(self._home, limits=self._limits) as reader:
                found = reader.scan()
                for fault in found.faults[:1]:
                    self._troubles.spoil(key, fault)
                for name, numbers in found.versions.items():
                    digests = self._versions(reader, name, numbers)
                    kept[STORE_PREFIX + name.encode("utf-8", "surrogatepass")] = digests
                    if SPOILED in digests:
                        self._troubles.spoil(
                            key, "states.sqlite3: expected every version as it was written"
                        )
        except SourceAbsent:
            return {}
        except MachineError as error:
            self._troubles.unread[key] = str(error)
        except CtxauditError as error:
            # What does not read by its content has no version as it was sealed.
            self._troubles.spoil(key, str(error))
            kept |= {name: (SPOILED,) for name in self._sealed.states if _is_kept(name)}
        return kept

    def _has_store(self) -> bool:
        with self._home.open_directory(_STATES) as folder:
            return folder.identity(STATE_STORE) is not None

    @staticmethod
    def _versions(reader: StateReader, name: str, numbers: Sequence[int]) -> tuple[str, ...]:
        """Give the digest of the record of each version, up to a number that is left out."""
        from provenance.stores import StoreDamaged, first_gap  # noqa: PLC0415 - as above

        gap = first_gap(numbers)
        digests: list[str] = []
        for number in numbers if gap is None else numbers[: gap - 1]:
            try:
                digests.append(hashlib.sha256(reader.record(name, number)).hexdigest())
            except StoreDamaged:
                digests.append(SPOILED)
        return tuple(digests if gap is None else [*digests, SPOILED])

    def lock(self) -> dict[bytes, str]:
        key = "lock", ""
        found = self._troubles.read(key, self._lock_of_now)
        if key not in self._troubles.spoiled:
            return found or {}
        sealed = self._sealed.lock.items()
        return {pointer: SPOILED for pointer, versions in sealed if versions[-1] != REMOVED}

    def _lock_of_now(self) -> dict[bytes, str]:
        with self._home.open_file(LOCK_FILE) as file:
            try:
                data = read_whole(file, max_bytes=self._limits.max_document_bytes)
                return dict(_lock_entries(data, self._limits))
            except DataError as error:
                self._troubles.spoil(("lock", ""), str(error))
                return {}


def _is_kept(name: bytes) -> bool:
    return name.startswith(STORE_PREFIX)


def _lock_entries(data: bytes, limits: Limits) -> Iterator[tuple[bytes, str]]:
    """Give each pinned pointer with the digest of its entry's canonical JSON.

    Entries are the objects with a `pointer` in the lists of the document.
    """
    try:
        data.decode()
        document = parse_strict(data, max_nesting=limits.max_nesting)
    except (NotStrictJson, UnicodeDecodeError):
        raise _NoLockFile("file: expected JSON in UTF-8, got something else") from None
    if not isinstance(document, dict):
        raise _NoLockFile("file: expected an object, got another value")
    for value in document.values():
        for entry in value if isinstance(value, list) else ():
            if isinstance(entry, dict) and isinstance(entry.get("pointer"), str):
                text = canonical_json(entry).encode("utf-8", "surrogatepass")
                pointer = entry["pointer"].encode("utf-8", "surrogatepass")
                yield pointer, hashlib.sha256(text).hexdigest()
