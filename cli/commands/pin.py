"""`ctxaudit pin`: write down what the evidence is now.

Guarantees: nothing is pinned that is not available in this very run, and no pin is replaced or
removed without `--update`.

Example:
    $ ctxaudit pin home
"""

from __future__ import annotations

import click

from ..options import (
    HelpfulCommand,
    PathName,
    examples,
    interrupts_of,
    manner_from,
    manner_options,
    option,
    roots_options,
)
from ..report_options import MOST_JOBS
from ..values import whole_numbers

__all__ = ["command"]


@click.command(
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit pin home",
        "ctxaudit pin home --state deploy-2041",
        "ctxaudit pin home --update --dry-run",
        "ctxaudit pin home --lock reviewed.lock && ctxaudit verify home --lock reviewed.lock",
    ),
)
@click.argument("home", type=PathName())
@option(
    "--state",
    metavar="NAME|FILE",
    help="Pin only what this state cites: one of the home by its name, or a file.",
)
@option("--update", is_flag=True, help="Replace pins whose bytes differ, remove unused ones.")
@option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
@option(
    "--available-only",
    is_flag=True,
    help="Leave out what is not available, instead of writing nothing.",
)
@option("--lock", type=PathName(), help="The lock file. Default: ctxaudit.lock in the home.")
@roots_options
@option("--policy", type=PathName(), help="TOML file with rules that allow and deny.")
@option("--as-tenant", metavar="NAME", help="Who asks, for rules that tell tenants apart.")
@option(
    "--jobs",
    type=whole_numbers(1, MOST_JOBS),
    default=1,
    show_default=True,
    help="Processes that verify.",
)
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    home: str,
    state: str | None,
    update: bool,
    dry_run: bool,
    available_only: bool,
    lock: str | None,
    transcript_root: str | None,
    artifact_root: str | None,
    policy: str | None,
    as_tenant: str | None,
    jobs: int,
    color: str | None,
    quiet: bool,
) -> None:
    """Pin the evidence of HOME: digest and length of each source that it cites, in a lock file.

    Prints a line for each pin that changes: added, changed or removed, the pointer, the first
    digits of the old and of the new digest. Without --update pins are only added. Where a source is
    not available, nothing is written. A pin whose source is gone is never removed.

    Exit codes: 0 pinned, or nothing to change; 1 the tool failed; 2 usage; 3 nothing is cited; else
    that of the worst source, as with verify (14 also: other bytes than pinned, without --update);
    130 interrupted (after a line that says written, it is).
    """
    manner = manner_from(ctx, color=color, quiet=quiet)
    with interrupts_of(ctx).held_back():
        from provenance.audit.pinning import PinRequest

        from ..operator_files import read_policy
        from ..pinning import PinOrder, pin
    order = PinOrder(
        request=PinRequest(
            home=home,
            state=state,
            lock=lock,
            transcript_root=transcript_root,
            artifact_root=artifact_root,
            policy=read_policy(policy),
            tenant=as_tenant,
            jobs=jobs,
        ),
        update=update,
        dry_run=dry_run,
        available_only=available_only,
        quiet=manner.quiet,
    )
    ctx.exit(pin(order, interrupts_of(ctx)))
