"""Compaction of messages in four layers, with a receipt for every block that it touched.

Example:
    >>> compact_context([{"role": "user", "content": "hello"}], None).tokens_after
    5
"""

from provenance.compaction.asking import Summarizer, SummaryOutcome
from provenance.compaction.canonical_form import CanonicalFormError, canonical_bytes, digest_of
from provenance.compaction.changes import ChangedBlock, InsertedBlock
from provenance.compaction.config import CompactionConfig, CompactionConfigError
from provenance.compaction.layers import (
    dedup_file_reads,
    generate_summary,
    prune_old_messages,
    truncate_tool_results,
)
from provenance.compaction.pipeline import (
    compact_context,
    compact_context_async,
    compact_if_needed,
)
from provenance.compaction.receipt import RECEIPT_SCHEMA, Receipt, ReceiptError
from provenance.compaction.results import (
    CompactionResult,
    LayerReport,
    MessageViewLimitExceeded,
)
from provenance.compaction.spilling import SpillFunction
from provenance.compaction.verification import ReceiptProblem, verify_receipt

__all__ = [
    "RECEIPT_SCHEMA",
    "CanonicalFormError",
    "ChangedBlock",
    "CompactionConfig",
    "CompactionConfigError",
    "CompactionResult",
    "InsertedBlock",
    "LayerReport",
    "MessageViewLimitExceeded",
    "Receipt",
    "ReceiptError",
    "ReceiptProblem",
    "SpillFunction",
    "Summarizer",
    "SummaryOutcome",
    "canonical_bytes",
    "compact_context",
    "compact_context_async",
    "compact_if_needed",
    "dedup_file_reads",
    "digest_of",
    "generate_summary",
    "prune_old_messages",
    "truncate_tool_results",
    "verify_receipt",
]
