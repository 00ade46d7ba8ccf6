"""What every shape of message is read as: a row of blocks.

Guarantees: a block refers to the caller's own value, it copies nothing.

Example:
    >>> Block(0, BlockKind.TEXT, None, None, "hello").kind.value
    'text'
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Protocol

import msgspec

__all__ = ["DROPPED", "Block", "BlockKind", "Shape", "nothing_but"]


class BlockKind(StrEnum):
    """What a block is for the tool protocol."""

    TEXT = "text"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    THINKING = "thinking"
    OTHER = "other"


# Histories have tens of thousands, so each is as small as it gets. The garbage collector does not
# look into one: nothing that a block refers to leads back to it.
class Block(msgspec.Struct, frozen=True, gc=False):
    """One block of a message.

    Attributes:
        index: its place in its message; 0 for a message with string content, which is one block.
        kind: what it is.
        call_id: the id of a call or result as it stands, which may be no string; else None.
        name: the tool's name, where the block says it.
        value: the caller's own object or string.
    """

    index: int
    kind: BlockKind
    call_id: object
    name: str | None
    value: object


DROPPED: Final = object()
"""As the new value of a block: it is taken out of its message."""


class Shape(Protocol):
    """One provider's shape of a message; each adapter module is one."""

    def blocks(self, message: object) -> tuple[Block, ...]:
        """The blocks of a message, at least one."""
        ...

    def rebuilt(self, message: object, changes: Mapping[int, object]) -> object | None:
        """A copy with these blocks changed or `DROPPED`; None when nothing is left."""
        ...


def nothing_but(message: object) -> tuple[Block, ...]:
    """The block of a message that has no blocks: the message itself, so that it can be cited."""
    return (Block(0, BlockKind.OTHER, None, None, message),)
