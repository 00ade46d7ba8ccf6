"""A state home: its configuration and lock, what its files cite, what nothing cites.

Guarantees: everything below the home is reached through its trusted root, so that no link in it
leads elsewhere. A state or receipt that cannot be read is a finding and the rest is read. What
nothing cites is counted, and handed on to be checked only where the operator asks for all. What the
operator's policy denies is neither, whether it is there or not; what only the home's own denies is
counted all the same.

Example:
    >>> from provenance.audit.notes import Notes
    >>> reader = HomeReader(AuditRequest(), Notes())
    >>> home = TrustedRoot("/nowhere")
    >>> part = reader.part_of(home, prefix="")
    >>> reader.fill(home, part)
    >>> part.citations, reader.uncited
    ({}, 0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from provenance.artifacts.verify import ARTIFACT_FOLDER, RESERVED_SESSIONS
from provenance.audit.home_config import (
    CONFIG_FILE,
    HomeConfig,
    invalid_config,
    read_home_config,
)
from provenance.audit.ledgers import stored_digests
from provenance.audit.lock import HeldPins, read_home_lock
from provenance.audit.notes import Notes
from provenance.audit.part import AuditPart, WholeTranscript
from provenance.audit.receipts import (
    note_blocks,
    read_home_receipt,
    receipt_citations,
    unreadable_receipt,
)
from provenance.audit.request import AuditRequest
from provenance.audit.state_versions import cite_state_versions
from provenance.audit.states import citations_of, read_home_state, unreadable_state
from provenance.audit_report import Citation
from provenance.consequences import ConsequenceGraph
from provenance.errors import CtxauditError, DataError
from provenance.findings import Finding, Severity
from provenance.fs import Directory, Entry, SourceAbsent, TrustedRoot, is_temporary_name, read_whole
from provenance.locks import LOCK_FILE
from provenance.pointers import (
    SourcePointerError,
    artifact_pointer,
    is_name,
    parse_source_pointer,
    transcript_pointer,
)
from provenance.policy import MAX_POLICY_BYTES

__all__ = ["HOME_MARKERS", "HomeReader", "is_own_transcript", "unaddressable"]

_TRANSCRIPTS = "transcripts"
_STATES = "states"
_RECEIPTS = "receipts"
# No rule asks for the digest.
_ANY_DIGEST = "0" * 64
HOME_MARKERS = frozenset({CONFIG_FILE, _TRANSCRIPTS, _STATES, _RECEIPTS, "seals", LOCK_FILE})


class _NotAFolder(DataError):
    """A file stands where a home keeps a folder."""

    code = "not_a_folder"


_Citations = Iterator[tuple[str, Citation]]


class HomeReader:
    """Reads homes for one audit; `uncited` and `graph` are of all of them."""

    def __init__(
        self, request: AuditRequest, notes: Notes, on_wait: Callable[[], None] | None = None
    ) -> None:
        """Take the operator's request, where findings go, and who hears of waiting for a lock."""
        self._on_wait = on_wait
        self._request = request
        self._notes = notes
        self.uncited = 0
        self.graph = ConsequenceGraph()

    def part_of(self, home: TrustedRoot, *, prefix: str) -> AuditPart:
        """Build the part of a home without anything to check: roots, limits and policies."""
        request = self._request
        config = self._config(home)
        self._notes.extend(config.findings, prefix=prefix)
        own_lock = read_home_lock(home, limits=config.limits)
        if isinstance(own_lock, Finding):
            self._notes.add(own_lock, prefix=prefix)
            own_lock = None
        policies = tuple(policy for policy in (request.policy, config.policy) if policy is not None)
        own_transcripts = request.transcript_root is None
        return AuditPart(
            transcripts=(
                home.subroot(_TRANSCRIPTS)
                if request.transcript_root is None
                else TrustedRoot(request.transcript_root)
            ),
            artifacts=(
                home if request.artifact_root is None else TrustedRoot(request.artifact_root)
            ),
            limits=config.limits,
            policies=policies,
            formats=config.formats,
            prefix=prefix,
            transcript_folder=f"{_TRANSCRIPTS}/" if own_transcripts else "",
            pins=HeldPins(own_lock),
            home=home,
        )

    def fill(self, home: TrustedRoot, part: AuditPart) -> None:
        """Read what a home's files cite, its lock among them, and what nothing cites."""
        part.keep_gc_out(on_wait=self._on_wait)
        self.read_citing(home, part)
        if part.pins.own is not None:
            part.cite_pinned(part.pins.own, part.prefix + LOCK_FILE)
        self._read_uncited(home, part)

    def read_citing(self, home: TrustedRoot, part: AuditPart) -> None:
        """Read what the states and receipts of a home cite into its part.

        They are what is asked: the operator's limits bound them, never those of the home.
        """
        self._read_citing(home, part, _STATES, self._state, unreadable_state)
        cite_state_versions(
            home,
            part,
            limits=self._request.limits,
            notes=self._notes,
            check_all=self._request.check_all,
        )
        self._read_citing(home, part, _RECEIPTS, self._receipt, unreadable_receipt)

    def _config(self, home: TrustedRoot) -> HomeConfig:
        request = self._request
        line = None
        try:
            with home.open_file(CONFIG_FILE) as file:
                text = read_whole(file, max_bytes=MAX_POLICY_BYTES).decode("utf-8")
        except SourceAbsent:
            return HomeConfig(request.limits)
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            fault = "file: expected UTF-8, got another encoding"
        except CtxauditError as error:
            fault = str(error)
        else:
            return read_home_config(text, limits=request.limits)
        finding = invalid_config(fault, line=line)
        return HomeConfig(request.limits, is_broken=True, findings=(finding,))

    def _read_citing(
        self,
        home: TrustedRoot,
        part: AuditPart,
        kind: str,
        read: Callable[[Directory, str, str, AuditPart], _Citations | Finding],
        unreadable: Callable[[str, CtxauditError], Finding],
    ) -> None:
        """Read a folder of a home whose files cite pointers."""
        target = part.prefix + kind
        try:
            with home.open_directory(kind) as folder:
                for entry in folder.entries():
                    # As a shell reads `states/*.json`: what is hidden (`._x.json`) is no state.
                    if not entry.name.endswith(".json") or entry.name.startswith("."):
                        continue
                    found = read(folder, entry.name, f"{target}/{entry.name}", part)
                    if isinstance(found, Finding):
                        self._notes.add(found)
                        continue
                    for pointer, citation in found:
                        part.cite(pointer, citation)
        except SourceAbsent:
            # A file in its place hides what the folder held.
            if any(entry.name == kind for entry in self._entries(home, part)):
                self._notes.add(unreadable(target, _NotAFolder("folder: expected one, got a file")))
        except CtxauditError as error:
            self._notes.add(unreadable(target, error))

    def _state(
        self, folder: Directory, name: str, target: str, part: AuditPart
    ) -> _Citations | Finding:
        state = read_home_state(folder, name, target=target, limits=self._request.limits)
        return state if isinstance(state, Finding) else citations_of(state, target)

    def _receipt(
        self, folder: Directory, name: str, target: str, part: AuditPart
    ) -> _Citations | Finding:
        receipt = read_home_receipt(folder, name, target=target, limits=self._request.limits)
        if isinstance(receipt, Finding):
            return receipt
        note_blocks(receipt, target, self.graph)
        return receipt_citations(receipt, target)

    def _read_uncited(self, home: TrustedRoot, part: AuditPart) -> None:
        transcripts, artifacts = _cited(part)
        # Where the operator named another root, the home's own folder is not what is audited.
        if self._request.transcript_root is None:
            self._read_uncited_transcripts(home, part, transcripts)
        if self._request.artifact_root is None:
            self._read_uncited_artifacts(home, part, artifacts)

    def _read_uncited_transcripts(
        self, home: TrustedRoot, part: AuditPart, cited: set[str]
    ) -> None:
        for entry in self._present(home, part, _TRANSCRIPTS):
            name = entry.name
            session_id, dot, ending = name.rpartition(".")
            if not dot or ending != "jsonl" or self._is_denied(part, session_id):
                continue
            self.uncited += session_id not in cited
            # What is cited proves nothing of what follows it in the same file.
            if not self._request.check_all:
                continue
            target = f"{part.prefix}{_TRANSCRIPTS}/{name}"
            if is_name(session_id):
                part.whole.append(WholeTranscript(session_id, target))
            else:
                self._notes.add(unaddressable(target, Severity.ERROR))

    def _read_uncited_artifacts(
        self, home: TrustedRoot, part: AuditPart, cited: set[tuple[str, str]]
    ) -> None:
        for session_id in self._sessions(home, part):
            uncited = [
                entry
                for entry in self._present(home, part, session_id, ARTIFACT_FOLDER)
                if (session_id, entry.name) not in cited
                and not self._is_denied(part, session_id, entry.name)
            ]
            self.uncited += len(uncited)
            if self._request.check_all and uncited:
                self._cite_stored(home, part, session_id, uncited)

    def _is_denied(self, part: AuditPart, session_id: str, name: str | None = None) -> bool:
        """Say whether the operator denies a transcript or artifact; only what can be cited is."""
        if not is_name(session_id) or not (name is None or is_name(name)):
            return False
        pointer = (
            transcript_pointer(session_id, 1)
            if name is None
            else artifact_pointer(session_id, name, _ANY_DIGEST)
        )
        return part.is_operators_denial(pointer, self._request.tenant)

    def _cite_stored(
        self, home: TrustedRoot, part: AuditPart, session_id: str, entries: list[Entry]
    ) -> None:
        """Check what nothing cites against what the ledger says was stored."""
        stored = stored_digests(
            home, session_id, notes=self._notes, prefix=part.prefix, limits=part.limits
        )
        for entry in entries:
            name = entry.name
            target = f"{part.prefix}{session_id}/{ARTIFACT_FOLDER}/{name}"
            if name in stored:
                part.find(f"artifact:{session_id}:{name}:{stored[name]}", origin=target)
            elif entry.kind != "file":
                self._notes.add(_no_artifact(target, entry))
            elif not is_name(name):
                self._notes.add(unaddressable(target, Severity.WARNING))
            else:
                self._notes.add(
                    Finding(
                        "artifact_not_in_ledger",
                        Severity.WARNING,
                        target,
                        message="ledger: expected a line for this artifact, got none",
                    )
                )

    def _sessions(self, home: TrustedRoot, part: AuditPart) -> Iterator[str]:
        for entry in self._entries(home, part):
            if (
                entry.kind == "directory"
                and is_name(entry.name)
                and entry.name not in RESERVED_SESSIONS
            ):
                yield entry.name

    def _present(self, home: TrustedRoot, part: AuditPart, *folder: str) -> list[Entry]:
        return [
            entry
            for entry in self._entries(home, part, *folder)
            if not is_temporary_name(entry.name)
        ]

    def _entries(self, home: TrustedRoot, part: AuditPart, *folder: str) -> tuple[Entry, ...]:
        try:
            with home.open_directory(*folder) as directory:
                return directory.entries()
        except SourceAbsent:
            return ()
        except CtxauditError as error:
            self._notes.add(
                Finding(
                    "folder_unreadable",
                    Severity.WARNING,
                    part.prefix + ("/".join(folder) or "."),
                    message=str(error),
                )
            )
            return ()


def is_own_transcript(names: Sequence[str]) -> bool:
    """Say whether a home keeps its own transcript here: it is checked where something cites it."""
    return len(names) == 2 and names[0] == _TRANSCRIPTS and names[1].endswith(".jsonl")


def unaddressable(target: str, severity: Severity) -> Finding:
    """Build the finding of a file that no pointer can name, so that nobody can cite or check it."""
    return Finding(
        "unaddressable_file",
        severity,
        target,
        message="file name: expected one that a pointer can cite, got another",
    )


def _no_artifact(target: str, entry: Entry) -> Finding:
    """Build the finding of what lies among the artifacts, is none and was never stored as one."""
    kind = "something else" if entry.kind == "other" else f"a {entry.kind}"
    return Finding(
        "not_an_artifact",
        Severity.WARNING,
        target,
        message=f"file: expected a regular file, got {kind}",
    )


def _cited(part: AuditPart) -> tuple[set[str], set[tuple[str, str]]]:
    transcripts: set[str] = set()
    artifacts: set[tuple[str, str]] = set()
    for text in part.citations:
        try:
            pointer = parse_source_pointer(text)
        except SourcePointerError:
            continue
        if pointer.artifact_name is None:
            transcripts.add(pointer.session_id)
        else:
            artifacts.add((pointer.session_id, pointer.artifact_name))
    return transcripts, artifacts
