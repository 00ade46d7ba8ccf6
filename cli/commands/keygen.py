"""`ctxaudit keygen`: a new pair of keys.

Guarantees: the private key is in a new file with mode 0600 and nowhere else; nothing is ever
overwritten.

Example:
    $ ctxaudit keygen seal.key
"""

from __future__ import annotations

import click

from ..options import HelpfulCommand, PathName, examples, interrupts_of, manner_options, option

__all__ = ["command"]


@click.command(
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit keygen seal.key",
        "ctxaudit keygen seal.key --name example.com/agents/build",
    ),
)
@click.argument("file", type=PathName())
@option("--name", metavar="NAME", help="The key's name, public. Default: a name by chance.")
@manner_options
@click.pass_context
def command(
    ctx: click.Context, *, file: str, name: str | None, color: str | None, quiet: bool
) -> None:
    """Make a key pair: FILE (private, 0600) and FILE.pub (public), and print the public key.

    The name is what seals are signed with, and the origin of a log; a host and path of yours, as
    in example.com/agents/build, is never another one's. It has no spaces and no plus.
    """
    with interrupts_of(ctx).held_back():
        from ..sealing import make_keys

        make_keys(ctx, file, name)
