"""A file that was named: a transcript, a state, a receipt, or a text to look for pointers in.

Guarantees: which of them it is, its name and content say, never a mix of both; what is none of them
is refused before anything is verified. Reads are bounded.

Example:
    >>> from provenance.audit.notes import Notes
    >>> request = AuditRequest(targets=("/nowhere/a",))
    >>> read_file("/nowhere/a", "a", request, PlanMaker(request, Notes(), on_wait=None))
    Traceback (most recent call last):
    provenance.audit.request.TargetError: a: expected a file or folder, got nothing of that name
"""

from __future__ import annotations

from pathlib import PurePath

from provenance.audit.ledgers import LINES_ENDINGS, TRANSCRIPT_ENDING, is_ledger
from provenance.audit.part import AuditPart, WholeTranscript
from provenance.audit.receipts import (
    is_receipt,
    note_blocks,
    parse_receipt_file,
    receipt_citations,
)
from provenance.audit.request import AuditRequest, TargetError
from provenance.audit.scan import scan_text
from provenance.audit.states import citations_of, parse_state
from provenance.audit.target_folders import not_a_session
from provenance.audit.target_plan import PlanMaker
from provenance.audit.whole import is_allowed
from provenance.audit_report import Citation
from provenance.errors import CtxauditError
from provenance.fs import SourceAbsent, TrustedRoot, read_operator_file
from provenance.pointers import is_name
from provenance.transcripts.discovery import Candidate, has_content_hash
from provenance.transcripts.formats import NATIVE, find_format
from provenance.transcripts.sources import read_head

__all__ = ["read_file", "scan_loose"]

_BYTE_ORDER_MARK = "\ufeff"


def read_file(target: str, label: str, request: AuditRequest, maker: PlanMaker) -> None:
    """Read a file into a plan.

    Raises:
        TargetError: nothing of that name, or none of what can be audited.
    """
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
            data = read_operator_file(target, max_bytes=most, named_pipes=False)
    except SourceAbsent:
        raise TargetError(f"{label}: expected a file or folder, got nothing of that name") from None
    except CtxauditError as error:
        raise TargetError(f"{label}: {error}") from None
    if is_transcript:
        _read_transcript(path, label, request, maker)
    elif request.scan:
        scan_loose(data.decode("utf-8", "replace"), label, maker)
    elif is_receipt(data):
        _read_receipt(path, label, data, request, maker)
    else:
        _read_state(path, label, data, request, maker)


def scan_loose(text: str, label: str, maker: PlanMaker) -> None:
    """Take the pointers that stand anywhere in a text."""
    hits = scan_text(text.removeprefix(_BYTE_ORDER_MARK))
    maker.add_loose(
        ((hit.pointer, Citation(label, f"line {hit.line}", None, hit.text)) for hit in hits), label
    )


def _read_transcript(path: PurePath, label: str, request: AuditRequest, maker: PlanMaker) -> None:
    root = TrustedRoot(path.parent)
    try:
        # A transcript that is not there is a mistyped target, not missing evidence.
        root.open_file(path.name).close()
    except SourceAbsent:
        raise TargetError(f"{label}: expected a file or folder, got nothing of that name") from None
    except CtxauditError:
        pass  # what stands in its place is the audit's to tell
    part = maker.add_part(AuditPart(transcripts=root))
    session_id = path.name.removesuffix(TRANSCRIPT_ENDING)
    if request.as_format == NATIVE and (session_id == path.name or not is_name(session_id)):
        raise TargetError(f"{label}: expected a name like <session id>.jsonl, got another")
    asked = WholeTranscript(session_id, label)
    if is_name(session_id) and is_allowed(part, asked, tenant=request.tenant):
        if is_ledger(root, path.name):
            raise not_a_session(label)
        if request.as_format is None and _is_unknown(root, path.name):
            raise TargetError(
                f"{label}: expected a transcript of a known format (or --as), got another file"
            )
    folder = label.rpartition("/")[0]
    maker.add_tree(
        part,
        root,
        (Candidate((path.name,), has_hash=has_content_hash(root)),),
        prefix=f"{folder}/" if folder else "",
        label=label,
    )


def _read_state(
    path: PurePath, label: str, data: bytes, request: AuditRequest, maker: PlanMaker
) -> None:
    try:
        state = parse_state(data, limits=request.limits)
    except CtxauditError as error:
        raise TargetError(
            f"{label}: expected a state file (or --scan for another text), got: {error}"
        ) from None
    maker.cite(path, label, citations_of(state, label))


def _read_receipt(
    path: PurePath, label: str, data: bytes, request: AuditRequest, maker: PlanMaker
) -> None:
    try:
        receipt = parse_receipt_file(data, limits=request.limits)
    except CtxauditError as error:
        raise TargetError(f"{label}: expected a receipt, got: {error}") from None
    note_blocks(receipt, label, maker.homes.graph)
    maker.cite(path, label, receipt_citations(receipt, label))


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
