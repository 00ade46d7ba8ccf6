"""The tree: against the definition of RFC 6962, and every altered proof fails."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.sealing.merkle import (
    EMPTY_ROOT,
    GrowingTree,
    TreePositionError,
    consistency_proof,
    inclusion_proof,
    is_consistent,
    is_included,
    leaf_hash,
    node_hash,
    tree_root,
)

_sizes = st.integers(1, 130)


def _leaves(size: int) -> list[bytes]:
    return [leaf_hash(str(number).encode()) for number in range(size)]


def _defined_root(leaves: Sequence[bytes]) -> bytes:
    """MTH of RFC 6962, section 2.1, word for word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node_hash(_defined_root(leaves[:split]), _defined_root(leaves[split:]))


def test_the_domains() -> None:
    assert leaf_hash(b"x") == hashlib.sha256(b"\0x").digest()
    assert node_hash(b"a" * 32, b"b" * 32) == hashlib.sha256(b"\1" + b"a" * 32 + b"b" * 32).digest()
    assert tree_root([]) == EMPTY_ROOT == hashlib.sha256(b"").digest()


def test_known_roots() -> None:
    # The reference values that implementations of certificate transparency share.
    entries = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657"]
    tree = GrowingTree()
    for entry in entries:
        tree.append(leaf_hash(bytes.fromhex(entry)))
    expected = "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"
    assert tree.root().hex() == expected


@given(_sizes)
def test_a_root_is_the_defined_one(size: int) -> None:
    leaves = _leaves(size)
    assert tree_root(leaves) == _defined_root(leaves)


@given(st.data())
def test_every_inclusion_proof_holds_and_no_altered_one(data: st.DataObject) -> None:
    size = data.draw(_sizes)
    index = data.draw(st.integers(0, size - 1))
    leaves = _leaves(size)
    root, proof = tree_root(leaves), inclusion_proof(leaves, index)
    assert is_included(leaves[index], index, size=size, root=root, proof=proof)
    # Another leaf, place, root, or proof; another size may share a path, but not a root.
    other = data.draw(st.integers(0, size))
    if other != index:
        assert not is_included(leaves[index], other, size=size, root=root, proof=proof)
    assert not is_included(leaf_hash(b"other"), index, size=size, root=root, proof=proof)
    assert not is_included(leaves[index], index, size=size, root=leaf_hash(b""), proof=proof)
    for altered in _altered(data, proof):
        assert not is_included(leaves[index], index, size=size, root=root, proof=altered)
    assert not is_included(leaves[index], -1, size=size, root=root, proof=proof)
    assert not is_included(leaves[index], index, size=0, root=root, proof=proof)


@given(st.data())
def test_every_consistency_proof_holds_and_no_altered_one(data: st.DataObject) -> None:
    size = data.draw(_sizes)
    old_size = data.draw(st.integers(1, size))
    leaves = _leaves(size)
    root, old_root = tree_root(leaves), tree_root(leaves[:old_size])
    proof = consistency_proof(leaves, old_size)
    sizes = {"old_size": old_size, "size": size}
    assert is_consistent(**sizes, old_root=old_root, root=root, proof=proof)
    assert not is_consistent(**sizes, old_root=leaf_hash(b""), root=root, proof=proof)
    if old_size < size:
        assert not is_consistent(**sizes, old_root=old_root, root=leaf_hash(b""), proof=proof)
    for altered in _altered(data, proof):
        assert not is_consistent(**sizes, old_root=old_root, root=root, proof=altered)
    # A history that was rewritten and grew on has no proof.
    rewritten = [leaf_hash(b"rewritten"), *leaves[1:]]
    forged = consistency_proof(rewritten, old_size)
    assert not is_consistent(**sizes, old_root=old_root, root=tree_root(rewritten), proof=forged)


def _altered(data: st.DataObject, proof: tuple[bytes, ...]) -> list[tuple[bytes, ...]]:
    longer = (*proof, leaf_hash(b"more"))
    if not proof:
        return [longer]
    at = data.draw(st.integers(0, len(proof) - 1))
    bit = data.draw(st.integers(0, 255))
    flipped = bytearray(proof[at])
    flipped[bit // 8] ^= 1 << bit % 8
    altered = [
        longer,
        (leaf_hash(b"more"), *proof),
        proof[:at] + proof[at + 1 :],
        (*proof[:at], bytes(flipped), *proof[at + 1 :]),
        (*proof[:at], proof[at][:-1], *proof[at + 1 :]),
    ]
    if len(set(proof)) > 1:
        altered.append(proof[::-1])
    return [one for one in altered if one != proof]


def test_the_empty_tree_began_every_tree() -> None:
    root = tree_root(_leaves(3))
    assert is_consistent(old_size=0, old_root=EMPTY_ROOT, size=3, root=root, proof=())
    assert not is_consistent(old_size=0, old_root=root, size=3, root=root, proof=())
    assert not is_consistent(old_size=0, old_root=EMPTY_ROOT, size=3, root=root, proof=(root,))
    assert not is_consistent(old_size=4, old_root=root, size=3, root=root, proof=())
    for old_size in (1, 2, 3, 5, 6, 7):
        old_root = tree_root(_leaves(old_size))
        assert not is_consistent(
            old_size=old_size, old_root=old_root, size=8, root=tree_root(_leaves(8)), proof=()
        )


@pytest.mark.parametrize("index", [-1, 3])
def test_a_place_that_is_not_there(index: int) -> None:
    with pytest.raises(TreePositionError):
        inclusion_proof(_leaves(3), index)


@pytest.mark.parametrize("size", [0, 4])
def test_a_size_that_was_not_there(size: int) -> None:
    with pytest.raises(TreePositionError):
        consistency_proof(_leaves(3), size)
