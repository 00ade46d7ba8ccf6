"""`ctxaudit state put`: a state file as the next version.

Guarantees: it is stored only if the version that was read is current still; what is printed is on
the disk.

Example:
    $ ctxaudit state put home run-1 state.json --replaces 3 --author ops
"""

from __future__ import annotations

import click

from ..options import HelpfulCommand, PathName, examples, interrupts_of, manner_options, option
from ..state_options import VersionNumber, format_option

__all__ = ["command"]


def _keys(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, str | None]:
    keys: dict[str, str | None] = {}
    for value in values:
        # The id of a fact may hold the sign; a key that is given here may not.
        fact_id, sign, key = value.rpartition("=")
        if not sign or not fact_id or fact_id in keys:
            raise click.BadParameter(
                f"expected FACT=KEY, each fact once, got {value!a}", ctx, param
            )
        keys[fact_id] = key or None
    return keys


@click.command(
    "put",
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit state put home run-1 state.json --replaces none --author ops",
        "ctxaudit state put home run-1 - --replaces 3 --author ops --confirmed-by tool:pytest",
    ),
)
@click.argument("home", type=PathName())
@click.argument("name")
@click.argument("file", type=PathName())
@option(
    "--replaces",
    required=True,
    type=VersionNumber(or_none=True),
    metavar="N|none",
    help="The version that you read; none: there is none yet.",
)
@option("--author", required=True, metavar="NAME", help="Who writes it.")
@option("--note", metavar="TEXT", help="Why.")
@option(
    "--confirmed-by",
    metavar="WHO",
    help="Who confirmed what is new: harness, user or tool, such as tool:pytest; not the model.",
)
@option(
    "--conflict-key",
    "conflict_keys",
    multiple=True,
    callback=_keys,
    metavar="FACT=KEY",
    help="The conflict that a fact won (no = in it); FACT= takes it away. Repeatable.",
)
@format_option("name, version and digest", "the same as an object")
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    home: str,
    name: str,
    file: str,
    replaces: int | None,
    author: str,
    note: str | None,
    confirmed_by: str | None,
    conflict_keys: dict[str, str | None],
    shape: str,
    color: str | None,
    quiet: bool,
) -> None:
    """Store the state in FILE (-: standard input) as the next version of NAME in the store of HOME.

    HOME is a folder that is there. Where another version than --replaces is current, nothing is
    stored and both are named.

    Exit codes: 0 stored; 1 the disk or the output refused (the message says what is stored),
    another process kept the store, or others may open it; 2 usage, or another version is current;
    11 a newer ctxaudit wrote the store; 14 it is damaged or not safe to open.
    """
    interrupts = interrupts_of(ctx)
    with interrupts.held_back():
        from ..state_storing import PutOrder, put_state

    put_state(
        ctx,
        interrupts,
        PutOrder(
            home=home,
            name=name,
            file=file,
            replaces=replaces,
            author=author,
            note=note,
            confirmed_by=confirmed_by,
            conflict_keys=conflict_keys,
            is_json=shape == "json",
        ),
    )
