"""Seals: a Merkle tree over what a home holds, signed; proofs; and the keys.

Example:
    >>> generate_signer("example.com/log").verifier.name
    'example.com/log'
"""

from provenance.sealing.checkpoint import Checkpoint, parse_checkpoint
from provenance.sealing.keys import (
    Signer,
    Verifier,
    generate_signer,
    parse_signer,
    parse_verifier,
)
from provenance.sealing.reading import read_log
from provenance.sealing.sealed_log import SealedLog

__all__ = [
    "Checkpoint",
    "SealedLog",
    "Signer",
    "Verifier",
    "generate_signer",
    "parse_checkpoint",
    "parse_signer",
    "parse_verifier",
    "read_log",
]
