"""Carries out `ctxaudit compact --verify-receipt`.

Guarantees: nothing is written. It is said whether kept blocks and receipt cover the original
exactly once, costs included, as the counter of `--tokens` counts them; where not, the first block
that does not stands in the line, without its text.

Example:
    $ ctxaudit compact history.json --verify-receipt receipt.json --result compacted.json
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from provenance.audit.receipts import parse_receipt_file
from provenance.compaction import Receipt, ReceiptError, ReceiptProblem, verify_receipt
from provenance.errors import CtxauditError
from provenance.fs import SourceChanged, read_operator_file
from provenance.limits import DEFAULT_LIMITS
from provenance.messages import TokenCounter
from provenance.messages.tokens import counter_name

from .compact_input import MESSAGES, read_given
from .compact_order import CompactOrder
from .compact_report import counted
from .compacting import Refused, counter_named, prepared
from .exit_codes import ExitCode
from .operator_files import label_of
from .streams import talk, write_text

__all__ = ["CHECK_SCHEMA", "check_receipt"]

CHECK_SCHEMA = "ctxaudit.compaction-check/1"
_LISTED = 1_000
_OF_COSTS = ("counter: ", "tokens: ", "tokens_before: ", "tokens_after: ")


class _Result(NamedTuple):
    messages: Sequence[Any]
    receipt: Receipt


def check_receipt(ctx: click.Context, order: CompactOrder, receipt: str, result: str) -> ExitCode:
    """Verify a receipt; gives the exit code.

    Args:
        ctx: of the command.
        order: the original, and how it is to be read.
        receipt: the file of the receipt.
        result: the file of the compacted messages.

    Raises:
        click.UsageError: a file cannot be read.
    """
    try:
        # What a receipt says of its counter is its own word, and chooses nothing here.
        counter = counter_named(order.tokens)
    except CtxauditError as error:
        raise click.UsageError(str(error), ctx) from None
    try:
        _, original, _ = prepared(ctx, order)
        compacted = read_given(ctx, result, as_format=MESSAGES)
        said = _read(ctx, receipt)
    except Refused as refused:
        talk(f"{ctx.command_path}: {refused}")
        return refused.code
    except SourceChanged as error:
        talk(f"{ctx.command_path}: --result: {label_of(result)}: {error}")
        return ExitCode.INCONCLUSIVE
    except ReceiptError as error:
        talk(f"{ctx.command_path}: --verify-receipt: {label_of(receipt)}: {error}")
        return ExitCode.CORRUPT
    problems = verify_receipt(original, _Result(compacted.messages, said), counter=counter)
    if order.is_json:
        write_text(json.dumps(_document(order, receipt, result, problems), indent=2) + "\n")
    elif not problems:
        write_text(f"{label_of(receipt)}: {_covered(said)}\n")
    if problems:
        first = problems[0]
        file = label_of(result if first.of_result else order.file)
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        talk(
            f"{ctx.command_path}: {file}: message {first.message} block {first.block}: "
            f"{first.text}{more}{_hint(first, said, counter)}"
        )
        return ExitCode.CORRUPT
    return ExitCode.OK


def _read(ctx: click.Context, path: str) -> Receipt:
    try:
        data = read_operator_file(
            path, max_bytes=DEFAULT_LIMITS.max_receipt_bytes, named_pipes=False
        )
    except CtxauditError as error:
        raise click.UsageError(f"--verify-receipt: {label_of(path)}: {error}", ctx) from None
    return parse_receipt_file(data, limits=DEFAULT_LIMITS)


def _hint(first: ReceiptProblem, said: Receipt, counter: TokenCounter) -> str:
    """Say where costs that do not fit may be another counter's."""
    if said.counter == counter_name(counter) or not first.text.startswith(_OF_COSTS):
        return ""
    return f"; the receipt names {said.counter or 'no counter'}: --tokens says what counts"


def _covered(said: Receipt) -> str:
    changed = sum(one.changed_to is not None for one in said.removed)
    return (
        "covers the original exactly once: "
        f"{counted(said.original_messages, 'message')} to {said.result_messages:,}, "
        f"{counted(len(said.removed) - changed, 'block')} removed, {changed:,} changed, "
        f"{len(said.inserted):,} put in"
    )


def _document(
    order: CompactOrder, receipt: str, result: str, problems: Sequence[ReceiptProblem]
) -> dict[str, object]:
    return {
        "schema": CHECK_SCHEMA,
        "target": label_of(order.file),
        "receipt": label_of(receipt),
        "result": label_of(result),
        "covered": not problems,
        "problems": {
            "count": len(problems),
            "listed": [
                {
                    "message": one.message,
                    "block": one.block,
                    "of_result": one.of_result,
                    "text": one.text,
                }
                for one in problems[:_LISTED]
            ],
        },
    }
