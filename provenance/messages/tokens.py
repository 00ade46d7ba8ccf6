"""How many tokens messages have: what a counter is, and the estimate that needs no vocabulary.

Guarantees: an estimate is 4 for a message, plus a quarter of the length of its text, plus a
quarter of the JSON of each block, each rounded down, so that the cost of a list is the sum of the
costs of its messages and can be kept a message. Nothing is changed, and no value makes it fail.

It is an estimate: docs/tokens.md shows how far it is off, by kind of text.

Example:
    >>> estimate_tokens([{"role": "user", "content": "x" * 200}])
    54
    >>> count_request([{"role": "user", "content": "x" * 200}], system="Be brief.").total
    56
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from provenance.frozen import sealed
from provenance.messages._fields import field
from provenance.messages._json_text import json_length, plain_encoding
from provenance.messages._openai_chat import SINGLE_FIELDS as _SINGLE_FIELDS
from provenance.messages._parts import many_messages, parts_of
from provenance.messages.shapes import Block, blocks_of

__all__ = [
    "COUNTER_NAMES",
    "HEURISTIC",
    "MESSAGE_TOKENS",
    "HeuristicCounter",
    "RequestTokens",
    "TokenCounter",
    "count_blocks",
    "count_request",
    "counter_name",
    "estimate_tokens",
    "plain_costs",
]

# Role and delimiters, which every provider adds in a form of its own.
MESSAGE_TOKENS = 4
HEURISTIC = "heuristic"
# Those that count the same everywhere; the others are vocabularies.
COUNTER_NAMES = (HEURISTIC, "cl100k_base", "claude_legacy", "o200k_base")
_CHARACTERS_A_TOKEN = 4
SINGLE_FIELDS = frozenset(_SINGLE_FIELDS)


@runtime_checkable
class TokenCounter(Protocol):
    """What counts tokens. The cost of a list of messages is the sum of their costs."""

    def count_text(self, text: str, /) -> int:
        """Count plain text."""
        ...

    def count_block(self, block: object, /) -> int:
        """Count a content block, a tool call, a tool's schema: any JSON value or SDK object."""
        ...

    def count_message(self, message: object, /) -> int:
        """Count one message of any of the three shapes, or an item of the Responses shape."""
        ...

    def count_messages(self, messages: Iterable[object], /) -> int:
        """Count a list of messages."""
        ...


@sealed
@dataclass(frozen=True, slots=True)
class HeuristicCounter:
    """Four characters a token, four tokens a message.

    Close for English and code; two to five times too low for Chinese, hexadecimal and base64.
    """

    def count_text(self, text: str, /) -> int:
        """Give a quarter of the length, rounded down."""
        return len(text) // _CHARACTERS_A_TOKEN

    def count_block(self, block: object, /) -> int:
        """Give a quarter of the length of its JSON, rounded down."""
        return json_length(block) // _CHARACTERS_A_TOKEN

    def count_message(self, message: object, /) -> int:
        """Give 4, plus its text, plus each of its blocks."""
        text, blocks = parts_of(message)
        total = MESSAGE_TOKENS + len(text) // _CHARACTERS_A_TOKEN
        for block in blocks:
            total += json_length(block) // _CHARACTERS_A_TOKEN
        return total

    def count_messages(self, messages: Iterable[object], /) -> int:
        """Give the sum over the messages."""
        return sum(map(self.count_message, many_messages(messages)))


_HEURISTIC = HeuristicCounter()


def estimate_tokens(messages: Iterable[object]) -> int:
    """Estimate the tokens of messages without a vocabulary (`HeuristicCounter`).

    Args:
        messages: messages of any of the three shapes, mappings or SDK objects; system prompt and
            tools are not among them: see `count_request`.
    """
    return _HEURISTIC.count_messages(messages)


def counter_name(counter: TokenCounter) -> str | None:
    """Give the one of `COUNTER_NAMES` that a counter is; None for a counter of somebody's own."""
    if type(counter) is HeuristicCounter:
        return HEURISTIC
    from provenance.messages.exact_tokens import ExactCounter  # noqa: PLC0415 - seldom needed

    return counter.encoding if type(counter) is ExactCounter else None


def count_blocks(
    message: object,
    *,
    counter: TokenCounter | None = None,
    blocks: Sequence[Block] | None = None,
) -> tuple[int, ...]:
    """Count each block of a message, in the order of `blocks_of`.

    With the 4 of the message they make up what the message costs (by a counter that adds up, such
    as the estimate). A message that is one block has all the rest in that one.

    Args:
        message: of any of the three shapes.
        counter: what counts; None is the estimate.
        blocks: `blocks_of(message)`, where it is known already.
    """
    counter = _HEURISTIC if counter is None else counter
    if blocks is None:
        blocks = blocks_of(message)
    if len(blocks) == 1:
        return (max(counter.count_message(message) - MESSAGE_TOKENS, 0),)
    text, _ = parts_of(message)
    # The content that is a text is the first block, if it is one at all: another may be equal.
    has_text = bool(text) and isinstance(field(message, "content"), str)
    return tuple(
        counter.count_text(text)
        if has_text and block.index == 0 and block.value is text
        else counter.count_block(block.value)
        for block in blocks
    )


def plain_costs(
    message: object, blocks: Sequence[Block]
) -> tuple[tuple[int, ...], list[bytes]] | None:
    """Estimate each block of a message that is made of plain blocks, as most messages are.

    The same as `count_blocks` gives; None for any other message, which has to be counted there.
    Beside the costs stands of each block the JSON with sorted keys and no spaces, which is its
    canonical form.
    """
    found = estimated_plainly(message, blocks)
    if found is None:
        return None
    printed = all_printed(blocks, found[1])
    return None if printed is None else (found[0], printed)


def estimated_plainly(
    message: object, blocks: Sequence[Block]
) -> tuple[tuple[int, ...], list[bytes | None]] | None:
    """The same, with the JSON of those blocks alone that had to be printed to be counted."""
    if type(message) is not dict:
        return None
    content = message.get("content")
    if message.get("role") is None:
        # An item of the Responses shape is counted as it stands.
        tag = message.get("type")
        if type(tag) is not str or tag == "message" or blocks[0].value is not message:
            return None
    elif message.get("tool_calls") is not None:
        # A call counts as a block, and so does all else but a text.
        if len(blocks) == 1 or message["role"] != "assistant":
            return None
    elif type(content) is str:
        # The text alone counts, also where the message is the block.
        if len(blocks) > 1 or not SINGLE_FIELDS.isdisjoint(message):
            return None
        return (len(content) // _CHARACTERS_A_TOKEN,), [None]
    elif (
        type(content) is not list
        or len(content) != len(blocks)
        or blocks[0].value is not content[0]
    ):
        return None
    costs: list[int] = []
    printed: list[bytes | None] = []
    for block in blocks:
        value = block.value
        if value is content and type(value) is str and value and block.index == 0:
            costs.append(len(value) // _CHARACTERS_A_TOKEN)
            printed.append(None)
            continue
        found = plain_encoding(value)
        if found is None:
            return None
        costs.append(found[0] // _CHARACTERS_A_TOKEN)
        printed.append(found[1])
    return tuple(costs), printed


def all_printed(blocks: Sequence[Block], printed: Sequence[bytes | None]) -> list[bytes] | None:
    """Print the blocks that are not printed yet; None where one is not plain."""
    made = [known for known in printed if known is not None]
    if len(made) == len(printed):
        return made
    for at, known in enumerate(printed):
        if known is None:
            found = plain_encoding(blocks[at].value)
            if found is None:
                return None
            made.insert(at, found[1])
    return made


@sealed
@dataclass(frozen=True, slots=True)
class RequestTokens:
    """The tokens of one request.

    Attributes:
        messages: of its messages.
        system: of its system prompt.
        tools: of the schemas of its tools.
    """

    messages: int
    system: int
    tools: int

    @property
    def total(self) -> int:
        """All three together; what the model answers comes on top."""
        return self.messages + self.system + self.tools


def count_request(
    messages: Iterable[object],
    *,
    system: object = None,
    tools: Iterable[object] | None = (),
    counter: TokenCounter | None = None,
) -> RequestTokens:
    """Count a request with what stands beside its messages.

    Args:
        messages: as for `estimate_tokens`.
        system: the system prompt: a string, a list of blocks, or None. Where it is a message of
            its own it is counted there.
        tools: the schemas of the tools, in the provider's shape; None is none.
        counter: what counts; None is the estimate.
    """
    counter = _HEURISTIC if counter is None else counter
    if system is None:
        system_tokens = 0
    elif isinstance(system, str):
        system_tokens = counter.count_text(system)
    elif isinstance(system, list | tuple):
        system_tokens = sum(map(counter.count_block, system))
    else:
        system_tokens = counter.count_block(system)
    return RequestTokens(
        messages=counter.count_messages(messages),
        system=system_tokens,
        tools=0 if tools is None else sum(map(counter.count_block, tools)),
    )
