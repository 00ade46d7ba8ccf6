"""What a provider refuses beyond the tool protocol.

Guarantees: a second, named check, apart from `validate_tool_protocol`: it never raises on what
messages hold, names every breach with its place, and holds no text of any message. Linear; nothing
is changed. It knows what can be seen in the messages alone: not the model, its settings, or whether
a signature is true. Where models of a provider differ, the strictest counts.

Sources stand with the rules, in `_anthropic_rules.py` and `_openai_rules.py`.

Example:
    >>> history = [
    ...     {"role": "user", "content": "List."},
    ...     {"role": "assistant", "content": "What?"},
    ... ]
    >>> for found in check_provider_rules(history, "anthropic"):
    ...     print(found.message_index, found.rule)
    1 trailing_assistant
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from provenance.messages._anthropic_rules import problems as anthropic_problems
from provenance.messages._openai_rules import chat_problems, responses_problems
from provenance.messages._problems import ProviderProblem, ProviderRule, Row
from provenance.messages.failures import UnknownProviderError
from provenance.messages.shapes import blocks_of, role_of

__all__ = ["PROVIDERS", "ProviderProblem", "ProviderRule", "check_provider_rules"]

PROVIDERS: Final = ("anthropic", "openai-chat", "openai-responses")
"""The providers whose rules are known."""


def check_provider_rules(
    messages: Sequence[object], provider: str, *, manual_thinking: bool = False
) -> tuple[ProviderProblem, ...]:
    """Name what a provider would refuse.

    Args:
        messages: the messages or items of a request; never changed.
        provider: one of `PROVIDERS`.
        manual_thinking: the request asks Anthropic for extended thinking with a budget; then the
            last turn with calls has to begin with thinking.

    Returns:
        Each breach, in the order of the messages; nothing, where the provider has no reason to
        refuse that shows in the messages.

    Raises:
        UnknownProviderError: `provider` is none of `PROVIDERS`.
    """
    rows = [
        Row(index, role_of(message), blocks_of(message), message)
        for index, message in enumerate(messages)
    ]
    if provider == "anthropic":
        found = anthropic_problems(rows, thinking=manual_thinking)
    elif provider == "openai-chat":
        found = chat_problems(rows)
    elif provider == "openai-responses":
        found = responses_problems(rows)
    else:
        raise UnknownProviderError(f"provider: expected {', '.join(PROVIDERS)}, got another name")
    return tuple(sorted(found, key=lambda one: (one.message_index, one.block_index or 0)))
