"""Carries out `ctxaudit gc`.

Guarantees: a value that is not understood, or a home that is none, is told before anything is
read. The document is the same for every way to say it; the exit code does not depend on it.

Example:
    $ ctxaudit gc home --format json
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import click

from provenance._version import __version__
from provenance.audit.labels import target_labels
from provenance.clock import utc_now
from provenance.fs import TrustedRoot
from provenance.fs.places import is_readable_kind
from provenance.retention import GcOrder, GcReport, collect_garbage
from provenance.retention.reporting import document_of, kept_by

from .exit_codes import ExitCode
from .operator_files import is_folder, label_of
from .options import Manner, interrupts_of
from .streams import one_line, talk, write_text

__all__ = ["collect", "cutoff_of"]

# A hundred years: more is a typo, and no date before the epoch is a file's.
_MOST_DAYS = 36_525
_SHOWN = 100
_WORDS = {
    "state": "cited by a state",
    "state_version": "cited by a version of a state",
    "receipt": "cited by a receipt",
    "transcript": "cited in a transcript",
    "artifact": "cited in another artifact",
    "lock": "pinned by the lock file",
    "seal": "covered by a seal",
    "file": "cited in another file",
    "young": "stored or used lately",
    "not_in_ledger": "not in the ledger",
    "foreign": "a link, another owner's or no artifact",
    "changed": "changed or used meanwhile",
}


def cutoff_of(text: str, *, now: datetime) -> datetime:
    """Read `--older-than`: days back from now, or a date in UTC.

    Raises:
        ValueError: it is neither, or lies in the future.
    """
    if re.fullmatch(r"[0-9]{1,5}", text) and int(text) <= _MOST_DAYS:
        return now - timedelta(days=int(text))
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is None:
        raise ValueError(f"expected days (0 to {_MOST_DAYS}) or a date like 2026-06-01")
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ValueError("expected a date that exists") from None
    moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
    if moment > now:
        raise ValueError("expected a date that is past")
    return moment


def collect(
    ctx: click.Context,
    home: str,
    *,
    older_than: str,
    delete: bool,
    cited_by: tuple[str, ...],
    is_json: bool,
    manner: Manner,
) -> ExitCode:
    """Collect garbage in a home and say what was found; gives the exit code.

    Raises:
        click.UsageError: HOME is no folder, --cited-by a pipe or device, or --older-than not
            understood.
    """
    now, interrupts = utc_now(), interrupts_of(ctx)
    try:
        cutoff = cutoff_of(older_than, now=now)
    except ValueError as error:
        raise click.UsageError(f"--older-than: {error}, got {older_than[:40]!a}", ctx) from None
    if not is_folder(home):
        raise click.UsageError(f"HOME: {label_of(home)}: expected a folder", ctx)
    for path in cited_by:
        if not is_readable_kind(path):
            raise click.UsageError(
                f"--cited-by: {label_of(path)}: expected a file or folder, got something else", ctx
            )
    order = GcOrder(cutoff=cutoff, delete=delete, cited_by=cited_by)
    with TrustedRoot(home) as root:
        # What went is always told; until then an interrupt ends the run at once.
        report = collect_garbage(
            root,
            order,
            clock=lambda: now,
            on_removal=interrupts.hold,
            is_stopped=lambda: interrupts.is_pending,
        )
    name = target_labels((home,))[0]
    if is_json:
        document = document_of(report, home=name, version=__version__)
        write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    else:
        write_text("".join(f"{one_line(line)}\n" for line in _lines(report, name, manner)))
    return _code(report)


def _code(report: GcReport) -> ExitCode:
    if report.unreadable:
        return ExitCode.INCONCLUSIVE
    return ExitCode.TOOL_FAILED if report.failed or report.stopped_by else ExitCode.OK


def _lines(report: GcReport, name: str, manner: Manner) -> Iterator[str]:
    verb = "would go" if report.is_dry_run else "removed"
    size = sum(one.artifact.size for one in report.removable)
    if not manner.quiet:
        for one in report.removable[:_SHOWN]:
            used = one.artifact.last_use
            day = "" if used is None else f"{used:%Y-%m-%d}"
            note = "  (finishes an earlier removal)" if one.is_finished else ""
            yield f"{verb:8}  {one.artifact.size:>15,}  {day}  {one.artifact.pointer}{note}"
        if len(report.removable) > _SHOWN:
            yield f"... and {len(report.removable) - _SHOWN:,} more (--format json has all)"
        for why, (count, kept) in kept_by(report).items():
            yield f"{'kept':8}  {kept:>15,}  {count:,} {_WORDS[why]}"
    for lost in report.failed[:_SHOWN]:
        yield f"{'failed':8}  {lost.artifact.size:>15,}  {lost.artifact.pointer}: {lost.message}"
    for fault in report.unreadable[:_SHOWN]:
        yield f"unreadable  {fault.target}: {fault.message}"
    if report.leftovers:
        left = sum(one.bytes for one in report.leftovers)
        yield f"{verb:8}  {left:>15,}  {len(report.leftovers):,} temporary files of dead processes"
    if report.stopped_by:
        yield f"stopped: {report.stopped_by}"
    if report.unreadable:
        was = "would be" if report.is_dry_run else "more was" if report.removable else "was"
        yield (
            f"{name}: nothing {was} removed: "
            f"{len(report.unreadable):,} that may cite cannot be read; {report.undecided:,} "
            "undecided"
        )
    yield (
        f"{name}: {_count(len(report.removable), 'artifact')} ({_count(size, 'byte')}) {verb}, "
        f"{len(report.kept):,} kept"
    )
    if report.is_dry_run and report.removable and not manner.quiet:
        talk("ctxaudit gc: nothing was removed; --delete removes it")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
