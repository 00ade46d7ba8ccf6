"""Trees, proofs, notes and keys held against Go's golang.org/x/mod/sumdb/tlog and note."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from provenance.sealing.checkpoint import Checkpoint, parse_checkpoint
from provenance.sealing.keys import (
    SignatureVerdict,
    generate_signer,
    judge_signature,
    parse_signer,
    parse_verifier,
    sign_note,
)
from provenance.sealing.merkle import (
    consistency_proof,
    inclusion_proof,
    is_consistent,
    is_included,
    leaf_hash,
    tree_root,
)
from provenance.sealing.note import parse_note

GOPATH = Path("/usr/share/gocode")
SIZE = 37
ENTRIES = [f"entry {number}".encode() * (number % 5) for number in range(SIZE)]
LEAVES = [leaf_hash(entry) for entry in ENTRIES]
ROOTS = [tree_root(LEAVES[:size]) for size in range(SIZE + 1)]
SIGNER = generate_signer("ctxaudit.example/peer")


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Any:
    go = shutil.which("go")
    if go is None:
        pytest.skip("no independent implementation to ask: Go (golang-go) is not installed")
    if not (GOPATH / "src/golang.org/x/mod/sumdb/tlog").is_dir():
        pytest.skip("no independent implementation to ask: golang-golang-x-mod-dev is missing")
    room = tmp_path_factory.mktemp("go")
    source = Path(__file__).parent.parent / "data/go/peer.go"
    environment = os.environ | {
        "GO111MODULE": "off",
        "GOPATH": str(GOPATH),
        "GOCACHE": str(room / "cache"),
        "GOFLAGS": "",
        "CGO_ENABLED": "0",
    }
    subprocess.run(
        [go, "build", "-o", str(room / "peer"), str(source)], env=environment, check=True
    )

    def ask(**question: Any) -> dict[str, Any]:
        defaults = {"Vkey": SIGNER.verifier.text, "Skey": SIGNER.text, "Text": "hello\n"}
        done = subprocess.run(
            [str(room / "peer")],
            input=json.dumps(defaults | question).encode(),
            capture_output=True,
            check=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return ask


def test_an_independent_implementation_says_the_same(ask: Any) -> None:
    """One process of the peer for all: what it computes, and what it says of ours."""
    records = []
    trees = []
    for size in range(1, SIZE + 1):
        for index in range(size):
            proof = inclusion_proof(LEAVES[:size], index)
            records.append((proof, size, ROOTS[size], index, LEAVES[index]))
            old = consistency_proof(LEAVES[:size], index + 1)
            trees.append((old, size, ROOTS[size], index + 1, ROOTS[index + 1]))
    wrong = [(p, s, _flipped(r, 3), i, leaf) for p, s, r, i, leaf in records[::7]]
    note = sign_note("origin\n3\nhello\n", SIGNER)
    altered = [_flipped(note, at) for at in range(0, len(note), 5)]
    answer = ask(
        Entries=[_text(entry) for entry in ENTRIES],
        Records=[_record(one) for one in records + wrong],
        Trees=[_tree(one) for one in trees],
        Notes=[_text(one) for one in (note, *altered)],
        Text="a\n\nb\n",
    )
    # What it computes is what we compute.
    assert [base64.b64decode(root) for root in answer["Roots"]] == ROOTS[1:]
    for proof, size, root, index, leaf in records:
        theirs = tuple(map(base64.b64decode, answer["Records"][f"{size}/{index}"]))
        assert theirs == proof
        assert is_included(leaf, index, size=size, root=root, proof=theirs)
    for proof, size, root, old, old_root in trees:
        theirs = tuple(map(base64.b64decode, answer["Trees"][f"{size}/{old}"]))
        assert theirs == proof
        assert is_consistent(old_size=old, old_root=old_root, size=size, root=root, proof=theirs)
    # What it says of ours.
    assert answer["RecordsOK"] == [True] * len(records) + [False] * len(wrong)
    assert answer["TreesOK"] == [True] * len(trees)
    assert answer["NotesOK"] == [True] + [False] * len(altered)
    # Notes, keys and checkpoints go both ways; Ed25519 signatures are the same bytes.
    assert answer["Signed"].encode() == sign_note("a\n\nb\n", SIGNER)
    verifier = parse_verifier(answer["Vkey"])
    assert parse_signer(answer["Skey"]).verifier == verifier
    assert parse_signer(answer["Skey"]).text == answer["Skey"]
    theirs_note = parse_note(answer["BySkey"].encode())
    assert judge_signature(theirs_note, verifier) is SignatureVerdict.VALID
    assert judge_signature(theirs_note, SIGNER.verifier) is SignatureVerdict.ABSENT
    checkpoint = Checkpoint("go.sum database tree", SIZE, ROOTS[SIZE])
    assert checkpoint.text == answer["Tree"]
    assert parse_checkpoint(sign_note(checkpoint.text, SIGNER))[0] == checkpoint


def _record(one: tuple[Any, ...]) -> dict[str, Any]:
    proof, size, root, index, leaf = one
    return {
        "Proof": list(map(_text, proof)),
        "Size": size,
        "Root": _text(root),
        "Index": index,
        "Leaf": _text(leaf),
    }


def _tree(one: tuple[Any, ...]) -> dict[str, Any]:
    proof, size, root, old, old_root = one
    return {
        "Proof": list(map(_text, proof)),
        "Size": size,
        "Root": _text(root),
        "OldSize": old,
        "OldRoot": _text(old_root),
    }
