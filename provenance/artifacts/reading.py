"""Reading an artifact and proving it in the same pass.

Guarantees: what a caller gets are the very bytes that were hashed, and their digest is the
pointer's. The file is opened below the root with no link or mount followed and read in bounded
memory. Whatever is wrong with it comes out as one `EvidenceUnavailable` with the reason.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> reader = VerifiedReader(TrustedRoot("/nowhere"), text=True, limits=DEFAULT_LIMITS)
    >>> pointer = artifact_pointer_of("artifact:s1:log.txt:0123456789ab")
    >>> try:
    ...     list(reader.iterate(pointer))
    ... except EvidenceUnavailable as error:
    ...     error.reason.value
    'artifact_missing'
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from provenance.artifacts.failures import WindowError
from provenance.artifacts.ledger import find_removed
from provenance.artifacts.verify import ARTIFACT_FOLDER, RESERVED_SESSIONS
from provenance.evidence import EvidenceUnavailable
from provenance.fs.failures import (
    FILE_FAILURES,
    FileFailure,
    ReadFailed,
    SourceAbsent,
)
from provenance.fs.reading import OpenFile
from provenance.fs.reasons import reason_of
from provenance.fs.root import TrustedRoot
from provenance.fs.streaming import stream
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.pointers import SourcePointer, SourcePointerKind, parse_source_pointer
from provenance.resolution import Reason
from provenance.utf8 import Utf8Check

__all__ = ["DEFAULT_LIMITS", "VerifiedReader", "artifact_pointer_of"]

# Below this a second thread costs more than it hides.
_THREADS_FROM_BYTES = 4 << 20
_BLOCK_BYTES = 1 << 20


class Feed(Protocol):
    """Something that takes an artifact's bytes in order."""

    def feed(self, block: bytearray) -> None:
        """Take the next bytes; the buffer is used again afterwards."""


class _Nobody:
    """Takes the bytes and keeps none."""

    def feed(self, block: bytearray) -> None:
        """See `Feed`."""


FeedT = TypeVar("FeedT", bound=Feed)


def artifact_pointer_of(pointer: str | SourcePointer) -> SourcePointer:
    """Parse a pointer and see that it is one of an artifact.

    Raises:
        SourcePointerError: the text is malformed.
        WindowError: it points to something else than an artifact.
    """
    parsed = pointer if isinstance(pointer, SourcePointer) else parse_source_pointer(pointer)
    if parsed.kind is not SourcePointerKind.ARTIFACT:
        raise WindowError(f"pointer: expected an artifact, got a {parsed.kind}")
    return parsed


class VerifiedReader:
    """Reads artifacts below one root."""

    def __init__(self, root: TrustedRoot, *, text: bool, limits: Limits) -> None:
        """Name the root, whether artifacts must be UTF-8, and the bounds."""
        self._root = root
        self._text = text
        self._limits = limits

    def read(self, pointer: SourcePointer, new_feed: Callable[[], FeedT]) -> tuple[FeedT, str]:
        """Read all of an artifact once, verified.

        Args:
            pointer: which artifact.
            new_feed: makes what takes the bytes; called again where the file changed meanwhile.

        Returns:
            What took the bytes, and their SHA-256. Nothing it took counts if this raises.

        Raises:
            EvidenceUnavailable: with the reason.
        """
        for attempt in range(self._limits.read_attempts + 1):
            with self._open(pointer, again=attempt > 0) as file:
                feed = new_feed()
                sha256 = self._check(file, pointer, feed)
                if sha256 is not None:
                    return feed, sha256
        raise EvidenceUnavailable(Reason.SOURCE_CHANGED_DURING_READ)

    def iterate(self, pointer: SourcePointer) -> Iterator[bytes]:
        """Give an artifact's bytes, after all of them were verified, in bounded memory.

        They are read twice: once to verify, once to give. A change in between is noticed at the
        end, by the digest.

        Raises:
            EvidenceUnavailable: with the reason; before the first byte, or after the last one
                with `source_changed_during_read`.
        """
        for attempt in range(self._limits.read_attempts + 1):
            with self._open(pointer, again=attempt > 0) as file:
                sha256 = self._check(file, pointer, _Nobody())
                if sha256 is not None:
                    yield from self._give(file, sha256)
                    return
        raise EvidenceUnavailable(Reason.SOURCE_CHANGED_DURING_READ)

    def _open(self, pointer: SourcePointer, *, again: bool) -> OpenFile:
        session_id, filename = pointer.session_id, pointer.artifact_name or ""
        if session_id in RESERVED_SESSIONS:
            raise EvidenceUnavailable(Reason.OWNERSHIP_BOUNDARY)
        try:
            file = self._root.open_file(session_id, ARTIFACT_FOLDER, filename)
        except SourceAbsent:
            if again:
                raise EvidenceUnavailable(Reason.SOURCE_DISAPPEARED) from None
            removed = find_removed(self._root, session_id, limits=self._limits)
            reason = Reason.REMOVED_BY_RETENTION if filename in removed else Reason.ARTIFACT_MISSING
            raise EvidenceUnavailable(reason) from None
        except FILE_FAILURES as failure:
            raise _unavailable(failure) from failure
        bound = self._limits.max_artifact_bytes
        if bound is not None and file.size > bound:
            file.close()
            raise EvidenceUnavailable(Reason.ARTIFACT_TOO_LARGE)
        return file

    def _check(self, file: OpenFile, pointer: SourcePointer, feed: Feed) -> str | None:
        """Hash everything while `feed` takes it; None where the file changed meanwhile."""
        utf8 = Utf8Check()
        sha256 = hashlib.sha256()

        def inspect(block: bytearray) -> bool:
            if self._text and not utf8.feed(block):
                return False
            feed.feed(block)
            return True

        try:
            whole = stream(
                file,
                inspect=inspect,
                consume=sha256.update,
                threads=file.size >= _THREADS_FROM_BYTES,
            )
            unchanged = file.is_unchanged()
        except FILE_FAILURES as failure:
            raise _unavailable(failure) from failure
        if not unchanged:
            return None
        if self._text and not utf8.finish():
            raise EvidenceUnavailable(Reason.ARTIFACT_NOT_UTF8)
        if not whole:
            return None
        digest = sha256.hexdigest()
        wanted = pointer.digest_prefix or ""
        if not hmac.compare_digest(digest[: len(wanted)], wanted):
            raise EvidenceUnavailable(Reason.ARTIFACT_DIGEST_MISMATCH)
        return digest

    def _give(self, file: OpenFile, sha256: str) -> Iterator[bytes]:
        again = hashlib.sha256()
        try:
            for offset in range(0, file.size, _BLOCK_BYTES):
                block = file.read_at(offset, min(_BLOCK_BYTES, file.size - offset))
                again.update(block)
                yield block
        except ReadFailed as failure:
            raise EvidenceUnavailable(Reason.SOURCE_READ_FAILED) from failure
        if again.hexdigest() != sha256:
            raise EvidenceUnavailable(Reason.SOURCE_CHANGED_DURING_READ)


def _unavailable(failure: FileFailure) -> EvidenceUnavailable:
    return EvidenceUnavailable(reason_of(failure, not_a_file=Reason.ARTIFACT_NOT_A_FILE))
