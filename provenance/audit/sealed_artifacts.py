"""Artifacts whose ledger lines are sealed: each that lies there has the bytes that were sealed.

Guarantees: pure. A ledger line that says that an artifact was removed excuses its absence only if
that line is sealed, too, and has the digest of what was stored: whoever can write the home can
write such a line, and `gc` removes nothing that a seal covers. What lies there has to have the
sealed bytes, whatever later lines say. What somebody put in its place (a link, a folder, a pipe) is
no artifact: it is missing. Cited or not, and whatever the home itself denies, the answer is the
same.

Example:
    >>> from provenance.sealing.history import HomeLeaves
    >>> sealed = History()
    >>> sealed.add(LedgerLeaf("s1", 1, "a" * 64, "stored", "log.txt", "b" * 64))
    >>> [pointer[:20] for pointer in SealedArtifacts(sealed, Collected(HomeLeaves())).pointers()]
    ['artifact:s1:log.txt:']
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from provenance.artifacts.verify import ARTIFACT_FOLDER
from provenance.audit.seal_leaves import Collected
from provenance.pointers import SourcePointer, parse_source_pointer
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
    REMOVED = "sealed_artifact_removed"
    UNTRUE = "ledger_line_untrue"
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
        is_accepted: a later seal covers the removal, too: it is told, and no error.
    """

    code: ArtifactFaultCode
    target: str
    message: str
    is_accepted: bool = False


class SealedArtifacts:
    """The artifacts that a sound log speaks of, beside what the home's ledgers say now."""

    def __init__(self, sealed: History, now: Collected) -> None:
        """Take what the log says, and what was collected of the home."""
        self._sealed = sealed
        self._now = now
        self._by_session: dict[str, dict[tuple[str, str], bool]] = {}
        self._since: dict[str, frozenset[tuple[str, str]]] = {}

    def pointers(self, verified: Collection[tuple[str, str, str]] = ()) -> Iterator[str]:
        """Give the pointers that have to be verified, under the operator's policy alone.

        Args:
            verified: session, file name and digest of what was found to have its bytes already.
        """
        for session in sorted(self._sealed.ledgers):
            if ("ledger", session) in self._now.denied:
                continue
            for name, digest in self._sealed_in(session):
                if (session, name, digest) not in verified:
                    yield _pointer(session, name, digest)

    def new_removals(self) -> Iterator[str]:
        """Give pointers to what lines that no seal covers yet say was removed."""
        for session in sorted(self._now.leaves.ledgers):
            for name, digest in self._removed_since(session):
                yield _pointer(session, name, digest)

    def newly_stored(self) -> Iterator[str]:
        """Give pointers to what lines that no seal covers yet say was stored, and not removed."""
        for session in sorted(self._now.leaves.ledgers):
            known = len(self._sealed.ledgers.get(session, ()))
            found: dict[tuple[str, str], None] = {}
            for line in self._now.leaves.ledgers[session][known:]:
                if line.filename is None or line.artifact_sha256 is None:
                    continue
                key = line.filename, line.artifact_sha256
                if line.event == "stored":
                    found[key] = None
                elif line.event == "removed":
                    found.pop(key, None)
            for name, digest in found:
                yield _pointer(session, name, digest)

    def count_denied(self) -> int:
        """Count the sessions that the operator's policy denies, as far as they are sealed."""
        return len({name for kind, name in self._now.denied if self._sealed.has(kind, name)})

    def fault_of(self, resolution: SourceResolution) -> ArtifactFault | None:
        """Judge the answer for one of the pointers; None: it holds."""
        pointer = parse_source_pointer(resolution.pointer)
        session, name = pointer.session_id, pointer.artifact_name or ""
        key = name, pointer.digest_prefix or ""
        reason = resolution.reason
        is_accepted = False
        if resolution.status is SourceResolutionStatus.AVAILABLE:
            return None
        if reason in _DENIED:
            code, got = ArtifactFaultCode.NOT_ASKED, ""
        elif reason in _REPLACED or resolution.status is SourceResolutionStatus.MISSING:
            code = ArtifactFaultCode.MISSING
            got = "something else in its place" if reason in _REPLACED else "nothing"
            is_accepted = self._sealed_in(session).get(key, False)
            if is_accepted:
                code = ArtifactFaultCode.REMOVED
                got += ", and a sealed ledger line that says it was removed"
            elif reason not in _REPLACED and key in self._removed_since(session):
                code = ArtifactFaultCode.REMOVED
                got += ", and a ledger line that no seal covers that says it was removed"
        elif resolution.conclusive and resolution.status is SourceResolutionStatus.CORRUPT:
            code, got = ArtifactFaultCode.ALTERED, "other ones"
        else:
            code, got = ArtifactFaultCode.NOT_COMPARED, "an answer that proves nothing"
        message = f"artifact: expected the sealed bytes, got {got} ({reason})"
        return ArtifactFault(code, _file_of(pointer), message, is_accepted)

    def storing_of(self, resolution: SourceResolution) -> ArtifactFault | None:
        """Judge the answer for one of `newly_stored`; None: the bytes are there.

        A line that is sealed and untrue is a fault of the home ever after: it cannot be taken back.
        """
        if resolution.status is SourceResolutionStatus.AVAILABLE:
            return None
        is_missing = resolution.status is SourceResolutionStatus.MISSING
        is_known = is_missing or resolution.reason in _REPLACED or resolution.conclusive
        return ArtifactFault(
            ArtifactFaultCode.UNTRUE if is_known else ArtifactFaultCode.NOT_COMPARED,
            _file_of(parse_source_pointer(resolution.pointer)),
            "ledger: expected a line that says what lies there, before it is sealed, got "
            f"{'nothing there' if is_missing else 'something else there'} ({resolution.reason})",
        )

    def removal_of(self, resolution: SourceResolution) -> ArtifactFault | None:
        """Judge the answer for one of `new_removals`; None: it is gone, as its line says.

        A line that is sealed while the artifact lies there would excuse whoever takes it later.
        """
        if resolution.status is SourceResolutionStatus.MISSING:
            return None
        return ArtifactFault(
            ArtifactFaultCode.UNTRUE,
            _file_of(parse_source_pointer(resolution.pointer)),
            "ledger: expected no line that says removed of what is there, got one",
        )

    def _sealed_in(self, session: str) -> dict[tuple[str, str], bool]:
        """Give name and digest of what sealed lines stored, and whether a later seal removed it."""
        if session not in self._by_session:
            lines = self._sealed.ledgers.get(session, [])
            numbers = self._sealed.ledger_seals.get(session, [])
            self._by_session[session] = _stored(lines, numbers)
        return self._by_session[session]

    def _removed_since(self, session: str) -> frozenset[tuple[str, str]]:
        if session not in self._since:
            known = len(self._sealed.ledgers.get(session, ()))
            stored, last = set(), dict[tuple[str, str], str | None]()
            for number, line in enumerate(self._now.leaves.ledgers.get(session, ())):
                if line.filename is None or line.artifact_sha256 is None:
                    continue
                key = line.filename, line.artifact_sha256
                if line.event == "stored":
                    stored.add(key)
                if line.event != "renamed" and number >= known:
                    last[key] = line.event
            removed = (key for key, event in last.items() if event == "removed" and key in stored)
            self._since[session] = frozenset(removed)
        return self._since[session]


def _file_of(pointer: SourcePointer) -> str:
    """Give the file of an artifact, relative to the home."""
    return f"{pointer.session_id}/{ARTIFACT_FOLDER}/{pointer.artifact_name}"


def _pointer(session: str, name: str, digest: str) -> str:
    return f"artifact:{session}:{name}:{digest}"


def _stored(lines: Sequence[LedgerLeaf], numbers: Sequence[int]) -> dict[tuple[str, str], bool]:
    """Give what the sealed lines stored, by name and digest, and whether it was removed later.

    What was removed before the first seal that knows of it was never sealed as being there.

    Args:
        lines: of one ledger.
        numbers: that of the seal with which each came; fewer: the rest came together.
    """
    found: dict[tuple[str, str], bool] = {}
    since: dict[tuple[str, str], int | None] = {}
    for line, number in zip_longest(lines, numbers[: len(lines)]):
        if line.filename is None or line.artifact_sha256 is None:
            continue
        key = line.filename, line.artifact_sha256
        if line.event == "stored":
            found[key] = False
            since.setdefault(key, number)
        elif line.event == "removed" and key in found:
            if since[key] == number:
                del found[key], since[key]
            else:
                found[key] = True
    return found
