"""Which thinking goes when calls are taken out of a history.

Guarantees: a thinking block is signed as part of the answer that it leads to. It is bound to the
blocks of its turn that come after it, up to the next thinking; when all of those go, it goes too,
and never while one of them stays. Consecutive messages of an assistant are one turn, as the
providers read them. One pass; nothing is changed.

Example:
    >>> from provenance.messages.shapes import blocks_of, role_of
    >>> thought = {"type": "thinking", "thinking": "Look.", "signature": "c2ln"}
    >>> call = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    >>> message = {"role": "assistant", "content": [thought, call]}
    >>> bound_thinking([(role_of(message), blocks_of(message))], {(0, 1)})
    {(0, 0)}
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from provenance.messages._blocks import Block, BlockKind

__all__ = ["bound_thinking"]


def bound_thinking(
    rows: Sequence[tuple[str, Sequence[Block]]], gone: Set[tuple[int, int]]
) -> set[tuple[int, int]]:
    """The thinking blocks that have to go with others.

    Args:
        rows: of each message its role and its blocks (`role_of`, `blocks_of`).
        gone: the blocks that are taken out, by message and block index.

    Returns:
        More blocks to take out, none of which is in `gone`.
    """
    bound: set[tuple[int, int]] = set()
    follows = stays = after_thinking = False
    for index in range(len(rows) - 1, -1, -1):
        role, blocks = rows[index]
        if role != "assistant":
            follows = stays = after_thinking = False
            continue
        for block in reversed(blocks):
            place = (index, block.index)
            if block.kind is BlockKind.THINKING:
                after_thinking = True
                if follows and not stays and place not in gone:
                    bound.add(place)
                continue
            if after_thinking:
                follows = stays = after_thinking = False
            follows = True
            stays = stays or place not in gone
    return bound
