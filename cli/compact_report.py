"""How `ctxaudit compact` says what it did: a table a layer, or one JSON document.

Guarantees: pure. Numbers, names and digests, and no text of a message; the durable context stands
in the document only where it was asked for and goes to no file. Lists are bounded and counted.

Example:
    >>> layer_rows((), CompactionConfig())[0]
    ('tool_result_truncation', '-', '-', '-', 'not needed')
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from provenance.compaction import CompactionConfig, CompactionResult, LayerReport
from provenance.messages import ProviderProblem, Repair, RequestTokens

from .compact_input import Given
from .streams import one_line

__all__ = ["COMPACTION_SCHEMA", "Compacted", "counted", "json_report", "layer_rows", "plain_report"]

COMPACTION_SCHEMA = "ctxaudit.compaction/1"
LAYERS = (
    "tool_result_truncation",
    "file_read_deduplication",
    "message_pruning",
    "conversation_summary",
)
_HEADINGS = ("layer", "before", "after", "blocks", "outcome")
# Of repairs and of problems: a person reads no more, a program counts.
_LISTED = 1_000
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """All that is said of one compaction.

    Attributes:
        given: what was read.
        result: what came out.
        config: with which numbers.
        counter: what counted the tokens.
        request: the tokens of messages, system prompt and tools before.
        layers: what each layer that ran did.
        repairs: what was repaired before; None where nobody asked.
        provider: whose rules were checked; None: nobody's.
        problems: what breaks them, before and after.
        files: the names of the files that were written, by option.
        context: the durable context that goes to standard output; None: none does.
    """

    given: Given
    result: CompactionResult[Any]
    config: CompactionConfig
    counter: str
    request: RequestTokens
    layers: Sequence[LayerReport] = ()
    repairs: Sequence[Repair] | None = None
    provider: str | None = None
    problems: tuple[Sequence[ProviderProblem], Sequence[ProviderProblem]] = ((), ())
    files: Mapping[str, str] = field(default_factory=dict)
    context: str | None = None


def layer_rows(
    layers: Sequence[LayerReport], config: CompactionConfig
) -> list[tuple[str, str, str, str, str]]:
    """Give a row for each layer, in their order; one that did not run was not needed."""
    ran = {one.layer: one for one in layers}
    return [
        (
            (
                name,
                f"{one.tokens_before:,}",
                f"{one.tokens_after:,}",
                f"{one.blocks_touched:,}",
                _outcome(one),
            )
            if (one := ran.get(name)) is not None
            else (name, "-", "-", "-", "not needed")
        )
        for name in LAYERS
    ]


def plain_report(done: Compacted, *, quiet: bool) -> Iterator[str]:
    """Give the report for a person, line by line."""
    if not quiet:
        yield from _notes(done)
    rows = [_HEADINGS, *layer_rows(done.layers, done.config)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if 0 < place < 4 else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip() + "\n"
    yield "\n"
    yield _closing(done) + "\n"


def _notes(done: Compacted) -> Iterator[str]:
    if done.repairs:
        for repair in done.repairs[:_SHOWN]:
            place = _place(repair.message_index, repair.block_index)
            yield f"repaired: {place}: {repair.kind.value}\n"
        if len(done.repairs) > _SHOWN:
            yield f"repaired: and {len(done.repairs) - _SHOWN:,} more\n"
    if done.provider is not None:
        for when, problems in zip(("before", "after"), done.problems, strict=True):
            yield f"{done.provider}, {when}: {counted(len(problems), 'problem')}\n"
            for one in problems[:_SHOWN]:
                place = _place(one.message_index, one.block_index)
                yield f"  {place}: {one.rule.value}: {one_line(one.detail)}\n"
            if len(problems) > _SHOWN:
                yield f"  and {len(problems) - _SHOWN:,} more\n"
    if done.given.left_out:
        parts = (f"{count:,} {one_line(why)}" for why, count in done.given.left_out.items())
        yield f"left out, as no messages: {', '.join(parts)}\n"
    beside = done.request.system + done.request.tools
    if beside:
        tokens = counted(beside, "token")
        yield f"system prompt and tools: {tokens} more, which no limit here counts\n"


def _closing(done: Compacted) -> str:
    result, receipt = done.result, done.result.receipt
    changed = sum(one.changed_to is not None for one in receipt.removed)
    blocks = ", ".join(
        (
            f"{counted(len(receipt.removed) - changed, 'block')} removed",
            f"{changed:,} changed",
            f"{len(receipt.inserted):,} put in",
        )
    )
    spilled = len(receipt.pointers)
    kept = f"; {counted(spilled, 'text')} spilled" if spilled else ""
    return (
        f"{done.given.label}: {done.given.format}, "
        f"{counted(receipt.original_messages, 'message')} to {receipt.result_messages:,}, "
        f"{counted(result.tokens_before, 'token')} to {result.tokens_after:,} ({done.counter}; "
        f"soft limit {done.config.soft_limit:,}, hard limit {done.config.hard_limit:,}); "
        f"{blocks}{kept}"
    )


def json_report(done: Compacted) -> str:
    """Give the report for a program (`ctxaudit.compaction/1`)."""
    result, receipt = done.result, done.result.receipt
    changed = sum(one.changed_to is not None for one in receipt.removed)
    document: dict[str, object] = {
        "schema": COMPACTION_SCHEMA,
        "target": done.given.label,
        "format": done.given.format,
        "session": done.given.session,
        "left_out": dict(done.given.left_out),
        "counter": done.counter,
        "limits": {"soft": done.config.soft_limit, "hard": done.config.hard_limit},
        "messages": {"before": receipt.original_messages, "after": receipt.result_messages},
        "tokens": {
            "before": result.tokens_before,
            "after": result.tokens_after,
            "system": done.request.system,
            "tools": done.request.tools,
        },
        "layers": [_layer(one) for one in done.layers],
        "applied_layers": list(result.applied_layers),
        "summary": {"outcome": result.summary_outcome.value, "failure": result.summary_failure},
        "spill_failures": result.spill_failures,
        "receipt": {
            "removed": len(receipt.removed) - changed,
            "changed": changed,
            "inserted": len(receipt.inserted),
            "by_layer": dict(sorted(Counter(one.layer for one in receipt.removed).items())),
            "pointers": list(receipt.pointers),
        },
        "repairs": None if done.repairs is None else _repairs(done.repairs),
        "provider": None if done.provider is None else _provider(done.provider, done.problems),
        "files": dict(done.files),
        "context": done.context,
    }
    return json.dumps(document, indent=2) + "\n"


def _layer(one: LayerReport) -> dict[str, object]:
    return {
        "layer": one.layer,
        "tokens_before": one.tokens_before,
        "tokens_after": one.tokens_after,
        "blocks_touched": one.blocks_touched,
        "messages": one.messages,
        "outcome": None if one.outcome is None else one.outcome.value,
    }


def _repairs(repairs: Sequence[Repair]) -> dict[str, object]:
    return {
        "count": len(repairs),
        "listed": [
            {"message": one.message_index, "block": one.block_index, "kind": one.kind.value}
            for one in repairs[:_LISTED]
        ],
    }


def _provider(
    name: str, problems: tuple[Sequence[ProviderProblem], Sequence[ProviderProblem]]
) -> dict[str, object]:
    return {"name": name} | {
        when: {
            "count": len(found),
            "listed": [
                {
                    "message": one.message_index,
                    "block": one.block_index,
                    "rule": one.rule.value,
                    "detail": one.detail,
                }
                for one in found[:_LISTED]
            ],
        }
        for when, found in zip(("before", "after"), problems, strict=True)
    }


def _outcome(one: LayerReport) -> str:
    if one.outcome is not None:
        return one.outcome.value
    saved = one.tokens_before - one.tokens_after
    return f"saved {saved:,}" if saved > 0 else "nothing to do"


def _place(message: int, block: int | None) -> str:
    return f"message {message}" if block is None else f"message {message} block {block}"


def counted(number: int, noun: str) -> str:
    """Give a number and what it counts, in the plural where it is not 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
