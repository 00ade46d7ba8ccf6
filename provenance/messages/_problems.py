"""What breaks a provider's rule.

Guarantees: a problem names the place, the rule, and what was expected before what was got; it holds
no text of any message.

Example:
    >>> problem = ProviderProblem(0, ProviderRule.FIRST_MESSAGE, "expected the user, got assistant")
    >>> problem.rule.value
    'first_message'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from provenance.frozen import sealed
from provenance.messages._blocks import Block, BlockKind
from provenance.messages._fields import text_field

__all__ = ["ProviderProblem", "ProviderRule", "Row", "blank_texts", "long_call_id"]


class ProviderRule(StrEnum):
    """A rule of a provider, beyond the tool protocol."""

    CALL_ARGUMENTS = "call_arguments"
    CALL_ID_FORM = "call_id_form"
    CALLS_LAST = "calls_last"
    EMPTY_CONTENT = "empty_content"
    FIRST_MESSAGE = "first_message"
    ITEM_ID_TWICE = "item_id_twice"
    MESSAGE_COUNT = "message_count"
    MESSAGE_SHAPE = "message_shape"
    RESULT_WITHOUT_CALL = "result_without_call"
    RESULTS_FIRST = "results_first"
    RESULTS_NEXT = "results_next"
    ROLE = "role"
    ROLES_ALTERNATE = "roles_alternate"
    SERVER_RESULT_WITHOUT_CALL = "server_result_without_call"
    SYSTEM_PLACE = "system_place"
    THINKING_PLACE = "thinking_place"
    THINKING_SIGNATURE = "thinking_signature"
    TRAILING_ASSISTANT = "trailing_assistant"


@sealed
@dataclass(frozen=True, slots=True)
class ProviderProblem:
    """One breach of a provider's rule.

    Attributes:
        message_index: the place of the message; the number of messages where one is missing.
        rule: which rule.
        detail: what was expected, then what was got.
        block_index: the place of the block in it, as `blocks_of` counts; None: the whole message.
    """

    message_index: int
    rule: ProviderRule
    detail: str
    block_index: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One message as the rules read it."""

    index: int
    role: str
    blocks: Sequence[Block]
    message: object


def long_call_id(row: Row, block: Block, longest: int) -> ProviderProblem | None:
    """A call or result whose id is longer than the provider takes."""
    size = len(block.call_id) if isinstance(block.call_id, str) else 0
    if size <= longest:
        return None
    return ProviderProblem(
        row.index,
        ProviderRule.CALL_ID_FORM,
        f"call id: expected at most {longest} characters, got {size}",
        block.index,
    )


def blank_texts(row: Row) -> list[Block]:
    """The text blocks of a message that a provider takes for no text.

    An empty one always is; one of white space is where the message says nothing else.
    """
    texts = [block for block in row.blocks if block.kind is BlockKind.TEXT]
    has_words = any(_text(block).strip() for block in texts)
    return [block for block in texts if not _text(block) or not (has_words or _text(block).strip())]


def _text(block: Block) -> str:
    return block.value if isinstance(block.value, str) else text_field(block.value, "text")
