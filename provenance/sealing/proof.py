r"""Proofs that leave the house (C2SP `tlog-proof`): one entry, its way to the root, a checkpoint.

Guarantees: pure. A proof is accepted in one spelling only. The entry that ours carry as extra data
is proved by the way itself; nothing else in the file is trusted.

Example:
    >>> proof = InclusionProof(0, (), b"note", b"entry")
    >>> print_proof(proof).split(b"\n")[:3]
    [b'c2sp.org/tlog-proof@v1', b'extra ZW50cnk=', b'index 0']
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from enum import StrEnum

from provenance.sealing.checkpoint import Checkpoint, parse_checkpoint, parse_tree_number
from provenance.sealing.keys import SignatureVerdict, Verifier, judge_signature
from provenance.sealing.merkle import HASH_BYTES, is_included, leaf_hash
from provenance.sealing.note import MAX_NOTE_BYTES, NoteError, parse_base64

__all__ = [
    "MAX_PROOF_BYTES",
    "InclusionProof",
    "ProofFault",
    "check_proof",
    "parse_proof",
    "print_proof",
]

_HEAD = "c2sp.org/tlog-proof@v1"
_MOST_HASHES = 64  # a tree of 2**63 leaves
_MAX_EXTRA_CHARS = 1 << 17
MAX_PROOF_BYTES = MAX_NOTE_BYTES + _MAX_EXTRA_CHARS + _MOST_HASHES * 64


class ProofFault(StrEnum):
    """Why a proof proves nothing."""

    CHECKPOINT = "seal_checkpoint_invalid"
    KEY = "seal_key_unknown"
    SIGNATURE = "seal_signature_invalid"
    INCLUSION = "proof_invalid"


@dataclass(frozen=True, slots=True)
class InclusionProof:
    """A proof, nothing of it checked.

    Attributes:
        index: of the entry, counted from 0.
        hashes: from the leaf's sibling to the child of the root, 32 bytes each.
        checkpoint: a signed note.
        extra: the entry; None: the proof has none.
    """

    index: int
    hashes: tuple[bytes, ...]
    checkpoint: bytes
    extra: bytes | None = None


def print_proof(proof: InclusionProof) -> bytes:
    """Write a proof as a `.tlog-proof` file holds it."""
    lines = [_HEAD]
    if proof.extra is not None:
        lines.append(f"extra {base64.b64encode(proof.extra).decode('ascii')}")
    lines.append(f"index {proof.index}")
    lines += [base64.b64encode(one).decode("ascii") for one in proof.hashes]
    return "".join(f"{line}\n" for line in lines).encode("ascii") + b"\n" + proof.checkpoint


def parse_proof(data: bytes) -> InclusionProof:
    """Read a proof.

    Raises:
        NoteError: it is none.
    """
    if len(data) > MAX_PROOF_BYTES:
        raise NoteError(f"proof: expected at most {MAX_PROOF_BYTES} bytes, got more")
    head, gap, checkpoint = data.partition(b"\n\n")
    if not gap:
        raise NoteError("proof: expected an empty line before the checkpoint, got none")
    try:
        lines = head.decode("ascii").split("\n")
    except UnicodeDecodeError:
        raise NoteError("proof: expected ASCII before the checkpoint, got another byte") from None
    if lines.pop(0) != _HEAD:
        raise NoteError(f"proof: expected {_HEAD} on the first line, got another text")
    extra = None
    if lines and lines[0].startswith("extra "):
        extra = parse_base64(lines.pop(0).removeprefix("extra "))
    if not lines or not lines[0].startswith("index "):
        raise NoteError("proof: expected the index, got another line")
    index = parse_tree_number(lines.pop(0).removeprefix("index "))
    if len(lines) > _MOST_HASHES:
        raise NoteError(f"proof: expected at most {_MOST_HASHES} hashes, got more")
    hashes = tuple(map(parse_base64, lines))
    if any(len(one) != HASH_BYTES for one in hashes):
        raise NoteError("proof: expected hashes of 32 bytes, got another length")
    proof = InclusionProof(index, hashes, checkpoint, extra)
    if print_proof(proof) != data:
        raise NoteError("proof: expected the canonical form, got another spelling")
    return proof


def check_proof(proof: InclusionProof, entry: bytes, verifier: Verifier) -> Checkpoint | ProofFault:
    """Check a proof without anything else: the checkpoint that it leads to, or what is wrong.

    Args:
        proof: as it was read.
        entry: what it is said to prove.
        verifier: the key of the log.
    """
    # 1. The checkpoint is one.
    try:
        checkpoint, note = parse_checkpoint(proof.checkpoint)
    except NoteError:
        return ProofFault.CHECKPOINT
    # 2. It is signed by the key that is trusted.
    match judge_signature(note, verifier):
        case SignatureVerdict.ABSENT:
            return ProofFault.KEY
        case SignatureVerdict.INVALID:
            return ProofFault.SIGNATURE
        case SignatureVerdict.VALID:
            pass
    # 3. The entry leads to its root.
    is_proved = is_included(
        leaf_hash(entry),
        proof.index,
        size=checkpoint.size,
        root=checkpoint.root,
        proof=proof.hashes,
    )
    return checkpoint if is_proved else ProofFault.INCLUSION
