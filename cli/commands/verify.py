"""`ctxaudit verify`: the command line of an audit.

Guarantees: whatever is wrong with the options is said before anything is verified. What they mean
is carried out by `cli.auditing`, which is loaded when the command runs.

Example:
    $ ctxaudit verify sample_state
"""

from __future__ import annotations

from datetime import datetime

import click
from click.core import ParameterSource

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
from ..outputs import pair_outputs
from ..report_options import report_options, weakened_by_environment
from ..sandboxing import sandbox_option
from ..selection import format_option, selection_options
from ..values import Choice

__all__ = ["command"]

_STRENGTHS = ("position", "prefix", "full", "pinned", "sealed")
# Options that can turn a failing audit into a passing one; a test has a decision on each option.
_WEAKENING = (
    # What is named beside a target counts as verified, whatever the target holds.
    "pointer",
    # A state that is taken for a text is not read as a state.
    "scan",
    "fail_on",
    "exit_zero",
    "policy",
    "as_tenant",
    "waivers",
    "transcript_root",
    "artifact_root",
    "as_format",
    "session",
    "since",
    "lock",
    "fast",
    # Whoever chooses the key chooses what is `sealed`.
    "seal",
)


@click.command(
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit verify sample_state",
        "ctxaudit verify home --format json --output report.json --format console",
        "ctxaudit verify home --policy policy.toml --as-tenant acme --waivers waivers.toml",
        "ctxaudit verify home --format html --output report.html",
        "ctxaudit verify ~/.claude/projects --since 2026-11-01",
        "ctxaudit verify --pointer transcript:run-1:3 --transcript-root logs",
        "ctxaudit verify --scan notes.md home",
        "ctxaudit verify home --seal seal.key.pub --seal-checkpoint held.checkpoint",
        "ctxaudit verify --sandbox --jobs 2 home",
        "cat pointers.txt | ctxaudit verify - home --format ndjson",
    ),
)
@click.argument("targets", metavar="[TARGET]...", nargs=-1, type=PathName())
@option("--pointer", multiple=True, metavar="POINTER", help="Check this pointer too; repeatable.")
@roots_options
@option("--policy", type=PathName(), help="TOML file with rules that allow and deny.")
@option("--as-tenant", metavar="NAME", help="Who asks, for rules that tell tenants apart.")
@option(
    "--waivers",
    type=PathName(),
    help="TOML file: which faults are accepted, why, by whom and until when.",
)
@option(
    "--decisions",
    type=PathName(),
    help="File for a line of JSON a decision of the policies, outside the targets.",
)
@option(
    "--min-strength",
    type=Choice(_STRENGTHS),
    help="Weaker evidence counts as corrupt.",
)
@option("--lock", type=PathName(), help="Hold the evidence against this lock file too; see pin.")
@option(
    "--fast",
    is_flag=True,
    help="BLAKE3 instead of SHA-256 for artifacts whose ledger line is sealed.",
)
@option(
    "--seal",
    type=PathName(),
    help="Public key: the homes have to be as they were sealed with it; see docs/seals.md.",
)
@option(
    "--seal-checkpoint",
    type=PathName(),
    help="A checkpoint that you hold from another day; the log has to contain it.",
)
@option("--attest", type=PathName(), help="Private key: sign the result of the run with it.")
@option(
    "--attest-output",
    type=PathName(),
    help="File for the signed result, outside the targets (in-toto Statement, DSSE).",
)
@option("--scan", is_flag=True, help="File targets and - are texts: look for pointers in them.")
@format_option
@option(
    "--all",
    "check_all",
    is_flag=True,
    help="Check also what no state cites, and all of each transcript.",
)
@selection_options
@option(
    "--excerpts",
    is_flag=True,
    help="Let the html report show the first 1,000 characters of each available source.",
)
@sandbox_option
@report_options
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    targets: tuple[str, ...],
    pointer: tuple[str, ...],
    transcript_root: str | None,
    artifact_root: str | None,
    policy: str | None,
    as_tenant: str | None,
    waivers: str | None,
    decisions: str | None,
    min_strength: str | None,
    lock: str | None,
    fast: bool,
    seal: str | None,
    seal_checkpoint: str | None,
    attest: str | None,
    attest_output: str | None,
    scan: bool,
    as_format: str | None,
    check_all: bool,
    session: tuple[str, ...],
    since: datetime | None,
    excerpts: bool,
    sandbox: bool,
    jobs: int,
    formats: tuple[str, ...],
    outputs: tuple[str, ...],
    fail_on: frozenset[str] | None,
    exit_zero: bool,
    color: str | None,
    quiet: bool,
) -> None:
    """Check that cited evidence exists, unaltered and readable.

    TARGET is a state home, a state file, a transcript or a tree of transcripts of any known format,
    a text (with --scan), or - for pointers on standard input, one a line. Pointers that stand in
    no home (also those of a state file outside one) are looked up below --transcript-root and
    --artifact-root, or in the one home that is named. A target that is named twice is counted once.

    Exit codes: 0 all available, 1 the tool failed, 2 usage, 3 nothing was verified,
    4 inconclusive, 11 unsupported, 12 missing, 13 denied, 14 corrupt, 130 interrupted. The worst
    of 14, 13, 12, 11, 4, 3 wins. What a waiver covers does not count; a waiver that is over is 14.
    """
    paired = pair_outputs(formats, outputs)
    if excerpts and not any(output.format == "html" for output in paired):
        # A variable may be set for many runs; on the command line it is a mistake.
        if ctx.get_parameter_source("excerpts") is ParameterSource.COMMANDLINE:
            raise click.UsageError("--excerpts: expected with --format html, got no such report")
        excerpts = False
    if not targets and not pointer:
        raise click.UsageError("TARGET: expected a target or --pointer, got none", ctx)
    manner = manner_from(ctx, color=color, quiet=quiet)
    interrupts = interrupts_of(ctx)
    interrupts.hold()
    from ..auditing import VerifyOrder, carry_out

    order = VerifyOrder(
        targets=targets,
        pointers=pointer,
        transcript_root=transcript_root,
        artifact_root=artifact_root,
        policy=policy,
        tenant=as_tenant,
        waivers=waivers,
        decisions=decisions,
        min_strength=min_strength,
        lock=lock,
        fast=fast,
        seal=seal,
        seal_checkpoint=seal_checkpoint,
        attest=attest,
        attest_output=attest_output,
        scan=scan,
        as_format=as_format,
        check_all=check_all,
        sessions=session,
        since=since,
        excerpts=excerpts,
        sandbox=sandbox,
        jobs=jobs,
        outputs=paired,
        fail_on=fail_on,
        exit_zero=exit_zero,
        manner=manner,
        command=ctx.command_path,
        weakened_by_environment=weakened_by_environment(ctx, _WEAKENING),
    )
    ctx.exit(carry_out(order, interrupts))
