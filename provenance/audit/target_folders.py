"""A folder that was named: a state home, a tree of transcripts, or neither.

Guarantees: a folder is walked without following a link, and what is passed over or cannot be read
is told; so is a state home below it. A folder of a home's name does not hide what else lies there.

Example:
    >>> from provenance.audit.notes import Notes
    >>> request = AuditRequest(targets=("/nowhere",))
    >>> maker = PlanMaker(request, Notes(), on_wait=None)
    >>> read_folder("/nowhere", "nowhere", request, Notes(), maker)
    False
"""

from __future__ import annotations

from collections.abc import Sequence

from provenance.audit.home import HOME_MARKERS, is_own_transcript
from provenance.audit.ledgers import LINES_ENDINGS, is_session_folder
from provenance.audit.nested_homes import NestedHomes
from provenance.audit.notes import Notes
from provenance.audit.part import AuditPart
from provenance.audit.request import CITING_FOLDERS, AuditRequest, TargetError
from provenance.audit.target_plan import PlanMaker
from provenance.errors import CtxauditError
from provenance.findings import Finding, Severity
from provenance.fs import Entry, SourceAbsent, TrustedRoot
from provenance.fs.failures import FileFailure
from provenance.fs.reasons import reason_of
from provenance.limits import Limits
from provenance.pointers import is_name
from provenance.resolution import Reason
from provenance.transcripts.discovery import Candidate, find_candidates, open_candidate
from provenance.transcripts.formats import NATIVE

__all__ = ["not_a_session", "read_folder"]

_CITING_ENDINGS = (".json", ".sqlite3")
_PASSED_OVER = {
    "folder_too_deep": (
        Severity.WARNING,
        "folder: expected fewer levels above it, got more than are looked into",
    ),
    "link_not_followed": (Severity.INFO, "name: a link, which was not followed"),
}


def read_folder(
    target: str, label: str, request: AuditRequest, notes: Notes, maker: PlanMaker
) -> bool:
    """Read a folder into a plan; False where there is none of that name.

    Raises:
        TargetError: it cannot be listed, or is a part of a home that says nothing alone: the
            artifacts of one session, its states or its receipts.
    """
    root = TrustedRoot(target)
    try:
        with root.open_directory() as directory:
            entries = directory.entries()
    except SourceAbsent:
        return False
    except CtxauditError as error:
        raise TargetError(f"{label}: {error}") from None
    names = [entry.name for entry in entries]
    prefix = f"{label}/" if maker.has_several else ""
    is_home = not request.only_transcripts and not HOME_MARKERS.isdisjoint(names)
    if not is_home and is_session_folder(entries):
        raise not_a_session(label)
    if not is_home and _is_citing_folder(root, entries):
        raise TargetError(
            f"{label}: expected a state home or transcripts, got the {root.path.absolute().name} "
            "of a home; name the home, or a file in the folder"
        )
    candidates = _candidates(
        root,
        prefix,
        notes,
        is_home=is_home,
        nested=None if request.only_transcripts else maker.nested,
    )
    if is_home:
        # A folder of a home's name must not hide what else lies there.
        candidates = tuple(one for one in candidates if _is_foreign(root, one, request.limits))
    elif candidates or request.only_transcripts:
        part = maker.add_part(AuditPart(transcripts=root, prefix=prefix))
        maker.add_tree(part, root, candidates, prefix=part.prefix)
        return True
    part = maker.add_home(root, prefix=prefix)
    maker.homes.fill(root, part)
    maker.nested.is_audited(root)
    if candidates:
        maker.add_tree(part, root, candidates, prefix=part.prefix)
    return True


def _is_citing_folder(root: TrustedRoot, entries: Sequence[Entry]) -> bool:
    """Whether this is the folder of a home's states or receipts, with nothing else in it."""
    return (
        root.path.absolute().name in CITING_FOLDERS
        and any(entry.name.endswith(_CITING_ENDINGS) for entry in entries)
        and not any(
            entry.kind == "directory" or entry.name.endswith(LINES_ENDINGS) for entry in entries
        )
    )


def _is_foreign(home: TrustedRoot, candidate: Candidate, limits: Limits) -> bool:
    """Say whether what lies in a home, but not where it keeps its own, is of another agent."""
    if is_own_transcript(candidate.names):
        return False
    try:
        with open_candidate(home, candidate, limits=limits) as opened:
            return opened.format is not None and opened.format.name != NATIVE
    except CtxauditError:
        return False  # nobody says that it is a transcript


def _candidates(
    root: TrustedRoot,
    prefix: str,
    notes: Notes,
    *,
    is_home: bool,
    nested: NestedHomes | None,
) -> tuple[Candidate, ...]:
    """Walk a folder for what may hold transcripts.

    A folder that cannot be read is told, and so is a home below it.
    """

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
        notes.add(Finding(str(reason), Severity.ERROR, target, message=message))

    def on_passed_over(names: tuple[str, ...], code: str) -> None:
        if is_told(names):
            return
        severity, message = _PASSED_OVER[code]
        notes.add(Finding(code, severity, prefix + ("/".join(names) or "."), message=message))

    def on_folder(names: tuple[str, ...], entries: Sequence[Entry]) -> None:
        if names and nested is not None:
            nested.look(root, names, entries, target=prefix + "/".join(names), in_home=is_home)

    return tuple(
        find_candidates(
            root, on_failure=on_failure, on_passed_over=on_passed_over, on_folder=on_folder
        )
    )


def not_a_session(label: str) -> TargetError:
    """Give the error for the folder, or the ledger, of one session's artifacts."""
    return TargetError(
        f"{label}: expected a state home or transcripts, got the artifacts of a session; "
        "name the home that it lies in"
    )
