"""What the strict readers of seals say where they refuse: the field, expected before got."""

from __future__ import annotations

import base64

import pytest

from provenance.sealing.checkpoint import Checkpoint, is_origin, parse_checkpoint_text
from provenance.sealing.leaves import MAX_ENTRY_BYTES, EntryError, StateLeaf, parse_entry
from provenance.sealing.merkle import TreePositionError, consistency_proof, inclusion_proof
from provenance.sealing.note import (
    MAX_NOTE_BYTES,
    NoteError,
    is_key_name,
    parse_base64,
    parse_note,
)
from provenance.sealing.proof import (
    MAX_PROOF_BYTES,
    InclusionProof,
    parse_proof,
    print_proof,
)

_SIGNED = "\u2014 name AAAAAAA=\n".encode()
_NOTE = b"text\n\n" + _SIGNED
_HEAD = b"c2sp.org/tlog-proof@v1\n"
_HASH = base64.b64encode(bytes(32))
_DIGEST = "0" * 64
_LEAF = "ctxaudit.leaf/1"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b"a" * (MAX_NOTE_BYTES - len(_SIGNED) - 1) + b"\n\n" + _SIGNED,
            f"note: expected at most {MAX_NOTE_BYTES} bytes, got more",
        ),
        (b"\xff\n\n" + _SIGNED, "note: expected UTF-8, got another encoding"),
        (b"a\tb\n\n" + _SIGNED, "note: expected no control characters, got one"),
        (b"text\n", "note: expected an empty line before the signatures, got none"),
        (_NOTE[:-1], "note: expected a line end after the last signature, got none"),
        (b"text\n\n" + _SIGNED * 65, "note: expected at most 64 signatures, got more"),
        (b"text\n\nname AA\n", "signature: expected a line that begins with a dash, got another"),
        (
            "text\n\n\u2014 name\n".encode(),
            "signature: expected the name of a key, got another text",
        ),
        (
            "text\n\n\u2014 na+me AAAAAAA=\n".encode(),
            "signature: expected the name of a key, got another text",
        ),
        (
            "text\n\n\u2014 name AAAAAA==\n".encode(),
            "signature: expected more than 4 bytes, got fewer",
        ),
        (
            "text\n\n\u2014 one two AAAAAAA=\n".encode(),
            "base64: expected standard base64, got another text",
        ),
    ],
)
def test_what_is_said_of_a_note(data: bytes, said: str) -> None:
    with pytest.raises(NoteError) as refused:
        parse_note(data)
    assert str(refused.value) == said


def test_what_is_just_a_note() -> None:
    largest = b"a" * (MAX_NOTE_BYTES - len(_SIGNED) - 2) + b"\n\n" + _SIGNED
    assert len(largest) == MAX_NOTE_BYTES
    assert parse_note(largest).signatures == parse_note(_NOTE).signatures
    assert len(parse_note(b"text\n\n" + _SIGNED * 64).signatures) == 64
    assert parse_note(b"\n\n" + _SIGNED).text == "\n"
    assert is_key_name("n" * 255)
    assert not is_key_name("n" * 256)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("AAA", "base64: expected standard base64, got another text"),
        ("AAA=AAA=", "base64: expected standard base64, got another text"),
        ("\u0661", "base64: expected standard base64, got another text"),
        ("AA A", "base64: expected standard base64, got another text"),
        ("AAB=", "base64: expected the canonical spelling, got another"),
    ],
)
def test_what_is_said_of_base64(text: str, said: str) -> None:
    with pytest.raises(NoteError) as refused:
        parse_base64(text)
    assert str(refused.value) == said


_ROOT = base64.b64encode(bytes(32)).decode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("origin\n1\n", "checkpoint: expected origin, size and root hash, got fewer lines"),
        (f"\n1\n{_ROOT}\n", "checkpoint: expected an origin on the first line, got another text"),
        (f" a\n1\n{_ROOT}\n", "checkpoint: expected an origin on the first line, got another text"),
        (f"a\n1\n{_ROOT}\n\n", "checkpoint: expected no empty extension line, got one"),
        ("a\n1\nAAAA\n", "checkpoint: expected a root hash of 32 bytes, got 3"),
        (
            f"a\n01\n{_ROOT}\n",
            "number: expected decimal digits without leading zeros, got another text",
        ),
    ],
)
def test_what_is_said_of_a_checkpoint(text: str, said: str) -> None:
    with pytest.raises(NoteError) as refused:
        parse_checkpoint_text(text)
    assert str(refused.value) == said


def test_which_origins_there_are() -> None:
    assert is_origin("o")
    assert is_origin("o" * 255)
    assert not is_origin("o" * 256)
    assert not is_origin("")
    assert parse_checkpoint_text(Checkpoint("o", 0, bytes(32)).text).size == 0


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            _HEAD + b"index 0\n\n" + b"a" * MAX_PROOF_BYTES,
            f"proof: expected at most {MAX_PROOF_BYTES} bytes, got more",
        ),
        (_HEAD, "proof: expected an empty line before the checkpoint, got none"),
        (_HEAD + b"\xff\n\nx", "proof: expected ASCII before the checkpoint, got another byte"),
        (
            b"c2sp.org/tlog-proof@v2\n\nx",
            "proof: expected c2sp.org/tlog-proof@v1 on the first line, got another text",
        ),
        (_HEAD + b"\nx", "proof: expected the index, got another line"),
        (_HEAD + b"indexes 1\n\nx", "proof: expected the index, got another line"),
        (_HEAD + b"extra AAAA\n\nx", "proof: expected the index, got another line"),
        (
            _HEAD + b"index 0\n" + (_HASH + b"\n") * 65 + b"\nx",
            "proof: expected at most 64 hashes, got more",
        ),
        (_HEAD + b"index 0\nAAAA\n\nx", "proof: expected hashes of 32 bytes, got another length"),
        (
            _HEAD + b"index 01\n\nx",
            "number: expected decimal digits without leading zeros, got another text",
        ),
    ],
)
def test_what_is_said_of_a_proof(data: bytes, said: str) -> None:
    with pytest.raises(NoteError) as refused:
        parse_proof(data)
    assert str(refused.value) == said


def test_what_is_just_a_proof() -> None:
    most = InclusionProof(0, (bytes(32),) * 64, _NOTE)
    assert parse_proof(print_proof(most)) == most
    frame = len(print_proof(InclusionProof(0, (), b"")))
    largest = print_proof(InclusionProof(0, (), b"a" * (MAX_PROOF_BYTES - frame)))
    assert len(largest) == MAX_PROOF_BYTES
    assert parse_proof(largest).index == 0


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("x" * (MAX_ENTRY_BYTES + 1), f"entry: expected at most {MAX_ENTRY_BYTES} bytes, got more"),
        ("\u0661", "entry: expected ASCII, got another byte"),
        (f"{_LEAF[:-1]}2 state a 1 -", f"entry: expected {_LEAF} at its start, got another text"),
        (f"{_LEAF} other x 1 {_DIGEST}", "entry: expected the fields of a known kind, got others"),
        (f"{_LEAF} state a 1", "entry: expected the fields of a known kind, got others"),
        (f"{_LEAF} state %61 1 {_DIGEST}", "entry: expected the canonical spelling, got another"),
        (f"{_LEAF} state a 0 {_DIGEST}", "entry: expected a number of 1 or more, got another text"),
        (
            f"{_LEAF} state a 1 {_DIGEST[:-1]}",
            "entry: expected 64 lower-case hex digits, got another text",
        ),
        (
            f"{_LEAF} lock a 1 gone",
            "entry: expected 64 lower-case hex digits, got another text",
        ),
        (
            f"{_LEAF} ledger ../s 1 {_DIGEST} - - -",
            "entry: expected a session of the pointer grammar, got another text",
        ),
        (
            f"{_LEAF} ledger s 1 {_DIGEST} - a.txt -",
            "entry: expected no file name without an event, got one",
        ),
        (
            f"{_LEAF} ledger s 1 {_DIGEST} stored ../a -",
            "entry: expected an event of the ledger and a file name, got others",
        ),
        (
            f"{_LEAF} ledger s 1 {_DIGEST} stored a.txt {_DIGEST.replace('0', 'A')}",
            "entry: expected 64 lower-case hex digits, got another text",
        ),
    ],
)
def test_what_is_said_of_an_entry(entry: str, said: str) -> None:
    with pytest.raises(EntryError) as refused:
        parse_entry(entry.encode())
    assert str(refused.value) == said


def test_the_largest_entry() -> None:
    frame = len(StateLeaf(b"", 1, _DIGEST).entry)
    leaf = StateLeaf(b"a" * (MAX_ENTRY_BYTES - frame), 1, _DIGEST)
    assert len(leaf.entry) == MAX_ENTRY_BYTES
    assert parse_entry(leaf.entry) == leaf


def test_what_is_said_of_a_position() -> None:
    leaves = [bytes(32)] * 3
    with pytest.raises(TreePositionError) as refused:
        inclusion_proof(leaves, 3)
    assert str(refused.value) == "index: expected 0 to 2, got 3"
    with pytest.raises(TreePositionError) as refused:
        consistency_proof(leaves, 4)
    assert str(refused.value) == "old_size: expected 1 to 3, got 4"
