"""What runs inside the measured interpreters of the compaction rows.

Guarantees: as `benchmarks.tasks`: one JSON object with the seconds of the work alone and the peak
of this process. The history is made before the clock starts, the same each time: that of a coding
agent, a call and its result in turn, 4.1 KB a message; a twelfth of the results is above the cap of
layer 1, a sixth of the reads is of a file that was read before, a tenth of the text is Chinese, a
third of the turns has signed thinking. Calls have four arguments and results are lists of blocks,
so that one deepcopy is to one `json.dumps` about what it was where the bar was set (118 to 191 ms).

Example:
    python -m benchmarks.compaction_work compact --messages 10000
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["history", "main"]

_CODE = 'def total(rows):\n    return sum(row["amount"] for row in rows if row["amount"])\n\n'
_CHINESE = "这份文档说明了系统的结构以及各个部分之间的关系。\n"
# Characters of a result, and how many of a hundred have them.
_SIZES = ((400, 35), (3_000, 31), (9_000, 25), (29_000, 9))
# Layers must all run, so everything is too large.
_LIMIT = 10**9
_WARM_MESSAGES = 50


def history(count: int) -> list[dict[str, Any]]:
    """Make a history of so many messages."""
    chance = random.Random(4)
    sizes = [size for size, _ in _SIZES]
    weights = [weight for _, weight in _SIZES]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Find the fault in the totals."}]
    number = 0
    while len(messages) < count:
        number += 1
        size = chance.choices(sizes, weights)[0]
        text = _CHINESE if number % 10 == 0 else _CODE
        is_again = number % 6 == 0
        path = f"src/part_{chance.randrange(number) if is_again else number}.py"
        call_id = f"toolu_{number:020d}"
        arguments = {"path": path, "offset": None, "limit": None, "options": {"numbers": True}}
        call = {"type": "tool_use", "id": call_id, "name": "read", "input": arguments}
        asks = {"type": "text", "text": f"Step {number}: I read {path} to see who calls it."}
        shown = (text * (size // len(text) + 1))[:size] + f"# {number}"
        content = [{"type": "text", "text": shown}]
        if number % 2 == 0:
            content.append({"type": "text", "text": "The file has not changed since."})
        result = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        thought = {"type": "thinking", "thinking": "Who calls it?", "signature": "c2ln" * 50}
        before = [thought, asks] if number % 3 == 0 else [asks]
        messages.append({"role": "assistant", "content": [*before, call]})
        messages.append(
            {"role": "user", "content": [{**result, "is_error": False, "_read_path": path}]}
        )
    if count % 2 == 0:
        messages[-2:] = [{"role": "assistant", "content": "I am done with this part."}]
    return messages


def main() -> None:
    """Run one task and print its report."""
    from benchmarks.tasks import peak_kib

    parser = argparse.ArgumentParser(prog="benchmarks.compaction_work")
    parser.add_argument("task", choices=sorted(_TASKS))
    parser.add_argument("--messages", type=int, required=True)
    arguments = parser.parse_args()
    work = _TASKS[arguments.task]
    work(history(_WARM_MESSAGES))
    messages = history(arguments.messages)
    started = time.perf_counter()
    done = work(messages)
    seconds = time.perf_counter() - started
    if len(done) == len(messages) and arguments.task in ("compact", "compact-and-verify"):
        raise SystemExit("compact: expected fewer messages, got as many")
    print(json.dumps({"seconds": seconds, "check": None, "peak_kib": peak_kib()}))


def _compact(messages: Sequence[Any]) -> Sequence[Any]:
    from provenance.compaction import CompactionConfig, compact_context

    config = CompactionConfig(soft_limit=1, hard_limit=_LIMIT, summary_timeout=None)
    # The model answers at once: its call is not ours to measure.
    result = compact_context(messages, None, summarizer=lambda _text: "They read.", config=config)
    return result.messages


def _compact_and_verify(messages: Sequence[Any]) -> Sequence[Any]:
    from provenance.compaction import CompactionConfig, compact_context, verify_receipt

    config = CompactionConfig(soft_limit=1, hard_limit=_LIMIT, summary_timeout=None)
    result = compact_context(messages, None, summarizer=lambda _text: "They read.", config=config)
    if verify_receipt(messages, result):
        raise SystemExit("verify_receipt: expected no problem, got some")
    return result.messages


def _below(messages: Sequence[Any]) -> Sequence[Any]:
    from provenance.compaction import CompactionConfig, compact_context

    config = CompactionConfig(soft_limit=_LIMIT, hard_limit=_LIMIT)
    return compact_context(messages, None, config=config).messages


def _deepcopy(messages: Sequence[Any]) -> Sequence[Any]:
    return copy.deepcopy(messages)


def _json_length(messages: Sequence[Any]) -> Sequence[Any]:
    len(json.dumps(messages, ensure_ascii=False))
    return messages


def _estimate(messages: Sequence[Any]) -> Sequence[Any]:
    from provenance.messages import estimate_tokens

    estimate_tokens(messages)
    return messages


_TASKS: dict[str, Callable[[Sequence[Any]], Sequence[Any]]] = {
    "below-the-limit": _below,
    "compact": _compact,
    "compact-and-verify": _compact_and_verify,
    "deepcopy": _deepcopy,
    "estimate": _estimate,
    "json-length": _json_length,
}


if __name__ == "__main__":
    main()
