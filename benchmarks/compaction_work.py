"""What runs inside the measured interpreters of the compaction rows.

Guarantees: as `benchmarks.tasks`: one JSON object with the seconds of the work alone and the peak
of this process. The history (`benchmarks.compaction_histories`) is made before the clock starts.

Example:
    python -m benchmarks.compaction_work compact --messages 10000 --shape chat
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from benchmarks.compaction_histories import SHAPES, history

__all__ = ["main"]

# Layers must all run, so everything is too large.
_LIMIT = 10**9
_ALL_LAYERS: dict[str, Any] = {
    "soft_limit": 1,
    "hard_limit": _LIMIT,
    "summary_timeout": None,
    "read_tools": {"read": "path"},
}
_WARM_MESSAGES = 50


def main() -> None:
    """Run one task and print its report."""
    from benchmarks.tasks import peak_kib

    parser = argparse.ArgumentParser(prog="benchmarks.compaction_work")
    parser.add_argument("task", choices=sorted(_TASKS))
    parser.add_argument("--messages", type=int, required=True)
    parser.add_argument("--shape", choices=SHAPES, default=SHAPES[0])
    arguments = parser.parse_args()
    work = _TASKS[arguments.task]
    work(history(_WARM_MESSAGES, arguments.shape))
    messages = history(arguments.messages, arguments.shape)
    started = time.perf_counter()
    done = work(messages)
    seconds = time.perf_counter() - started
    if len(done) == len(messages) and arguments.task in ("compact", "compact-and-verify"):
        raise SystemExit("compact: expected fewer messages, got as many")
    print(json.dumps({"seconds": seconds, "check": None, "peak_kib": peak_kib()}))


def _compact(messages: Sequence[Any]) -> Sequence[Any]:
    from provenance.compaction import CompactionConfig, compact_context

    config = CompactionConfig(**_ALL_LAYERS)
    # The model answers at once: its call is not ours to measure.
    result = compact_context(messages, None, summarizer=lambda _text: "They read.", config=config)
    return result.messages


def _compact_and_verify(messages: Sequence[Any]) -> Sequence[Any]:
    from provenance.compaction import CompactionConfig, compact_context, verify_receipt

    config = CompactionConfig(**_ALL_LAYERS)
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


def _digests(messages: Sequence[Any]) -> Sequence[Any]:
    """Do what no receipt can do without, as fast as it can be done, and nothing else."""
    import msgspec

    encode = msgspec.json.Encoder(order="sorted").encode
    return [sha256(encode(message)).hexdigest() for message in messages]


def _estimate(messages: Sequence[Any]) -> Sequence[Any]:
    from provenance.messages import estimate_tokens

    estimate_tokens(messages)
    return messages


_TASKS: dict[str, Callable[[Sequence[Any]], Sequence[Any]]] = {
    "below-the-limit": _below,
    "compact": _compact,
    "compact-and-verify": _compact_and_verify,
    "deepcopy": _deepcopy,
    "digests": _digests,
    "estimate": _estimate,
    "json-length": _json_length,
}


if __name__ == "__main__":
    main()
