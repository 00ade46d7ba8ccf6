"""`ctxaudit transcript check`: whether transcripts are whole.

Guarantees: the same audit, reports and exit codes as `ctxaudit verify`, of transcripts alone: what
is none is refused and never checked as something else.

Example:
    $ ctxaudit transcript check ~/.codex/sessions --since 2026-11-01
"""

from __future__ import annotations

from datetime import datetime

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
from ..outputs import pair_outputs
from ..report_options import report_options, weakened_by_environment
from ..sandboxing import sandbox_option
from ..selection import ContentHash, format_option, selection_options

__all__ = ["command"]

# Options that can turn a failing check into a passing one.
_WEAKENING = ("fail_on", "exit_zero", "as_format", "session", "since", "expect_hash")


@click.command(
    "check",
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit transcript check ~/.claude/projects",
        "ctxaudit transcript check full.jsonl --expect-hash sha256:... --format json",
        "ctxaudit transcript check sessions --format sarif --output faults.sarif --format console",
    ),
)
@click.argument("targets", metavar="TARGET...", nargs=-1, required=True, type=PathName())
@format_option
@selection_options
@option(
    "--expect-hash",
    type=ContentHash(),
    metavar="HASH",
    help="sha256:<64 hex digits> of the one file that is named.",
)
@sandbox_option
@report_options
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    targets: tuple[str, ...],
    as_format: str | None,
    session: tuple[str, ...],
    since: datetime | None,
    expect_hash: str | None,
    sandbox: bool,
    jobs: int,
    formats: tuple[str, ...],
    outputs: tuple[str, ...],
    fail_on: frozenset[str] | None,
    exit_zero: bool,
    color: str | None,
    quiet: bool,
) -> None:
    """Check transcripts from the first record to the last, and report every fault in them.

    TARGET is a transcript of any known format, or a folder with transcripts of any mix of formats.
    In a state home the transcripts alone are checked; `ctxaudit verify` checks what they prove.

    Exit codes: those of `ctxaudit verify`; 3 where there is no transcript.
    """
    paired = pair_outputs(formats, outputs)
    manner = manner_from(ctx, color=color, quiet=quiet)
    interrupts = interrupts_of(ctx)
    interrupts.hold()
    from ..auditing import VerifyOrder, carry_out
    from ..transcripts import require_transcripts

    order = VerifyOrder(
        targets=targets,
        pointers=(),
        transcript_root=None,
        artifact_root=None,
        policy=None,
        tenant=None,
        min_strength=None,
        scan=False,
        only_transcripts=True,
        as_format=as_format,
        check_all=False,
        sessions=session,
        since=since,
        expected_hash=expect_hash,
        sandbox=sandbox,
        precheck=lambda: require_transcripts(
            ctx, targets, as_format=as_format, has_hash=expect_hash is not None
        ),
        jobs=jobs,
        outputs=paired,
        fail_on=fail_on,
        exit_zero=exit_zero,
        manner=manner,
        command=ctx.command_path,
        weakened_by_environment=weakened_by_environment(ctx, _WEAKENING),
    )
    ctx.exit(carry_out(order, interrupts))
