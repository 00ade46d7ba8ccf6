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

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from provenance.messages._anthropic_rules import problems as anthropic_problems
from provenance.messages._openai_rules import chat_problems, responses_problems
from provenance.messages._problems import ProviderProblem, ProviderRule, Row
from provenance.messages.failures import UnknownProviderError
from provenance.messages.shapes import BlockKind, blocks_of, role_of

__all__ = ["PROVIDERS", "ProviderProblem", "ProviderRule", "check_provider_rules"]

_SIDES = {"user": "user", "tool": "user", "assistant": "assistant"}

PROVIDERS: Final = ("anthropic", "openai-chat", "openai-responses")
"""The providers whose rules are known."""


def check_provider_rules(
    messages: Sequence[object],
    provider: str,
    *,
    manual_thinking: bool = False,
    alternating_roles: bool = False,
) -> tuple[ProviderProblem, ...]:
    """Name what a provider would refuse.

    Args:
        messages: the messages or items of a request; never changed.
        provider: one of `PROVIDERS`.
        manual_thinking: the request asks Anthropic for extended thinking with a budget; then the
            last turn with calls has to begin with thinking.
        alternating_roles: also name messages of one side behind each other. The providers accept
            them today (Anthropic combines them into one turn), and layer 3 makes them; templates of
            models that one runs oneself may not.

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
    if alternating_roles:
        found = chain(found, _of_alternation(rows))
    return tuple(sorted(found, key=lambda one: (one.message_index, one.block_index or 0)))


def _of_alternation(rows: Sequence[Row]) -> Iterator[ProviderProblem]:
    """Name each message that goes on with the side that spoke before.

    Several results are one turn, and so are items of Responses beside the message they belong to.
    """
    before: Row | None = None
    for row in rows:
        side = _SIDES.get(row.role)
        if side is None:
            continue
        if before is not None and _SIDES[before.role] == side:
            is_item = row.blocks[0].value is row.message and row.role == "assistant"
            if not is_item and not (_gives_results_alone(row) and _gives_results_alone(before)):
                detail = f"expected the other side, got {side} behind {side}"
                yield ProviderProblem(row.index, ProviderRule.ROLES_ALTERNATE, detail)
        before = row


def _gives_results_alone(row: Row) -> bool:
    return all(block.kind is BlockKind.TOOL_RESULT for block in row.blocks)
