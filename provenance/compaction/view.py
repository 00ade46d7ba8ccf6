"""The disposable copy of a history that the layers work on, with what each message costs.

Guarantees: the caller's messages are never changed, and what is given back shares no container with
them. Each message is read once and counted once, so that dropping thousands of them costs no count
at all. Each block remembers where it stood and what it cost there. A message is copied when it is
known to stay, or when somebody else's code is about to run (`detach`); a layer changes none.

Example:
    >>> view = View.of([{"role": "user", "content": "hello"}], HeuristicCounter())
    >>> view.tokens, len(view.messages())
    (5, 1)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256

import msgspec

from provenance.messages.protocol import (
    ToolInteraction,
    validate_rows,
    validate_tool_protocol,
)
from provenance.messages.shapes import (
    Block,
    BlockKind,
    blocks_of,
    copy_message,
    read_message,
    without_some,
)
from provenance.messages.tokens import (
    MESSAGE_TOKENS,
    HeuristicCounter,
    TokenCounter,
    all_printed,
    count_blocks,
    estimated_plainly,
)

__all__ = ["DIGEST_LENGTH", "Entry", "HeuristicCounter", "View"]

# Names of the module are read faster than those of an enum.
_THINKING, _OTHER = BlockKind.THINKING, BlockKind.OTHER
# Of a digest, in characters.
DIGEST_LENGTH = 64


# There are as many as messages. The garbage collector does not look into one: nothing that it
# refers to leads back to it.
class Entry(msgspec.Struct, eq=False, gc=False):
    """One message of the view.

    Attributes:
        message: the caller's own until `detach`, or one made out of it; never to be changed.
        role: who it is by.
        blocks: its blocks.
        tokens: what it costs.
        origin: its place in the original; None for a message that a layer put in.
        places: for each of its blocks, the block's place in the original message.
        known_costs: what each block of the original message cost, where it was counted already.
        digests: the digests of the blocks of the original, one behind the other, where they were
            taken already: a tuple would be one more thing for the collector, in each message.
        is_changed: a layer put another message here.
        is_ours: the message is a copy.
        is_kept: it belongs to the earlier summary that the caller named: not summarised again.
        is_never_pruned: it holds an earlier summary, and is pruned as little as message 0 is.
    """

    message: object
    role: str
    blocks: tuple[Block, ...]
    tokens: int
    origin: int | None
    places: Sequence[int]
    known_costs: tuple[int, ...] | None = None
    digests: str | None = None
    is_changed: bool = False
    is_ours: bool = False
    is_kept: bool = False
    is_never_pruned: bool = False

    @classmethod
    def of(
        cls,
        message: object,
        counter: TokenCounter,
        origin: int | None,
        *,
        digests_from: float = math.inf,
    ) -> Entry:
        """Read and count a message.

        Args:
            message: of any shape; never changed.
            counter: counts it.
            origin: its place in the original; None where a layer puts it in.
            digests_from: from so many tokens on its blocks get their digests, if they are at hand.
        """
        role, blocks = read_message(message)
        costs = digests = None
        if type(counter) is HeuristicCounter:
            # The estimate adds up, so that its blocks need not be counted again when they go.
            found = estimated_plainly(message, blocks)
            costs = count_blocks(message, blocks=blocks) if found is None else found[0]
            tokens = MESSAGE_TOKENS + sum(costs)
            if found is not None and tokens >= digests_from:
                # Most bytes were made to be counted, and are hot.
                printed = all_printed(blocks, found[1])
                if printed is not None:
                    digests = "".join([sha256(one).hexdigest() for one in printed])
        else:
            tokens = counter.count_message(message)
        places = range(len(blocks))
        return cls(message, role, blocks, tokens, origin, places, costs, digests)

    def costs(self, counter: TokenCounter) -> tuple[int, ...]:
        """Give what each block of the original message cost; ask before the first change."""
        if self.known_costs is None:
            self.known_costs = count_blocks(self.message, counter=counter, blocks=self.blocks)
        return self.known_costs

    def detach(self) -> None:
        """Copy the message, if it is not a copy yet."""
        if not self.is_ours:
            self.message = self.copied()
            self.is_ours = True
            self.blocks = blocks_of(self.message)

    def copied(self) -> object:
        """Give a message that is nobody else's."""
        return self.message if self.is_ours else copy_message(self.message)

    def put(self, message: object, blocks: tuple[Block, ...], tokens: int) -> None:
        """Take another message whose blocks stand for the same ones."""
        self.is_changed = True
        self.is_ours = False
        self.message = message
        self.blocks = blocks
        self.tokens = tokens

    def drop(
        self,
        message: object,
        blocks: tuple[Block, ...],
        gone: Collection[int],
        counter: TokenCounter,
    ) -> None:
        """Take the message that is left without some blocks, and those that it has."""
        costs = self.costs(counter)
        self.places = [place for at, place in enumerate(self.places) if at not in gone]
        self.is_ours = False
        self.message = message
        self.blocks = blocks
        if type(counter) is HeuristicCounter and not self.is_changed:
            # What the blocks that stay cost is known.
            self.tokens = MESSAGE_TOKENS + sum([costs[place] for place in self.places])
        else:
            self.tokens = counter.count_message(message)


class View:
    """Messages on their way through the layers."""

    def __init__(self, entries: list[Entry], counter: TokenCounter) -> None:
        """Take entries and who counts."""
        self.entries = entries
        self.counter = counter
        self.tokens = sum([entry.tokens for entry in entries])
        # Most histories have neither signed thinking nor what only providers know about.
        self.has_bonds = any(
            block.kind is _THINKING or block.kind is _OTHER
            for entry in entries
            for block in entry.blocks
        )
        self._interactions: dict[str, ToolInteraction] | None = None

    @classmethod
    def of(
        cls, messages: Sequence[object], counter: TokenCounter, *, soft_limit: float = math.inf
    ) -> View:
        """Take a history.

        Args:
            messages: the history; never changed.
            counter: counts each message.
            soft_limit: from so many tokens on blocks get their digests while they are counted.

        Raises:
            ToolProtocolError: it is no sequence of messages.
        """
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
            validate_tool_protocol(messages)  # which says what was expected
        entries: list[Entry] = []
        tokens = 0
        for index, message in enumerate(messages):
            # From there on something has to go, and most of it will.
            entry = Entry.of(message, counter, index, digests_from=soft_limit - tokens)
            tokens += entry.tokens
            entries.append(entry)
        return cls(entries, counter)

    def messages(self) -> list[object]:
        """Give the messages as they are now, copied: the end of the view."""
        return [entry.copied() for entry in self.entries]

    def detach(self) -> None:
        """Copy the messages that are the caller's own still, before other code can change them."""
        for entry in self.entries:
            entry.detach()

    def interactions(self) -> dict[str, ToolInteraction]:
        """Give the tool interactions by the messages' places now.

        Raises:
            ToolProtocolError: the messages break the tool protocol.
        """
        if self._interactions is None:
            self._interactions = validate_rows((entry.role, entry.blocks) for entry in self.entries)
        return self._interactions

    def tool_names(self) -> dict[object, str]:
        """Give the tool that each call is of, by the call's id."""
        return {
            block.call_id: block.name
            for entry in self.entries
            for block in entry.blocks
            if block.kind is BlockKind.TOOL_CALL
            and block.name is not None
            and isinstance(block.call_id, str)
        }

    def without(self, index: int, gone: Sequence[Block]) -> Entry | None:
        """Take blocks, each named once, out of a message; None where nothing of it is left."""
        entry = self.entries[index]
        if len(gone) >= len(entry.blocks):
            return None
        dropped = frozenset([block.index for block in gone])
        left = without_some(entry.message, entry.blocks, dropped)
        if left is None:
            return None
        entry.drop(*left, dropped, self.counter)
        return entry

    def replace(self, entries: list[Entry]) -> None:
        """Take other entries."""
        self.entries = entries
        self.tokens = sum([entry.tokens for entry in entries])
        self._interactions = None
