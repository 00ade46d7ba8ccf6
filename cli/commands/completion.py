"""`ctxaudit completion`: the script with which a shell completes this command.

Guarantees: the script is click's own, printed without asking or running any shell; what it runs
later is `ctxaudit` itself, which then opens no file that could be hostile.

Example:
    $ ctxaudit completion fish
"""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

from ..options import HelpfulCommand, examples, manner_options
from ..streams import write_text

__all__ = ["command"]

_SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_CTXAUDIT_COMPLETE"


@click.command(
    cls=HelpfulCommand,
    epilog=examples(
        "source <(ctxaudit completion bash)    # in ~/.bashrc; bash 4.4 or later",
        "source <(ctxaudit completion zsh)     # in ~/.zshrc, after compinit",
        "ctxaudit completion fish > ~/.config/fish/completions/ctxaudit.fish",
    ),
)
@click.argument("shell", type=click.Choice(_SHELLS))
@manner_options
@click.pass_context
def command(ctx: click.Context, *, shell: str, color: str | None, quiet: bool) -> None:
    """Print the script that completes commands, options, values and files in SHELL."""
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"SHELL: expected one that click knows, got {shell!r}", ctx)
    above = ctx.find_root().command
    # Of the base class: the one of bash starts a bash to ask for its version.
    script = ShellComplete.source(found(above, {}, "ctxaudit", _VARIABLE))
    if shell == "fish":
        # A value or its description may hold a comma: `denied,missing`.
        script = script.replace('(string split ","', '(string split --max 1 ","')
    write_text(script.strip("\n") + "\n")
