"""`ctxaudit schema`: the JSON Schemas that are published with the package.

Guarantees: what is printed is the packaged file, byte for byte.

Example:
    $ ctxaudit schema report
"""

from __future__ import annotations

import click

from ..completing import complete_schemas
from ..options import HelpfulCommand, examples, interrupts_of, manner_options
from ..streams import write_text

__all__ = ["command"]


@click.command(
    cls=HelpfulCommand,
    epilog=examples("ctxaudit schema report", "ctxaudit schema state > state.schema.json"),
)
@click.argument("name", required=False, shell_complete=complete_schemas)
@manner_options
@click.pass_context
def command(ctx: click.Context, *, name: str | None, color: str | None, quiet: bool) -> None:
    """Print the JSON Schema called NAME; without NAME, list what there is."""
    with interrupts_of(ctx).held_back():
        from provenance.schemas import SCHEMA_NAMES, UnknownSchemaError, load_schema

    if name is None:
        write_text("".join(f"{known}\n" for known in SCHEMA_NAMES))
        return
    # A document names its schema as `ctxaudit.state/1`; that is a name for it, too.
    asked = next((known for known in SCHEMA_NAMES if name == f"ctxaudit.{known}/1"), name)
    try:
        write_text(load_schema(asked))
    except UnknownSchemaError as error:
        raise click.UsageError(f"NAME: {error}", ctx) from None
