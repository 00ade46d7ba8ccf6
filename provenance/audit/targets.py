"""From what was named on the command line to what is checked below which roots.

Guarantees: a target that cannot be read, or whose roots nobody named, is refused before anything is
verified; nothing that was named is left out silently. What a target holds never chooses roots.

Example:
    >>> from provenance.audit.notes import Notes
    >>> read_targets(AuditRequest(targets=("/nowhere/a",)), Notes())
    Traceback (most recent call last):
    provenance.audit.request.TargetError: a: expected a file or folder, got nothing of that name
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import PurePath

from provenance.audit.home import HOME_MARKERS, HomeReader, is_own_transcript
from provenance.audit.labels import target_labels
from provenance.audit.ledgers import (
    LINES_ENDINGS,
    TRANSCRIPT_ENDING,
    is_ledger,
    is_session_folder,
)
from provenance.audit.lock import NamedLock, lock_citations
from provenance.audit.notes import Notes
from provenance.audit.part import AuditPart, TranscriptTree, WholeTranscript
from provenance.audit.receipts import (
    is_receipt,
    note_blocks,
    parse_receipt_file,
    receipt_citations,
)
from provenance.audit.request import CITING_FOLDERS, STDIN, AuditRequest, TargetError
from provenance.audit.scan import scan_text
from provenance.audit.states import citations_of, parse_state
from provenance.audit.whole import is_allowed
from provenance.audit_report import Citation
from provenance.consequences import ConsequenceGraph
from provenance.errors import CtxauditError
from provenance.findings import Finding, Severity
from provenance.fs import SourceAbsent, TrustedRoot, read_operator_file
from provenance.fs.failures import FileFailure
from provenance.fs.reasons import reason_of
from provenance.pointers import (
    SourcePointerError,
    SourcePointerKind,
    is_name,
    parse_source_pointer,
)
from provenance.resolution import Reason
from provenance.transcripts.discovery import (
    Candidate,
    find_candidates,
    has_content_hash,
    open_candidate,
)
from provenance.transcripts.formats import NATIVE, find_format
from provenance.transcripts.sources import read_head

__all__ = ["AuditPlan", "read_targets"]

_BYTE_ORDER_MARK = "\ufeff"
_PASSED_OVER = {
    "folder_too_deep": (
        Severity.WARNING,
        "folder: expected fewer levels above it, got more than are looked into",
    ),
    "link_not_followed": (Severity.INFO, "name: a link, which was not followed"),
}
# What findings call the place of pointers that stand in no file.
_OPTION = "--pointer"


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """All that an audit is to check.

    Attributes:
        labels: the targets, named without machine paths.
        parts: roots with what is to be checked below them.
        uncited: transcripts and artifacts of homes that nothing cites.
        graph: what rests on what, through the receipts that were read.
        is_interrupted: the targets were read in part only, so nothing should be verified.
    """

    labels: tuple[str, ...]
    parts: tuple[AuditPart, ...]
    uncited: int
    graph: ConsequenceGraph
    is_interrupted: bool = False


def read_targets(
    request: AuditRequest, notes: Notes, *, on_wait: Callable[[], None] | None = None
) -> AuditPlan:
    """Read every target; findings about what they hold go to `notes`.

    An interrupt (`KeyboardInterrupt`) ends the reading: the plan holds what was read until then.
    `on_wait` hears several times a second that a lock is waited for, and may raise one.

    Raises:
        TargetError: a target cannot be used; nothing was verified.
    """
    reader = _TargetReader(request, notes, on_wait)
    try:
        for target, label in zip(request.targets, reader.labels, strict=True):
            reader.read(target, label)
        return reader.plan()
    except KeyboardInterrupt:
        return reader.interrupted_plan()
    except BaseException:
        reader.close()
        raise


class _TargetReader:
    def __init__(
        self, request: AuditRequest, notes: Notes, on_wait: Callable[[], None] | None
    ) -> None:
        self.labels = target_labels(request.targets)
        self._request = request
        self._notes = notes
        self._homes = HomeReader(request, notes, on_wait)
        self._parts: list[AuditPart] = []
        self._home_parts: list[AuditPart] = []
        self._tree_parts: list[AuditPart] = []
        self._taken: set[PurePath] = set()
        self._home_at: dict[PurePath, AuditPart] = {}
        self._operator_part: AuditPart | None = None
        self._several = len(request.targets) > 1
        # Pointers without a file of their own wait until it is known which roots there are.
        self._loose: list[tuple[str, Citation | None, str]] = [
            (pointer, None, _OPTION) for pointer in request.pointers
        ]
        self._lone_files: list[str] = []

    def read(self, target: str, label: str) -> None:
        if target == STDIN:
            self._read_stdin()
        elif not self._read_folder(target, label):
            self._read_file(target, label)

    def plan(self) -> AuditPlan:
        if self._request.lock is not None:
            self._cite_named_lock(self._request.lock)
        if self._loose:
            part = self._part_for_loose()
            self._cite_loose(part)
            self._loose = []
        for part in self._parts:
            if self._request.lock is not None:
                part.pins = replace(part.pins, named=self._request.lock.lock)
            _require_roots(part)
        homes = self._homes
        return AuditPlan(self.labels, tuple(self._parts), homes.uncited, homes.graph)

    def interrupted_plan(self) -> AuditPlan:
        loose = AuditPart()
        self._cite_loose(loose)
        if self._request.lock is not None:
            loose.cite_pinned(self._request.lock.lock, self._request.lock.label)
        parts = (*self._parts, loose)
        homes = self._homes
        return AuditPlan(self.labels, parts, homes.uncited, homes.graph, is_interrupted=True)

    def _cite_named_lock(self, named: NamedLock) -> None:
        """Note what the operator's lock holds, in the one home or where loose pointers belong."""
        if len(self._home_at) > 1:
            raise TargetError(
                f"--lock: {named.label}: expected one state home, got several; without it, each "
                "is held against its own"
            )
        if self._home_parts:
            self._home_parts[0].cite_pinned(named.lock, named.label)
        else:
            cited = lock_citations(named.lock, named.label)
            self._loose += [(pointer, citation, named.label) for pointer, citation in cited]

    def close(self) -> None:
        for part in self._parts:
            part.close()

    def _cite_loose(self, part: AuditPart) -> None:
        for pointer, citation, origin in self._loose:
            part.cite(pointer, citation, origin=origin)

    def _read_stdin(self) -> None:
        text = self._request.stdin.decode("utf-8", "surrogateescape")
        text = text.removeprefix(_BYTE_ORDER_MARK)
        if self._request.scan:
            self._scan(text, STDIN)
            return
        for line in text.split("\n"):
            pointer = line.removesuffix("\r")
            if pointer:
                self._loose.append((pointer, None, STDIN))

    def _read_folder(self, target: str, label: str) -> bool:
        root = TrustedRoot(target)
        try:
            with root.open_directory() as directory:
                entries = directory.entries()
        except SourceAbsent:
            return False
        except CtxauditError as error:
            raise _unusable(label, error) from None
        names = [entry.name for entry in entries]
        prefix = f"{label}/" if self._several else ""
        is_home = not self._request.only_transcripts and not HOME_MARKERS.isdisjoint(names)
        if not is_home and is_session_folder(entries):
            raise _not_a_session(label)
        candidates = self._candidates(root, prefix, is_home=is_home)
        if is_home:
            # A folder of a home's name must not hide what else lies there.
            candidates = tuple(one for one in candidates if self._is_foreign(root, one))
        elif candidates or self._request.only_transcripts:
            part = self._add_part(AuditPart(transcripts=root, prefix=prefix))
            self._add_tree(part, root, candidates)
            return True
        part = self._add_home(root, prefix=prefix)
        self._homes.fill(root, part)
        if candidates:
            self._add_tree(part, root, candidates)
        return True

    def _add_tree(
        self, part: AuditPart, root: TrustedRoot, candidates: tuple[Candidate, ...]
    ) -> None:
        part.trees.append(
            TranscriptTree(
                part.guarded(root),
                self._not_yet(root, candidates),
                part.prefix,
                as_format=self._request.as_format,
            )
        )
        self._tree_parts.append(part)

    def _not_yet(
        self, root: TrustedRoot, candidates: tuple[Candidate, ...]
    ) -> tuple[Candidate, ...]:
        """Leave out what another target holds too: it is checked once."""
        if not self._several:
            return candidates
        place = root.path.absolute()
        new = tuple(one for one in candidates if PurePath(place, *one.names) not in self._taken)
        self._taken.update(PurePath(place, *one.names) for one in new)
        return new

    def _is_foreign(self, home: TrustedRoot, candidate: Candidate) -> bool:
        """Say whether what lies in a home, but not where it keeps its own, is of another agent."""
        if is_own_transcript(candidate.names):
            return False
        try:
            with open_candidate(home, candidate, limits=self._request.limits) as opened:
                return opened.format is not None and opened.format.name != NATIVE
        except CtxauditError:
            return False  # nobody says that it is a transcript

    def _candidates(
        self, root: TrustedRoot, prefix: str, *, is_home: bool
    ) -> tuple[Candidate, ...]:
        """Walk a folder for what may hold transcripts; a folder that cannot be read is told."""

        def is_told(names: tuple[str, ...]) -> bool:
            # What a home says of its own folders, it says itself.
            own = not names or names[0] in HOME_MARKERS or (len(names) == 1 and is_name(names[0]))
            return is_home and own

        def on_failure(names: tuple[str, ...], failure: FileFailure) -> None:
            if is_told(names):
                return
            target = prefix + ("/".join(names) or ".")
            reason = reason_of(failure, not_a_file=Reason.TRANSCRIPT_NOT_A_FILE)
            message = f"folder: expected one that can be listed, got: {failure}"
            self._notes.add(Finding(str(reason), Severity.ERROR, target, message=message))

        def on_passed_over(names: tuple[str, ...], code: str) -> None:
            if is_told(names):
                return
            severity, message = _PASSED_OVER[code]
            self._notes.add(
                Finding(code, severity, prefix + ("/".join(names) or "."), message=message)
            )

        return tuple(find_candidates(root, on_failure=on_failure, on_passed_over=on_passed_over))

    def _read_file(self, target: str, label: str) -> None:
        request = self._request
        path = PurePath(target)
        try:
            data = b""
            is_transcript = not request.scan and (
                request.as_format is not None
                or path.name.endswith(LINES_ENDINGS)
                or _is_known_transcript(path)
            )
            if not is_transcript:
                # Whether it is a receipt, which may be larger, is not known before it is read.
                most = request.limits.max_document_bytes
                if not request.scan:
                    most = max(most, request.limits.max_receipt_bytes)
                data = read_operator_file(target, max_bytes=most)
        except SourceAbsent:
            raise TargetError(
                f"{label}: expected a file or folder, got nothing of that name"
            ) from None
        except CtxauditError as error:
            raise _unusable(label, error) from None
        if is_transcript:
            self._read_transcript(path, label)
        elif request.scan:
            self._scan(data.decode("utf-8", "replace").removeprefix(_BYTE_ORDER_MARK), label)
        elif is_receipt(data):
            self._read_receipt(path, label, data)
        else:
            self._read_state(path, label, data)

    def _read_transcript(self, path: PurePath, label: str) -> None:
        root = TrustedRoot(path.parent)
        try:
            # A transcript that is not there is a mistyped target, not missing evidence.
            root.open_file(path.name).close()
        except SourceAbsent:
            raise TargetError(
                f"{label}: expected a file or folder, got nothing of that name"
            ) from None
        except CtxauditError:
            pass  # what stands in its place is the audit's to tell
        part = self._add_part(AuditPart(transcripts=root))
        session_id = path.name.removesuffix(TRANSCRIPT_ENDING)
        if self._request.as_format == NATIVE and (
            session_id == path.name or not is_name(session_id)
        ):
            raise TargetError(f"{label}: expected a name like <session id>.jsonl, got another")
        asked = WholeTranscript(session_id, label)
        if is_name(session_id) and is_allowed(part, asked, tenant=self._request.tenant):
            if is_ledger(root, path.name):
                raise _not_a_session(label)
            if self._request.as_format is None and _is_unknown(root, path.name):
                raise TargetError(
                    f"{label}: expected a transcript of a known format (or --as), got another file"
                )
        folder = label.rpartition("/")[0]
        part.trees.append(
            TranscriptTree(
                part.guarded(root),
                self._not_yet(root, (Candidate((path.name,), has_hash=has_content_hash(root)),)),
                f"{folder}/" if folder else "",
                as_format=self._request.as_format,
                is_named=True,
                expected_hash=self._request.expected_hash,
                label=label,
            )
        )

    def _read_state(self, path: PurePath, label: str, data: bytes) -> None:
        try:
            state = parse_state(data, limits=self._request.limits)
        except CtxauditError as error:
            raise TargetError(
                f"{label}: expected a state file (or --scan for another text), got: {error}"
            ) from None
        self._cite(path, label, citations_of(state, label))

    def _read_receipt(self, path: PurePath, label: str, data: bytes) -> None:
        try:
            receipt = parse_receipt_file(data, limits=self._request.limits)
        except CtxauditError as error:
            raise TargetError(f"{label}: expected a receipt, got: {error}") from None
        note_blocks(receipt, label, self._homes.graph)
        self._cite(path, label, receipt_citations(receipt, label))

    def _cite(self, path: PurePath, label: str, cited: Iterable[tuple[str, Citation]]) -> None:
        part = self._part_for_citing(path, label)
        for pointer, citation in cited:
            if part is None:
                self._loose.append((pointer, citation, label))
            else:
                part.cite(pointer, citation)

    def _part_for_citing(self, path: PurePath, label: str) -> AuditPart | None:
        """Give the part of a state or receipt; None where it depends on what else is named."""
        named = (self._request.transcript_root, self._request.artifact_root)
        parent = TrustedRoot(path.parent).path.absolute()
        if None not in named or (parent.name not in CITING_FOLDERS and named != (None, None)):
            return self._operators_part()
        if parent.name not in CITING_FOLDERS:
            self._lone_files.append(label)
            return None
        return self._add_home(TrustedRoot(parent.parent), prefix="")

    def _scan(self, text: str, label: str) -> None:
        self._loose += [
            (hit.pointer, Citation(label, f"line {hit.line}", None, hit.text), label)
            for hit in scan_text(text)
        ]

    def _part_for_loose(self) -> AuditPart:
        request = self._request
        if request.transcript_root is not None or request.artifact_root is not None:
            return self._operators_part()
        match self._home_parts:
            case [part]:
                return part
            case _ if not any(_is_pointer(pointer) for pointer, _, _ in self._loose):
                return self._operators_part()  # none of them leads anywhere
            case [] if len(self._tree_parts) == 1:
                return self._tree_parts[0]  # pointers into the transcripts that were named
            case [] if self._lone_files:
                raise TargetError(
                    f"{self._lone_files[0]}: expected --transcript-root and --artifact-root, "
                    "one state home, or a file in the states/ or receipts/ of a home"
                )
            case []:
                raise TargetError(
                    "pointers: expected --transcript-root, --artifact-root or both, one state home "
                    "or one folder of transcripts"
                )
            case _:
                raise TargetError("pointers: expected one state home to look in, got several")

    def _operators_part(self) -> AuditPart:
        if self._operator_part is None:
            request = self._request
            self._operator_part = self._add_part(
                AuditPart(
                    transcripts=_root(request.transcript_root),
                    artifacts=_root(request.artifact_root),
                )
            )
        return self._operator_part

    def _add_home(self, home: TrustedRoot, *, prefix: str) -> AuditPart:
        # A home and a file in its states/ or receipts/ are one: each pointer counts once.
        place = home.path.absolute()
        known = self._home_at.get(place)
        if known is not None:
            return known
        part = self._home_at[place] = self._homes.part_of(home, prefix=prefix)
        self._parts.append(part)
        self._home_parts.append(part)
        return part

    def _add_part(self, part: AuditPart) -> AuditPart:
        request = self._request
        policies = () if request.policy is None else (request.policy,)
        part = replace(part, limits=request.limits, policies=policies)
        self._parts.append(part)
        return part


def _root(path: str | None) -> TrustedRoot | None:
    return None if path is None else TrustedRoot(path)


def _is_known_transcript(path: PurePath) -> bool:
    """Say whether a file that was named is of a known format of transcripts, by its content."""
    try:
        with TrustedRoot(path.parent) as root, root.open_file(path.name) as file:
            return find_format(read_head(file, path.name)) is not None
    except CtxauditError:
        return False  # it is read in another way, which tells what is wrong with it


def _is_unknown(root: TrustedRoot, name: str) -> bool:
    """Say whether a file holds records, none of them of a known format."""
    try:
        with root.open_file(name) as file:
            head = read_head(file, name)
    except CtxauditError:
        return False
    return bool(head.objects) and find_format(head) is None


def _is_pointer(text: str) -> bool:
    try:
        parse_source_pointer(text)
    except SourcePointerError:
        return False
    return True


def _not_a_session(label: str) -> TargetError:
    return TargetError(
        f"{label}: expected a state home or transcripts, got the artifacts of a session; "
        "name the home that it lies in"
    )


def _unusable(label: str, error: CtxauditError) -> TargetError:
    return TargetError(f"{label}: {error}")


def _require_roots(part: AuditPart) -> None:
    """Refuse to guess: a pointer whose kind has no root cannot be called missing."""
    roots = {
        SourcePointerKind.TRANSCRIPT: part.transcripts,
        SourcePointerKind.ARTIFACT: part.artifacts,
    }
    if None not in roots.values():
        return
    for text in part.citations:
        try:
            kind = parse_source_pointer(text).kind
        except SourcePointerError:
            continue
        if roots[kind] is None:
            raise TargetError(f"--{kind}-root: expected one for {kind} pointers, got none")
