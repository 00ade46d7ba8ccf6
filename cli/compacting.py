"""Carries out `ctxaudit compact`.

Guarantees: the file is only read. The receipt is verified before anything is written; messages,
receipt and context are written together or not at all, and never over a file that is there; where
a text that was to be stored could not be, none of them is. What a summarizer does wrong is an
outcome; what stands in the way of a compaction is one line without text of a message, and an exit
code of its own.

Example:
    $ ctxaudit compact history.json --output compacted.json --receipt receipt.json
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import click

from provenance.compaction import (
    CompactionConfig,
    CompactionResult,
    LayerReport,
    MessageViewLimitExceeded,
    compact_context,
    verify_receipt,
)
from provenance.durable import DurableContextState
from provenance.errors import CtxauditError
from provenance.fs import SourceChanged, read_operator_file
from provenance.limits import DEFAULT_LIMITS
from provenance.messages import (
    ExactCounter,
    HeuristicCounter,
    Repair,
    TokenCounter,
    ToolProtocolError,
    check_provider_rules,
    count_request,
    repair_tool_protocol,
    validate_tool_protocol,
)

from .compact_endings import held_endings
from .compact_files import NewFiles
from .compact_input import Given, read_given
from .compact_order import CompactOrder, configuration
from .compact_report import Compacted, json_report, plain_report
from .compact_spill import SpillStore, open_spill, receipts_of_home, require_home
from .compact_summarizer import ProgramSummarizer
from .exit_codes import ExitCode
from .operator_files import is_folder, label_of
from .options import interrupts_of
from .rendering import RenderOrder, read_state, rendered
from .streams import one_line, talk, write_text

__all__ = ["HEURISTIC", "Refused", "compact", "counter_named", "prepared"]

HEURISTIC = "heuristic"
# A summary of an earlier compaction; the largest that the library makes is a thousandth of it.
_MOST_SUMMARY_BYTES = 4 << 20


class Refused(Exception):
    """Nothing was written; the exit code says why."""

    def __init__(self, code: ExitCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def compact(ctx: click.Context, order: CompactOrder) -> ExitCode:
    """Compact a history, write what was asked for and say what was done; gives the exit code.

    Raises:
        click.UsageError: an option, the file, the state or an output cannot be used.
        OutputFailed: the disk refused an output.
    """
    try:
        with NewFiles() as files:
            return _compact(ctx, order, files)
    except Refused as refused:
        talk(f"{ctx.command_path}: {refused}")
        return refused.code


def _compact(ctx: click.Context, order: CompactOrder, files: NewFiles) -> ExitCode:
    # 1. What is asked for, before anything large is read: names that are free, a home that can be
    # written, numbers that fit.
    for option, path in _outputs(order):
        made = receipts_of_home(order) if option == "--receipt" else None
        files.reserve(ctx, option, path, may_make=made)
    if order.spill is not None:
        require_home(ctx, order.spill)
    try:
        config = configuration(order)
        counter = counter_named(order.tokens)
    except CtxauditError as error:
        raise click.UsageError(str(error), ctx) from None
    state = None if order.state is None else _state(ctx, order.state)
    previous = _previous_summary(ctx, order.previous_summary)
    # 2. The messages, whose calls and results have to pair.
    given, messages, repairs = prepared(ctx, order)
    if order.session is not None and given.session is None and order.spill is None:
        raise click.UsageError("--session: expected a transcript, or --spill, got neither", ctx)
    before = () if order.provider is None else check_provider_rules(messages, order.provider)
    # 3. The layers.
    layers: list[LayerReport] = []
    with ExitStack() as stack:
        store = open_spill(ctx, order, given.session, stack)
        result = _run(
            messages,
            state,
            config,
            given,
            summarizer=(
                stack.enter_context(
                    ProgramSummarizer(order.summarizer, seconds=order.summarizer_timeout)
                )
                if order.summarizer
                else None
            ),
            counter=counter,
            spill=store,
            previous_summary=previous,
            observer=partial(_heard, layers, store),
        )
    # 4. No receipt leaves us that does not account for the original, or that nobody can read.
    if problems := verify_receipt(messages, result, counter=counter):
        raise Refused(
            ExitCode.TOOL_FAILED, f"{given.label}: receipt: {problems[0].text}; nothing was written"
        )
    after = () if order.provider is None else check_provider_rules(result.messages, order.provider)
    context = _context(ctx, order, result.durable_state)
    done = Compacted(
        given=given,
        result=result,
        config=config,
        counter=order.tokens,
        request=count_request(messages, system=given.system, tools=given.tools, counter=counter),
        layers=layers,
        repairs=repairs if order.repair else None,
        provider=order.provider,
        problems=(before, after),
        files={
            option.removeprefix("--"): label_of(path)
            for option, path in _outputs(order)
            if path is not None
        },
        context=context if order.context is None else None,
    )
    # 5. The files, all or none; messages last, so that none are without their receipt.
    files.write("--context", b"" if context is None else _text_file(context))
    files.write("--receipt", _receipt(order, result))
    files.write("--output", given.printed(result.messages))
    with interrupts_of(ctx).held_back(), held_endings():
        files.publish()
    # 6. What was done.
    _say(ctx, order, done)
    return ExitCode.OK


def prepared(
    ctx: click.Context, order: CompactOrder
) -> tuple[Given, Sequence[Any], Sequence[Repair]]:
    """Read the file, and repair its messages where that was asked for.

    Raises:
        click.UsageError: the file cannot be used, or holds no messages.
        Refused: it changed while it was read; its calls and results do not pair.
    """
    label = label_of(order.file)
    try:
        given = read_given(ctx, order.file, as_format=order.as_format, session=order.session)
    except SourceChanged as error:
        raise Refused(ExitCode.INCONCLUSIVE, f"{label}: {error}; nothing was written") from None
    if not given.messages:
        # Most often another format than the file's: nothing of it must come out as nothing.
        why = ", ".join(f"{count:,} {one_line(why)}" for why, count in given.left_out.items())
        left_out = f"; left out: {why}" if why else ""
        raise click.UsageError(f"{label}: expected messages, got none{left_out}", ctx)
    messages: Sequence[Any] = given.messages
    repairs: Sequence[Repair] = ()
    if order.repair:
        messages, repairs = repair_tool_protocol(messages)
    try:
        validate_tool_protocol(messages)
    except ToolProtocolError as error:
        raise Refused(
            ExitCode.CORRUPT, f"{label}: {error} (--repair answers or drops what does not pair)"
        ) from None
    return given, messages, repairs


def _run(
    messages: Sequence[Any],
    state: DurableContextState | None,
    config: CompactionConfig,
    given: Given,
    **options: Any,  # noqa: ANN401 - handed through
) -> CompactionResult[DurableContextState | None]:
    try:
        return compact_context(messages, state, config=config, **options)
    except MessageViewLimitExceeded as error:
        raise Refused(
            ExitCode.NOTHING_VERIFIED, f"{given.label}: {error}; nothing was written"
        ) from None
    except ToolProtocolError as error:
        raise Refused(ExitCode.CORRUPT, f"{given.label}: {error}") from None


def _outputs(order: CompactOrder) -> Iterator[tuple[str, str | None]]:
    yield "--output", order.output
    yield "--receipt", order.receipt
    yield "--context", order.context


def counter_named(name: str) -> TokenCounter:
    """Give the counter that `--tokens` names; a `CtxauditError` where its extra is not there."""
    return HeuristicCounter() if name == HEURISTIC else ExactCounter(name)


def _state(ctx: click.Context, path: str) -> DurableContextState:
    try:
        return read_state(ctx, path)
    except click.UsageError as error:
        raise click.UsageError(f"--state: {error.message}", ctx) from None


def _previous_summary(ctx: click.Context, path: str | None) -> str | None:
    if path is None:
        return None
    label = f"--previous-summary: {label_of(path)}"
    try:
        return read_operator_file(path, max_bytes=_MOST_SUMMARY_BYTES, named_pipes=False).decode()
    except UnicodeDecodeError:
        fault = "file: expected UTF-8, got another encoding"
    except CtxauditError as error:
        fault = str(error)
    raise click.UsageError(f"{label}: {fault}", ctx)


def _heard(layers: list[LayerReport], store: SpillStore | None, layer: LayerReport) -> None:
    """Note what a layer did; what a store refuses ends it here, before another layer cuts more."""
    layers.append(layer)
    if store is not None and store.failures:
        raise Refused(ExitCode.TOOL_FAILED, store.refusal)


def _receipt(order: CompactOrder, result: CompactionResult[Any]) -> bytes:
    if order.receipt is None:
        return b""
    data = result.receipt.to_json().encode() + b"\n"
    most = DEFAULT_LIMITS.max_receipt_bytes
    if len(data) > most:
        # `verify` and --verify-receipt would not read it.
        raise Refused(
            ExitCode.TOOL_FAILED,
            f"--receipt: {label_of(order.receipt)}: expected at most {most} bytes, got more; "
            "nothing was written",
        )
    return data


def _context(
    ctx: click.Context, order: CompactOrder, state: DurableContextState | None
) -> str | None:
    if order.state is None or state is None:
        return None
    has_home = order.spill is not None and is_folder(order.spill)
    return rendered(
        ctx,
        state,
        RenderOrder(
            state=order.state,
            home=None,
            transcript_root=None,
            artifact_root=None,
            policy=None,
            tenant=None,
            resolve=True,
            quiet=order.is_quiet,
            fallback_home=order.spill if has_home else None,
        ),
    )


def _text_file(text: str) -> bytes:
    return (text + "\n").encode("utf-8", "backslashreplace") if text else b""


def _say(ctx: click.Context, order: CompactOrder, done: Compacted) -> None:
    if order.is_json:
        write_text(json_report(done))
    else:
        write_text("".join(plain_report(done, quiet=order.is_quiet)))
        if done.context:
            write_text("\n" + done.context + "\n")
    if order.is_quiet:
        return
    where = f"{ctx.command_path}: {done.given.label}"
    result = done.result
    if result.summary_failure is not None:
        talk(f"{where}: summary: {result.summary_outcome.value} ({result.summary_failure})")
