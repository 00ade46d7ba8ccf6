"""Artifacts whose ledger lines are sealed: each that lies there has the bytes that were sealed.

Guarantees: pure. An artifact may be gone only where its ledger says that it was removed, by a line
of whatever day; one that lies there has to have the sealed bytes, whatever later lines say. What
somebody put in its place (a link, a folder, a pipe) is no artifact: it is missing. Cited or not,
and whatever the home itself denies, the answer is the same.

Example:
    >>> from provenance.sealing.history import HomeLeaves
    >>> sealed = History()
    >>> sealed.add(LedgerLeaf("s1", 1, "a" * 64, "stored", "log.txt", "b" * 64))
    >>> [pointer[:20] for pointer in SealedArtifacts(sealed, Collected(HomeLeaves())).pointers()]
    ['artifact:s1:log.txt:']
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from provenance.audit.seal_leaves import Collected
from provenance.pointers import parse_source_pointer
from provenance.resolution import Reason, SourceResolution, SourceResolutionStatus
from provenance.sealing.history import History
from provenance.sealing.leaves import LedgerLeaf

__all__ = ["ArtifactFault", "ArtifactFaultCode", "SealedArtifacts"]

_DENIED = frozenset({Reason.POLICY_DENIED, Reason.REFUSED_BY_POLICY})
_REPLACED = frozenset({Reason.OWNERSHIP_BOUNDARY, Reason.ARTIFACT_NOT_A_FILE})


class ArtifactFaultCode(StrEnum):
    """What a sealed artifact that does not hold is told by."""

    ALTERED = "sealed_artifact_altered"
    MISSING = "sealed_artifact_missing"
    # Whoever can write the home can write such a line; so can `gc`.
    REMOVED = "sealed_artifact_removed"
    NOT_COMPARED = "seal_not_compared"
    # The operator's policy denies it; told without its name.
    NOT_ASKED = "seal_not_asked"


@dataclass(frozen=True, slots=True)
class ArtifactFault:
    """One sealed artifact that does not hold, or that could not be looked at.

    Attributes:
        code: which.
        target: its file, relative to the home.
        message: one line: field, expected, got.
    """

    code: ArtifactFaultCode
    target: str
    message: str


class SealedArtifacts:
    """The artifacts that a sound log speaks of, beside what the home's ledgers say now."""

    def __init__(self, sealed: History, now: Collected) -> None:
        """Take what the log says, and what was collected of the home."""
        self._sealed = sealed
        self._now = now

    def pointers(self, verified: Collection[tuple[str, str, str]] = ()) -> Iterator[str]:
        """Give the pointers that have to be verified, under the operator's policy alone.

        Args:
            verified: session, file name and digest of what was found to have its bytes already.
        """
        for session, lines in sorted(self._sealed.ledgers.items()):
            if ("ledger", session) in self._now.denied:
                continue
            for name, digest in _stored(lines).items():
                if (session, name, digest) not in verified:
                    yield f"artifact:{session}:{name}:{digest}"

    def count_denied(self) -> int:
        """Count the sessions that the operator's policy denies, as far as they are sealed."""
        return len({name for kind, name in self._now.denied if self._sealed.has(kind, name)})

    def fault_of(self, resolution: SourceResolution) -> ArtifactFault | None:
        """Judge the answer for one of the pointers; None: it holds."""
        pointer = parse_source_pointer(resolution.pointer)
        session, name = pointer.session_id, pointer.artifact_name or ""
        reason = resolution.reason
        if resolution.status is SourceResolutionStatus.AVAILABLE:
            return None
        if reason in _DENIED:
            code, got = ArtifactFaultCode.NOT_ASKED, ""
        elif reason in _REPLACED:
            code, got = ArtifactFaultCode.MISSING, "something else in its place"
        elif resolution.status is SourceResolutionStatus.MISSING:
            # A ledger that cannot be read may say that it was removed.
            is_told = ("ledger", session) not in self._now.leaves.skipped
            code = ArtifactFaultCode.MISSING if is_told else ArtifactFaultCode.NOT_COMPARED
            got = "nothing"
            if self._is_removed(session, name):
                code = ArtifactFaultCode.REMOVED
                got = "nothing, and a ledger line newer than the seal that says it was removed"
        elif resolution.conclusive and resolution.status is SourceResolutionStatus.CORRUPT:
            code, got = ArtifactFaultCode.ALTERED, "other ones"
        else:
            code, got = ArtifactFaultCode.NOT_COMPARED, "an answer that proves nothing"
        message = f"artifact: expected the sealed bytes, got {got} ({reason})"
        return ArtifactFault(code, f"{session}/tool-results/{name}", message)

    def _is_removed(self, session: str, name: str) -> bool:
        lines = self._now.leaves.ledgers.get(session, ())
        events = [line.event for line in lines if line.filename == name]
        return "removed" in [event for event in events if event != "renamed"][-1:]


def _stored(lines: Collection[LedgerLeaf]) -> dict[str, str]:
    """Give the digest of each artifact that the sealed lines leave in its place."""
    found: dict[str, str] = {}
    for line in lines:
        if line.filename is None:
            continue
        if line.event == "stored" and line.artifact_sha256 is not None:
            found[line.filename] = line.artifact_sha256
        elif line.event == "removed":
            found.pop(line.filename, None)
    return found
