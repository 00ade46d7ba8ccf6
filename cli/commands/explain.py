"""`ctxaudit explain`: what a code means, how it arises, what to do, what only looks like it.

Guarantees: every code and word that a report can hold has a page; for a code that has none, the
nearest ones are named and the exit code is 2.

Example:
    $ ctxaudit explain artifact_missing
"""

from __future__ import annotations

import click

from ..completing import complete_codes
from ..options import HelpfulCommand, examples, interrupts_of, manner_options
from ..streams import write_text

__all__ = ["command"]


@click.command(
    cls=HelpfulCommand,
    epilog=examples("ctxaudit explain artifact_digest_mismatch", "ctxaudit explain 14"),
)
@click.argument("code", required=False, shell_complete=complete_codes)
@manner_options
@click.pass_context
def command(ctx: click.Context, *, code: str | None, color: str | None, quiet: bool) -> None:
    """Say what a reason, finding, state, exit code or word of a report means, and what to do.

    Without CODE: list all of them.
    """
    with interrupts_of(ctx).held_back():
        from provenance.audit import all_explanations, find_explanation, similar_codes

    if code is None:
        write_text(
            "".join(
                f"{page.family:11}{page.code:34}{page.meaning}\n" for page in all_explanations()
            )
        )
        return
    page = find_explanation(code)
    if page is None:
        similar = similar_codes(code)
        hint = f"; like it: {', '.join(similar)}" if similar else ""
        raise click.UsageError(f"CODE: expected a known code, got {code!r}{hint}", ctx)
    write_text(
        f"{page.code} ({page.family})\n\n"
        f"  What it means   {page.meaning}\n"
        f"  How it arises   {page.arises}\n"
        f"  What to do      {page.remedy}\n"
        + (f"\n  Looks like it and is none: {page.look_alike}\n" if page.look_alike else "")
    )
