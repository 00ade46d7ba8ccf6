"""The command `ctxaudit`: which commands there are, and how a run ends.

Guarantees: `--help` loads click and this package's own light modules, nothing else; a command's
module is loaded when that command is used. Whatever happens, the last word is one line on standard
error and a documented exit code, never a traceback (unless `CTXAUDIT_DEBUG` asks for one).

Example:
    >>> "verify" in app.list_commands(click.Context(app))
    True
"""

from __future__ import annotations

import os

import click

from .exit_codes import ExitCode
from .interrupts import Interrupts
from .lazy import LazyGroup
from .options import examples, interrupts_of, manner_options
from .streams import OutputFailed, prepare, require_output, settle, talk, write_text
from .values import told

__all__ = ["app", "run"]

# name: (module below this package, what the list of commands says)
_COMMANDS = {
    "attest": (".commands.attest", "Check the signed result of a run."),
    "cite": (".commands.cite", "Print pointers to the records of transcripts that hold a text."),
    "compact": (".commands.compact", "Compact a history of messages, with a receipt."),
    "completion": (".commands.completion", "Print the script that completes in a shell."),
    "doctor": (
        ".commands.doctor",
        "Say what is unsafe about roots and machine, and what it costs.",
    ),
    "explain": (".commands.explain", "What a reason, finding or exit code means, and what to do."),
    "gc": (".commands.gc", "List artifacts that nothing cites, or remove them."),
    "keygen": (".commands.keygen", "Make a key pair for seals and attestations."),
    "log": (".commands.log", "Write and check proofs that a source is sealed."),
    "pin": (".commands.pin", "Write down digest and length of all evidence, in a lock file."),
    "policy": (".commands.policy", "Try out a policy: which rule decides on a pointer."),
    "render": (".commands.render", "Print a durable state as the model will see it."),
    "schema": (".commands.schema", "Print a JSON Schema."),
    "seal": (".commands.seal", "Sign what a state home holds now."),
    "show": (".commands.show", "Print the evidence behind one pointer, if it verifies."),
    "spill": (".commands.spill", "Store a file or standard input, print its pointer."),
    "state": (".commands.state", "Versions of durable states: log, show, diff, put."),
    "transcript": (".commands.transcript", "Check, append to and repair transcripts."),
    "verify": (".commands.verify", "Check that cited evidence exists, unaltered and readable."),
}
_COMPLETION = "_CTXAUDIT_COMPLETE"


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if value and not ctx.resilient_parsing:
        from provenance._version import __version__

        write_text(f"ctxaudit {__version__}\n")
        ctx.exit(ExitCode.OK)


@click.group(
    cls=LazyGroup,
    entries=_COMMANDS,
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
    ctx.obj = {"color": color, "quiet": quiet, "interrupts": interrupts_of(ctx)}
    if ctx.invoked_subcommand is None:
        for line in ctx.get_help().split("\n"):
            talk(line)
        ctx.exit(ExitCode.USAGE)


def run(args: list[str], interrupts: Interrupts) -> int:
    """Run the command line and give its exit code.

    Args:
        args: without the program's name.
        interrupts: held back until here and from here on; what it kept ends the run.
    """
    try:
        prepare()
        interrupts.release()
        code = _run(args, interrupts)
        interrupts.hold()
    except KeyboardInterrupt:
        return _interrupted()  # it is raised once, so none comes while this is said
    return _interrupted() if interrupts.is_pending else code


def _interrupted() -> int:
    talk("ctxaudit: interrupted")
    return ExitCode.INTERRUPTED


def _run(args: list[str], interrupts: Interrupts) -> int:
    try:
        code = _invoke(args, interrupts)
    except click.UsageError as error:
        _tell(error)
        return ExitCode.USAGE
    except click.ClickException as error:
        _tell(error)
        return error.exit_code
    except click.Abort:
        return _interrupted()
    except Exception as error:
        if os.environ.get("CTXAUDIT_DEBUG"):
            raise
        talk(f"ctxaudit: internal error: {type(error).__name__}")
        return ExitCode.TOOL_FAILED
    if not settle():
        talk("ctxaudit: standard output: expected to write, got a failure")
        return ExitCode.TOOL_FAILED
    return code


def _invoke(args: list[str], interrupts: Interrupts) -> int:
    if _COMPLETION in os.environ:
        _complete(args)
    try:
        with app.make_context("ctxaudit", args, obj={"interrupts": interrupts}) as ctx:
            app.invoke(ctx)
    except click.exceptions.Exit as done:
        return done.exit_code
    return ExitCode.OK


def _complete(args: list[str]) -> None:
    """Let click write what a shell asks for; it has no other work that could fail like this."""
    require_output()
    try:
        app.main(args=args, prog_name="ctxaudit", complete_var=_COMPLETION)
    except OSError:
        raise OutputFailed("standard output: expected to write, got a failure") from None


def _tell(error: click.ClickException) -> None:
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    where = "ctxaudit" if ctx is None else ctx.command_path
    hint = "" if ctx is None else f" (see {where} --help)"
    talk(f"{where}: {told(error)}{hint}")
