"""Messages of a request: their shapes, the tool protocol, what they cost in tokens."""

from provenance.messages.calibrated_tokens import CalibratedCounter, input_tokens_of
from provenance.messages.exact_tokens import (
    ENCODINGS,
    ExactCounter,
    MissingTokensExtra,
    UnknownEncodingError,
)
from provenance.messages.failures import (
    NotAToolResultError,
    ToolProtocolError,
    UnknownProviderError,
)
from provenance.messages.protocol import ToolInteraction, validate_tool_protocol
from provenance.messages.provider_rules import (
    PROVIDERS,
    ProviderProblem,
    ProviderRule,
    check_provider_rules,
)
from provenance.messages.repair import (
    INTERRUPTED_TEXT,
    Repair,
    RepairKind,
    repair_tool_protocol,
)
from provenance.messages.shapes import Block, BlockKind, blocks_of, role_of
from provenance.messages.thinking import bound_thinking
from provenance.messages.tokens import (
    HeuristicCounter,
    RequestTokens,
    TokenCounter,
    count_blocks,
    count_request,
    estimate_tokens,
)

__all__ = [
    "ENCODINGS",
    "INTERRUPTED_TEXT",
    "PROVIDERS",
    "Block",
    "BlockKind",
    "CalibratedCounter",
    "ExactCounter",
    "HeuristicCounter",
    "MissingTokensExtra",
    "NotAToolResultError",
    "ProviderProblem",
    "ProviderRule",
    "Repair",
    "RepairKind",
    "RequestTokens",
    "TokenCounter",
    "ToolInteraction",
    "ToolProtocolError",
    "UnknownEncodingError",
    "UnknownProviderError",
    "blocks_of",
    "bound_thinking",
    "check_provider_rules",
    "count_blocks",
    "count_request",
    "estimate_tokens",
    "input_tokens_of",
    "repair_tool_protocol",
    "role_of",
    "validate_tool_protocol",
]
