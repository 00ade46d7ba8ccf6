"""The command `ctxaudit`: which commands there are, and how a run ends.

Guarantees: `--help` loads click and this package's own light modules, nothing else; a command's
module is loaded when that command is used. Whatever happens, the last word is one line on standard
error and a documented exit code, never a traceback (unless `CTXAUDIT_DEBUG` asks for one).

Example:
    >>> app.list_commands(click.Context(app))
    ['explain', 'render', 'schema', 'show', 'spill', 'verify']
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from .exit_codes import ExitCode
from .options import examples, manner_options
from .streams import prepare, settle, talk, write_text

__all__ = ["app", "main"]

# name: (module below this package, what the list of commands says)
_COMMANDS = {
    "explain": (".commands.explain", "What a reason, finding or exit code means, and what to do."),
    "render": (".commands.render", "Print a durable state as the model will see it."),
    "schema": (".commands.schema", "Print a JSON Schema."),
    "show": (".commands.show", "Print the evidence behind one pointer, if it verifies."),
    "spill": (".commands.spill", "Store a file or standard input, print its pointer."),
    "verify": (".commands.verify", "Check that cited evidence exists, unaltered and readable."),
}
_COMPLETION = "_CTXAUDIT_COMPLETE"


class _LazyGroup(click.Group):
    """A group whose commands are loaded one by one, when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = _COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = import_module(entry[0], __package__).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{cmd_name}: expected a click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _COMMANDS[name][1]) for name in sorted(_COMMANDS)])


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if value and not ctx.resilient_parsing:
        from provenance._version import __version__

        write_text(f"ctxaudit {__version__}\n")
        ctx.exit(ExitCode.OK)


@click.group(
    cls=_LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(
        "ctxaudit verify sample_state",
        "ctxaudit show transcript:deploy-2041:8 --home sample_state",
        "ctxaudit explain 14",
    ),
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version.",
)
@manner_options
@click.pass_context
def app(ctx: click.Context, *, color: str | None, quiet: bool) -> None:
    """Prove that the evidence behind an agent's context still exists, unaltered."""
    ctx.obj = {"color": color, "quiet": quiet}
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(ExitCode.USAGE)


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code."""
    sys.exit(_run(list(sys.argv[1:] if args is None else args)))


def _run(args: list[str]) -> int:
    prepare()
    try:
        code = _invoke(args)
    except click.UsageError as error:
        _tell(error)
        return ExitCode.USAGE
    except click.ClickException as error:
        _tell(error)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        talk("ctxaudit: interrupted")
        return ExitCode.INTERRUPTED
    except Exception as error:
        if os.environ.get("CTXAUDIT_DEBUG"):
            raise
        talk(f"ctxaudit: internal error: {type(error).__name__}")
        return ExitCode.TOOL_FAILED
    if not settle():
        talk("ctxaudit: standard output: expected to write, got a failure")
        return ExitCode.TOOL_FAILED
    return code


def _invoke(args: list[str]) -> int:
    if _COMPLETION in os.environ:
        app.main(args=args, prog_name="ctxaudit", complete_var=_COMPLETION)
    try:
        with app.make_context("ctxaudit", args) as ctx:
            app.invoke(ctx)
    except click.exceptions.Exit as done:
        return done.exit_code
    except BrokenPipeError:
        return ExitCode.OK  # click's own help text, and its reader has left
    return ExitCode.OK


def _tell(error: click.ClickException) -> None:
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    where = "ctxaudit" if ctx is None else ctx.command_path
    hint = "" if ctx is None else f" (see {where} --help)"
    talk(f"{where}: {error.format_message()}{hint}")


if __name__ == "__main__":
    main()
