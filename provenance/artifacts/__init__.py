"""Artifacts: large tool output kept on disk, named by pointers, recorded in a ledger.

Example:
    >>> from provenance.artifacts import encode_name
    >>> encode_name("a/b")
    'x-a_2fb'
"""

from provenance.artifacts.failures import (
    ContentRefused,
    SpillArgumentError,
    StoreWriteError,
    WindowError,
)
from provenance.artifacts.ledger import (
    LedgerFault,
    LedgerFaultKind,
    find_removed,
    read_ledger,
)
from provenance.artifacts.ledger_entry import (
    LedgerEntry,
    LedgerError,
    LedgerEvent,
    encode_entry,
    parse_entry,
)
from provenance.artifacts.names import encode_name
from provenance.artifacts.spill_policy import SpillOutcome, SpillPolicy, SpillReason
from provenance.artifacts.store import ArtifactStore, SpilledArtifact
from provenance.artifacts.windows import Window

__all__ = [
    "ArtifactStore",
    "ContentRefused",
    "LedgerEntry",
    "LedgerError",
    "LedgerEvent",
    "LedgerFault",
    "LedgerFaultKind",
    "SpillArgumentError",
    "SpillOutcome",
    "SpillPolicy",
    "SpillReason",
    "SpilledArtifact",
    "StoreWriteError",
    "Window",
    "WindowError",
    "encode_entry",
    "encode_name",
    "find_removed",
    "parse_entry",
    "read_ledger",
]
