"""Messages that belong together though no tool interaction of the protocol binds them.

Guarantees: what is bound here leaves a history together or not at all: a call that a server ran and
its result in a later message; signed thinking and the rest of its turn; an old-style function call
and its answer; a request for approval and the answer to it. One pass.

Example:
    >>> thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    >>> call = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}
    >>> bonds(View.of([thought, call], HeuristicCounter()))
    [(0, 1)]
"""

from __future__ import annotations

from collections.abc import Iterable

from provenance.compaction.view import Entry, HeuristicCounter, View
from provenance.messages.shapes import Block, BlockKind, field, text_field

__all__ = ["HeuristicCounter", "bonds", "leading_systems", "with_neighbours"]


def bonds(view: View) -> list[tuple[int, int]]:
    """Give pairs of messages that must not be parted, the earlier one first."""
    found: list[tuple[int, int]] = []
    if not view.has_bonds:
        return found
    called: dict[tuple[str, str], int] = {}
    thinks = False  # in this turn there was thinking, which is bound to what follows
    before: Entry | None = None
    for index, entry in enumerate(view.entries):
        blocks = entry.blocks
        if entry.role != "assistant":
            thinks = False
        elif thinks and before is not None and blocks[0].kind is not BlockKind.THINKING:
            found.append((index - 1, index))
        for block in blocks:
            if block.kind is BlockKind.THINKING:
                thinks = entry.role == "assistant"
            elif block.kind is BlockKind.OTHER:
                _bind(found, called, index, block)
        before = entry
    return found


def with_neighbours(chosen: Iterable[int], pairs: Iterable[tuple[int, int]]) -> set[int]:
    """Give messages and all that is bound to them."""
    beside: dict[int, list[int]] = {}
    for earlier, later in pairs:
        beside.setdefault(earlier, []).append(later)
        beside.setdefault(later, []).append(earlier)
    together = set(chosen)
    waiting = [index for index in together if index in beside] if beside else []
    while waiting:
        for index in beside.get(waiting.pop(), ()):
            if index not in together:
                together.add(index)
                waiting.append(index)
    return together


def leading_systems(view: View) -> int:
    """Count the system messages that a history begins with: instructions, no conversation."""
    count = 0
    for entry in view.entries:
        if entry.role != "system":
            break
        count += 1
    return count


def _bind(
    found: list[tuple[int, int]], called: dict[tuple[str, str], int], index: int, block: Block
) -> None:
    """Remember what a server or an old-style client calls; pair what answers it."""
    value = block.value
    tag, name = text_field(value, "type"), text_field(value, "name")
    opens: tuple[str, str] | None = None
    closes: tuple[str, str] | None = None
    if tag.endswith("_tool_use"):
        opens = ("server", text_field(value, "id"))
    elif tag.endswith("_tool_result"):
        closes = ("server", text_field(value, "tool_use_id"))
    elif tag == "mcp_approval_request":
        opens = ("approval", text_field(value, "id"))
    elif tag == "mcp_approval_response":
        closes = ("approval", text_field(value, "approval_request_id"))
    elif text_field(value, "role") == "function":
        closes = ("function", name)
    elif not tag and name and field(value, "arguments") is not None:
        opens = ("function", name)
    if opens is not None:
        called[opens] = index
    elif closes is not None and called.get(closes, index) < index:
        found.append((called[closes], index))
