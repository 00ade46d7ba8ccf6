"""Carries out `ctxaudit log prove` and `ctxaudit log check`.

Guarantees: a proof is made from a log whose roots were computed anew. What a checked proof says is
printed only when it is proved, and whether any evidence was compared stands in the last line.

Example:
    $ ctxaudit log check event.tlog-proof --key seal.key.pub --evidence event.json
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import click

from provenance.audit.request import AuditRequest
from provenance.audit.verifying import PartVerifier
from provenance.errors import CtxauditError
from provenance.fs import TrustedRoot, atomic_write, read_operator_file
from provenance.fs.operator_stream import iterate_operator_file
from provenance.fs.places import Place, place_of
from provenance.limits import DEFAULT_LIMITS
from provenance.pointers import SourcePointer, SourcePointerError, parse_source_pointer
from provenance.resolution import SourceResolution, SourceResolutionStatus
from provenance.sealing.checkpoint import Checkpoint
from provenance.sealing.leaves import EntryError, EventLeaf, Leaf, LedgerLeaf, parse_entry
from provenance.sealing.merkle import inclusion_proof, leaf_hash
from provenance.sealing.note import NoteError
from provenance.sealing.proof import (
    MAX_PROOF_BYTES,
    InclusionProof,
    ProofFault,
    check_proof,
    parse_proof,
    print_proof,
)
from provenance.sealing.reading import read_log
from provenance.sealing.sealed_log import SealedLog

from .exit_codes import ExitCode
from .keys import read_verifier
from .operator_files import is_folder, label_of
from .roots import part_below
from .streams import OutputFailed, one_line, talk, write_bytes, write_text
from .verdict import code_of

__all__ = ["CheckOrder", "check", "prove"]


@dataclass(frozen=True, slots=True)
class CheckOrder:
    """The options of one `ctxaudit log check`."""

    proof: str
    key: str
    pointer: str | None
    evidence: str | None
    home: str | None


def prove(ctx: click.Context, text: str, home: str, output: str | None) -> ExitCode:
    """Write a proof; gives the exit code.

    Raises:
        click.UsageError: a name cannot be used.
        OutputFailed: the proof could not be written.
    """
    pointer = _pointer(ctx, text)
    if not is_folder(home):
        raise click.UsageError(f"--home: {label_of(home)}: expected a folder, got none", ctx)
    if output is not None and place_of(output, [home]) is not Place.OUTSIDE:
        raise click.UsageError(
            f"--output: {label_of(output)}: expected a place outside the home, got one below it",
            ctx,
        )
    with TrustedRoot(home) as root:
        log = read_log(root, None)
    if not log.is_sound:
        for fault in log.faults:
            if not fault.is_warning:
                talk(f"ctxaudit log prove: {fault.file or 'seals'}: {fault.message} ({fault.code})")
        return ExitCode.CORRUPT
    resolution = _resolve(home, text)
    if resolution.status is not SourceResolutionStatus.AVAILABLE:
        return _refuse("prove", resolution)
    entry = _sealed_entry(log, pointer, resolution)
    if not isinstance(entry, bytes):
        return entry
    hashes = log.hashes
    index = hashes.index(leaf_hash(entry))
    proof = InclusionProof(index, inclusion_proof(hashes, index), log.notes[-1], entry)
    data = print_proof(proof)
    if output is None:
        write_bytes(data)
        return ExitCode.OK
    try:
        atomic_write(output, data)
    except CtxauditError as error:
        raise OutputFailed(f"--output: {label_of(output)}: {error}") from None
    return ExitCode.OK


def check(ctx: click.Context, order: CheckOrder) -> ExitCode:
    """Check a proof; gives the exit code.

    Raises:
        click.UsageError: a file cannot be read.
    """
    wanted = None if order.pointer is None else _pointer(ctx, order.pointer)
    verifier = read_verifier(order.key, option="--key")
    label = label_of(order.proof)
    try:
        data = read_operator_file(order.proof, max_bytes=MAX_PROOF_BYTES, named_pipes=False)
    except CtxauditError as error:
        raise click.UsageError(f"{label}: {error}", ctx) from None
    # 1. The proof is one, and of an entry.
    try:
        proof = parse_proof(data)
        if proof.extra is None:
            raise NoteError("extra: expected the entry that is proved, got none")
        leaf = parse_entry(proof.extra)
    except (NoteError, EntryError) as error:
        return _fail(label, str(error), "proof_invalid")
    # 2. It leads to a checkpoint of the key.
    checkpoint = check_proof(proof, proof.extra, verifier)
    if isinstance(checkpoint, ProofFault):
        return _fail(label, f"expected a proof under {verifier.label}, got none", str(checkpoint))
    # 3. It is about what was asked.
    if wanted is not None and not _is_about(leaf, wanted):
        return _fail(
            label, "pointer: expected the one that was asked for, got another", "proof_invalid"
        )
    # 4. The evidence is what it proves.
    said = "not compared"
    if order.evidence is not None or order.home is not None:
        compared = _compare(ctx, order, leaf)
        if isinstance(compared, ExitCode):
            return compared
        said = compared
    write_text(_report(leaf, proof, checkpoint, verifier.label, said))
    return ExitCode.OK


def _compare(ctx: click.Context, order: CheckOrder, leaf: Leaf) -> str | ExitCode:
    label = label_of(order.proof)
    name, expected = _name_of(leaf), _digest_of(leaf)
    if expected is None:
        return _fail(label, "entry: expected one with evidence, got another", "proof_invalid")
    if order.home is not None:
        if not isinstance(leaf, EventLeaf | LedgerLeaf):
            return _fail(
                label, "entry: expected an event or artifact, got another", "proof_invalid"
            )
        resolution = _resolve(order.home, name)
        if resolution.status is not SourceResolutionStatus.AVAILABLE:
            return _refuse("check", resolution)
        found = {resolution.evidence_sha256}
    else:
        found = _file_digests(ctx, order.evidence or "", is_event=isinstance(leaf, EventLeaf))
    if expected not in found:
        message = "evidence: expected the proved digest, got another"
        return _fail(label, message, "proof_evidence_mismatch")
    return "matches"


def _file_digests(ctx: click.Context, path: str, *, is_event: bool) -> set[str | None]:
    try:
        if not is_event:
            sha256 = hashlib.sha256()
            for block in iterate_operator_file(path, named_pipes=False):
                sha256.update(block)
            return {sha256.hexdigest()}
        data = read_operator_file(
            path, max_bytes=DEFAULT_LIMITS.max_foreign_record_bytes, named_pipes=False
        )
    except CtxauditError as error:
        raise click.UsageError(f"--evidence: {label_of(path)}: {error}", ctx) from None
    # A file with the line may have its end, too; it is no part of the evidence.
    return {hashlib.sha256(one).hexdigest() for one in (data, data.rstrip(b"\r\n"))}


def _sealed_entry(
    log: SealedLog, pointer: SourcePointer, resolution: SourceResolution
) -> bytes | ExitCode:
    """Give the entry that covers a verified source, or the exit code where none does."""
    digest = resolution.evidence_sha256
    history = log.history
    if pointer.artifact_name is None:
        ordinal = pointer.sequence or 0
        known = history.events.get(pointer.session_id, ())[ordinal - 1 : ordinal]
        entries = [
            EventLeaf(pointer.session_id, ordinal, one).entry for one in known if one == digest
        ]
        is_known = bool(known)
    else:
        lines = [
            line
            for line in history.ledgers.get(pointer.session_id, ())
            if line.event == "stored" and line.filename == pointer.artifact_name
        ]
        entries = [line.entry for line in lines if line.artifact_sha256 == digest]
        is_known = bool(lines)
    if entries:
        return entries[0]
    code, exit_code = (
        ("seal_mismatch", ExitCode.CORRUPT) if is_known else ("not_sealed", ExitCode.MISSING)
    )
    talk(
        f"ctxaudit log prove: {one_line(resolution.pointer)}: expected a seal that covers it, got "
        f"{'one of other bytes' if is_known else 'none'} ({code})"
    )
    return exit_code


def _resolve(home: str, text: str) -> SourceResolution:
    with PartVerifier(part_below(home, AuditRequest())) as verifier:
        (resolution,) = verifier.verify([text])
    return resolution


def _refuse(command: str, resolution: SourceResolution) -> ExitCode:
    state = resolution.status if resolution.conclusive else "inconclusive"
    talk(
        f"ctxaudit log {command}: {resolution.pointer}: {state} ({resolution.reason}); "
        f"see ctxaudit explain {resolution.reason}"
    )
    return code_of(resolution)


def _fail(label: str, message: str, code: str) -> ExitCode:
    talk(f"ctxaudit log check: {label}: {message} ({code})")
    return ExitCode.CORRUPT


def _pointer(ctx: click.Context, text: str) -> SourcePointer:
    try:
        return parse_source_pointer(text)
    except SourcePointerError as error:
        raise click.UsageError(f"POINTER: {error}", ctx) from None


def _is_about(leaf: Leaf, pointer: SourcePointer) -> bool:
    match leaf:
        case EventLeaf():
            return (leaf.session, leaf.ordinal) == (pointer.session_id, pointer.sequence)
        case LedgerLeaf():
            digest = leaf.artifact_sha256 or ""
            return (leaf.session, leaf.filename) == (
                pointer.session_id,
                pointer.artifact_name,
            ) and digest.startswith(pointer.digest_prefix or "-")
        case _:
            return False


def _digest_of(leaf: Leaf) -> str | None:
    return leaf.artifact_sha256 if isinstance(leaf, LedgerLeaf) else leaf.sha256


def _name_of(leaf: Leaf) -> str:
    match leaf:
        case EventLeaf():
            return f"transcript:{leaf.session}:{leaf.ordinal}"
        case LedgerLeaf():
            if leaf.event == "stored":
                return f"artifact:{leaf.session}:{leaf.filename}:{leaf.artifact_sha256}"
            return f"line {leaf.line} of the ledger of {leaf.session}"
        case _:
            return " ".join(leaf.key)


def _report(leaf: Leaf, proof: InclusionProof, checkpoint: Checkpoint, key: str, said: str) -> str:
    rows = {
        "source": _name_of(leaf),
        "sha256": _digest_of(leaf) or "none",
        "log": checkpoint.origin,
        "entry": f"{proof.index + 1} of {checkpoint.size}",
        "key": key,
        "evidence": said,
    }
    return "".join(f"{name:<9} {one_line(value)}\n" for name, value in rows.items())
