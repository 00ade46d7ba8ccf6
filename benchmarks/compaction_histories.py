"""The histories of the compaction rows, the same each time: a coding agent's, in three shapes.

Guarantees: a call and its result in turn; a twelfth of the results is above the cap of layer 1, a
sixth of the reads is of a file that was read before, a tenth of the text is Chinese, a third of the
turns has signed thinking, where the shape knows it.

- `anthropic`: 4.1 KB a message. Calls have four arguments and results are lists of blocks, so that
  one deepcopy is to one `json.dumps` about what it was where the bar was set (118 to 191 ms).
- `chat`: the same texts, 4.0 KB a message; arguments and results are one string each.
- `responses`: the same texts as items, arguments and results one string each; in a third of the
  turns reasoning and a message stand before the call, so 3.0 KB an item.

Example:
    >>> [message["role"] for message in history(3, "chat")]
    ['user', 'assistant', 'tool']
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["KILOBYTES", "SHAPES", "history"]

KILOBYTES = {"anthropic": 4.1, "chat": 4.0, "responses": 3.0}
"""Of a message in UTF-8, on average."""

_CODE = 'def total(rows):\n    return sum(row["amount"] for row in rows if row["amount"])\n\n'
_CHINESE = "这份文档说明了系统的结构以及各个部分之间的关系。\n"
# Characters of a result, and how many of a hundred have them.
_SIZES = ((400, 35), (3_000, 31), (9_000, 25), (29_000, 9))


class _Turn(NamedTuple):
    """A call and its result."""

    number: int
    path: str
    shown: str

    @property
    def asks(self) -> str:
        return f"Step {self.number}: I read {self.path} to see who calls it."

    @property
    def arguments(self) -> dict[str, Any]:
        return {"path": self.path, "offset": None, "limit": None, "options": {"numbers": True}}

    @property
    def is_thought_of(self) -> bool:
        return self.number % 3 == 0


def history(count: int, shape: str = "anthropic") -> list[dict[str, Any]]:
    """Make a history of so many messages, or items."""
    chance = random.Random(4)
    sizes = [size for size, _ in _SIZES]
    weights = [weight for _, weight in _SIZES]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Find the fault in the totals."}]
    for number in itertools.count(1):
        size = chance.choices(sizes, weights)[0]
        text = _CHINESE if number % 10 == 0 else _CODE
        path = f"src/part_{chance.randrange(number) if number % 6 == 0 else number}.py"
        shown = (text * (size // len(text) + 1))[:size] + f"# {number}"
        turn = _SHAPES[shape](_Turn(number, path, shown))
        if len(messages) + len(turn) > count:
            break
        messages += turn
    # What no turn fits into.
    done = {"role": "assistant", "content": "I am done with this part."}
    return [*messages, *(dict(done) for _ in range(count - len(messages)))]


def _anthropic(turn: _Turn) -> list[dict[str, Any]]:
    call_id = f"toolu_{turn.number:020d}"
    call = {"type": "tool_use", "id": call_id, "name": "read", "input": turn.arguments}
    asks = {"type": "text", "text": turn.asks}
    content = [{"type": "text", "text": turn.shown}]
    if turn.number % 2 == 0:
        content.append({"type": "text", "text": "The file has not changed since."})
    result = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    thought = {"type": "thinking", "thinking": "Who calls it?", "signature": "c2ln" * 50}
    before = [thought, asks] if turn.is_thought_of else [asks]
    return [
        {"role": "assistant", "content": [*before, call]},
        {"role": "user", "content": [{**result, "is_error": False, "_read_path": turn.path}]},
    ]


def _chat(turn: _Turn) -> list[dict[str, Any]]:
    call_id = f"call_{turn.number:020d}"
    function = {"name": "read", "arguments": json.dumps(turn.arguments)}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": turn.asks, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": turn.shown},
    ]


def _responses(turn: _Turn) -> list[dict[str, Any]]:
    call_id = f"call_{turn.number:020d}"
    thought: dict[str, Any] = {
        "type": "reasoning",
        "id": f"rs_{turn.number:020d}",
        "summary": [],
        "encrypted_content": "c2ln" * 50,
    }
    part = {"type": "output_text", "text": turn.asks, "annotations": []}
    asks = {"type": "message", "role": "assistant", "content": [part]}
    arguments = json.dumps(turn.arguments)
    return [
        *([thought, asks] if turn.is_thought_of else []),
        {"type": "function_call", "call_id": call_id, "name": "read", "arguments": arguments},
        {"type": "function_call_output", "call_id": call_id, "output": turn.shown},
    ]


_SHAPES: dict[str, Callable[[_Turn], list[dict[str, Any]]]] = {
    "anthropic": _anthropic,
    "chat": _chat,
    "responses": _responses,
}
SHAPES = tuple(_SHAPES)
