"""Evidence behind an agent's context: kept reachable, and verified each time it is used.

Guarantees: `import provenance` loads nothing else and does nothing. Each public name below is
loaded from its module on first use and then kept, so that a program pays for what it uses.

Example:
    >>> from provenance import parse_source_pointer
    >>> parse_source_pointer("transcript:s1:3").sequence
    3
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from provenance._version import __version__

if TYPE_CHECKING:
    from provenance.artifacts import (
        ArtifactStore,
        SpilledArtifact,
        SpillOutcome,
        SpillPolicy,
    )
    from provenance.compaction import (
        CompactionConfig,
        CompactionConfigError,
        CompactionResult,
        LayerReport,
        MessageViewLimitExceeded,
        Receipt,
        ReceiptError,
        ReceiptProblem,
        SummaryOutcome,
        compact_context,
        compact_context_async,
        compact_if_needed,
        dedup_file_reads,
        generate_summary,
        prune_old_messages,
        truncate_tool_results,
        verify_receipt,
    )
    from provenance.durable import (
        DurableContextState,
        DurableFact,
        PendingItem,
        RetrievalEvidence,
        capture_retrieval_evidence,
        render_durable_context,
        resolve_durable_sources,
        transition_pending,
    )
    from provenance.errors import CallerError, CtxauditError, DataError, MachineError
    from provenance.evidence import EvidenceUnavailable
    from provenance.findings import Finding, Location, Severity
    from provenance.fs import TrustedRoot
    from provenance.limits import DEFAULT_LIMITS, Limits
    from provenance.messages import (
        CalibratedCounter,
        ExactCounter,
        HeuristicCounter,
        ProviderProblem,
        ProviderRule,
        Repair,
        RepairKind,
        RequestTokens,
        TokenCounter,
        ToolInteraction,
        ToolProtocolError,
        check_provider_rules,
        count_request,
        estimate_tokens,
        repair_tool_protocol,
        validate_tool_protocol,
    )
    from provenance.pointers import (
        SourcePointer,
        SourcePointerError,
        SourcePointerKind,
        UnsupportedSourcePointerError,
        artifact_pointer,
        parse_source_pointer,
        transcript_pointer,
    )
    from provenance.resolution import (
        Quiescence,
        Reason,
        SourceResolution,
        SourceResolutionStatus,
        Strength,
    )
    from provenance.resolver import SourcePointerResolver
    from provenance.retention import GcOrder, GcReport, collect_garbage
    from provenance.transcripts import TailRepair, TranscriptEvent, TranscriptWriter, repair_tail

__all__ = [
    "DEFAULT_LIMITS",
    "ArtifactStore",
    "CalibratedCounter",
    "CallerError",
    "CompactionConfig",
    "CompactionConfigError",
    "CompactionResult",
    "CtxauditError",
    "DataError",
    "DurableContextState",
    "DurableFact",
    "EvidenceUnavailable",
    "ExactCounter",
    "Finding",
    "GcOrder",
    "GcReport",
    "HeuristicCounter",
    "LayerReport",
    "Limits",
    "Location",
    "MachineError",
    "MessageViewLimitExceeded",
    "PendingItem",
    "ProviderProblem",
    "ProviderRule",
    "Quiescence",
    "Reason",
    "Receipt",
    "ReceiptError",
    "ReceiptProblem",
    "Repair",
    "RepairKind",
    "RequestTokens",
    "RetrievalEvidence",
    "Severity",
    "SourcePointer",
    "SourcePointerError",
    "SourcePointerKind",
    "SourcePointerResolver",
    "SourceResolution",
    "SourceResolutionStatus",
    "SpillOutcome",
    "SpillPolicy",
    "SpilledArtifact",
    "Strength",
    "SummaryOutcome",
    "TailRepair",
    "TokenCounter",
    "ToolInteraction",
    "ToolProtocolError",
    "TranscriptEvent",
    "TranscriptWriter",
    "TrustedRoot",
    "UnsupportedSourcePointerError",
    "__version__",
    "artifact_pointer",
    "capture_retrieval_evidence",
    "check_provider_rules",
    "collect_garbage",
    "compact_context",
    "compact_context_async",
    "compact_if_needed",
    "count_request",
    "dedup_file_reads",
    "estimate_tokens",
    "generate_summary",
    "parse_source_pointer",
    "prune_old_messages",
    "render_durable_context",
    "repair_tail",
    "repair_tool_protocol",
    "resolve_durable_sources",
    "transcript_pointer",
    "transition_pending",
    "truncate_tool_results",
    "validate_tool_protocol",
    "verify_receipt",
]

# Type checkers read the imports above, the interpreter reads this; a test compares the two.
_HOME = {
    "DEFAULT_LIMITS": "provenance.limits",
    "ArtifactStore": "provenance.artifacts",
    "CalibratedCounter": "provenance.messages",
    "CallerError": "provenance.errors",
    "CompactionConfig": "provenance.compaction",
    "CompactionConfigError": "provenance.compaction",
    "CompactionResult": "provenance.compaction",
    "CtxauditError": "provenance.errors",
    "DataError": "provenance.errors",
    "DurableContextState": "provenance.durable",
    "DurableFact": "provenance.durable",
    "EvidenceUnavailable": "provenance.evidence",
    "ExactCounter": "provenance.messages",
    "Finding": "provenance.findings",
    "GcOrder": "provenance.retention",
    "GcReport": "provenance.retention",
    "HeuristicCounter": "provenance.messages",
    "LayerReport": "provenance.compaction",
    "Limits": "provenance.limits",
    "Location": "provenance.findings",
    "MachineError": "provenance.errors",
    "MessageViewLimitExceeded": "provenance.compaction",
    "PendingItem": "provenance.durable",
    "ProviderProblem": "provenance.messages",
    "ProviderRule": "provenance.messages",
    "Quiescence": "provenance.resolution",
    "Reason": "provenance.resolution",
    "Receipt": "provenance.compaction",
    "ReceiptError": "provenance.compaction",
    "ReceiptProblem": "provenance.compaction",
    "Repair": "provenance.messages",
    "RepairKind": "provenance.messages",
    "RequestTokens": "provenance.messages",
    "RetrievalEvidence": "provenance.durable",
    "Severity": "provenance.findings",
    "SourcePointer": "provenance.pointers",
    "SourcePointerError": "provenance.pointers",
    "SourcePointerKind": "provenance.pointers",
    "SourcePointerResolver": "provenance.resolver",
    "SourceResolution": "provenance.resolution",
    "SourceResolutionStatus": "provenance.resolution",
    "SpillOutcome": "provenance.artifacts",
    "SpillPolicy": "provenance.artifacts",
    "SpilledArtifact": "provenance.artifacts",
    "Strength": "provenance.resolution",
    "SummaryOutcome": "provenance.compaction",
    "TailRepair": "provenance.transcripts",
    "TokenCounter": "provenance.messages",
    "ToolInteraction": "provenance.messages",
    "ToolProtocolError": "provenance.messages",
    "TranscriptEvent": "provenance.transcripts",
    "TranscriptWriter": "provenance.transcripts",
    "TrustedRoot": "provenance.fs",
    "UnsupportedSourcePointerError": "provenance.pointers",
    "artifact_pointer": "provenance.pointers",
    "capture_retrieval_evidence": "provenance.durable",
    "check_provider_rules": "provenance.messages",
    "collect_garbage": "provenance.retention",
    "compact_context": "provenance.compaction",
    "compact_context_async": "provenance.compaction",
    "compact_if_needed": "provenance.compaction",
    "count_request": "provenance.messages",
    "dedup_file_reads": "provenance.compaction",
    "estimate_tokens": "provenance.messages",
    "generate_summary": "provenance.compaction",
    "parse_source_pointer": "provenance.pointers",
    "prune_old_messages": "provenance.compaction",
    "render_durable_context": "provenance.durable",
    "repair_tail": "provenance.transcripts",
    "repair_tool_protocol": "provenance.messages",
    "resolve_durable_sources": "provenance.durable",
    "transcript_pointer": "provenance.pointers",
    "transition_pending": "provenance.durable",
    "truncate_tool_results": "provenance.compaction",
    "validate_tool_protocol": "provenance.messages",
    "verify_receipt": "provenance.compaction",
}

if not TYPE_CHECKING:  # a type checker must still refuse a name that does not exist

    def __getattr__(name: str) -> object:
        """Load a public name from its module on first use (PEP 562)."""
        home = _HOME.get(name)
        if home is None:
            raise AttributeError(f"module 'provenance' has no attribute {name!r}")
        value = getattr(import_module(home), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List what is loaded and what would be loaded on use."""
    return sorted({*globals(), *__all__})
