"""The Merkle tree of RFC 6962, section 2.1: hashes, proofs, and checking them.

Guarantees: pure. Leaves and inner nodes are hashed in domains of their own. A proof is accepted
only if it has exactly the hashes that the two positions call for; verifying costs as many hashes as
the proof is long. A tree is built in memory of its depth.

Example:
    >>> leaves = [leaf_hash(entry) for entry in (b"a", b"b", b"c")]
    >>> proof = inclusion_proof(leaves, 1)
    >>> is_included(leaves[1], 1, size=3, root=tree_root(leaves), proof=proof)
    True
    >>> is_included(leaves[0], 1, size=3, root=tree_root(leaves), proof=proof)
    False
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from hmac import compare_digest

from provenance.errors import CallerError

__all__ = [
    "EMPTY_ROOT",
    "HASH_BYTES",
    "GrowingTree",
    "TreePositionError",
    "consistency_proof",
    "inclusion_proof",
    "is_consistent",
    "is_included",
    "leaf_hash",
    "node_hash",
    "tree_root",
]

HASH_BYTES = 32
EMPTY_ROOT = hashlib.sha256(b"").digest()
_sha256 = hashlib.sha256


class TreePositionError(CallerError, ValueError):
    """A position or size that the tree does not have."""

    code = "tree_position"


def leaf_hash(entry: bytes) -> bytes:
    """Hash an entry: SHA-256 of a zero byte and the entry."""
    return _sha256(b"\0" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash an inner node: SHA-256 of a one byte and its two children."""
    return _sha256(b"\1" + left + right).digest()


class GrowingTree:
    """A tree that leaves are added to; it keeps one hash for each level."""

    __slots__ = ("_peaks", "size")

    def __init__(self) -> None:
        """Begin with the empty tree."""
        self.size = 0
        # Roots of the perfect subtrees, the largest first: one for each bit of the size.
        self._peaks: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        """Add the hash of a leaf."""
        peaks = self._peaks
        rest = self.size
        while rest & 1:
            leaf = _sha256(b"\1" + peaks.pop() + leaf).digest()
            rest >>= 1
        peaks.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """Give the root of what was added so far."""
        if not self._peaks:
            return EMPTY_ROOT
        root = self._peaks[-1]
        for peak in reversed(self._peaks[:-1]):
            root = node_hash(peak, root)
        return root


def tree_root(leaves: Iterable[bytes]) -> bytes:
    """Give the root of a tree with these leaf hashes."""
    tree = GrowingTree()
    for leaf in leaves:
        tree.append(leaf)
    return tree.root()


def inclusion_proof(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """Give the hashes that lead from a leaf to the root, the sibling of the leaf first.

    Args:
        leaves: the leaf hashes of the whole tree.
        index: of the leaf, counted from 0.

    Raises:
        TreePositionError: there is no such leaf.
    """
    if not 0 <= index < len(leaves):
        raise TreePositionError(f"index: expected 0 to {len(leaves) - 1}, got {index}")
    path: list[bytes] = []
    start, end = 0, len(leaves)
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            path.append(_root_of(leaves, middle, end))
            end = middle
        else:
            path.append(_root_of(leaves, start, middle))
            start = middle
    return tuple(reversed(path))


def consistency_proof(leaves: Sequence[bytes], old_size: int) -> tuple[bytes, ...]:
    """Give the hashes that show that a tree began as one of `old_size` leaves.

    Args:
        leaves: the leaf hashes of the whole tree.
        old_size: from 1 to their number; then the proof of the same tree is empty.

    Raises:
        TreePositionError: there was no such tree.
    """
    if not 0 < old_size <= len(leaves):
        raise TreePositionError(f"old_size: expected 1 to {len(leaves)}, got {old_size}")
    path: list[bytes] = []
    start, end = 0, len(leaves)
    is_whole = True  # the old tree is known by its root as long as we only went left
    while end != old_size:
        middle = start + _split(end - start)
        if old_size <= middle:
            path.append(_root_of(leaves, middle, end))
            end = middle
        else:
            path.append(_root_of(leaves, start, middle))
            start = middle
            is_whole = False
    if not is_whole:
        path.append(_root_of(leaves, start, end))
    return tuple(reversed(path))


def is_included(leaf: bytes, index: int, *, size: int, root: bytes, proof: Sequence[bytes]) -> bool:
    """Say whether a proof leads from a leaf hash to the root (RFC 9162, section 2.1.3.2)."""
    if not 0 <= index < size or any(len(one) != HASH_BYTES for one in proof):
        return False
    node, last = index, size - 1
    found = leaf
    for sibling in proof:
        if last == 0:
            return False  # longer than the way
        if node & 1 or node == last:
            found = node_hash(sibling, found)
            while node and not node & 1:
                node >>= 1
                last >>= 1
        else:
            found = node_hash(found, sibling)
        node >>= 1
        last >>= 1
    return last == 0 and compare_digest(found, root)


def is_consistent(
    *, old_size: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]
) -> bool:
    """Say whether a proof shows that the new tree began as the old one (RFC 9162, 2.1.4.2).

    Every tree began as the empty one: then the proof is empty and the old root the empty tree's.
    """
    if any(len(one) != HASH_BYTES for one in proof) or not 0 <= old_size <= size:
        return False
    if old_size in (0, size):
        expected = EMPTY_ROOT if old_size == 0 else root
        return not proof and compare_digest(old_root, expected)
    hashes = list(proof)
    if old_size & (old_size - 1) == 0:
        hashes.insert(0, old_root)
    if not hashes:
        return False
    node, last = old_size - 1, size - 1
    while node & 1:
        node >>= 1
        last >>= 1
    old_found = found = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return False
        if node & 1 or node == last:
            old_found = node_hash(sibling, old_found)
            found = node_hash(sibling, found)
            while node and not node & 1:
                node >>= 1
                last >>= 1
        else:
            found = node_hash(found, sibling)
        node >>= 1
        last >>= 1
    return last == 0 and compare_digest(old_found, old_root) and compare_digest(found, root)


def _split(size: int) -> int:
    """Give the largest power of two below a size of 2 or more."""
    return 1 << ((size - 1).bit_length() - 1)


def _root_of(leaves: Sequence[bytes], start: int, end: int) -> bytes:
    tree = GrowingTree()
    for position in range(start, end):
        tree.append(leaves[position])
    return tree.root()
