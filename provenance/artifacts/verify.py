"""Checks that an artifact still is the bytes that its pointer names (spec 01, sections 4 and 6).

Guarantees: the file is opened below the root with no link or mount followed, hashed with SHA-256
from that handle in bounded memory, checked to be UTF-8 (in a text store) and compared with the
pointer's digest in constant time. It counts as verified only if it did not change meanwhile.
Where the caller offers a ledger line that a seal covers and that fits the pointer, BLAKE3 and the
size are compared with that line instead, and the outcome says so (spec 01.6).
Nothing here raises for what the files contain.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> with ArtifactSession(TrustedRoot("/nowhere"), "s1") as session:
    ...     str(session.verify("log.txt", "0123456789ab").reason)
    'artifact_missing'
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from provenance.artifacts.ledger import find_removed
from provenance.artifacts.sealed import SealedLine
from provenance.fs.directory import Directory
from provenance.fs.failures import (
    FILE_FAILURES,
    SourceAbsent,
    TraitRefused,
)
from provenance.fs.lease import ReadLease
from provenance.fs.reading import OpenFile
from provenance.fs.reasons import reason_of
from provenance.fs.root import TrustedRoot
from provenance.fs.streaming import Consume, stream
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Outcome, Quiescence, Reason, Strength
from provenance.utf8 import Utf8Check, head_text

if TYPE_CHECKING:
    from blake3 import blake3

__all__ = ["ARTIFACT_FOLDER", "RESERVED_SESSIONS", "ArtifactSession"]

ARTIFACT_FOLDER = "tool-results"
# The home's own folders: an artifact there could pass for a transcript, a state or a seal.
RESERVED_SESSIONS = frozenset({"transcripts", "states", "seals"})

# A lease costs four system calls, as much as hashing a small file does.
LEASE_FROM_BYTES = 1 << 20

_FACTS_OF_FILES = frozenset({"hard_link", "foreign_owner"})
_FULL_DIGEST = 64
_FULL, _PREFIX, _VERIFIED = Strength.FULL, Strength.PREFIX, Reason.VERIFIED_ARTIFACT
_BLAKE3 = "blake3"
_new_sha256 = hashlib.sha256
_same = hmac.compare_digest
_new_tuple = tuple.__new__
# What the bytes have to be: the pointer's digest, or what a sealed ledger line says.
_Cited = tuple[str, SealedLine | None]


def _new_blake3(data: bytes = b"", /) -> blake3:
    from blake3 import blake3  # noqa: PLC0415 - without a seal nobody needs it

    return blake3(data)


class _Changed(Exception):
    """The file changed during one reading."""


class ArtifactSession:
    """The artifacts of one session, for as many checks as belong to one batch.

    The session's directory handle is kept between checks; before a file is called missing it is
    looked for once more from the root. A context manager.
    """

    def __init__(
        self,
        root: TrustedRoot,
        session_id: str,
        *,
        limits: Limits = DEFAULT_LIMITS,
        excerpt_chars: int = 0,
        text: bool = True,
        threads: bool = True,
        on_fact: Callable[[str, str], None] | None = None,
    ) -> None:
        """Name a session; nothing is opened before the first check.

        Args:
            root: the trusted artifact root.
            session_id: a name of the pointer grammar.
            limits: bounds; `max_artifact_bytes` applies before reading.
            excerpt_chars: how many characters of verified text to give; 0 gives none.
            text: whether artifacts must be UTF-8.
            threads: False verifies on the caller's thread alone (one of several processes).
            on_fact: hears (finding code, file name) of hard links and foreign owners.
        """
        self._root = root
        self._session_id = session_id
        self._limits = limits
        self._excerpt_chars = excerpt_chars
        self._text = text
        self._threads = threads
        self._on_fact = on_fact
        self._folder: Directory | None = None
        self._removed: frozenset[str] | None = None
        bound = limits.max_artifact_bytes
        self._small_below = LEASE_FROM_BYTES if bound is None else min(bound + 1, LEASE_FROM_BYTES)
        self._uid = os.geteuid() if hasattr(os, "geteuid") else -1

    def verify(self, filename: str, digest: str, sealed: SealedLine | None = None) -> Outcome:
        """Check one artifact.

        Args:
            filename: a name of the pointer grammar.
            digest: 12 or 64 lower-case hex digits.
            sealed: what a sealed ledger line says of it; None: SHA-256 is computed.
        """
        # 0. A line about other bytes than the pointer's proves nothing about these.
        if sealed is not None and not _same(sealed.sha256[: len(digest)], digest):
            sealed = None
        cited = digest, sealed
        # 1. The home's own folders hold no artifacts.
        if self._session_id in RESERVED_SESSIONS:
            return Outcome(Reason.OWNERSHIP_BOUNDARY)
        seen = False
        for _ in range(self._limits.read_attempts + 1):
            try:
                # 2. Open below the root: no link, no mount, a regular file. A small one is read
                #    at once; where that was not quiet, or it is large, the long way follows.
                found = self._read_small(filename, cited)
                if found is not None:
                    return found
                seen = True
                return self._read_large(filename, cited)
            except _Changed:
                continue  # 6. It changed: read again, from a fresh look-up.
            except SourceAbsent:
                return Outcome(self._absence(filename, disappeared=seen))
            except TraitRefused as refused:
                if self._on_fact is not None and refused.fact in _FACTS_OF_FILES:
                    self._on_fact(refused.fact, filename)
                return Outcome(Reason.REFUSED_BY_POLICY)
            except FILE_FAILURES as failure:
                return Outcome(reason_of(failure, not_a_file=Reason.ARTIFACT_NOT_A_FILE))
        return Outcome(Reason.SOURCE_CHANGED_DURING_READ)

    def _read_small(self, filename: str, cited: _Cited) -> Outcome | None:
        reused = self._folder is not None
        try:
            read = self._open_folder().read_small(filename, below=self._small_below)
        except SourceAbsent:
            if not reused:
                raise
            # The handle may be on a directory that was replaced meanwhile.
            self.close()
            read = self._open_folder().read_small(filename, below=self._small_below)
        if read is None:
            return None
        data, facts = read
        if facts.st_nlink != 1 or facts.st_uid != self._uid:
            self._report_facts(facts.st_nlink, facts.st_uid, filename)
        if self._text and not data.isascii():
            check = Utf8Check()
            if not (check.feed(data) and check.finish()):
                return Outcome(Reason.ARTIFACT_NOT_UTF8)
        computed = (_new_sha256 if cited[1] is None else _new_blake3)(data).hexdigest()
        return self._compare(computed, cited, head=data, size=len(data), quiescence=Quiescence.STAT)

    def _read_large(self, filename: str, cited: _Cited) -> Outcome:
        with self._open_folder().open_file(filename) as file:
            # 3. Size, before a byte is read.
            bound = self._limits.max_artifact_bytes
            if bound is not None and file.size > bound:
                return Outcome(Reason.ARTIFACT_TOO_LARGE)
            self._report_facts(file.facts.nlink, file.facts.uid, filename)
            _, sealed = cited
            if sealed is not None and file.size != sealed.size:
                if not file.is_unchanged():
                    raise _Changed
                return Outcome(Reason.ARTIFACT_DIGEST_MISMATCH)
            # 4. Hash and check UTF-8, under a read lease where one is to be had.
            with (
                ReadLease.on(file.fd) if file.size >= LEASE_FROM_BYTES else ReadLease(None) as lease
            ):
                leased = lease.is_held()
                found = self._read_stream(file, cited, lease if leased else None)
                # 5. Nothing changed meanwhile: the lease is whole, the facts are the same.
                quiet = file.is_unchanged() and leased == lease.is_held()
            if found is None or not quiet:
                raise _Changed
            return found

    def _open_folder(self) -> Directory:
        if self._folder is None:
            self._folder = self._root.open_directory(self._session_id, ARTIFACT_FOLDER)
        return self._folder

    def _read_stream(
        self, file: OpenFile, cited: _Cited, lease: ReadLease | None
    ) -> Outcome | None:
        check = Utf8Check()
        # One thread hashes: BLAKE3 does so as fast as the other one reads, and a pool of threads
        # would not outlive the `fork` of a worker.
        hashing = (_new_sha256 if cited[1] is None else _new_blake3)()
        update: Consume = hashing.update
        head = bytearray()
        wanted = 4 * self._excerpt_chars
        not_utf8 = False

        def inspect(block: bytearray) -> bool:
            nonlocal not_utf8
            if len(head) < wanted:
                head.extend(block[: wanted - len(head)])
            not_utf8 = self._text and not check.feed(block)
            # A writer waits for a breaking lease to go: look between blocks.
            return not not_utf8 and (lease is None or lease.is_held())

        whole = stream(file, inspect=inspect, consume=update, threads=self._threads)
        if not_utf8 or (whole and self._text and not check.finish()):
            return Outcome(Reason.ARTIFACT_NOT_UTF8)
        guard = Quiescence.STAT if lease is None else Quiescence.LEASED
        if not whole:
            return None
        return self._compare(
            hashing.hexdigest(), cited, head=bytes(head), size=file.size, quiescence=guard
        )

    def _compare(
        self, computed: str, cited: _Cited, *, head: bytes, size: int, quiescence: Quiescence
    ) -> Outcome:
        digest, sealed = cited
        if sealed is None:
            sha256, is_same = computed, _same(computed[: len(digest)], digest)
        else:
            sha256, is_same = sealed.sha256, _same(computed, sealed.blake3)
            is_same = is_same and size == sealed.size
        if not is_same:
            return Outcome(Reason.ARTIFACT_DIGEST_MISMATCH)
        chars = self._excerpt_chars
        # Past the named tuple's own constructor, which costs as much as the comparison.
        return _new_tuple(
            Outcome,
            (
                _VERIFIED,
                sha256,
                head_text(head, chars) if chars else None,
                _FULL if len(digest) == _FULL_DIGEST else _PREFIX,
                quiescence,
                None,
                None,
                size,
                None if sealed is None else _BLAKE3,
            ),
        )

    def _absence(self, filename: str, *, disappeared: bool) -> Reason:
        if disappeared:
            return Reason.SOURCE_DISAPPEARED
        if self._removed is None:
            self._removed = find_removed(self._root, self._session_id, limits=self._limits)
        return Reason.REMOVED_BY_RETENTION if filename in self._removed else Reason.ARTIFACT_MISSING

    def _report_facts(self, nlink: int, uid: int, filename: str) -> None:
        if self._on_fact is None:
            return
        if nlink > 1:
            self._on_fact("hard_link", filename)
        if uid != self._uid:
            self._on_fact("foreign_owner", filename)

    def close(self) -> None:
        """Close the session's directory handle."""
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.close()

    def __enter__(self) -> ArtifactSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
