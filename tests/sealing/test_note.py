"""Notes, checkpoints and proofs: one spelling each, and nothing that is nearly one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.sealing.checkpoint import Checkpoint, parse_checkpoint, parse_checkpoint_text
from provenance.sealing.keys import SignatureVerdict, generate_signer, judge_signature, sign_note
from provenance.sealing.merkle import inclusion_proof, leaf_hash, tree_root
from provenance.sealing.note import (
    MAX_NOTE_BYTES,
    NoteError,
    NoteSignature,
    SignedNote,
    is_key_name,
    parse_base64,
    parse_note,
    print_note,
)
from provenance.sealing.proof import (
    InclusionProof,
    ProofFault,
    check_proof,
    parse_proof,
    print_proof,
)

SIGNER = generate_signer("ctxaudit.example/log")
OTHER = generate_signer("ctxaudit.example/log")
ENTRIES = [f"entry {number}".encode() for number in range(11)]
LEAVES = [leaf_hash(entry) for entry in ENTRIES]
CHECKPOINT = Checkpoint("ctxaudit.example/log", len(LEAVES), tree_root(LEAVES))
NOTE = sign_note(CHECKPOINT.text, SIGNER)

_names = st.text(min_size=1, max_size=20).filter(is_key_name)
_lines = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=10), max_size=4
)
_signatures = st.lists(
    st.builds(NoteSignature, _names, st.binary(min_size=4, max_size=4), st.binary(min_size=1)),
    min_size=1,
    max_size=3,
)


@given(_lines, _signatures)
def test_a_note_reads_back_as_it_was(lines: list[str], signatures: list[NoteSignature]) -> None:
    note = SignedNote("".join(f"{line}\n" for line in ["x", *lines]), tuple(signatures))
    assert parse_note(print_note(note)) == note


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_what_parses_prints_back(data: bytes) -> None:
    for parse, show in ((parse_note, print_note), (parse_proof, print_proof)):
        try:
            found = parse(data)
        except NoteError:
            continue
        assert show(found) == data  # type: ignore[operator]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text\n",
        b"text\n\n",
        NOTE[:-1],
        NOTE + b"\n",
        NOTE + b"x",
        NOTE.replace(b"\n", b"\r\n"),
        NOTE.replace("\u2014".encode(), b"-"),
        NOTE.replace(b" ctxaudit", b"  ctxaudit"),
        NOTE.replace(b"=\n", b"\n"),
        b"\xef\xbb\xbf" + NOTE.replace(b"log\n", b"l\tog\n"),
        NOTE.replace(b"log\n11", b"log\xff\n11"),
        b"a\n\n" + "\u2014 name+plus AAAAAAA=\n".encode(),
        b"a\n\n" + "\u2014 name AAAAAA==\n".encode(),  # an id and no signature
        b"a\n\n" + "\u2014 na\u00a0me AAAAAAA=\n".encode(),
        b"a" * MAX_NOTE_BYTES + b"\n\n" + "\u2014 name AAAAAAA=\n".encode(),
        b"a\n\n" + "\u2014 name AAAAAAA=\n".encode() * 65,
    ],
)
def test_what_is_no_note(data: bytes) -> None:
    with pytest.raises(NoteError):
        parse_note(data)


@pytest.mark.parametrize("text", ["AA", "AAA", "AAB=", "A===", "AAA=\n", "AA A", "AA-_", "\u0661"])
def test_base64_has_one_spelling(text: str) -> None:
    with pytest.raises(NoteError):
        parse_base64(text)


@pytest.mark.parametrize("at", range(0, len(NOTE), 3))
def test_every_altered_checkpoint_fails(at: int) -> None:
    data = NOTE[:at] + bytes([NOTE[at] ^ 1]) + NOTE[at + 1 :]
    try:
        _, note = parse_checkpoint(data)
    except NoteError:
        return
    assert judge_signature(note, SIGNER.verifier) is not SignatureVerdict.VALID


def test_a_signature_of_another_key_is_passed_over_and_a_bad_one_is_not() -> None:
    ours, theirs = parse_note(NOTE), parse_note(sign_note(CHECKPOINT.text, OTHER))
    both = SignedNote(ours.text, (*theirs.signatures, *ours.signatures))
    assert judge_signature(both, SIGNER.verifier) is SignatureVerdict.VALID
    assert judge_signature(both, OTHER.verifier) is SignatureVerdict.VALID
    assert judge_signature(theirs, SIGNER.verifier) is SignatureVerdict.ABSENT
    (one,) = ours.signatures
    bad = NoteSignature(one.name, one.key_id, bytes(64))
    for signatures in ((bad,), (one, bad), (bad, one)):
        note = SignedNote(ours.text, signatures)
        assert judge_signature(note, SIGNER.verifier) is SignatureVerdict.INVALID


@pytest.mark.parametrize(
    "text",
    [
        "",
        "origin\n1\n",
        CHECKPOINT.text[:-1],
        CHECKPOINT.text.replace("11\n", "011\n"),
        CHECKPOINT.text.replace("11\n", "+11\n"),
        CHECKPOINT.text.replace("11\n", "1_1\n"),
        CHECKPOINT.text.replace("11\n", "\u0661\n"),
        CHECKPOINT.text.replace("11\n", f"{10**18}\n"),
        CHECKPOINT.text.replace("ctxaudit", ""[:0] + "\u200b"),
        "\n" + CHECKPOINT.text,
        CHECKPOINT.text + "\n",
        "origin\n1\nAAAA\n",
    ],
)
def test_what_is_no_checkpoint(text: str) -> None:
    with pytest.raises(NoteError):
        parse_checkpoint_text(text)


def test_extension_lines_are_kept() -> None:
    checkpoint = Checkpoint("origin", 3, bytes(32), ("one", "two"))
    assert parse_checkpoint_text(checkpoint.text) == checkpoint


@given(st.integers(0, len(LEAVES) - 1), st.booleans())
def test_a_proof_reads_back_and_proves(index: int, has_extra: bool) -> None:
    extra = ENTRIES[index] if has_extra else None
    proof = InclusionProof(index, inclusion_proof(LEAVES, index), NOTE, extra)
    assert parse_proof(print_proof(proof)) == proof
    assert check_proof(proof, ENTRIES[index], SIGNER.verifier) == CHECKPOINT


@given(st.data())
def test_every_altered_proof_fails(data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(LEAVES) - 1))
    text = print_proof(InclusionProof(index, inclusion_proof(LEAVES, index), NOTE, ENTRIES[index]))
    at = data.draw(st.integers(0, len(text) - 1))
    altered = text[:at] + bytes([text[at] ^ (1 << data.draw(st.integers(0, 7)))]) + text[at + 1 :]
    try:
        proof = parse_proof(altered)
    except NoteError:
        return
    found = check_proof(proof, proof.extra or b"", SIGNER.verifier)
    assert isinstance(found, ProofFault)


def test_a_proof_says_why_it_proves_nothing() -> None:
    proof = InclusionProof(2, inclusion_proof(LEAVES, 2), NOTE)
    assert check_proof(proof, ENTRIES[3], SIGNER.verifier) is ProofFault.INCLUSION
    assert check_proof(proof, ENTRIES[2], OTHER.verifier) is ProofFault.KEY
    broken = InclusionProof(2, proof.hashes, NOTE[:-1])
    assert check_proof(broken, ENTRIES[2], SIGNER.verifier) is ProofFault.CHECKPOINT
    note = parse_note(NOTE)
    (one,) = note.signatures
    forged = SignedNote(note.text, (NoteSignature(one.name, one.key_id, bytes(64)),))
    bad = InclusionProof(2, proof.hashes, print_note(forged))
    assert check_proof(bad, ENTRIES[2], SIGNER.verifier) is ProofFault.SIGNATURE
