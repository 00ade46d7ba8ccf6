"""`ctxaudit compact`: the layers of compaction on a real history, with a receipt.

Guarantees: the file is only read, and no file is ever overwritten.

Example:
    $ ctxaudit compact history.json --output compacted.json --receipt receipt.json
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..options import (
    HelpfulCommand,
    PathName,
    examples,
    interrupts_of,
    manner_from,
    manner_options,
    option,
)
from ..selection import OWN_FORMATS, FormatName
from ..values import Choice, numbers, whole_numbers

__all__ = ["command"]

_F = TypeVar("_F", bound=Callable[..., object])
_MESSAGES = "messages"
_PROGRAM = "command:"
_MOST_SECONDS = 86_400.0
# As `provenance.messages.PROVIDERS`; a test compares them.
_PROVIDERS = ("anthropic", "openai-chat", "openai-responses")

if TYPE_CHECKING:
    _Summarizer = click.ParamType[tuple[str, ...]]
    _Pair = click.ParamType[tuple[str, str]]
else:  # older click has no type argument here
    _Summarizer = _Pair = click.ParamType


class FormatOrMessages(FormatName):
    """The name of a transcript format, or `messages` for a file of messages."""

    beside = (_MESSAGES,)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Give the name back if it is one."""
        return value if value == _MESSAGES else super().convert(value, param, ctx)


class SummarizerName(_Summarizer):
    """`none`, or `command:` and a program with its arguments, as a shell would split them."""

    name = "summarizer"

    def convert(
        self,
        value: str | tuple[str, ...],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[str, ...]:
        """Give the program and its arguments; nothing for `none`."""
        if isinstance(value, tuple):
            return value
        if value == "none":
            return ()
        if not value.startswith(_PROGRAM):
            self.fail("expected none or command:PROGRAM, got another text", param, ctx)
        try:
            found = tuple(shlex.split(value.removeprefix(_PROGRAM)))
        except ValueError:
            self.fail("expected quotes that are closed after command:", param, ctx)
        if not found or "\0" in value:
            self.fail("expected a program after command:, got none", param, ctx)
        return found


class ReadTool(_Pair):
    """The name of a tool that reads a file, and the argument that names the file."""

    name = "pair"

    def convert(
        self,
        value: str | tuple[str, str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[str, str]:
        """Give the two names."""
        if isinstance(value, tuple):
            return value
        tool, equals, argument = value.partition("=")
        if not (tool and equals and argument):
            self.fail("expected NAME=ARGUMENT, got another text", param, ctx)
        return tool, argument


def _number(flag: str, *names: str, least: int, text: str) -> Callable[[_F], _F]:
    return option(flag, *names, type=whole_numbers(least), metavar="N", help=text)


def _numbers(command: _F) -> _F:
    """Add the numbers of the layers; their defaults are the preset's."""
    for one in reversed(
        (
            _number("--soft-limit", least=1, text="Compact from so many tokens on."),
            _number("--hard-limit", least=1, text="Refuse what has so many tokens at the end."),
            _number("--max-tool-result-tokens", least=1, text="Shorten a tool result above it."),
            _number(
                "--keep-recent",
                "keep_recent_messages",
                least=0,
                text="So many of the latest messages are not pruned.",
            ),
            _number(
                "--summary-keep-recent",
                least=0,
                text="So many of the latest messages are not summarised.",
            ),
            _number("--summary-max-tokens", least=1, text="A longer summary is none."),
        )
    ):
        command = one(command)
    return command


@click.command(
    "compact",
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit compact history.json",
        "ctxaudit compact history.json --output compacted.json --receipt receipt.json",
        "ctxaudit compact session.jsonl --repair --spill home --receipt home/receipts/1.json",
        "ctxaudit compact history.json --summarizer 'command:./summarize --short'",
        "ctxaudit compact history.json --verify-receipt receipt.json --result compacted.json",
    ),
)
@click.argument("file", type=PathName())
@option("--output", type=PathName(), metavar="NEW", help="Write the messages to this new file.")
@option("--receipt", type=PathName(), metavar="NEW", help="Write the receipt to this new file.")
@option("--state", type=PathName(), help="Render this durable state beside the messages.")
@option(
    "--context",
    type=PathName(),
    metavar="NEW",
    help="Write the rendered state to this new file; default: standard output.",
)
@option(
    "--preset",
    type=Choice(["main", "subtask", "resume"]),
    default="main",
    show_default=True,
    help="Whose history it is: the numbers below for one of them.",
)
@_numbers
@option(
    "--keep-first",
    is_flag=True,
    help="Keep the first message as it is, ahead of the summary.",
)
@option(
    "--read-tool",
    type=ReadTool(),
    multiple=True,
    metavar="NAME=ARGUMENT",
    help="A tool that reads a file, and the argument that names it; repeatable.",
)
@option(
    "--summarizer",
    type=SummarizerName(),
    default="none",
    show_default=True,
    metavar="none|command:PROGRAM",
    help="A program that reads the conversation and writes its summary; run without a shell.",
)
@option(
    "--summarizer-timeout",
    type=numbers(0, _MOST_SECONDS),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="End the program after it.",
)
@option(
    "--previous-summary",
    type=PathName(),
    help="The summary of what came before these messages: only they are summarised.",
)
@option(
    "--spill",
    type=PathName(),
    metavar="HOME",
    help="Store what is cut from tool results in this state home, and put pointers there; where a "
    "text cannot be stored, nothing is written.",
)
@option("--spill-dropped", is_flag=True, help="Store dropped tool results, too.")
@option(
    "--session",
    metavar="ID",
    help="Which session of a transcript; of a file of messages: whom --spill stores for.",
)
@option(
    "--tokens",
    type=Choice(["heuristic", "o200k", "cl100k", "claude_legacy"]),
    default="heuristic",
    show_default=True,
    help="What counts tokens; the first needs no vocabulary.",
)
@option(
    "--repair",
    is_flag=True,
    help="Make calls and results pair first, and list each repair; repeat it for --verify-receipt.",
)
@option(
    "--provider",
    type=Choice(_PROVIDERS),
    help="List what breaks this provider's rules, before and after.",
)
@option(
    "--as",
    "as_format",
    type=FormatOrMessages(),
    metavar="FORMAT",
    help=f"FILE is of this format: {', '.join((*OWN_FORMATS, _MESSAGES))}. Default: by content.",
)
@option(
    "--verify-receipt",
    type=PathName(),
    metavar="RECEIPT",
    help="Compact nothing: check that RECEIPT and --result account for FILE (--as, --session, "
    "--repair and --tokens as they were given for it).",
)
@option("--result", type=PathName(), help="For --verify-receipt: the compacted messages.")
@option(
    "--format",
    "shape",
    type=Choice(["console", "json"]),
    default="console",
    show_default=True,
    help="How to say what was done.",
)
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    file: str,
    read_tool: tuple[tuple[str, str], ...],
    shape: str,
    color: str | None,
    quiet: bool,
    **given: Any,  # noqa: ANN401 - click's own, each with its type above
) -> None:
    """Compact the messages in FILE, layer by layer, and account for each block that goes.

    FILE is a JSON list of messages, an object with them in `messages` or `input`, JSON Lines, a
    transcript of any known format, or - for messages on standard input. It is only read; new files
    are written together or not at all. What --spill stored stays.

    Exit codes: 0 done; 1 the disk or the store of --spill refused; 2 usage, or FILE holds no
    messages; 3 still at the hard limit or above it; 4 FILE changed meanwhile; 14 calls and results
    do not pair, or the receipt does not account for FILE.
    """
    manner = manner_from(ctx, color=color, quiet=quiet)
    with interrupts_of(ctx).held_back():
        from ..compact_order import CompactOrder

        order = CompactOrder(
            file=file,
            read_tools=dict(read_tool),
            is_json=shape == "json",
            is_quiet=manner.quiet,
            **given,
        )
        _require_sense(ctx, order)
        from ..compact_checking import check_receipt
        from ..compacting import compact

    if order.verify_receipt is not None and order.result is not None:
        ctx.exit(check_receipt(ctx, order, order.verify_receipt, order.result))
    ctx.exit(compact(ctx, order))


def _require_sense(ctx: click.Context, order: Any) -> None:  # noqa: ANN401 - loaded later
    """Refuse options that say nothing together."""
    if (order.verify_receipt is None) != (order.result is None):
        raise click.UsageError("--verify-receipt: expected it together with --result", ctx)
    if order.verify_receipt is not None:
        for name in ("output", "receipt", "state", "context", "spill", "summarizer", "provider"):
            if getattr(order, name):
                raise click.UsageError(f"--{name}: expected none with --verify-receipt", ctx)
    if order.context is not None and order.state is None:
        raise click.UsageError("--context: expected it together with --state", ctx)
    if order.spill_dropped and order.spill is None:
        raise click.UsageError("--spill-dropped: expected it together with --spill", ctx)
